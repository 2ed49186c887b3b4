"""Which words does a client say first to the proxy that HTTPS_PROXY names: plain HTTP, or a TLS handshake?

The proxy is a socket on this machine that speaks plain HTTP and refuses everything, as many company proxies are set up.
"""

import os
import socket
import sys
import threading
from urllib.parse import urlsplit

import requests

GOOD, BAD, CANNOT_TELL = 0, 1, 125
TLS_HANDSHAKE = b"\x16"
heard = []


def refuse(listener):
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(5)
            heard.append(connection.recv(16))
            connection.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")


proxy = urlsplit(os.environ["HTTPS_PROXY"])
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
try:
    listener.bind((proxy.hostname, proxy.port))
except OSError as busy:
    print("the port is taken:", busy)
    sys.exit(CANNOT_TELL)
listener.listen()
threading.Thread(target=refuse, args=(listener,), daemon=True).start()

try:
    requests.get("https://host.invalid/", timeout=5)
except (OSError, ValueError) as refused:  # requests' own errors are OSErrors
    print(type(refused).__name__, "after the proxy heard", heard)
first = heard[0] if heard else b""
sys.exit(GOOD if first.startswith(b"CONNECT") else BAD if first[:1] == TLS_HANDSHAKE else CANNOT_TELL)

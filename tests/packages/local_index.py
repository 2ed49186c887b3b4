"""A package index that tests make themselves: real archives and real pages in a folder, for ``file://`` and HTTP."""

from __future__ import annotations

import hashlib
import io
import json
import socket
import ssl
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FAILING_BACKEND = "def _fail(*args, **kwargs):\n    raise RuntimeError('no compiler today')\n\n" + "\n".join(
    f"{hook} = _fail"
    for hook in ("get_requires_for_build_wheel", "prepare_metadata_for_build_wheel", "build_wheel", "build_sdist")
)


def wheel(
    folder: Path, name: str, version: str, requires: Sequence[str] = (), *, python: str = "", tag: str = "py3-none-any"
) -> Path:
    """A wheel with one module that knows its version."""
    folder.mkdir(parents=True, exist_ok=True)
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    metadata = metadata_text(name, version, requires, python)
    path = folder / f"{module}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{module}.py", f"__version__ = {version!r}\n")
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", f"{module}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return path


def metadata_text(
    name: str, version: str, requires: Sequence[str] = (), python: str = "", *, level: str = "2.1"
) -> str:
    lines = [f"Metadata-Version: {level}", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Python: {python}"] if python else []
    return "\n".join([*lines, *(f"Requires-Dist: {one}" for one in requires)]) + "\n"


def sdist(folder: Path, name: str, version: str, files: dict[str, str]) -> Path:
    """A source distribution of the given texts."""
    folder.mkdir(parents=True, exist_ok=True)
    root = f"{name.replace('-', '_')}-{version}"
    path = folder / f"{root}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for inner, text in files.items():
            data = text.encode()
            entry = tarfile.TarInfo(f"{root}/{inner}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def unbuildable_sdist(folder: Path, name: str, version: str) -> Path:
    """A source distribution whose build backend is part of it and always fails."""
    return sdist(
        folder,
        name,
        version,
        {
            "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
            f'[project]\nname = "{name}"\nversion = "{version}"\ndynamic = ["dependencies"]\n',
            "PKG-INFO": metadata_text(name, version),
            "backend.py": FAILING_BACKEND,
        },
    )


def publish(root: Path, archives: Sequence[Path]) -> str:
    """Write HTML pages (PEP 503) for ``archives`` below ``root`` and return the index' ``file://`` URL."""
    for archive in archives:
        page = root / project_of(archive) / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        old = page.read_text() if page.exists() else "<!DOCTYPE html><html><body>\n"
        page.write_text(old + f'<a href="{archive.as_uri()}#sha256={digest}">{archive.name}</a>\n')
    return root.as_uri()


def project_of(archive: Path) -> str:
    return archive.name.split("-")[0].replace("_", "-").lower()


@dataclass
class Served:
    """What a test server answers: ``pages`` by path to (content type, body, etag). ``log`` holds (path, headers)."""

    pages: dict[str, tuple[str, bytes, str]] = field(default_factory=dict)
    statuses: dict[str, list[int]] = field(default_factory=dict)  # answered first, one a request
    log: list[tuple[str, dict[str, str], int]] = field(default_factory=list)
    ranges: bool = True
    url: str = ""

    def add_json(self, name: str, files: list[dict[str, object]], etag: str = "") -> None:
        document = {"meta": {"api-version": "1.1"}, "name": name, "files": files, "versions": []}
        body = json.dumps(document).encode()
        self.pages[f"/simple/{name}/"] = ("application/vnd.pypi.simple.v1+json", body, etag)

    def add_archives(
        self, name: str, archives: Sequence[Path], times: Sequence[str] = (), *, metadata: bool = False
    ) -> None:
        """Serve ``archives`` and their project page; with ``metadata`` the wheels' METADATA too (PEP 658)."""
        files: list[dict[str, object]] = []
        for place, archive in enumerate(archives):
            data = archive.read_bytes()
            self.pages[f"/files/{archive.name}"] = ("application/octet-stream", data, "")
            entry: dict[str, object] = {"filename": archive.name, "url": f"../../files/{archive.name}"}
            entry |= {"hashes": {"sha256": hashlib.sha256(data).hexdigest()}, "size": len(data)}
            entry |= {"upload-time": times[place]} if times else {}
            if metadata and archive.suffix == ".whl":
                with zipfile.ZipFile(archive) as opened:
                    inner = next(one for one in opened.namelist() if one.endswith("/METADATA"))
                    self.pages[f"/files/{archive.name}.metadata"] = ("text/plain", opened.read(inner), "")
                entry["core-metadata"] = True
            files.append(entry)
        self.add_json(name, files)


def self_signed(folder: Path) -> Path:
    """A certificate for 127.0.0.1 and its key in one file."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    certificate.write_text(certificate.read_text() + key.read_text())
    return certificate


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[Served]:
    """A server on a free port of this machine, gone afterwards; HTTPS if it is given a certificate with its key."""
    served = Served()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, headers, body = self._answer()
            served.log.append((self.path, dict(self.headers.items()), status))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815

        def _answer(self) -> tuple[int, dict[str, str], bytes]:
            if served.statuses.get(self.path):
                return served.statuses[self.path].pop(0), {}, b""
            if self.path not in served.pages:
                return 404, {}, b"not here"
            kind, body, etag = served.pages[self.path]
            headers = {"Content-Type": kind} | ({"ETag": etag} if etag else {})
            if etag and self.headers.get("If-None-Match") == etag:
                return 304, headers, b""
            wanted = self.headers.get("Range", "")
            if wanted and served.ranges:
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                start = int(first) if first else max(0, len(body) - int(last))
                end = min(len(body), int(last) + 1 if first and last else len(body))
                return 206, headers | {"Content-Range": f"bytes {start}-{end - 1}/{len(body)}"}, body[start:end]
            return 200, headers, body

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        served.url = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_address[1]}"
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def silent() -> Iterator[tuple[str, list[socket.socket]]]:
    """A server that accepts and never answers: its URL, and the connections that it got."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        connections: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    connections.append(listening.accept()[0])
                except OSError:  # closed: the test is over
                    return

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", connections
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in connections:
                connection.close()

"""The facts about a machine: from transcripts where the machine has nothing to show, from the machine where it has."""

from __future__ import annotations

import os
import socketserver
import sys
import threading
from pathlib import Path

import pytest

from envbisect.backends import doctor
from envbisect.backends.doctor import Fact, State, examine_machine, output_of, parse_gpus

GPUS = """\
0, NVIDIA A100-SXM4-80GB, 535.161.08, 81920 MiB
1, NVIDIA A100-SXM4-80GB, 535.161.08, 81920 MiB
"""
BROKEN = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"


def test_gpus_are_read_from_a_transcript() -> None:
    facts = list(parse_gpus(GPUS))
    assert [fact.subject for fact in facts] == ["GPU 0", "GPU 1"]
    assert facts[1].detail == "NVIDIA A100-SXM4-80GB, 81920 MiB, driver 535.161.08"


def test_a_broken_driver_is_a_problem_in_its_own_words() -> None:
    assert [(fact.state, fact.detail) for fact in parse_gpus(BROKEN)] == [(State.PROBLEM, BROKEN.strip())]


def test_this_machine_is_examined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PYTHONS", ("3.11",))
    environ = {**os.environ, "PIP_CONFIG_FILE": os.devnull, "UV_DEFAULT_INDEX": tmp_path.as_uri()}
    facts = {fact.subject: fact for fact in examine_machine(environ, tmp_path / "not" / "yet")}
    assert sys.executable in facts["envbisect's own interpreter"].detail
    assert facts["uv"].detail.startswith("uv ")
    assert facts["git"].detail.startswith("git version")
    assert "GB free" in facts["disk"].detail
    assert facts["package index"].state is State.PROBLEM  # an empty folder has no pip
    assert facts["package index"].detail


class Daemon(socketserver.UnixStreamServer):
    """Answers every request with one document, as a container daemon answers /version."""


class Answer(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while self.rfile.readline().strip():
            pass
        body = b'{"Version": "20.10.24"}'
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def test_a_daemon_is_asked_over_its_socket(tmp_path: Path) -> None:
    place = tmp_path / "docker.sock"
    environ = {"DOCKER_HOST": f"unix://{place}"}
    assert [fact.state for fact in doctor._daemon(environ)] == [State.ABSENT]
    with Daemon(str(place), Answer) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        facts = list(doctor._daemon(environ))
        thread.join()
    assert [(fact.state, fact.detail) for fact in facts] == [(State.FINE, f"version 20.10.24 at {place}")]
    facts = list(doctor._daemon(environ))  # the socket is still there, nobody listens
    assert [fact.state for fact in facts] == [State.PROBLEM]


def test_a_tool_that_fails_or_is_missing_says_nothing() -> None:
    assert output_of(["false"], os.environ) is None
    assert output_of(["no-such-tool"], os.environ) is None
    assert output_of(["echo", "hello"], os.environ) == "hello\n"


def test_a_fact_is_a_value() -> None:
    assert Fact("a", State.FINE, "b") == Fact("a", State.FINE, "b", "")

"""What this machine can do, as facts: interpreters, uv, GPU, container daemon, disk, index. Never raises."""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from envbisect.backends.interpreter import Need, candidates, examine
from envbisect.errors import EnvbisectError
from envbisect.manifest.stack import Pin
from envbisect.process.run import run_group

TOOL_TIMEOUT_S: Final = 15.0
PYTHONS: Final = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
LOW_DISK_BYTES: Final = 5 << 30


class State(StrEnum):
    """Whether a fact helps or hinders."""

    FINE = "fine"
    ABSENT = "absent"  # not here, and not needed by everyone
    PROBLEM = "problem"  # will make runs fail


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing about this machine. ``hint`` says what to do where the state is not fine; it may be empty."""

    subject: str
    state: State
    detail: str
    hint: str = ""


def examine_machine(environ: Mapping[str, str], folder: Path) -> Iterator[Fact]:
    """All facts, each as soon as it is known; ``folder`` is where sessions would go."""
    asked: tuple[tuple[str, Callable[[], Iterator[Fact]]], ...] = (
        ("interpreters", lambda: _interpreters(environ)),
        ("Pythons for environments", _pythons),
        ("uv", _uv),
        ("git", lambda: _tool("git", ["git", "--version"], environ, "install git; [code] and Git packages need it")),
        ("GPU", lambda: _gpu(environ)),
        ("container daemon", lambda: _daemon(environ)),
        ("disk", lambda: _disk(folder)),
        ("package index", lambda: _index(environ)),
    )
    for subject, ask in asked:
        try:
            yield from ask()
        except EnvbisectError as error:
            yield Fact(subject, State.PROBLEM, error.message, error.hint)
        except OSError as error:
            yield Fact(subject, State.PROBLEM, str(error))


def _interpreters(environ: Mapping[str, str]) -> Iterator[Fact]:
    """The interpreters that runtime ``local`` would consider, and their torch."""
    need = Need(pins=(Pin("torch", ""),))
    for label, path in candidates(environ):
        facts = examine(path, need)
        if facts is None:
            yield Fact(label, State.PROBLEM, f"{path} does not run", "repair it, or name another with --python")
        else:
            torch = "without torch" if facts.lacks else "with torch"
            yield Fact(label, State.FINE, f"{facts.executable}, Python {facts.version}, {torch}")


def _pythons() -> Iterator[Fact]:
    from envbisect.packages.pythons import find_python

    found = [version for version in PYTHONS if find_python(version) is not None]
    missing = [version for version in PYTHONS if version not in found]
    hint = f"others, for example: uv python install {missing[-1]}" if missing else ""
    state = State.FINE if found else State.PROBLEM
    yield Fact("Pythons for environments", state, ", ".join(found) or "none", hint)


def _uv() -> Iterator[Fact]:
    from envbisect.packages.uv import find_uv

    yield from _tool("uv", [str(find_uv()), "--version"], {}, "reinstall envbisect; it brings uv")


def _tool(subject: str, command: list[str], environ: Mapping[str, str], hint: str) -> Iterator[Fact]:
    text = output_of(command, environ)
    if text is None:
        yield Fact(subject, State.PROBLEM, f"{command[0]} does not run", hint)
    else:
        yield Fact(subject, State.FINE, text.strip().partition("\n")[0])


def _gpu(environ: Mapping[str, str]) -> Iterator[Fact]:
    query = ["nvidia-smi", "--query-gpu=index,name,driver_version,memory.total", "--format=csv,noheader"]
    text = output_of(query, environ)
    if text is None:
        yield Fact("GPU", State.ABSENT, "no NVIDIA GPU, or nvidia-smi does not run", "checks run on the CPU")
    else:
        yield from parse_gpus(text)


def parse_gpus(text: str) -> Iterator[Fact]:
    """Facts from ``nvidia-smi --query-gpu=index,name,driver_version,memory.total --format=csv,noheader``."""
    rows = [[part.strip() for part in line.split(",")] for line in text.splitlines() if line.count(",") == 3]
    for index, name, driver, memory in rows:
        yield Fact(f"GPU {index}", State.FINE, f"{name}, {memory}, driver {driver}")
    if not rows:
        yield Fact("GPU", State.PROBLEM, text.strip().partition("\n")[0] or "nvidia-smi names no GPU", "see nvidia-smi")


def _daemon(environ: Mapping[str, str]) -> Iterator[Fact]:
    """Asked over its socket, because that says more precisely than any client why there is no answer."""
    for place in daemon_sockets(environ):
        if not place.is_socket():
            continue
        try:
            version = _version_over(place)
        except (OSError, ValueError, http.client.HTTPException) as error:
            yield Fact("container daemon", State.PROBLEM, f"{place} does not answer: {error}", "is it running?")
        else:
            yield Fact("container daemon", State.FINE, f"version {version} at {place}")
        return
    yield Fact("container daemon", State.ABSENT, "no Docker or Podman socket", "only image keys need one")


def daemon_sockets(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Where a Docker or Podman daemon may listen, nearest first."""
    if host := environ.get("DOCKER_HOST", ""):
        return (Path(host.removeprefix("unix://")),)
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    own = (Path(runtime) / "docker.sock", Path(runtime) / "podman" / "podman.sock") if runtime else ()
    return (Path("/var/run/docker.sock"), *own, Path("/run/podman/podman.sock"))


def _version_over(place: Path) -> str:
    connection = http.client.HTTPConnection("localhost", timeout=TOOL_TIMEOUT_S)
    with contextlib.closing(connection), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(TOOL_TIMEOUT_S)
        link.connect(str(place))
        connection.sock = link
        connection.request("GET", "/version")
        document = json.loads(connection.getresponse().read())
    return str(document["Version"]) if isinstance(document, dict) and "Version" in document else "unknown"


def _disk(folder: Path) -> Iterator[Fact]:
    place = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
    free = shutil.disk_usage(place).free
    state = State.FINE if free >= LOW_DISK_BYTES else State.PROBLEM
    hint = "" if state is State.FINE else "environments with torch take 1 to 7 GB each: make room"
    yield Fact("disk", state, f"{free / 1e9:.0f} GB free at {place}", hint)


def _index(environ: Mapping[str, str]) -> Iterator[Fact]:
    from envbisect.packages.config import read_config
    from envbisect.packages.simple import PackageIndex

    config = read_config(environ=environ)
    with tempfile.TemporaryDirectory(prefix="envbisect-") as cache:
        index = PackageIndex(config, Path(cache))
        try:
            count = len(index.project("pip").releases)
        finally:
            index.fetcher.close()
    yield Fact("package index", State.FINE, f"{config.describe()} ({count} releases of pip)")


def output_of(command: list[str], environ: Mapping[str, str]) -> str | None:
    """Standard output of a tool; None if it is missing, fails or takes too long."""
    with tempfile.TemporaryDirectory(prefix="envbisect-") as name:
        folder = Path(name)
        try:
            end = run_group(
                command,
                environ=environ,
                cwd=folder,
                stdout=folder / "out",
                stderr=folder / "err",
                deadline_s=TOOL_TIMEOUT_S,
                scratch=folder,
            )
        except OSError:
            return None
        return (folder / "out").read_text(errors="replace") if end.exit_code == 0 else None

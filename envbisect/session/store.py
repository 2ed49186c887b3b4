"""The session folder: who owns it, what was asked, and where everything lies (design: "Session on disk")."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from envbisect.errors import EnvironmentFailure, UsageError

SCHEMA: Final = 1
ROOT: Final = ".envbisect"


class SessionFolder:
    """An owned session folder; ``close`` gives it back. Use ``create`` or ``open``."""

    def __init__(self, path: Path, lock_fd: int) -> None:
        self.path = path
        self._lock_fd = lock_fd

    @classmethod
    def create(cls, path: Path) -> SessionFolder:
        """Make a new session folder and own it.

        Raises:
            UsageError: the folder holds a session already, or something else.
            EnvironmentFailure: it cannot be made (read-only, disk full).
        """
        if (path / "session.json").exists():
            _refuse_owned(path)
            raise UsageError(
                f"{path} holds a session already", f"go on with: envbisect resume {path}, or name another --session"
            )
        if path.is_file() or (path.is_dir() and {entry.name for entry in path.iterdir()} - {"lock"}):
            raise UsageError(f"{path} is not empty and holds no session", "name a new folder with --session")
        try:
            path.mkdir(parents=True, exist_ok=True)
            (path / "probes").mkdir(exist_ok=True)
        except OSError as error:
            raise EnvironmentFailure(
                f"{path}: the session folder cannot be made: {error.strerror}", "name a writable folder with --session"
            ) from error
        return cls(path, _lock(path))

    @classmethod
    def open(cls, path: Path) -> SessionFolder:
        """Own an existing session folder.

        Raises:
            UsageError: there is no session, or another process owns it.
        """
        if not (path / "session.json").is_file():
            raise UsageError(f"{path} holds no session", "look for session folders below .envbisect/")
        return cls(path, _lock(path))

    def write(self, name: str, document: Mapping[str, Any]) -> None:
        """Replace a JSON file of the session atomically; durable when this returns."""
        write_json(self.path / name, document)

    def read(self, name: str) -> dict[str, Any]:
        """Read a JSON file of the session; UsageError if it is missing or damaged."""
        return read_json(self.path / name)

    def probe_folder(self, number: int) -> Path:
        """``probes/NNNN``, made anew: what a killed attempt left there is replaced by the repetition."""
        folder = self.path / "probes" / f"{number:04d}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(folder, error) from error
        return folder

    def close(self) -> None:
        os.close(self._lock_fd)


def default_path(base: Path, now: datetime) -> Path:
    """A new session folder's name below ``base``: sorted by time, never the same twice."""
    return base / ROOT / f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object that ``write_json`` wrote, without its checksum.

    Raises:
        UsageError: it is missing, was changed or damaged, or was written by a newer tool.
    """
    again = "restore the session folder from a backup, or start anew with another --session"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"{path} is missing", "is this a session folder of envbisect?") from error
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read: {error}", again) from error
    if not isinstance(document, dict):
        raise UsageError(f"{path} holds no JSON object", again)
    schema = document.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise UsageError(f"{path} was written by a newer envbisect", "upgrade: pip install -U envbisect")
    if document.pop("check", None) != _checksum(document):
        raise UsageError(f"{path} was changed or damaged after it was written", again)
    return document


def _checksum(document: Mapping[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Replace ``path`` atomically with a JSON document; EnvironmentFailure if the disk does not take it."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8") as file:
            json.dump({**document, "check": _checksum(document)}, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as error:
        raise _unwritable(path, error) from error


def _lock(path: Path) -> int:
    """The lock's file descriptor. The kernel drops the lock when its process dies, however it dies."""
    try:
        descriptor = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise _unwritable(path / "lock", error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.read(descriptor, 32).decode(errors="replace").strip()
        os.close(descriptor)
        raise UsageError(
            f"{path} is in use by process {owner or 'unknown'}", "wait for it, or name another folder with --session"
        ) from error
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return descriptor


def _refuse_owned(path: Path) -> None:
    """Tell "in use now" from "there already"."""
    os.close(_lock(path))


def _unwritable(path: Path, error: OSError) -> EnvironmentFailure:
    return EnvironmentFailure(
        f"{path} cannot be written: {error.strerror or error}", "free some disk space or make the folder writable"
    )

"""Carry the payload to where a test runs: copy it into a folder that any interpreter there can read."""

from __future__ import annotations

import os
import tempfile
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

PACKAGE = "envbisect_payload"
ENTRY = "envbisect_entry.py"


def carry(dest: Path) -> Path:
    """Copy the payload into ``dest`` and return the script to start: ``<python> <script> REQUEST.json RESULT.json``.

    Idempotent: files that are there already, byte for byte, are not written, so a folder that was filled before may
    be read-only. ``dest`` should hold nothing else, because it stands on the payload's own ``sys.path`` for a moment.

    Raises:
        OSError: ``dest`` cannot be written.
    """
    payload = files("envbisect.payload")
    _copy_folder(payload, dest / PACKAGE)
    entry = dest / ENTRY
    _copy_file(payload / "entry.py", entry)
    return entry


def _copy_folder(source: Traversable, dest: Path) -> None:
    dest.mkdir(parents=True, exist_ok=True)
    for item in source.iterdir():
        if item.is_dir() and item.name != "__pycache__":
            _copy_folder(item, dest / item.name)
        elif item.name.endswith(".py") and item.name != "entry.py":
            _copy_file(item, dest / item.name)


def _copy_file(source: Traversable, dest: Path) -> None:
    content = source.read_bytes()
    if dest.is_file() and dest.read_bytes() == content:
        return
    # a probe that starts meanwhile sees the old file or the new one, never half of it
    descriptor, temporary = tempfile.mkstemp(dir=dest.parent, prefix=dest.name)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
    Path(temporary).chmod(0o644)
    Path(temporary).replace(dest)

"""Answers of an index on disk: one file each, written atomically, checked when read."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from envbisect.errors import EnvironmentFailure


@dataclass(frozen=True, slots=True)
class Entry:
    """One answer. ``url`` is the final one, without credentials; ``etag`` is empty if the server gave none."""

    status: int
    url: str
    content_type: str
    etag: str
    body: bytes


def read_entry(path: Path) -> Entry | None:
    """The entry at ``path``; None if there is none or it is damaged: then it is simply fetched again."""
    try:
        line, _, body = path.read_bytes().partition(b"\n")
        header = json.loads(line)
    except (OSError, ValueError):
        return None
    if not isinstance(header, dict) or header.get("length") != len(body) or header.get("schema") != 1:
        return None
    return Entry(header["status"], header["url"], header["content_type"], header["etag"], body)


def write_entry(path: Path, entry: Entry) -> None:
    """Write so that a reader sees the whole entry or none.

    Raises:
        EnvironmentFailure: the cache folder cannot be written to.
    """
    header = {
        "schema": 1,
        "status": entry.status,
        "url": entry.url,
        "content_type": entry.content_type,
        "etag": entry.etag,
        "length": len(entry.body),
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(json.dumps(header).encode() + b"\n" + entry.body)
        Path(file.name).replace(path)
    except OSError as error:
        raise EnvironmentFailure(f"the cache {path.parent} cannot be written: {error}", "Make room.") from error

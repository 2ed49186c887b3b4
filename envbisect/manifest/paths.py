"""Paths in a manifest: relative to its folder, and never out of it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from envbisect.manifest.wrong import Wrong, shown

_LONGEST_PATH: Final = 3000  # Linux has 4096 with the folder, and 255 for each name
_LONGEST_NAME: Final = 255
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+|[\w.-]+@[\w.-]+:\S+")


def is_url(text: str) -> bool:
    """Whether Git would take this for an address: ``https://…``, ``ssh://…``, ``git@host:path``."""
    return _URL.fullmatch(text) is not None


def inside(folder: Path, text: str) -> Path:
    """The absolute path that ``text`` means in ``folder``, symbolic links followed. An absolute path stands as it is.

    Raises:
        Wrong: a relative path leaves the folder, by itself or through a symbolic link.
    """
    too_long = len(os.fsencode(text)) > _LONGEST_PATH or any(
        len(os.fsencode(p)) > _LONGEST_NAME for p in text.split("/")
    )
    if not text or "\0" in text or text.startswith("-") or too_long:
        raise Wrong(f"{shown(text)} is no path", "a path relative to the manifest")
    if Path(text).is_absolute():
        return Path(text)
    path = Path(os.path.realpath(folder / text))
    if not path.is_relative_to(os.path.realpath(folder)):
        raise Wrong(f"{shown(text)} leaves the folder of the manifest", f"a path inside {folder}")
    return path

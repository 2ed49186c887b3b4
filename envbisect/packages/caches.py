"""uv's cache, kept apart by what a build depends on and shared in everything else.

A wheel that uv once built from source is served to everybody afterwards, however it was built: an sdist that builds
with ``Cython<3`` and fails without would look buildable for ever. What is built therefore lies in a cache of its own
for every set of build inputs; downloads, unpacked wheels and index pages are one for all, by links between the caches.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from envbisect.errors import EnvironmentFailure

_OWN: Final = ("sdists-", "builds-", "environments-")
"""uv's buckets that depend on build inputs: built wheels with their metadata, build environments."""


def build_cache_dir(root: Path, *, python: str, exclude_newer: str = "", build_constraints: Sequence[str] = ()) -> Path:
    """The folder below ``root`` to give to uv (``UV_CACHE_DIR``) for these build inputs; made if it is not there.

    The cut-off date belongs to the inputs because it decides which build tools are current, the Python (by its minor
    version) because a pure wheel that an older Python built is taken by a newer one that could not have built it.
    A ``root`` that is itself the cache for these inputs is returned as it is.

    Raises:
        EnvironmentFailure: the folder cannot be made.
    """
    inputs = [".".join(python.split(".")[:2]), exclude_newer, sorted(build_constraints)]
    key = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:16]
    if root.name == key:  # given back to us: already the cache for these inputs
        root = root.parent
    folder = root / key
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _share(root, folder)
    except OSError as error:
        raise EnvironmentFailure(f"the cache {folder} cannot be made: {error}", "Make room.") from error
    return folder


def _share(root: Path, folder: Path) -> None:
    """Link every shareable bucket that another cache below ``root`` owns and this one lacks.

    Whoever had a bucket first owns it. Nothing is ever moved, so a uv that runs meanwhile notices nothing.
    """
    for link in folder.iterdir():
        if link.is_symlink() and not link.exists():  # its owner was removed
            link.unlink(missing_ok=True)
    present = {path.name for path in folder.iterdir()}
    for bucket in sorted(root.glob("*/*-v*")):
        shareable = bucket.is_dir() and not bucket.is_symlink() and not bucket.name.startswith(_OWN)
        if shareable and bucket.name not in present:
            with contextlib.suppress(FileExistsError):  # another process, or uv itself, was first
                (folder / bucket.name).symlink_to(f"../{bucket.parent.name}/{bucket.name}", target_is_directory=True)
            present.add(bucket.name)

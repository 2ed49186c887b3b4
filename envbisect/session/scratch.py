"""A folder for work that leaves nothing behind, also where the process that made it was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from envbisect.errors import EnvironmentFailure

PREFIX: Final = "envbisect-scratch-"


@contextmanager
def scratch() -> Iterator[Path]:
    """A new folder below the system's temporary one, removed afterwards; what killed processes left there goes first.

    A folder is its maker's as long as that process lives: it holds a lock on it, which the kernel drops at its end.

    Raises:
        EnvironmentFailure: no folder can be made.
    """
    base = Path(tempfile.gettempdir())
    _sweep(base)
    try:
        fresh = Path(tempfile.mkdtemp(prefix="envbisect-new-", dir=base))
        owner = os.open(fresh, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(owner, fcntl.LOCK_EX)
        # Only now does it get the name that others look for: nobody sees it before it is locked.
        folder = fresh.rename(base / (PREFIX + fresh.name.removeprefix("envbisect-new-")))
    except OSError as error:
        raise EnvironmentFailure(
            f"{base}: no temporary folder can be made: {error.strerror or error}",
            "free some disk space, or name another folder in TMPDIR",
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(owner)


def _sweep(base: Path) -> None:
    """Remove the user's folders whose maker is gone."""
    for folder in base.glob(PREFIX + "*"):
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # no folder, another user's, or gone meanwhile
        try:
            if os.fstat(descriptor).st_uid == os.getuid():
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            continue  # its maker lives
        finally:
            os.close(descriptor)

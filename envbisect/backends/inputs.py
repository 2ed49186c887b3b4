"""``[inputs]``: the files that a test reads, checked by hash before it runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from envbisect.errors import UsageError
from envbisect.manifest.stack import Stack

PREFIX: Final = "sha256:"


class Inputs:
    """Checks hashes; a file is read again only when its identity, size or times moved.

    ``folders`` are the manifests' folders. A checkout is ours, so a file of the pinned content that lies in one of
    them is linked into it: so inputs move together with ``[code]``. A manifest's own folder is never changed.
    """

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = tuple(folders)
        self._known: dict[tuple[int, int, int, int, int], str] = {}

    def check(self, stack: Stack, workplace: Path, *, ours: bool) -> None:
        """Make every input of ``stack`` stand in ``workplace``, which is a checkout if it is ``ours``.

        Raises:
            UsageError: a file is missing or is not the pinned one; all of them are named.
        """
        faults = [
            fault
            for path, pinned in sorted(stack.table("inputs").items())
            if pinned is not None and (fault := self._fault(stack.folder, workplace, path, str(pinned), ours))
        ]
        if faults:
            hint = "restore the pinned file, or pin what is there (sha256sum FILE) in both manifests"
            raise UsageError("; ".join(faults), hint if ours else f"{hint}; with [code] pinned too, inputs can differ")

    def _fault(self, folder: Path, workplace: Path, relative: str, pinned: str, ours: bool) -> str:
        if not pinned.startswith(PREFIX):
            return f"inputs.{relative!r} is not pinned by '{PREFIX}…'"
        expected = pinned.removeprefix(PREFIX).lower()
        here = workplace / relative
        if here.is_file() and self.digest(here) == expected:
            return ""
        if ours:
            for root in (folder, *self._folders):
                origin = root / relative
                if origin.is_file() and self.digest(origin) == expected:
                    here.parent.mkdir(parents=True, exist_ok=True)
                    here.unlink(missing_ok=True)
                    here.symlink_to(origin.resolve())
                    return ""
        if not here.is_file():
            return f"input {here} is missing"
        return f"input {here} is sha256:{self.digest(here)[:12]}…, pinned is sha256:{expected[:12]}…"

    def digest(self, path: Path) -> str:
        """sha256 of a file, in hex."""
        status = os.stat(path)  # noqa: PTH116 - follows links, as the test does
        identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if identity not in self._known:
            with path.open("rb") as file:
                self._known[identity] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._known[identity]

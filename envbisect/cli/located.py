"""Paths of a result document as they work in the folder where it is read, which need not be the one of the run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def located(document: Mapping[str, Any], session: str) -> Mapping[str, Any]:
    """The document of the session at ``session``, absolute where its relative paths lead elsewhere from here."""
    here, folder = Path.cwd(), Path(session).resolve()
    told = str(document["session"])
    moved = (here / told).resolve() != folder
    inputs = document.get("inputs", {})
    lines = [
        {**line, "command": _command(line["command"], {told: str(folder)} if moved else {}, inputs, here)}
        for line in document.get("reproduce", ())
    ]
    if not moved and lines == list(document.get("reproduce", ())):
        return document
    return {**document, "session": str(folder) if moved else told, "reproduce": lines}


def _command(command: str, renamed: Mapping[str, str], inputs: Mapping[str, str], here: Path) -> str:
    """A command that was meant for the folder of the run: ``envbisect burnin MANIFEST …`` goes there first."""
    words = shlex.split(command)
    home = _home(words[2] if len(words) > 2 else "", inputs)
    if home is not None and home != here:
        return f"cd {shlex.quote(str(home))} && {command}"
    if not renamed.keys() & set(words):
        return command
    return shlex.join([renamed.get(word, word) for word in words])


def _home(manifest: str, inputs: Mapping[str, str]) -> Path | None:
    """The folder from which the relative path ``manifest`` leads to one of the ``inputs``; None if there is none."""
    parts = Path(manifest).parts
    if not parts or Path(manifest).is_absolute():
        return None
    for path in map(Path, inputs.values()):
        if path.parts[-len(parts) :] == parts:
            return path.parents[len(parts) - 1]
    return None

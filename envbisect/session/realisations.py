"""What configurations were realised to, kept in the session: after ``resume`` the same point is the same stack.

Asking the resolver again would take time and need the index, which may have changed meanwhile.
"""

from __future__ import annotations

import json
from pathlib import Path

from envbisect.errors import EnvbisectError, EnvironmentFailure
from envbisect.space import Lattice, realised_document, realised_from_document
from envbisect.space.model import Configuration, Infeasible, Realised


class Realisations:
    """``realised.jsonl`` of a session: one realisation a line, the first of its configuration counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: set[Configuration] = set()

    def recall(self, space: Lattice) -> None:
        """Give a space what earlier processes of the session resolved; a line that a crash tore is left out."""
        text = self._path.read_text(encoding="utf-8", errors="replace") if self._path.exists() else ""
        for line in text.splitlines():
            try:
                outcome = realised_from_document(json.loads(line))
            except (ValueError, EnvbisectError):
                continue  # torn; it is resolved again
            if outcome.asked not in self._kept:
                space.remember(outcome)
                self._kept.add(outcome.asked)

    def keep(self, outcome: Realised | Infeasible) -> None:
        """Write down what a configuration was realised to, once.

        Raises:
            EnvironmentFailure: the disk is full or the folder cannot be written.
        """
        if outcome.asked in self._kept:
            return
        line = json.dumps(realised_document(outcome), separators=(",", ":"))
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n" + line + "\n")  # begins anew after a torn line
        except OSError as error:
            raise EnvironmentFailure(
                f"{self._path} cannot be written: {error.strerror or error}", "free some disk space, then resume"
            ) from error
        self._kept.add(outcome.asked)

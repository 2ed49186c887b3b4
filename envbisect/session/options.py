"""What a user may choose for a run; stored verbatim in the session so that ``resume`` goes on with the same choices."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from envbisect.errors import UsageError


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of ``run`` and ``plan``.

    Attributes:
        good, bad: manifests or ``pip freeze`` files.
        command: the user's own test given after ``--``, None if the manifests say what to run.
        confidence: what a culprit's posterior has to reach.
        max_probes, max_hours: budgets over all probes; None is unlimited.
        until: when to stop, as ISO 8601 with an offset.
        backend: name of the runtime, None for the smallest that can move the deltas.
        burnin: a TOML file whose ``[burnin]`` replaces both manifests'.
        python: the interpreter whose packages are meant (runtime ``local``).
        checks: ids that replace the manifests' ``checks``.
        known_good, known_bad: (passes, runs) known from elsewhere, as ``--known good=30/30``.
        find_all: go on from every reversal that does not cure.
    """

    good: str
    bad: str
    command: tuple[str, ...] | None = None
    confidence: float = 0.95
    max_probes: int | None = None
    max_hours: float | None = None
    backend: str | None = None
    burnin: str | None = None
    seed: int = 0
    find_all: bool = False
    python: str | None = None
    checks: tuple[str, ...] | None = None
    known_good: tuple[int, int] | None = None
    known_bad: tuple[int, int] | None = None
    session: str | None = None
    until: str | None = None

    def __post_init__(self) -> None:
        if not 0.5 < self.confidence < 1:
            raise UsageError(
                f"--confidence {self.confidence} is not a probability between 0.5 and 1", "use for example 0.95"
            )
        if self.max_probes is not None and self.max_probes < 1:
            raise UsageError(f"--max-probes {self.max_probes} is not a positive number", "leave it out for no limit")
        if self.max_hours is not None and not self.max_hours > 0:
            raise UsageError(f"--max-hours {self.max_hours} is not a positive number", "leave it out for no limit")
        if self.seed < 0:
            raise UsageError(f"--seed {self.seed} is negative", "use 0 or more")
        for end, known in (("good", self.known_good), ("bad", self.known_bad)):
            if known is not None and not 0 <= known[0] <= known[1]:
                raise UsageError(
                    f"--known {end}={known[0]}/{known[1]} is no count of passes among runs", "write PASSES/RUNS"
                )

    def amended(
        self,
        *,
        confidence: float | None = None,
        max_probes: int | None = None,
        max_hours: float | None = None,
        until: str | None = None,
    ) -> RunOptions:
        """The same with what is given here."""
        return replace(
            self,
            confidence=self.confidence if confidence is None else confidence,
            max_probes=self.max_probes if max_probes is None else max_probes,
            max_hours=self.max_hours if max_hours is None else max_hours,
            until=self.until if until is None else until,
        )

    def to_document(self) -> dict[str, Any]:
        """As stored in ``session.json``."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> RunOptions:
        """From ``session.json``; lists become tuples again, unknown names are ignored (they come from newer tools)."""
        known = {f.name for f in fields(cls)}
        given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in document.items() if k in known}
        return cls(**given)

    def resolved(self, base: Path) -> RunOptions:
        """The same options with the paths of GOOD, BAD and files made absolute from ``base``."""
        return replace(
            self,
            good=_absolute(base, self.good),
            bad=_absolute(base, self.bad),
            burnin=_absolute(base, self.burnin) if self.burnin is not None else None,
        )


def _absolute(base: Path, path: str) -> str:
    """An absolute path, links as they are: whoever reads the file says what is wrong with them."""
    if not path:
        raise UsageError("an empty name is no file", "name a manifest or a pip freeze")
    return os.path.normpath(base / path)

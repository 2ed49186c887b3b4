"""What the space needs of a package index: ladders, metadata, resolution, interpreters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from envbisect.manifest.stack import Closure


@dataclass(frozen=True, slots=True)
class Rung:
    """One published version of a ladder; ``date`` is its upload time, RFC 3339, empty if the index has none."""

    version: str
    date: str = ""


@dataclass(frozen=True, slots=True)
class Rungs:
    """Published versions from the good one to the bad one, both included; ``off`` says what was left out and why."""

    steps: tuple[Rung, ...]
    off: tuple[str, ...] = ()
    dated: bool = True


@dataclass(frozen=True, slots=True)
class Needs:
    """The metadata of one release: Requires-Dist lines as published, and Requires-Python (may be empty)."""

    requires_dist: tuple[str, ...] = ()
    requires_python: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One resolution. Requirements are installed; constraints only limit what is needed anyway."""

    python: str
    requirements: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    exclude_newer: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The full closure, and for every distribution in it who asked for it (empty: only the requirements did).

    ``notes`` is what the resolver warns of: a yanked version, an index without upload times.
    """

    closure: Closure
    parents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class RequirementsConflict(Exception):  # noqa: N818 - an outcome that teaches the space, never shown as it is
    """The requirements contradict each other. ``packages`` are the canonical names that the resolver speaks of."""

    def __init__(self, reason: str, packages: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.packages = packages


class SourceBuildFailed(Exception):  # noqa: N818 - an outcome as well
    """A source distribution had to be built to be resolved, and could not. ``pin`` is "pyyaml==5.4" or empty."""

    def __init__(self, reason: str, pin: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.pin = pin


class PackageSource(Protocol):
    """An index. Every method raises EnvironmentFailure if it cannot be reached, UsageError for what does not exist."""

    def find_python(self, version: str) -> Path | None:
        """The interpreter of a version ("3.11", "3.11.7") on this machine."""
        ...

    def ladder(self, name: str, good: str, bad: str, *, python: str, exclude_newer: str) -> Rungs:
        """Published versions from ``good`` to ``bad``, installable on ``python``."""
        ...

    def needs(self, releases: Sequence[tuple[str, str]], *, python: str) -> Mapping[tuple[str, str], Needs]:
        """The metadata of (name, version) pairs; what cannot be known without a build is missing in the answer."""
        ...

    def resolve(self, question: Question) -> Answer:
        """Resolve.

        Raises:
            RequirementsConflict: the requirements contradict each other.
            SourceBuildFailed: a source distribution failed to build on the way.
        """
        ...

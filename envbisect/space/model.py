"""Axes, configurations and their realisation: the words of the space, without any source of steps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from envbisect.manifest.stack import Stack, Value

Configuration: TypeAlias = tuple[int, ...]
"""A step for every axis, in the order of ``Space.axes``; good is all 0, bad is all top."""


class StepSource(StrEnum):
    """Where the steps of an axis come from."""

    FLAG = "flag"  # two steps: no source knows anything in between
    DECLARED = "declared"  # [axes] in a manifest
    RELEASES = "releases"  # published versions of a package index
    PRESENCE = "presence"  # absent against installed
    COMMITS = "commits"  # a Git history
    INTERPRETERS = "interpreters"  # Python versions that this machine has


@dataclass(frozen=True, slots=True)
class Step:
    """One value of an axis. ``date`` is an RFC 3339 upload or commit date, empty if none is known."""

    value: Value
    date: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """A delta with its ordered steps: ``steps[0]`` is the good value and ``steps[-1]`` the bad one."""

    key: str
    steps: tuple[Step, ...]
    source: StepSource
    off_ladder: tuple[str, ...] = ()  # what was left out and why: "4.21.0: yanked"

    @property
    def size(self) -> int:
        """The top step; 1 for a flag."""
        return len(self.steps) - 1


@dataclass(frozen=True, slots=True)
class Unmovable:
    """A delta that nobody here can move: it stays as the machine has it; ``stays`` is None where that is not known."""

    key: str
    good: Value
    bad: Value
    stays: Value
    reason: str


@dataclass(frozen=True, slots=True)
class Rider:
    """A component that moved along without being an axis: a dependency that the resolver chose or dropped."""

    key: str
    good: Value
    bad: Value


@dataclass(frozen=True, slots=True)
class Realised:
    """What a configuration became. ``point`` is what the search is told; it differs from ``asked`` if it was snapped.

    ``riders`` are the components that differ from the good end without being moved by an axis, or from what the axes
    of ``point`` say.
    """

    asked: Configuration
    point: Configuration
    stack: Stack
    riders: tuple[Rider, ...] = ()


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No stack can be had at or near ``asked``; ``reason`` is the resolver's own words, shortened.

    ``build`` is true if a source distribution failed to build during resolution (learned as unbuildable), false if
    the requirements contradict each other. ``pin`` ("pyyaml==5.4") is what failed to build, if that is known.
    """

    asked: Configuration
    reason: str
    build: bool = False
    pin: str = ""


class Space(Protocol):
    """The product lattice between two manifests. Implementations may touch the index; they never run a test."""

    @property
    def axes(self) -> tuple[Axis, ...]: ...

    @property
    def unmovable(self) -> tuple[Unmovable, ...]: ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user must know: an index without dates, equal-but-unknown components, bundles."""
        ...

    def realise(self, asked: Configuration) -> Realised | Infeasible:
        """Make a stack of a configuration. Raises EnvironmentFailure if the index cannot be reached."""
        ...

    def exact(self, base: Configuration, changes: dict[str, Value]) -> Stack:
        """The stack of ``base`` with single packages exchanged, nothing resolved: to name a culprit at the boundary."""
        ...

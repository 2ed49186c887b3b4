"""What a source of steps is: it turns a delta into an axis, or leaves it to the next source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from envbisect.manifest.stack import Value
from envbisect.space.deltas import Delta
from envbisect.space.index import PackageSource
from envbisect.space.model import Axis


@dataclass(frozen=True, slots=True)
class Scene:
    """What sources may look at.

    Attributes:
        components: what both ends have in common; relative paths mean ``folder``.
        declared: the steps that the manifests declare, by key (``[axes]``), both endpoints in them.
        index: the package index; None when no package moves in this run.
        pythons: the Python versions of this run: both ends, or one.
        exclude_newer: the common moment, RFC 3339; empty if none.
    """

    components: Mapping[str, Value]
    folder: Path
    declared: Mapping[str, Sequence[Value]]
    index: PackageSource | None
    pythons: tuple[str, ...]
    exclude_newer: str

    def on(self, pythons: tuple[str, ...]) -> Scene:
        """The same scene for other Pythons."""
        return replace(self, pythons=pythons)


@dataclass(frozen=True, slots=True)
class Proposal:
    """An axis, and what a user must know about its steps."""

    axis: Axis
    notes: tuple[str, ...] = ()


class Source(Protocol):
    """A function ``propose(delta, scene)``; None means that this source has nothing to say about the delta."""

    def __call__(self, delta: Delta, scene: Scene) -> Proposal | None: ...

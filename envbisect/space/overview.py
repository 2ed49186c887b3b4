"""A space in numbers, for ``envbisect plan``: what a run would move, and what metadata already rules out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import prod

from envbisect.manifest.stack import ABSENT, Value
from envbisect.space.deltas import PACKAGES, pin_value
from envbisect.space.lattice import Lattice
from envbisect.space.model import Axis, Rider, StepSource
from envbisect.space.packages import PackageLattice
from envbisect.space.requirements import exact_ties


@dataclass(frozen=True, slots=True)
class AxisOverview:
    """One axis. ``steps`` counts all of them, the ends included; dates are RFC 3339 or empty."""

    key: str
    source: StepSource
    steps: int
    first: Value
    last: Value
    first_date: str
    last_date: str
    off_ladder: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """A space in numbers.

    Attributes:
        configurations: how many points the lattice has.
        bundles: keys that exact requirements tie together.
        infeasible_pairs: of all pairs of steps of two package axes, the fraction that metadata rules out (0 to 1).
        riders: what comes along without being an axis: components of one end only, which something there requires.
        resolves: whether realising a point asks a package index.
    """

    axes: tuple[AxisOverview, ...]
    configurations: int
    bundles: tuple[tuple[str, ...], ...]
    infeasible_pairs: float
    riders: tuple[Rider, ...]
    resolves: bool


def overview(space: Lattice) -> Overview:
    """What ``plan`` shows. Pure: nothing is resolved or fetched for it."""
    packages = space.packages
    return Overview(
        axes=tuple(_axis(axis) for axis in space.axes),
        configurations=prod(len(axis.steps) for axis in space.axes),
        bundles=_bundles(packages) if packages else (),
        infeasible_pairs=_infeasible_pairs(packages) if packages else 0.0,
        riders=tuple(_riders(packages)) if packages else (),
        resolves=packages is not None,
    )


def _axis(axis: Axis) -> AxisOverview:
    first, last = axis.steps[0], axis.steps[-1]
    return AxisOverview(
        axis.key, axis.source, len(axis.steps), first.value, last.value, first.date, last.date, axis.off_ladder
    )


def _bundles(packages: PackageLattice) -> tuple[tuple[str, ...], ...]:
    tables = [packages.demands(step) for step in range(len(packages.pythons))]
    return tuple(tuple(PACKAGES + name for name in bundle) for bundle in exact_ties(tables, packages.axes))


def _infeasible_pairs(packages: PackageLattice) -> float:
    """Over all Pythons of the run; a step that is impossible by itself rules out all its pairs."""
    possible = total = 0
    for python_step in range(len(packages.pythons)):
        table = packages.table(python_step)
        for one, other in combinations(packages.axes, 2):
            total += len(one.values) * len(other.values)
            possible += table.count_possible(one.position, other.position)
    return 1 - possible / total if total else 0.0


def _riders(packages: PackageLattice) -> Iterator[Rider]:
    for pin in packages.facts.plan.derived:
        at_good = packages.facts.good.version(pin.name) is not None
        value = pin_value(pin)
        yield Rider(PACKAGES + pin.name, value if at_good else ABSENT, ABSENT if at_good else value)

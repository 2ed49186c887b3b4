"""Lattices with hidden culprits, and what a search of one came to.

Standard library only: the workers that drive other tools in an environment of their own import this, too.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final, TypeAlias

Point: TypeAlias = tuple[int, ...]

FLAGS: Final[Point] = (1,) * 14
STEPS: Final[Point] = (1024,)
MIXED: Final[Point] = (7,) * 6 + (1,) * 14

BUILD_RUNS: Final = 10.0  # what a build costs in runs of the test, wherever a cost is stated
CONFIDENCE: Final = 0.95
PATIENCE: Final = 2000  # probes after which a search is given up


@dataclass(frozen=True, slots=True)
class Ends:
    """How often each end ran before, and the prior weight of a deterministic test that goes with it."""

    runs: int
    deterministic: float

    def __str__(self) -> str:
        return f"{self.runs} + {self.runs}"


MANY: Final = Ends(10, 0.2)
FEW: Final = Ends(2, 0.6)


@dataclass(frozen=True, slots=True)
class Row:
    """A lattice, how its minimal failing points are drawn, and what the searcher is told.

    Attributes:
        key: its name on the command line and in the store.
        title: its name in the table.
        sizes: top step of each axis.
        order: axes of the one culprit; 0 if there is none, or if ``sets`` has them.
        sets: minimal sets over the flags by letter: ``("AB", "AC")`` fails with A and B, or with A and C.
        p: how often a failing configuration fails.
        q: how often a passing one does.
        told: p and q are told to the search.
        priced: a build costs ``BUILD_RUNS`` runs, and the search is told so.
        ends: what ran before the search, uncounted.
        patience: probes after which a search is given up.
    """

    key: str
    title: str
    sizes: Point
    order: int = 0
    sets: tuple[str, ...] = ()
    p: float = 1.0
    q: float = 0.0
    told: bool = False
    priced: bool = False
    ends: Ends = MANY
    patience: int = PATIENCE

    @property
    def deterministic(self) -> bool:
        """Whether the test says the same each time."""
        return (self.p, self.q) == (1.0, 0.0)

    @property
    def top(self) -> Point:
        """The bad end."""
        return self.sizes

    @property
    def zero(self) -> Point:
        """The good end."""
        return (0,) * len(self.sizes)


@dataclass(frozen=True, slots=True)
class Found:
    """What one search came to.

    Attributes:
        runs: of the test, those of the ends aside.
        builds: distinct configurations that were run, besides the ends.
        status: how it ended, in the searcher's own word.
        answered: it named a culprit.
        right: what it named is a true minimal failing point.
        rounds: runs that followed one another: less than ``runs`` with several workers.
        thought_s: CPU seconds of the searcher; the test itself costs nothing. Wall-clock seconds of a real program.
    """

    runs: int
    builds: int
    status: str
    answered: bool
    right: bool
    rounds: float
    thought_s: float


def at_or_above(point: Point, culprit: Point) -> bool:
    """Whether the point has all of the culprit's steps."""
    return all(step >= least for step, least in zip(point, culprit, strict=True))


def culprits(row: Row, seed: int) -> tuple[Point, ...]:
    """The row's minimal failing points for this seed: axes are drawn first, all alike, then their steps."""
    generator = random.Random(f"culprits {seed}")
    axes = range(len(row.sizes))
    if row.sets:
        letters = sorted(set("".join(row.sets)))
        flag = dict(zip(letters, generator.sample(axes, len(letters)), strict=True))
        return tuple(tuple(int(axis in {flag[each] for each in members}) for axis in axes) for members in row.sets)
    if not row.order:
        return ()
    steps = [0] * len(row.sizes)
    for axis in generator.sample(axes, row.order):
        steps[axis] = generator.randint(1, row.sizes[axis])
    return (tuple(steps),)


class World:
    """One hidden truth: runs the test, and counts what that takes."""

    def __init__(self, row: Row, seed: int) -> None:
        self.row = row
        self.culprits = culprits(row, seed)
        self._noise = random.Random(f"noise {seed}")
        self._ends = {row.zero, row.top}
        self._built: set[Point] = set()
        self.runs = 0

    @property
    def builds(self) -> int:
        """Distinct configurations that were run, besides the ends."""
        return len(self._built)

    def fails(self, point: Point) -> bool:
        """One counted run."""
        self.runs += 1
        if point not in self._ends:
            self._built.add(point)
        return self.fails_uncounted(point)

    def fails_uncounted(self, point: Point) -> bool:
        """One run before the search."""
        failing = any(at_or_above(point, culprit) for culprit in self.culprits)
        return self._noise.random() < (self.row.p if failing else self.row.q)

    def found(self, status: str, answer: Point | None, thought_s: float, rounds: float | None = None) -> Found:
        """What the search came to; ``answer`` is what it named, if anything."""
        right = answer is not None and answer in self.culprits
        return Found(
            self.runs,
            self.builds,
            status,
            answered=answer is not None,
            right=right,
            rounds=float(self.runs) if rounds is None else rounds,
            thought_s=thought_s,
        )

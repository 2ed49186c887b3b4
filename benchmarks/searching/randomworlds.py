"""Random lattices with random truths, for the question how often an answer is right.

A seed means the same world for good: the order of the draws below is part of what is measured.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from searching.worlds import Point, at_or_above

LEAST_GAP: Final = 0.15  # of p over q
MOST_POINTS: Final = 3
MOST_AXES: Final = 3  # of one minimal point
LONG: Final = (8, 20, 60, 200, 1024)  # top steps of a single ladder
UNBUILDABLE: Final = (0.0, 0.0, 0.05, 0.1, 0.2)  # share of steps that do not build, each as likely


@dataclass(frozen=True, slots=True)
class RandomWorld:
    """One hidden truth.

    Attributes:
        sizes: top step of each axis.
        points: the minimal failing points, none at or above another.
        p: how often a failing configuration fails.
        q: how often a passing one does.
        unbuildable: steps of an axis, neither its lowest nor its highest, that no configuration can have.
    """

    sizes: Point
    points: tuple[Point, ...]
    p: float
    q: float
    unbuildable: frozenset[tuple[int, int]]

    def builds(self, point: Point) -> bool:
        """Whether the configuration can be tested at all."""
        return not any(each in self.unbuildable for each in enumerate(point))

    def rate(self, point: Point) -> float:
        """How often the configuration fails."""
        return self.p if any(at_or_above(point, each) for each in self.points) else self.q

    @property
    def boundary_builds(self) -> bool:
        """Whether every minimal point and everything right below it can be tested: only then can all be proven."""
        return all(self.builds(each) for point in self.points for each in (point, *right_below(point)))


def right_below(point: Point) -> list[Point]:
    """The configurations with one step less on one axis."""
    return [(*point[:axis], step - 1, *point[axis + 1 :]) for axis, step in enumerate(point) if step]


def draw(seed: int) -> RandomWorld:
    """The world of this seed."""
    generator = random.Random(seed)
    sizes = _sizes(generator)
    points = _points(generator, sizes)
    p, q = _rates(generator)
    share = generator.choice(UNBUILDABLE)
    steps = [(axis, step) for axis, top in enumerate(sizes) for step in range(1, top)]
    return RandomWorld(sizes, points, p, q, frozenset(each for each in steps if generator.random() < share))


def _sizes(generator: random.Random) -> Point:
    """A long ladder alone, flags alone, or ladders with flags; half of the last two in mixed order."""
    form = generator.random()
    if form < 0.15:
        sizes = [generator.choice(LONG)]
    elif form < 0.5:
        sizes = [1] * generator.randint(3, 16)
    else:
        ladders = [generator.randint(2, 12) for _ in range(generator.randint(1, 5))]
        sizes = ladders + [1] * generator.randint(0, 12)
    if generator.random() < 0.5:
        generator.shuffle(sizes)
    return tuple(sizes)


def _points(generator: random.Random, sizes: Point) -> tuple[Point, ...]:
    """Up to three points of up to three axes, less those that are at or above another."""
    points: set[Point] = set()
    for _ in range(generator.randint(1, MOST_POINTS)):
        order = min(len(sizes), generator.randint(1, MOST_AXES))
        steps = [0] * len(sizes)
        for axis in generator.sample(range(len(sizes)), order):
            steps[axis] = generator.randint(1, sizes[axis])
        points.add(tuple(steps))
    minimal = (each for each in points if not any(other != each and at_or_above(each, other) for other in points))
    return tuple(sorted(minimal))


def _rates(generator: random.Random) -> tuple[float, float]:
    """A deterministic test in one of five; else any rates that are far enough apart, often with p = 1 or q = 0."""
    if generator.random() < 0.2:
        return 1.0, 0.0
    while True:
        p, q = generator.random(), generator.random()
        if generator.random() < 0.3:
            q = 0.0
        if generator.random() < 0.15:
            p = 1.0
        if p - q >= LEAST_GAP:
            return p, q

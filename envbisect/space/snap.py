"""From an infeasible point to the nearest feasible one. Pure: integers in, integers out.

The rule was measured on real regressions: take the first violated pair, move either axis of it just as far as clears
*that pair*, and search by cost: steps moved, and as a lower bound of what is still to come one step for each violation
that shares no axis with another. Where neither axis can clear the pair alone, both move; with that, the first point
found is of minimal cost (the property test compares with brute force).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from envbisect.space.model import Configuration

Matrix: TypeAlias = tuple[tuple[bool, ...], ...]
HELD_WEIGHT: Final = 1000
"""A step of an axis that the search has just moved counts as so many: its companions move, not itself."""

GREED: Final = 100
"""How much more than the way so far the way that is left counts, once the search for the nearest point gave up."""


@dataclass(frozen=True, slots=True)
class Feasibility:
    """What metadata says about points of a lattice, for one value of the axes that never move.

    Attributes:
        sizes: top step of each axis.
        alone: for some axes, whether each step is possible beside what never moves.
        pairs: for some pairs (i, j) with i < j, ``pairs[i, j][step of i][step of j]``.
    """

    sizes: tuple[int, ...]
    alone: Mapping[int, tuple[bool, ...]] = field(default_factory=dict)
    pairs: Mapping[tuple[int, int], Matrix] = field(default_factory=dict)

    def violation(self, point: Configuration) -> tuple[int, ...]:
        """The first axis, or pair of axes, that metadata rules out at ``point``; empty if there is none."""
        return next(self.violations(point), ())

    def violations(self, point: Configuration) -> Iterator[tuple[int, ...]]:
        """Every axis and every pair of axes that metadata rules out at ``point``."""
        for axis, possible in self.alone.items():
            if not possible[point[axis]]:
                yield (axis,)
        for (one, other), possible_pairs in self.pairs.items():
            if not possible_pairs[point[one]][point[other]]:
                yield (one, other)

    def least_movement(self, point: Configuration, weights: Sequence[int]) -> int:
        """A lower bound of the cost of clearing ``point``: violations without a common axis need a step each."""
        met: set[int] = set()
        bound = 0
        for violated in self.violations(point):
            if met.isdisjoint(violated):
                met.update(violated)
                bound += min(weights[axis] for axis in violated)
        return bound

    def count_possible(self, one: int, other: int) -> int:
        """How many pairs of steps of two axes, ``one`` the lower, can be had together."""
        ones, others = (self.alone.get(axis, (True,) * (self.sizes[axis] + 1)) for axis in (one, other))
        table = self.pairs.get((one, other))
        if table is None:
            return sum(ones) * sum(others)
        return sum(
            fits and possible
            for row, row_possible in zip(table, ones, strict=True)
            if row_possible
            for fits, possible in zip(row, others, strict=True)
        )

    def clearings(self, point: Configuration, violated: tuple[int, ...]) -> Iterator[Configuration]:
        """Points that clear ``violated`` with the least movement in each direction."""
        match violated:
            case (axis,):
                possible = self.alone[axis]
                for steps in _directions(point[axis], self.sizes[axis]):
                    nearest = next((step for step in steps if possible[step]), None)
                    if nearest is not None:
                        yield _moved(point, {axis: nearest})
            case (one, other):
                table = self.pairs[one, other]
                for ups in _directions(point[one], self.sizes[one], stay=True):
                    for sides in _directions(point[other], self.sizes[other], stay=True):
                        yield from (_moved(point, {one: a, other: b}) for a, b in _frontier(table, ups, sides))
            case _:
                return


def nearest(
    asked: Configuration,
    feasibility: Feasibility,
    *,
    held: frozenset[int] = frozenset(),
    movable: frozenset[int],
    rejected: Mapping[Configuration, frozenset[int]] | None = None,
    max_expanded: int = 5_000,
) -> Iterator[Configuration]:
    """Feasible points by increasing cost of leaving ``asked``; ``asked`` itself is the first if it is feasible.

    Args:
        held: axes that the search has just moved; each of their steps costs ``HELD_WEIGHT``.
        movable: the axes that may move at all.
        rejected: read after a point was given out: a caller who finds it infeasible for another reason puts it here
            with the axes to move next, and the neighbours along these axes join the search.
        max_expanded: how many points are looked at before any near point will do instead of the nearest.
    """
    weights = [HELD_WEIGHT if axis in held else 1 for axis in range(len(asked))]
    search = _Search(asked, feasibility, weights, movable, {} if rejected is None else rejected)
    for greed in (1, GREED):
        found = False
        for point in search.points(greed, max_expanded):
            found = True
            yield point
        if found:
            return


@dataclass(frozen=True)
class _Search:
    asked: Configuration
    feasibility: Feasibility
    weights: Sequence[int]
    movable: frozenset[int]
    rejected: Mapping[Configuration, frozenset[int]]

    def points(self, greed: int, max_expanded: int) -> Iterator[Configuration]:
        """Feasible points, best first; what is still to come counts ``greed`` times."""
        best: dict[Configuration, int] = {self.asked: 0}
        queue: list[tuple[int, int, Configuration]] = [(0, 0, self.asked)]  # (promise, cost, point)
        given: set[Configuration] = set()
        for _ in range(max_expanded):
            if not queue:
                return
            _, cost, point = heapq.heappop(queue)
            if cost > best[point]:
                continue  # reached again, and cheaper
            if point not in given and not self.feasibility.violation(point):
                given.add(point)
                yield point
            for other in self._following(point):
                total = cost + distance(point, other, self.weights)
                if total < best.get(other, total + 1):
                    best[other] = total
                    still = self.feasibility.least_movement(other, self.weights)
                    heapq.heappush(queue, (total + greed * still, total, other))

    def _following(self, point: Configuration) -> Iterator[Configuration]:
        violated = self.feasibility.violation(point)
        if violated:
            points = self.feasibility.clearings(point, violated)
        else:
            points = _neighbours(point, self.feasibility.sizes, self.rejected.get(point, frozenset()))
        return (other for other in points if self.movable.issuperset(_changed(point, other)))


def distance(one: Configuration, other: Configuration, weights: Sequence[int]) -> int:
    """Weighted number of steps between two points."""
    return sum(weight * abs(a - b) for weight, a, b in zip(weights, one, other, strict=True))


def _neighbours(point: Configuration, sizes: Sequence[int], axes: frozenset[int]) -> Iterator[Configuration]:
    for axis in sorted(axes):
        for step in (point[axis] - 1, point[axis] + 1):
            if 0 <= step <= sizes[axis]:
                yield _moved(point, {axis: step})


def _frontier(table: Matrix, ups: Sequence[int], sides: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Possible pairs of one quadrant of which none is reached on the way to another (Pareto-minimal)."""
    reach = len(sides)
    for step in ups:
        found = next((index for index in range(reach) if table[step][sides[index]]), None)
        if found is not None:
            yield step, sides[found]
            reach = found
        if reach == 0:
            return


def _directions(step: int, size: int, *, stay: bool = False) -> tuple[Sequence[int], Sequence[int]]:
    here = [step] if stay else []
    return ([*here, *range(step + 1, size + 1)], [*here, *range(step - 1, -1, -1)])


def _moved(point: Configuration, changes: Mapping[int, int]) -> Configuration:
    return tuple(changes.get(axis, step) for axis, step in enumerate(point))


def _changed(one: Configuration, other: Configuration) -> Iterator[int]:
    return (axis for axis, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)

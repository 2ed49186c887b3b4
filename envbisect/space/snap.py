"""From an infeasible point to the nearest feasible one. Pure: integers in, integers out.

The rule was measured on real regressions: take the first violated pair, move either axis of it just as far as clears
*that pair*, and search by uniform cost. Where neither axis can clear the pair alone, both move; with that, the first
point found is of minimal cost (the property test compares with brute force).
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
        for axis, possible in self.alone.items():
            if not possible[point[axis]]:
                return (axis,)
        for (one, other), possible_pairs in self.pairs.items():
            if not possible_pairs[point[one]][point[other]]:
                return (one, other)
        return ()

    def possible(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """Whether two (axis, step) can be had together; the first axis is the lower one."""
        for axis, step in (one, other):
            if axis in self.alone and not self.alone[axis][step]:
                return False
        table = self.pairs.get((one[0], other[0]))
        return table is None or table[one[1]][other[1]]

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
    max_expanded: int = 20_000,
) -> Iterator[Configuration]:
    """Feasible points by increasing cost of leaving ``asked``; ``asked`` itself is the first if it is feasible.

    Args:
        held: axes that the search has just moved; each of their steps costs ``HELD_WEIGHT``.
        movable: the axes that may move at all.
        rejected: read after a point was given out: a caller who finds it infeasible for another reason puts it here
            with the axes to move next, and the neighbours along these axes join the search.
        max_expanded: how many points are looked at before the search gives up.
    """
    weights = [HELD_WEIGHT if axis in held else 1 for axis in range(len(asked))]
    best: dict[Configuration, int] = {asked: 0}
    queue: list[tuple[int, Configuration]] = [(0, asked)]
    done: set[Configuration] = set()
    while queue and len(done) < max_expanded:
        cost, point = heapq.heappop(queue)
        if point in done:
            continue
        done.add(point)
        violated = feasibility.violation(point)
        if violated:
            following = feasibility.clearings(point, violated)
        else:
            yield point
            following = _neighbours(point, feasibility.sizes, (rejected or {}).get(point, frozenset()))
        for other in following:
            if any(axis not in movable for axis in _changed(point, other)):
                continue
            total = cost + distance(point, other, weights)
            if total < best.get(other, total + 1):
                best[other] = total
                heapq.heappush(queue, (total, other))


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

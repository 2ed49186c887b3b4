"""QuickXplain (Junker 2004) over axes, and bisection of the ladders that are left.

Standard library only: the worker that drives picire bisects ladders with this, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from searching.worlds import Found, Point, Row, World

Fails = Callable[[Point], bool]


def quickxplain(fails: Callable[[Sequence[int]], bool], items: Sequence[int]) -> list[int]:
    """A minimal failing subset of ``items``, which fail together; the empty set is known to pass."""

    def explain(background: list[int], added: bool, rest: list[int]) -> list[int]:
        if added and fails(background):
            return []
        if len(rest) == 1:
            return rest
        left, right = rest[: len(rest) // 2], rest[len(rest) // 2 :]
        second = explain(background + left, True, right)
        first = explain(background + second, bool(second), left)
        return first + second

    return explain([], False, list(items)) if items else []


def lowered(fails: Fails, top: Point, axes: Sequence[int]) -> Point:
    """The steps from which on these axes fail together, every other axis at 0: one bisection for each."""
    steps = [top[axis] if axis in axes else 0 for axis in range(len(top))]
    for axis in axes:
        passing, failing = 0, steps[axis]
        while failing - passing > 1:
            steps[axis] = (passing + failing) // 2
            passing, failing = (passing, steps[axis]) if fails(tuple(steps)) else (steps[axis], failing)
        steps[axis] = failing
    return tuple(steps)


def raised(top: Point, axes: Sequence[int]) -> Point:
    """These axes at the top, all others at 0."""
    return tuple(top[axis] if axis in axes else 0 for axis in range(len(top)))


def remembered(world: World, repeats: int) -> Fails:
    """Verdicts of up to ``repeats`` runs, bad at the first failure; the ends are known, and nothing is asked twice."""
    known = {world.row.zero: False, world.row.top: True}

    def fails(point: Point) -> bool:
        if point not in known:
            known[point] = any(world.fails(point) for _ in range(repeats))
        return known[point]

    return fails


def explained(row: Row, seed: int, repeats: int) -> Found:
    """One search: axes from end to end, then their steps."""
    world = World(row, seed)
    begun = time.process_time()
    fails = remembered(world, repeats)
    axes = quickxplain(lambda chosen: fails(raised(row.top, chosen)), range(len(row.sizes)))
    named = lowered(fails, row.top, axes)
    return world.found("minimal", named, time.process_time() - begun)

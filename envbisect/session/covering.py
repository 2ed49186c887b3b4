"""Whether culprits explain every failure: where the bad stack must pass if they are all there are. Pure.

A configuration that lowers at least one change of each culprit to its last good step is above none of them. The highest
such configurations decide: if all pass, so does everything else that is above no culprit, and there is no other one; if
one fails, another culprit lies below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice, product
from typing import Final

from envbisect.search.words import below
from envbisect.session.finding import Cure
from envbisect.session.goal import Goal
from envbisect.session.history import History
from envbisect.session.settling import clear
from envbisect.space.model import Configuration

MOST_COMBINATIONS: Final = 4096


def must_pass(top: Configuration, culprits: Sequence[Mapping[int, int]]) -> list[Configuration] | None:
    """The highest configurations that are above no culprit; None if there are too many ways to undo them.

    Args:
        top: the bad stack.
        culprits: for each, its axes by number with their last good steps.
    """
    points: set[Configuration] = set()
    ways = list(islice(product(*culprits), MOST_COMBINATIONS + 1))
    if not all(culprits) or len(ways) > MOST_COMBINATIONS:
        return None
    for way in ways:
        steps = list(top)
        for axis, culprit in zip(way, culprits, strict=True):
            steps[axis] = min(steps[axis], culprit[axis])
        points.add(tuple(steps))
    highest = [x for x in points if not any(x != y and below(x, y) for y in points)]
    return sorted(highest, key=lambda point: (-sum(point), point))


def passes(goal: Goal, history: History, point: Configuration) -> bool:
    """Whether a configuration was seen passing, or one at or above it that has all its changes."""
    above = {entry.point for entry in history.lattice() if below(point, entry.point)}
    return any(clear(goal, history, history.counts(goal.symptom, x)) is Cure.CURES for x in above)


def excluded(goal: Goal, history: History, culprits: Sequence[Mapping[int, int]]) -> bool:
    """Whether the passes seen leave no room for a culprit beside these, in the bad stack that ``goal`` starts from."""
    points = must_pass(tuple(axis.size for axis in goal.axes), culprits)
    return bool(points) and all(passes(goal, history, point) for point in points or ())

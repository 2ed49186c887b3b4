"""Run one configuration until it is clear whether it passes. Pure."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Final

from envbisect.search import Cause, Search
from envbisect.session.ask import Ask, NotFeasible, Purpose, Reply
from envbisect.session.finding import Cure
from envbisect.session.goal import Goal, tell, weighed, weighed_points
from envbisect.session.history import Counts, History
from envbisect.space.model import Configuration

MOST_REPEATS: Final = 20
"""Runs of one verification point at most: enough to see a failure of 15 % with 96 % probability."""

MOST_UNRESOLVED: Final = 3


def settle(
    goal: Goal, history: History, search: Search, point: Configuration, purpose: Purpose
) -> Generator[Ask, Reply, Cure]:
    """Run a configuration until it is clear whether it passes; the search hears everything."""
    for _ in range(MOST_REPEATS):
        counts = history.counts(goal.symptom, point)
        verdict = clear(goal, history, counts)
        if verdict is not None:
            return verdict
        if counts.unresolved >= MOST_UNRESOLVED:
            return Cure.UNRESOLVED
        if goal.spent():
            return Cure.UNRESOLVED
        entry = yield from history.probe(Ask(point, purpose))
        tell(search, goal, entry)
        if isinstance(entry.reply, NotFeasible) or entry.point != point:
            return Cure.UNRESOLVED
        seen = entry.verdict(goal.symptom)
        if seen is not None and seen.cause is Cause.UNBUILDABLE:
            return Cure.UNRESOLVED
    return Cure.UNRESOLVED


def clear(goal: Goal, history: History, counts: Counts) -> Cure | None:
    """Passing, failing, or not clear yet: a likelihood ratio between the two rates (Wald's test)."""
    low = weighed(goal, history, (0,) * len(goal.axes))
    failing = _failing(goal, history)
    if not failing.good and not low.bad:  # nothing ever disagreed with itself: one run tells
        if counts.bad:
            return Cure.DOES_NOT_CURE
        return Cure.CURES if counts.good else None
    p = (failing.bad + 0.5) / (failing.good + failing.bad + 1)
    q = (low.bad + 0.5) / (low.good + low.bad + 1) if low.bad else 0.5 / (low.good + low.bad + 10)
    weight = counts.bad * math.log(p / q) + counts.good * math.log((1 - p) / (1 - q))
    limit = math.log(goal.confidence / (1 - goal.confidence))
    if weight >= limit:
        return Cure.DOES_NOT_CURE
    return Cure.CURES if weight <= -limit else None


def _failing(goal: Goal, history: History) -> Counts:
    """The runs of all configurations that failed more than the good end does: they say how often failing ones fail."""
    low = weighed(goal, history, (0,) * len(goal.axes))
    total = Counts()
    for point in weighed_points(goal, history):
        counts = weighed(goal, history, point) if any(point) else Counts()
        if counts.bad * (low.good + low.bad + 2) > (counts.good + counts.bad) * (low.bad + 1):
            total.good += counts.good
            total.bad += counts.bad
    return total

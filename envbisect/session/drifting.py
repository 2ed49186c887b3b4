"""Whether the machine changed while it was measured: the good end is run again now and then. Pure.

A pass of any configuration says that the good end, which lies below it, would have passed then. So what passed before,
wherever, is held against the later runs of the good end: if they fail more often than one failure rate explains, what
changed is no axis, and must not be blamed on one.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from itertools import pairwise
from typing import Final

from envbisect.search import Outcome, Search
from envbisect.session.ask import Ask, Purpose, Reply
from envbisect.session.finding import Drifted
from envbisect.session.goal import Goal, tell
from envbisect.session.history import Counts, History
from envbisect.space.model import Configuration

EVERY: Final = 25
"""Probes after which the good end is run again while the search goes on."""

STALE: Final = 20
STALE_FLAKY: Final = 5
"""Probes since the last run of the good end after which an answer is not given before it was run again."""

CHECKS: Final = 4
"""Runs of the good end before such an answer; a machine that now fails every second time is missed in one of 16."""

MOST_AT_ONCE: Final = 16
"""Runs of the good end at once, while they look unlike what passed before."""

GAP: Final = 4
"""Probes between two runs of the good end from which on the machine may have changed between them."""

UNLIKE: Final = 0.2
"""Probability below which they do."""

LEVEL: Final = 0.01
"""Probability, corrected for the moments looked at, below which later runs of the good end are another rate's."""


def due(goal: Goal, history: History, every: int = EVERY) -> bool:
    """Whether the good end was not run for this many probes."""
    zero = (0,) * len(goal.axes)
    last = max((n for n, entry in enumerate(history.entries) if entry.point == zero), default=0)
    return len(history.entries) - 1 - last >= every


def remeasure(goal: Goal, history: History, search: Search, least: int = 1) -> Generator[Ask, Reply, bool]:
    """Run the good end, which is no part of the search: on and on while it looks as if it had changed.

    Returns:
        Whether it failed.
    """
    zero, before, failures = (0,) * len(goal.axes), _passing_side(goal, history), 0
    for runs in range(1, MOST_AT_ONCE + 1):
        if goal.spent():
            break
        entry = yield from history.probe(Ask(zero, Purpose.ENDPOINT))
        tell(search, goal, entry)
        verdict = entry.verdict(goal.symptom)
        failures += verdict is not None and verdict.outcome is Outcome.BAD
        unlike = failures and _more_failures(before, Counts(runs - failures, failures)) < UNLIKE
        if (runs >= least and not unlike) or _later_failures(goal, history) is not None:
            break
    return failures > 0


def recheck(goal: Goal, history: History, search: Search, *, flaky: bool) -> Generator[Ask, Reply, bool]:
    """Before an answer that rests on long work: whether the good end fails now."""
    if goal.spent() or not due(goal, history, STALE_FLAKY if flaky else STALE):
        return False
    return (yield from remeasure(goal, history, search, CHECKS))


def drift(goal: Goal, history: History, search: Search) -> Drifted | None:
    """What changed, by the search's own account of an end or by what passed before; None if nothing did."""
    found = search.result().drift
    if found is not None:
        before, after = Counts(*found.before), Counts(*found.after)
        point = goal.lift(found.configuration)
        end = "bad" if any(point) else "good"
        return Drifted(end, goal.values(point), before, after, found.probability, _since(goal, history, point, before))
    return _later_failures(goal, history)


def _later_failures(goal: Goal, history: History) -> Drifted | None:
    """The likeliest moment from which on the good end fails more often than anything that passes did before."""
    zero = (0,) * len(goal.axes)
    passing = _passing(goal, history)
    runs = [(n, point, bad) for n, point, bad in _runs(goal, history) if point in passing]
    at_end = [place for place, (_, point, _) in enumerate(runs) if point == zero]
    moments = [later for sooner, later in pairwise(at_end) if runs[later][0] - runs[sooner][0] > GAP]
    best: Drifted | None = None
    for place in moments:
        before, after = Counts(), Counts()
        for _, _, bad in runs[:place]:
            before.add(Outcome.BAD if bad else Outcome.GOOD)
        for _, point, bad in runs[place:]:
            if point == zero:
                after.add(Outcome.BAD if bad else Outcome.GOOD)
        chance = min(1.0, _more_failures(before, after) * len(moments))
        if chance < LEVEL and (best is None or chance < best.probability):
            last_pass = max((n for n, _, bad in runs[:place] if not bad), default=0)
            best = Drifted("good", goal.values(zero), before, after, chance, last_pass + 2)
    return best


def _passing(goal: Goal, history: History) -> set[Configuration]:
    """The good end and the configurations that mostly pass."""
    totals = {entry.point: history.counts(goal.symptom, entry.point) for entry in history.lattice()}
    return {point for point, counts in totals.items() if counts.good > counts.bad} | {(0,) * len(goal.axes)}


def _passing_side(goal: Goal, history: History) -> Counts:
    """All runs of the good end and of what mostly passes."""
    total, passing = Counts(), _passing(goal, history)
    for _, point, bad in _runs(goal, history):
        if point in passing:
            total.add(Outcome.BAD if bad else Outcome.GOOD)
    return total


def _runs(goal: Goal, history: History) -> list[tuple[int, Configuration, bool]]:
    """(place in the history, configuration, failed) of all runs that could tell."""
    found = []
    for place, entry in enumerate(history.entries):
        verdict = None if entry.exact else entry.verdict(goal.symptom)
        if verdict is not None and verdict.outcome is not Outcome.UNRESOLVED:
            found.append((place, entry.point, verdict.outcome is Outcome.BAD))
    return found


def _since(goal: Goal, history: History, point: Configuration, before: Counts) -> int:
    """Number of the first probe after the last run of ``point`` that was still as before."""
    places = [place for place, where, _ in _runs(goal, history) if where == point]
    index = before.good + before.bad - 1
    return places[index] + 2 if 0 <= index < len(places) else 0


def _more_failures(before: Counts, after: Counts) -> float:
    """P(at least so many of all failures fall into ``after`` | one failure rate): Fisher's exact test, one-sided."""
    early, late = before.good + before.bad, after.good + after.bad
    failures = before.bad + after.bad
    ways = (
        math.comb(late, bad) * math.comb(early, failures - bad) for bad in range(after.bad, min(late, failures) + 1)
    )
    return sum(ways) / math.comb(early + late, failures)

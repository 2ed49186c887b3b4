"""Name the culprit at the boundary: what differs between the failing closure and the passing one a step below. Pure.

A step of one package often drags others along: the resolver picks them, or the metadata ties them together. The step's
own package may then be innocent. Exact installs of the smallest subsets of the difference, without resolution, tell:
a subset that alone makes the passing closure fail is the culprit. If no subset decides, the step keeps its name and
the others are its riders.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import combinations
from typing import Final

from envbisect.manifest.stack import Value
from envbisect.search import Outcome
from envbisect.search.words import below
from envbisect.session.ask import Ask, Purpose, Ran, Reply
from envbisect.session.boundary import Boundary
from envbisect.session.finding import Change
from envbisect.session.goal import Goal
from envbisect.session.history import History

PACKAGES: Final = "python.packages."
MOST_BUILDS: Final = 16


def name_at_boundary(
    goal: Goal, history: History, boundary: Boundary
) -> Generator[Ask, Reply, tuple[Change, ...] | None]:
    """The changes by their real names, or None if the axes' own names are right."""
    failing = history.ran(boundary.failing)
    if failing is None:
        return None
    lowered = boundary.last_good()
    own = {goal.axes[i].key for i in lowered}
    for axis, neighbour in sorted(boundary.passing.items()):
        passing = history.ran(neighbour)
        if passing is None or len(differing_packages(passing, failing)) < 2:
            continue
        subset = yield from smallest_failing_subset(goal, history, passing, failing, first=own)
        if subset and set(subset) != {goal.axes[axis].key}:
            others = [_own_change(goal, i, low, boundary.failing[i]) for i, low in lowered.items() if i != axis]
            return tuple(others + [_change(history, goal, key, passing, failing) for key in subset])
    return None


def name_bundle(goal: Goal, history: History, boundary: Boundary) -> Generator[Ask, Reply, tuple[Change, ...]]:
    """The members of a bundle that only moves as a whole; all of them if no smaller part decides."""
    failing = history.ran(boundary.failing)
    under = {
        entry.point
        for entry in history.lattice()
        if entry.point != boundary.failing
        and below(entry.point, boundary.failing)
        and (counts := history.counts(goal.symptom, entry.point)).good > counts.bad
    }
    passing = history.ran(max(under, key=lambda point: (sum(point), point))) if under else None
    if failing is None or passing is None:
        return ()
    different = differing_packages(passing, failing)
    subset = yield from smallest_failing_subset(goal, history, passing, failing, first=set())
    return tuple(_change(history, goal, key, passing, failing) for key in subset or different)


def differing_packages(passing: Ran, failing: Ran) -> list[str]:
    """Keys of the packages in which two realised stacks differ; empty if anything else differs beside several axes."""
    keys = {*passing.components, *failing.components}
    return sorted(
        key for key in keys if key.startswith(PACKAGES) and passing.components.get(key) != failing.components.get(key)
    )


def smallest_failing_subset(
    goal: Goal, history: History, passing: Ran, failing: Ran, *, first: set[str]
) -> Generator[Ask, Reply, tuple[str, ...] | None]:
    """The smallest set of packages whose exact exchange makes the passing closure fail; the axes' own names first."""
    order = sorted(differing_packages(passing, failing), key=lambda key: (key not in first, key))
    builds = 0
    for size in range(1, len(order)):
        for subset in combinations(order, size):
            if builds == MOST_BUILDS or goal.spent():
                return None
            builds += 1
            changes = {key: failing.components.get(key) for key in subset}
            entry = yield from history.probe(Ask(passing.point, Purpose.NAMING, changes))
            verdict = entry.verdict(goal.symptom)
            if verdict is not None and verdict.outcome is Outcome.BAD:
                return subset
    return None


def _change(history: History, goal: Goal, key: str, passing: Ran, failing: Ran) -> Change:
    zero, top = history.ran((0,) * len(goal.axes)), history.ran(goal.top)
    good: Value = zero.components.get(key) if zero else None
    bad: Value = top.components.get(key) if top else None
    return Change(key, good, bad, passing.components.get(key), failing.components.get(key))


def _own_change(goal: Goal, axis: int, low: int, high: int) -> Change:
    steps = goal.axes[axis].steps
    return Change(goal.axes[axis].key, steps[0].value, steps[-1].value, steps[low].value, steps[high].value)

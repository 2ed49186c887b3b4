"""Where failing turns into passing, one axis at a time, among the configurations that exist. Pure.

A search names a culprit by the axes that matter; the point with nothing but these axes raised need not exist (httpx
0.28 cannot be installed beside the good httpcore). So the lowest failing configuration that does exist is walked down:
each axis is lowered to its nearest step that metadata admits with everything else in place. If that passes, the axis
is a member of the culprit and the step is its last good one; if it fails, the walk goes on from there; if no lower
step exists, the axis is a companion: it had to come along.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

from envbisect.search import Search
from envbisect.search.words import below
from envbisect.session.ask import Ask, Purpose, Reply
from envbisect.session.finding import Cure
from envbisect.session.goal import Goal, known_unbuildable
from envbisect.session.history import History
from envbisect.session.settling import settle
from envbisect.space.model import Configuration


@dataclass
class Boundary:
    """A failing configuration and what lies just below it.

    Attributes:
        failing: the lowest failing configuration, seen failing.
        passing: for each member axis of the culprit, the configuration with that axis alone lowered, seen passing.
        holes: for a member axis, the steps in between that exist and could not be tested.
        companions: axes of ``failing`` that are not at their good step, because no lower step can be tested.
    """

    failing: Configuration
    passing: dict[int, Configuration] = field(default_factory=dict)
    holes: dict[int, list[int]] = field(default_factory=dict)
    companions: set[int] = field(default_factory=set)

    def untried(self) -> bool:
        """Whether some axis could not be lowered, because it cannot be or because the budget ended there."""
        return bool(self.holes or self.companions) or not self.passing

    def last_good(self) -> dict[int, int]:
        """For each member axis its last good step."""
        return {axis: point[axis] for axis, point in sorted(self.passing.items())}


def lowest_failing(goal: Goal, history: History, above: Configuration) -> Configuration:
    """The lowest configuration at or above ``above`` that was seen failing more often than passing."""
    seen = {entry.point for entry in history.lattice()}
    failing = [
        point
        for point in seen
        if below(above, point)
        and goal.project(point) is not None
        and (counts := history.counts(goal.symptom, point)).bad > 0
        and (counts.bad > counts.good or point == above)
    ]
    return min(failing, key=lambda point: (sum(point), point), default=goal.top)


def walk_down(
    goal: Goal, history: History, search: Search, start: Configuration, *, reopen: bool
) -> Generator[Ask, Reply, Boundary | None]:
    """From a failing configuration to the boundary right below it.

    Returns:
        None, with ``reopen``, where a lower configuration fails and the search has something to ask because of it: it
        halves what a walk would go down step by step.
    """
    boundary = Boundary(start)
    lowered = True
    while lowered:
        lowered = False
        boundary = Boundary(boundary.failing)
        for axis, step in enumerate(boundary.failing):
            if step and (yield from _lower(goal, history, search, boundary, axis)):
                lowered = True
                break
        if lowered and reopen and search.ask(1):
            return None
    return boundary


def _lower(goal: Goal, history: History, search: Search, boundary: Boundary, axis: int) -> Generator[Ask, Reply, bool]:
    """Find the last good step of one axis; True if a lower configuration fails, from which the walk goes on."""
    failing = boundary.failing
    for step in range(failing[axis] - 1, -1, -1):
        point = (*failing[:axis], step, *failing[axis + 1 :])
        if not goal.feasible(point):
            continue
        cure = Cure.UNRESOLVED
        if not known_unbuildable(goal, history, point):
            cure = yield from settle(goal, history, search, point, Purpose.NEIGHBOUR)
        match cure:
            case Cure.CURES:
                boundary.passing[axis] = point
                return False
            case Cure.DOES_NOT_CURE:
                boundary.failing = point
                return True
            case Cure.UNRESOLVED:
                boundary.holes.setdefault(axis, []).append(step)
    boundary.holes.pop(axis, None)
    boundary.companions.add(axis)
    return False

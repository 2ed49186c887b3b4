"""Reversals: the bad stack with a culprit undone, as a whole and change by change. Pure."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass

from envbisect.search import Search
from envbisect.session.ask import Ask, Purpose, Ran, Reply
from envbisect.session.boundary import Boundary
from envbisect.session.finding import Cure
from envbisect.session.goal import Goal
from envbisect.session.history import History
from envbisect.session.settling import settle
from envbisect.space.model import Configuration


@dataclass(frozen=True, slots=True)
class Reversal:
    """What undoing some axes of a culprit in the bad stack does; ``point`` is that configuration."""

    members: tuple[int, ...]
    point: Configuration
    cure: Cure


def reverse(goal: Goal, history: History, search: Search, boundary: Boundary) -> Generator[Ask, Reply, list[Reversal]]:
    """Run the reversals of a boundary: the whole culprit undone (first in the list), then each single change.

    What was observed before costs nothing. Where each single change cures when it is undone alone, so does the whole:
    it lies below configurations that were just seen passing, and is not run.
    """
    lowered = boundary.last_good()
    members = tuple(sorted(lowered))
    if not members:
        passing = highest_passing(goal, history)
        whole = passing and (yield from _undo(goal, history, search, passing, ()))
        return [whole] if whole else []
    singles: list[Reversal] = []
    for axis in members if len(members) > 1 else ():
        singles.append((yield from _undo(goal, history, search, _undone(goal, lowered, (axis,)), (axis,))))
    point = _undone(goal, lowered, members)
    if singles and all(single.cure is Cure.CURES for single in singles):
        return [Reversal(members, point, Cure.CURES), *singles]
    return [(yield from _undo(goal, history, search, point, members)), *singles]


def _undo(
    goal: Goal, history: History, search: Search, point: Configuration, members: tuple[int, ...]
) -> Generator[Ask, Reply, Reversal]:
    return Reversal(members, point, (yield from settle(goal, history, search, point, Purpose.REVERSAL)))


def uncovered(goal: Goal, history: History, name: str, point: Configuration) -> str:
    """What came to light where undoing a change gave no answer."""
    words = "everything" if name == "all" else name
    for entry in reversed(history.entries):
        if entry.point != point or entry.exact:
            continue
        if isinstance(entry.reply, Ran):
            seen = entry.reply.observation.of(goal.symptom.check)
            return f"undoing {words} uncovers something else: {seen.detail or 'the test cannot tell'}"
        return f"undoing {words} cannot be tried: {entry.reply.reason}"
    return f"undoing {words} could not be tried"


def highest_passing(goal: Goal, history: History) -> Configuration | None:
    """The highest configuration that was seen passing, the good end aside."""
    seen = {entry.point for entry in history.lattice() if any(entry.point)}
    passing = [
        point
        for point in seen
        if goal.project(point) is not None and (counts := history.counts(goal.symptom, point)).good > counts.bad
    ]
    return max(passing, key=lambda point: (sum(point), point), default=None)


def _undone(goal: Goal, lowered: Mapping[int, int], group: Iterable[int]) -> Configuration:
    undone = frozenset(group)
    return tuple(lowered[i] if i in undone else step for i, step in enumerate(goal.top))

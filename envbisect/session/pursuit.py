"""One symptom, one sublattice: search until decided, walk to the boundary, reverse, name. Pure."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from envbisect.search import Cause, Outcome, Search, Status
from envbisect.session.ask import Ask, Purpose, Reply
from envbisect.session.boundary import Boundary, lowest_failing, walk_down
from envbisect.session.certifying import certify, confidence, determinism, looks_steady
from envbisect.session.drifting import drift, due, recheck, remeasure
from envbisect.session.endpoints import MOST
from envbisect.session.finding import CertificateRow, Change, Contradiction, Cure, Finding, Role
from envbisect.session.goal import Goal, known_unbuildable, tell
from envbisect.session.history import Counts, History
from envbisect.session.knowing import clash
from envbisect.session.naming import name_at_boundary, name_bundle
from envbisect.session.reversing import reverse, uncovered
from envbisect.space.model import Configuration

REOPENED: Final = 16
"""How often a search goes on after its answer was shaken."""

PATIENT: Final = 3
"""The last times of these, a boundary is walked to its end whatever the search would rather ask."""

NO_HOLES: Final[Mapping[int, Sequence[int]]] = MappingProxyType({})

WALKS: Final = 12
"""How often a boundary is walked anew after a run contradicted it."""


def find(goal: Goal, history: History, search: Search) -> Generator[Ask, Reply, Finding]:
    """Search below ``goal.top`` until decided, then prove what was found by real runs."""
    finding = Finding(Status.UNDECIDED)
    for left in reversed(range(REOPENED)):
        yield from _decide(goal, history, search)
        if (doubtful := _doubtful(goal, history, search)) is not None:
            return doubtful
        result = search.result()
        if result.status is Status.BUDGET:
            return _best_so_far(goal, history, search)
        if result.status not in (Status.CULPRIT, Status.SUSPECTS):
            return _unsuccessful(goal, search)
        points = [result.culprit] if result.culprit is not None else list(result.suspects)
        points = [goal.lift(point) for point in points]
        boundary = yield from _proved(goal, history, search, points, reopen=left >= PATIENT)
        if boundary is None:
            continue  # a run below the answer failed, or one that should have failed passed
        if goal.spent() and (boundary.untried() or confidence(goal, history, boundary) < goal.confidence):
            return _best_so_far(goal, history, search, boundary)
        if (yield from recheck(goal, history, search, flaky=not looks_steady(goal, history))):
            continue  # the good end fails now: was it always flaky, or did the machine change?
        finding = yield from _proven(goal, history, search, boundary)
        if goal.spent() or not search.ask(1):
            return finding
        # what the reversals showed shook the answer: the search has something to ask again
    return _doubtful(goal, history, search) or finding


def _decide(goal: Goal, history: History, search: Search) -> Generator[Ask, Reply, None]:
    """Answer the search's questions until it has none left, the budget is spent or the ends are not what they were."""
    ends_ran = True
    while not goal.spent():
        if (end := _end_to_repeat(goal, history)) is not None:
            entry = yield from history.probe(Ask(end, Purpose.ENDPOINT))
            tell(search, goal, entry)
            ends_ran = True
            continue
        if ends_ran and _doubtful(goal, history, search) is not None:
            return
        batch = search.ask(1)
        if not batch:
            return
        if ends_ran := due(goal, history):
            yield from remeasure(goal, history, search)
            continue
        point = goal.lift(batch[0])
        if known_unbuildable(goal, history, point):
            search.tell(batch[0], Outcome.UNRESOLVED, Cause.UNBUILDABLE)  # learned before: costs no probe
            continue
        ends_ran = point == goal.top or not any(point)
        entry = yield from history.probe(Ask(point, Purpose.SEARCH if any(point) else Purpose.ENDPOINT))
        tell(search, goal, entry)


def _end_to_repeat(goal: Goal, history: History) -> Configuration | None:
    """An end that needs more runs because the test turned out to be flaky on the way: the rates are learned there.

    Runs known from elsewhere spare some of these, if they say that the test flakes.
    """
    if looks_steady(goal, history):
        return None
    flakes = any(known.good and known.bad for known in goal.known.values())
    for end in ((0,) * len(goal.axes), goal.top):
        known = goal.known.get(end, Counts())
        own = history.counts(goal.symptom, end)
        spared = known.good + known.bad if flakes else 0
        if own.good + own.bad + own.unresolved + spared < MOST:
            return end
    return None


def _doubtful(goal: Goal, history: History, search: Search) -> Finding | None:
    """Why nothing that was measured can be trusted: the machine changed, or an end is not what the user says."""
    if (changed := drift(goal, history, search)) is not None:
        return Finding(Status.UNDECIDED, drift=changed, contradictions=_contradictions(goal, search))
    for name, end in (("good", (0,) * len(goal.axes)), ("bad", goal.top)):
        if end in goal.known and (gap := clash(name, goal.known[end], history.counts(goal.symptom, end))) is not None:
            return Finding(Status.UNDECIDED, clash=gap, contradictions=_contradictions(goal, search))
    return None


def _proved(
    goal: Goal, history: History, search: Search, points: Sequence[Configuration], *, reopen: bool
) -> Generator[Ask, Reply, Boundary | None]:
    """The boundary that the search's answers lead to, walked and run until it is as sure as was asked.

    Returns:
        None, with ``reopen``, where what was seen on the way gives the search something to ask.
    """
    boundary = yield from _boundary(goal, history, search, points, reopen=reopen)
    for _ in range(WALKS):
        if boundary is None or boundary.holes:
            break
        if looks_steady(goal, history):  # one run each, and what passes there speaks for what lies below it
            yield from reverse(goal, history, search, boundary)
        if (yield from certify(goal, history, search, boundary)):
            break
        if reopen and search.ask(1):
            return None
        boundary = yield from _boundary(goal, history, search, [boundary.failing], reopen=reopen)
    return boundary


def _boundary(
    goal: Goal, history: History, search: Search, points: Sequence[Configuration], *, reopen: bool
) -> Generator[Ask, Reply, Boundary | None]:
    """The boundary below the lowest failing configuration that any of the search's answers explains."""
    starts = [lowest_failing(goal, history, point) for point in points]
    start = min(starts, key=lambda point: (sum(point), point))
    return (yield from walk_down(goal, history, search, start, reopen=reopen))


def _proven(goal: Goal, history: History, search: Search, boundary: Boundary) -> Generator[Ask, Reply, Finding]:
    """Name the culprit, reverse it in the bad stack, and put the evidence together."""
    if boundary.holes:
        return _unsuccessful(goal, search, boundary)
    lowered = boundary.last_good()
    changes: tuple[Change, ...] | None = _moved(goal, boundary)
    if lowered:
        changes = (yield from name_at_boundary(goal, history, boundary)) or changes
    else:
        changes = yield from name_bundle(goal, history, boundary)
    if not changes:
        return _unsuccessful(goal, search, boundary)
    rows = [_row(goal, history, Role.CULPRIT, boundary.failing)]
    rows += [_row(goal, history, Role.NEIGHBOUR, point) for _, point in sorted(boundary.passing.items())]
    reversal: dict[str, Cure] = {}
    notes: list[str] = []
    own_names = len(changes) == len(lowered)
    for undone in (yield from reverse(goal, history, search, boundary)):
        whole = len(undone.members) == len(lowered)
        if not (whole or own_names):
            continue
        name = "all" if whole else goal.axes[undone.members[0]].key
        reversal[name] = undone.cure
        if undone.cure is Cure.UNRESOLVED:
            notes.append(uncovered(goal, history, name, undone.point))
        if history.ran(undone.point) is not None:
            rows.append(_row(goal, history, Role.REVERSAL, undone.point))
    if own_names and len(changes) == 1:
        reversal[changes[0].key] = reversal["all"]
    if reversal.get("all") is Cure.DOES_NOT_CURE:
        notes.append("another culprit remains, since undoing this one does not cure: --all goes on to it")
    ran, sure = history.ran(boundary.failing), _stated(goal, history, search, boundary)
    moved = {change.key for change in changes}
    riders = tuple(rider for rider in (ran.riders if ran else ()) if rider.key not in moved)
    companions = [_change(goal, i, 0, boundary.failing[i]) for i in sorted(boundary.companions)]
    riders += tuple(change.rider() for change in companions if change.key not in moved)
    if sure < goal.confidence:
        return _unsuccessful(goal, search, boundary)
    return Finding(
        Status.CULPRIT,
        changes,
        sure,
        certificate=tuple(rows),
        reversal=reversal,
        riders=riders,
        lowered=lowered,
        contradictions=_contradictions(goal, search),
        notes=tuple(notes),
    )


def _moved(goal: Goal, boundary: Boundary, holes: Mapping[int, Sequence[int]] = NO_HOLES) -> tuple[Change, ...]:
    """What a boundary moves on each of its axes, with the untestable steps in between."""
    return tuple(
        _change(goal, axis, low, boundary.failing[axis], holes.get(axis, ()))
        for axis, low in boundary.last_good().items()
    )


def _change(goal: Goal, axis: int, low: int, high: int, holes: Sequence[int] = ()) -> Change:
    steps = goal.axes[axis].steps
    between = tuple(steps[step].value for step in sorted(holes))
    return Change(
        goal.axes[axis].key,
        steps[0].value,
        steps[-1].value,
        steps[low].value,
        steps[high].value,
        between,
        steps[high].note,
    )


def _row(goal: Goal, history: History, role: Role, point: Configuration) -> CertificateRow:
    return CertificateRow(role, goal.values(point), history.counts(goal.symptom, point))


def _unsuccessful(goal: Goal, search: Search, boundary: Boundary | None = None) -> Finding:
    """No culprit: what is left, with the untestable steps that hide the boundary."""
    result = search.result()
    points = [goal.lift(point) for point in result.suspects]
    if result.culprit is not None:
        points = [goal.lift(result.culprit)]
    suspects = _suspect_groups(goal, points)
    if boundary is not None and boundary.passing:
        suspects = (_moved(goal, boundary, boundary.holes),)
    status = Status.SUSPECTS if result.status is Status.CULPRIT else result.status
    return Finding(
        status,
        confidence=result.confidence,
        suspects=suspects,
        bound=result.bound if status is Status.NOT_REPRODUCED else None,
        contradictions=_contradictions(goal, search),
    )


def _best_so_far(goal: Goal, history: History, search: Search, boundary: Boundary | None = None) -> Finding:
    """The budget is spent: the leading hypothesis with its honest confidence, as suspects."""
    result = search.result()
    top = result.posterior_top
    if boundary is not None and boundary.passing and not boundary.untried():
        sure = _stated(goal, history, search, boundary)
        suspects: tuple[tuple[Change, ...], ...] = (_moved(goal, boundary),)
    else:
        # Nothing was run again yet: what was seen once is as sure as it is that the test does not flake.
        trust = determinism(goal, history) if looks_steady(goal, history) else 1.0
        sure = top[0][1] * trust if top else 0.0
        suspects = _suspect_groups(goal, [goal.lift(top[0][0])] if top else [])
    return Finding(
        Status.BUDGET,
        confidence=sure,
        suspects=suspects,
        contradictions=_contradictions(goal, search),
        drift=drift(goal, history, search),
    )


def _stated(goal: Goal, history: History, search: Search, boundary: Boundary) -> float:
    """The confidence of a boundary: that of its own runs, and no more than what the search says of the same point."""
    result = search.result()
    if not boundary.passing:
        return result.confidence
    sure = confidence(goal, history, boundary)
    same = result.culprit is not None and goal.lift(result.culprit) == boundary.failing
    return min(sure, result.confidence) if same else sure


def _contradictions(goal: Goal, search: Search) -> tuple[Contradiction, ...]:
    return tuple(
        Contradiction(
            goal.values(goal.lift(pair.lower)),
            goal.values(goal.lift(pair.upper)),
            Counts(*pair.lower_runs),
            Counts(*pair.upper_runs),
        )
        for pair in search.result().contradictions
    )


def _suspect_groups(goal: Goal, points: Sequence[Configuration]) -> tuple[tuple[Change, ...], ...]:
    """Candidates that move the same axes are one group: for each axis, the interval that holds the boundary."""
    groups: dict[tuple[int, ...], list[Configuration]] = {}
    for point in points:
        groups.setdefault(tuple(i for i, step in enumerate(point) if step), []).append(point)
    found = []
    for axes, members in groups.items():
        spans = [(i, min(p[i] for p in members), max(p[i] for p in members)) for i in axes]
        found.append(tuple(_change(goal, i, low - 1, high, range(low, high)) for i, low, high in spans))
    return tuple(found)

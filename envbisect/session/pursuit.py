"""One symptom, one sublattice: search until decided, walk to the boundary, reverse, name. Pure."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Final

from envbisect.search import Cause, Outcome, Search, Status
from envbisect.session.ask import Ask, Purpose, Ran, Reply
from envbisect.session.boundary import Boundary, lowest_failing, walk_down
from envbisect.session.certifying import certify, confidence
from envbisect.session.endpoints import MOST
from envbisect.session.finding import CertificateRow, Change, Contradiction, Cure, Finding, Role
from envbisect.session.goal import Goal, known_unbuildable, tell
from envbisect.session.history import History
from envbisect.session.naming import name_at_boundary, name_bundle
from envbisect.session.settling import settle
from envbisect.space.model import Configuration

REOPENED: Final = 4
"""How often a search goes on after its answer was shaken."""

WALKS: Final = 12
"""How often a boundary is walked anew after a run contradicted it."""


def find(
    goal: Goal, history: History, search: Search, out_of_time: Callable[[], bool]
) -> Generator[Ask, Reply, Finding]:
    """Search below ``goal.top`` until decided, then prove what was found by real runs."""
    finding = Finding(Status.UNDECIDED)
    for _ in range(REOPENED):
        yield from _decide(goal, history, search, out_of_time)
        result = search.result()
        if result.status is Status.BUDGET:
            return _best_so_far(goal, search)
        if result.status not in (Status.CULPRIT, Status.SUSPECTS):
            return _unsuccessful(goal, search)
        points = [result.culprit] if result.culprit is not None else list(result.suspects)
        boundary = yield from _boundary(goal, history, search, [goal.lift(point) for point in points])
        for _ in range(WALKS):
            if boundary.holes or (yield from certify(goal, history, search, boundary)):
                break
            boundary = yield from _boundary(goal, history, search, [boundary.failing])
        if _spent(goal, history, out_of_time) and confidence(goal, history, boundary) < goal.confidence:
            return _best_so_far(goal, search)
        finding = yield from _proven(goal, history, search, boundary)
        if _spent(goal, history, out_of_time) or not search.ask(1):
            return finding
        # what the reversals showed shook the answer: the search has something to ask again
    return finding


def _decide(
    goal: Goal, history: History, search: Search, out_of_time: Callable[[], bool]
) -> Generator[Ask, Reply, None]:
    """Answer the search's questions until it has none left, or the budget is spent."""
    while not _spent(goal, history, out_of_time):
        if (end := _end_to_repeat(goal, history)) is not None:
            entry = yield from history.probe(Ask(end, Purpose.ENDPOINT))
            tell(search, goal, entry)
            continue
        batch = search.ask(1)
        if not batch:
            return
        if known_unbuildable(goal, history, goal.lift(batch[0])):
            search.tell(batch[0], Outcome.UNRESOLVED, Cause.UNBUILDABLE)  # learned before: costs no probe
            continue
        entry = yield from history.probe(Ask(goal.lift(batch[0]), Purpose.SEARCH))
        tell(search, goal, entry)


def _end_to_repeat(goal: Goal, history: History) -> Configuration | None:
    """An end that needs more runs because the test turned out to be flaky on the way: the rates are learned there."""
    points = {entry.point for entry in history.lattice()}
    counts = [history.counts(goal.symptom, point) for point in points]
    if not any(count.good and count.bad for count in counts):
        return None
    for end in ((0,) * len(goal.axes), goal.top):
        count = history.counts(goal.symptom, end)
        if count.good + count.bad + count.unresolved < MOST:
            return end
    return None


def _spent(goal: Goal, history: History, out_of_time: Callable[[], bool]) -> bool:
    return out_of_time() or (goal.max_probes is not None and history.probes() >= goal.max_probes)


def _boundary(
    goal: Goal, history: History, search: Search, points: Sequence[Configuration]
) -> Generator[Ask, Reply, Boundary]:
    """The boundary below the lowest failing configuration that any of the search's answers explains."""
    starts = [lowest_failing(goal, history, point) for point in points]
    start = min(starts, key=lambda point: (sum(point), point))
    return (yield from walk_down(goal, history, search, start))


def _proven(goal: Goal, history: History, search: Search, boundary: Boundary) -> Generator[Ask, Reply, Finding]:
    """Name the culprit, reverse it in the bad stack, and put the evidence together."""
    if boundary.holes:
        return _unsuccessful(goal, search, boundary)
    lowered = boundary.last_good()
    changes: tuple[Change, ...] | None = tuple(_change(goal, i, s, boundary.failing[i]) for i, s in lowered.items())
    if lowered:
        changes = (yield from name_at_boundary(goal, history, boundary)) or changes
    else:
        changes = yield from name_bundle(goal, history, boundary)
    if not changes:
        return _unsuccessful(goal, search, boundary)
    rows = [_row(goal, history, Role.CULPRIT, boundary.failing)]
    rows += [_row(goal, history, Role.NEIGHBOUR, point) for _, point in sorted(boundary.passing.items())]
    reversal: dict[str, Cure] = {}
    uncured: list[Configuration] = []
    notes: list[str] = []
    for name, undone in _reversals(goal, history, changes, lowered):
        cure = yield from settle(goal, history, search, undone, Purpose.REVERSAL)
        reversal[name] = cure
        if cure is Cure.DOES_NOT_CURE:
            uncured.append(undone)
        elif cure is Cure.UNRESOLVED:
            notes.append(_uncovered(goal, history, name, undone))
        if name == "all" or len(changes) > 1:
            rows.append(_row(goal, history, Role.REVERSAL, undone))
    if reversal.get("all") is Cure.DOES_NOT_CURE:
        notes.append("another culprit remains, since undoing this one does not cure: --all goes on to it")
    ran, sure = history.ran(boundary.failing), confidence(goal, history, boundary)
    moved = {change.key for change in changes}
    riders = tuple(rider for rider in (ran.riders if ran else ()) if rider.key not in moved)
    companions = [_change(goal, i, 0, boundary.failing[i]) for i in sorted(boundary.companions)]
    riders += tuple(change.rider() for change in companions if change.key not in moved)
    if lowered and sure < goal.confidence:
        return _unsuccessful(goal, search, boundary)
    return Finding(
        Status.CULPRIT,
        changes,
        sure if lowered else search.result().confidence,
        search.result().complete and set(reversal.values()) == {Cure.CURES},
        tuple(rows),
        reversal,
        riders,
        uncured=tuple(uncured),
        contradictions=_contradictions(goal, search),
        notes=tuple(notes),
    )


def _uncovered(goal: Goal, history: History, name: str, point: Configuration) -> str:
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


def _reversals(
    goal: Goal, history: History, changes: Sequence[Change], lowered: Mapping[int, int]
) -> list[tuple[str, Configuration]]:
    """The bad stack with the whole culprit at its last good steps, then with each single change there."""
    if not lowered:
        passing = highest_passing(goal, history)
        return [("all", passing)] if passing is not None else []
    members = sorted(lowered)
    groups = [("all", frozenset(members))]
    if len(changes) == len(members):
        groups += [(change.key, frozenset([i])) for change, i in zip(changes, members, strict=True)]
    return [
        (name, tuple(lowered[i] if i in group else step for i, step in enumerate(goal.top))) for name, group in groups
    ]


def highest_passing(goal: Goal, history: History) -> Configuration | None:
    """The highest configuration that was seen passing, the good end aside."""
    seen = {entry.point for entry in history.lattice() if any(entry.point)}
    passing = [
        point
        for point in seen
        if goal.project(point) is not None and (counts := history.counts(goal.symptom, point)).good > counts.bad
    ]
    return max(passing, key=lambda point: (sum(point), point), default=None)


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
        holes = boundary.holes
        suspects = (
            tuple(
                _change(goal, i, low, boundary.failing[i], holes.get(i, ())) for i, low in boundary.last_good().items()
            ),
        )
    status = Status.SUSPECTS if result.status is Status.CULPRIT else result.status
    return Finding(
        status,
        confidence=result.confidence,
        suspects=suspects,
        bound=result.bound if status is Status.NOT_REPRODUCED else None,
        contradictions=_contradictions(goal, search),
    )


def _best_so_far(goal: Goal, search: Search) -> Finding:
    """The budget is spent: the leading hypothesis with its honest confidence, as suspects."""
    result = search.result()
    top = result.posterior_top
    points = [goal.lift(top[0][0])] if top else []
    return Finding(
        Status.BUDGET,
        confidence=top[0][1] if top else 0.0,
        suspects=_suspect_groups(goal, points),
        contradictions=_contradictions(goal, search),
    )


def _contradictions(goal: Goal, search: Search) -> tuple[Contradiction, ...]:
    return tuple(
        Contradiction(goal.values(goal.lift(pair.lower)), goal.values(goal.lift(pair.upper)))
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

"""One symptom, one sublattice: search until decided, verify, reverse, name at the boundary. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from envbisect.manifest.stack import Value
from envbisect.search import Cause, Costs, Outcome, Search, Status
from envbisect.session.ask import Ask, NotBuilt, NotFeasible, Purpose, Ran, Reply
from envbisect.session.history import Counts, Entry, History
from envbisect.session.oracle import Symptom
from envbisect.space.model import Axis, Configuration, Rider

MOST_REPEATS: Final = 20
"""Runs of one verification point at most: enough to see a failure of 15 % with 96 % probability."""


class Cure(StrEnum):
    """What undoing a change in the bad stack does."""

    CURES = "cures"
    DOES_NOT_CURE = "does-not-cure"
    UNRESOLVED = "unresolved"


class Role(StrEnum):
    """A row's part in the certificate."""

    CULPRIT = "culprit"
    NEIGHBOUR = "neighbour"
    REVERSAL = "reversal"


@dataclass(frozen=True, slots=True)
class Change:
    """One member of a culprit. ``last_good`` and ``first_bad`` are neighbouring steps unless ``between`` is filled."""

    key: str
    good: Value
    bad: Value
    last_good: Value
    first_bad: Value
    between: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class CertificateRow:
    """Observations at one configuration. ``implied``: passing because a configuration above it passed."""

    role: Role
    configuration: Mapping[str, Value]
    counts: Counts
    implied: bool = False


@dataclass(frozen=True, slots=True)
class Contradiction:
    """``fails`` fails although ``passes``, which has all its changes and more, passes."""

    fails: Mapping[str, Value]
    passes: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a search came to. ``uncured``: reversal points that still fail, where another culprit must be."""

    status: Status
    changes: tuple[Change, ...] = ()
    confidence: float = 0.0
    complete: bool = False
    certificate: tuple[CertificateRow, ...] = ()
    reversal: Mapping[str, Cure] = field(default_factory=dict)
    riders: tuple[Rider, ...] = ()
    suspects: tuple[tuple[Change, ...], ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    uncured: tuple[Configuration, ...] = ()
    bound: float | None = None


def everywhere(_: Configuration) -> bool:
    """Every configuration is feasible as far as metadata knows."""
    return True


@dataclass(frozen=True, slots=True)
class Goal:
    """A symptom to be explained below ``top``; the search sees only the axes that ``top`` moves.

    ``feasible`` is what metadata says of a whole configuration, before anything is built.
    """

    symptom: Symptom
    axes: tuple[Axis, ...]
    top: Configuration
    confidence: float
    seed: int
    max_probes: int | None = None
    feasible: Callable[[Configuration], bool] = everywhere

    @property
    def moving(self) -> tuple[int, ...]:
        """Indices of the axes that the search sees."""
        return tuple(i for i, step in enumerate(self.top) if step)

    def project(self, point: Configuration) -> Configuration | None:
        """A lattice point as the search sees it, None if it is not below ``top``."""
        if any(step > limit for step, limit in zip(point, self.top, strict=True)):
            return None
        return tuple(point[i] for i in self.moving)

    def lift(self, point: Configuration) -> Configuration:
        """A point of the search as a configuration of the whole lattice."""
        whole = [0] * len(self.axes)
        for i, step in zip(self.moving, point, strict=True):
            whole[i] = step
        return tuple(whole)

    def values(self, point: Configuration) -> dict[str, Value]:
        """A configuration by key, for people and documents."""
        return {axis.key: axis.steps[step].value for axis, step in zip(self.axes, point, strict=True)}

    def new_search(self, entries: Iterable[Entry]) -> Search:
        """A search over the sublattice, with costs as measured so far."""
        return Search(
            sizes=[self.top[i] for i in self.moving],
            confidence=self.confidence,
            seed=self.seed,
            infeasible=lambda point: not self.feasible(self.lift(point)),
            costs=_costs(self, entries),
        )


def find(
    goal: Goal, history: History, search: Search, out_of_time: Callable[[], bool]
) -> Generator[Ask, Reply, Finding]:
    """Search below ``goal.top`` until decided, then verify and reverse what was found."""
    verified: set[Configuration] = set()
    while True:
        if out_of_time() or (goal.max_probes is not None and history.probes() >= goal.max_probes):
            return _best_so_far(goal, search)
        batch = search.ask(1)
        if batch and known_unbuildable(goal, history, goal.lift(batch[0])):
            search.tell(batch[0], Outcome.UNRESOLVED, Cause.UNBUILDABLE)  # learned before: costs no probe
            continue
        if batch:
            entry = yield from history.probe(Ask(goal.lift(batch[0]), Purpose.SEARCH))
            tell(search, goal, entry)
            continue
        result = search.result()
        if result.status is not Status.CULPRIT:
            return _unsuccessful(goal, search)
        rows = [goal.lift(row.configuration) for row in result.certificate if row.role == Role.NEIGHBOUR.value]
        todo = [point for point in rows if point not in verified and not history.counts(goal.symptom, point).good]
        if not todo:
            break
        verified.update(todo)
        for point in todo:
            yield from _settle(goal, history, search, point, Purpose.NEIGHBOUR)
    return (yield from _proven(goal, history, search))


def tell(search: Search, goal: Goal, entry: Entry) -> None:
    """Tell a search what an entry says, if it lies in its sublattice."""
    asked = goal.project(entry.ask.configuration)
    if isinstance(entry.reply, NotFeasible):
        if asked is not None:
            search.mark_infeasible(asked)
        return
    point, verdict = goal.project(entry.point), entry.verdict(goal.symptom)
    if point is not None and verdict is not None:
        search.tell(point, verdict.outcome, verdict.cause)
    if entry.point != entry.ask.configuration and asked is not None:
        search.mark_infeasible(asked)


def known_unbuildable(goal: Goal, history: History, point: Configuration) -> bool:
    """Whether a configuration holds a pin that failed to build before, under the same Python."""
    values = goal.values(point)
    for entry in history.lattice():
        if isinstance(entry.reply, NotBuilt) and entry.reply.blamed:
            same_python = goal.values(entry.point).get("python.version") == values.get("python.version")
            pins = (pin.partition("==") for pin in entry.reply.blamed)
            if same_python and any(values.get(f"python.packages.{name}") == version for name, _, version in pins):
                return True
    return False


def _costs(goal: Goal, entries: Iterable[Entry]) -> Costs | None:
    """Seconds a run and a build take, measured at the endpoints and rounded so that noise does not steer the search."""
    runs = [entry.reply for entry in entries if isinstance(entry.reply, Ran)]
    build_s = max((run.build_s for run in runs), default=0.0)
    run_s = min((run.run_s for run in runs), default=0.0)
    built = [n for n, i in enumerate(goal.moving) if goal.axes[i].key.startswith(("python.", "code."))]
    if not built or run_s <= 0 or build_s <= 0:
        return None
    ratio = 2.0 ** round(math.log2(max(build_s / run_s, 1 / 8)))
    return Costs(run_s=1.0, groups=[(tuple(built), ratio)])


def _settle(
    goal: Goal, history: History, search: Search, point: Configuration, purpose: Purpose
) -> Generator[Ask, Reply, Cure]:
    """Run a configuration until it is clear whether it passes; the search hears everything."""
    for _ in range(MOST_REPEATS):
        counts = history.counts(goal.symptom, point)
        verdict = _clear(goal, history, counts)
        if verdict is not None:
            return verdict
        if goal.max_probes is not None and history.probes() >= goal.max_probes:
            break
        entry = yield from history.probe(Ask(point, purpose))
        tell(search, goal, entry)
        if isinstance(entry.reply, NotFeasible) or entry.point != point:
            return Cure.UNRESOLVED
        verdict_here = entry.verdict(goal.symptom)
        if verdict_here is not None and verdict_here.cause is Cause.UNBUILDABLE:
            return Cure.UNRESOLVED
        if history.counts(goal.symptom, point).unresolved >= 3:
            return Cure.UNRESOLVED
    return Cure.UNRESOLVED


def _clear(goal: Goal, history: History, counts: Counts) -> Cure | None:
    """Passing, failing, or not clear yet: a likelihood ratio between the rates of the two ends (Wald's test)."""
    low = history.counts(goal.symptom, (0,) * len(goal.axes))
    high = history.counts(goal.symptom, goal.top)
    if not high.good and not low.bad:  # nothing ever disagreed with itself: one run tells
        if counts.bad:
            return Cure.DOES_NOT_CURE
        return Cure.CURES if counts.good else None
    p = (high.bad + 0.5) / (high.good + high.bad + 1)
    q = (low.bad + 0.5) / (low.good + low.bad + 1) if low.bad else 0.5 / (low.good + low.bad + 10)
    weight = counts.bad * math.log(p / q) + counts.good * math.log((1 - p) / (1 - q))
    limit = math.log(goal.confidence / (1 - goal.confidence))
    if weight >= limit:
        return Cure.DOES_NOT_CURE
    return Cure.CURES if weight <= -limit else None


def _proven(goal: Goal, history: History, search: Search) -> Generator[Ask, Reply, Finding]:
    """Reverse the culprit in the bad stack, name it at the boundary, and put the evidence together."""
    from envbisect.session.naming import name_at_boundary

    result = search.result()
    if result.culprit is None:
        return _unsuccessful(goal, search)
    culprit = goal.lift(result.culprit)
    lowered = _last_good(culprit, [goal.lift(row.configuration) for row in result.certificate])
    changes = tuple(_change(goal, i, lowered[i], culprit[i]) for i in sorted(lowered))
    rows = [
        CertificateRow(
            Role(row.role), goal.values(goal.lift(row.configuration)), _row_counts(goal, history, row.configuration)
        )
        for row in result.certificate
    ]
    named = yield from name_at_boundary(goal, history, culprit, lowered)
    reversal: dict[str, Cure] = {}
    uncured: list[Configuration] = []
    for name, members in _reversals(changes, lowered):
        point = tuple(lowered[i] if i in members else step for i, step in enumerate(goal.top))
        cure = yield from _settle(goal, history, search, point, Purpose.REVERSAL)
        reversal[name] = cure
        if cure is Cure.DOES_NOT_CURE:
            uncured.append(point)
        if name == "all" or len(members) > 1:
            rows.append(CertificateRow(Role.REVERSAL, goal.values(point), history.counts(goal.symptom, point)))
    ran = history.ran(culprit)
    moved = {change.key for change in named or changes}
    riders = tuple(rider for rider in (ran.riders if ran else ()) if rider.key not in moved)
    return Finding(
        Status.CULPRIT,
        named or changes,
        search.result().confidence,
        search.result().complete and not uncured,
        tuple(rows),
        reversal,
        riders,
        uncured=tuple(uncured),
        contradictions=_contradictions(goal, search),
    )


def _reversals(changes: Sequence[Change], lowered: Mapping[int, int]) -> list[tuple[str, frozenset[int]]]:
    """The whole culprit first, then each change alone if there are several."""
    members = sorted(lowered)
    found = [("all", frozenset(members))]
    return found + [(change.key, frozenset([i])) for change, i in zip(changes, members, strict=True)]


def _last_good(culprit: Configuration, neighbours: Sequence[Configuration]) -> dict[int, int]:
    """For each axis of the culprit the step of its certified lower neighbour."""
    lowered: dict[int, int] = {}
    for i, step in enumerate(culprit):
        if step:
            below = [point[i] for point in neighbours if point[i] < step]
            lowered[i] = max(below, default=step - 1)
    return lowered


def _change(goal: Goal, axis: int, low: int, high: int) -> Change:
    steps = goal.axes[axis].steps
    between = tuple(step.value for step in steps[low + 1 : high])
    return Change(goal.axes[axis].key, steps[0].value, steps[-1].value, steps[low].value, steps[high].value, between)


def _row_counts(goal: Goal, history: History, point: Configuration) -> Counts:
    return history.counts(goal.symptom, goal.lift(point))


def _unsuccessful(goal: Goal, search: Search) -> Finding:
    result = search.result()
    return Finding(
        result.status,
        confidence=result.confidence,
        suspects=_suspect_groups(goal, [goal.lift(point) for point in result.suspects]),
        bound=result.bound,
        contradictions=_contradictions(goal, search),
    )


def _best_so_far(goal: Goal, search: Search) -> Finding:
    """The budget is spent: the leading hypothesis with its honest confidence, as suspects."""
    result = search.result()
    points = [result.culprit] if result.culprit is not None else list(result.suspects)
    return Finding(
        Status.BUDGET,
        confidence=result.confidence,
        suspects=_suspect_groups(goal, [goal.lift(point) for point in points]),
        bound=result.bound,
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
    return tuple(
        tuple(_change(goal, i, min(p[i] for p in members) - 1, max(p[i] for p in members)) for i in axes)
        for axes, members in groups.items()
    )

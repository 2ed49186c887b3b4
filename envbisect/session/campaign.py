"""The whole run as a pure ask/tell: endpoints, search, verification, reversal, naming at the boundary.

``campaign`` is a generator: it yields an ``Ask``, is sent a ``Reply``, and returns an ``Answer``. It knows no clock, no
file and no process, so replaying a journal into a fresh one leads to the same state, always.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Final

from envbisect.burnin.symptoms import SymptomState
from envbisect.search import Outcome, Search, Status
from envbisect.session.ask import Ask, Reply
from envbisect.session.endpoints import EndpointPolicy, Ends, establish
from envbisect.session.finding import Finding
from envbisect.session.goal import Goal, everywhere, tell
from envbisect.session.history import History
from envbisect.session.oracle import Symptom, failed, tally
from envbisect.session.pursuit import find
from envbisect.session.thresholds import middle
from envbisect.space.model import Axis, Configuration


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """What a campaign needs to know, all of it recorded in the session."""

    axes: tuple[Axis, ...]
    confidence: float
    seed: int
    policy: EndpointPolicy
    max_probes: int | None = None
    find_all: bool = False
    primary: str | None = None
    known_good: tuple[int, int] | None = None
    known_bad: tuple[int, int] | None = None
    feasible: Callable[[Configuration], bool] = everywhere

    @property
    def top(self) -> Configuration:
        return tuple(axis.size for axis in self.axes)

    @property
    def zero(self) -> Configuration:
        return (0,) * len(self.axes)


@dataclass(frozen=True, slots=True)
class SymptomReport:
    """One symptom: (failures, runs that could tell) at the ends, and what became of its search."""

    symptom: Symptom
    status: Status
    good: tuple[int, int]
    bad: tuple[int, int]
    findings: tuple[Finding, ...] = ()
    bound: float | None = None  # upper bound of p - q, for not-reproduced
    medians: tuple[float, float] | None = None  # of a metric at the good and the bad end


@dataclass(frozen=True, slots=True)
class Answer:
    """How a campaign ended. ``reason`` is one line where the status needs one."""

    status: Status
    reports: tuple[SymptomReport, ...]
    reason: str = ""


@dataclass
class Campaign:
    """The running campaign; ``history`` may be read at any time, also after an interrupt."""

    plan: CampaignPlan
    history: History = field(default_factory=History)
    symptoms: tuple[Symptom, ...] = ()
    out_of_time: bool = False  # set by whoever has a clock; the search ends with the best so far

    def run(self) -> Generator[Ask, Reply, Answer]:
        """From the endpoints to the answer."""
        plan = self.plan
        if not plan.axes:
            return Answer(Status.NOT_REPRODUCED, (), "nothing that can be moved here differs between good and bad")
        ends = yield from establish(plan.zero, plan.top, self.history, plan.policy)
        self.symptoms = _ordered(ends.symptoms, plan.primary)
        if (early := self._without_symptom(ends)) is not None:
            return early
        reports: list[SymptomReport] = []
        for symptom in self.symptoms:
            reports.append((yield from self._search(symptom)))
        return Answer(_overall(reports), tuple(reports))

    def _without_symptom(self, ends: Ends) -> Answer | None:
        """The answers that need no search."""
        if ends.good_failed:
            first = next(seen for seen in ends.good[0].symptoms if seen.state is SymptomState.FAIL)
            return Answer(Status.GOOD_FAILS, (), f"the good end failed in all {len(ends.good)} runs: {first.detail}")
        if ends.cannot_tell:
            return Answer(Status.UNDECIDED, (), f"the test cannot tell at the {ends.cannot_tell} end, in any run")
        if not self.symptoms:
            return self._not_reproduced(ends)
        return None

    def _not_reproduced(self, ends: Ends) -> Answer:
        """No symptom: how often each check failed at the ends, and how large a difference that leaves possible."""
        from envbisect.stats import upper_bound_difference

        reports = []
        for check in sorted({seen.id for run in ends.bad for seen in run.symptoms}):
            symptom = Symptom(check, check)
            good, bad = (tally(symptom, runs) for runs in (ends.good, ends.bad))
            bound = upper_bound_difference(bad[0], bad[1], good[0], good[1], self.plan.confidence)
            reports.append(SymptomReport(symptom, Status.NOT_REPRODUCED, good, bad, bound=bound))
        failures = sum(failed(run) for run in ends.bad), sum(failed(run) for run in ends.good)
        return Answer(
            Status.NOT_REPRODUCED,
            tuple(reports),
            f"the bad end failed in {failures[0]} of {len(ends.bad)} runs, the good end in {failures[1]} of "
            f"{len(ends.good)}: no failure that only the bad end shows"
            + ("; --known says that the bad end fails, which was not seen here" if self._known_to_fail() else ""),
        )

    def _known_to_fail(self) -> bool:
        known = self.plan.known_bad
        return known is not None and known[0] < known[1]

    def _search(self, symptom: Symptom) -> Generator[Ask, Reply, SymptomReport]:
        plan = self.plan
        findings: list[Finding] = []
        tops = [plan.top]
        status, bound = Status.UNDECIDED, None
        while tops:
            top = tops.pop(0)
            goal = Goal(symptom, plan.axes, top, plan.confidence, plan.seed, plan.max_probes, plan.feasible)
            finding = yield from find(goal, self.history, self._prepared(goal), lambda: self.out_of_time)
            if not findings:
                status, bound = finding.status, finding.bound
            if finding.status is not Status.CULPRIT:
                if not findings or finding.status is Status.SUSPECTS:
                    findings.append(finding)
                break
            findings.append(finding)
            if plan.find_all:
                tops += [point for point in finding.uncured if point not in tops and _new(point, findings)]
        good, bad = (tally(symptom, self.history.observations(point)) for point in (plan.zero, plan.top))
        medians = middle(symptom, *(self.history.observations(point) for point in (plan.zero, plan.top)))
        return SymptomReport(symptom, status, good, bad, tuple(findings), bound, medians)

    def _prepared(self, goal: Goal) -> Search:
        """A search over the sublattice under ``goal.top`` that knows everything observed so far."""
        plan = self.plan
        search = goal.new_search(self.history.entries)
        for known, point in (
            (plan.known_good, goal.project(plan.zero)),
            (plan.known_bad, goal.project(plan.top)),
        ):
            if known is None or point is None:
                continue
            passes, runs = _capped(*known)
            for outcome, count in ((Outcome.GOOD, passes), (Outcome.BAD, runs - passes)):
                if count:
                    search.tell(point, outcome, count=count)
        for entry in self.history.lattice():
            tell(search, goal, entry)
        return search


MOST_KNOWN: Final = 1000
"""Runs known from elsewhere that count; more would say nothing new and outweigh every run made here."""


def _capped(passes: int, runs: int) -> tuple[int, int]:
    if runs <= MOST_KNOWN:
        return passes, runs
    return round(passes * MOST_KNOWN / runs), MOST_KNOWN


def _ordered(symptoms: Sequence[Symptom], primary: str | None) -> tuple[Symptom, ...]:
    """The user's choice first; else as the endpoints rank them."""
    return tuple(sorted(symptoms, key=lambda symptom: symptom.id != primary))


def _overall(reports: Sequence[SymptomReport]) -> Status:
    """A culprit of any symptom is a culprit; else the primary symptom decides."""
    return Status.CULPRIT if any(r.status is Status.CULPRIT for r in reports) else reports[0].status


def _new(point: Configuration, findings: Sequence[Finding]) -> bool:
    """Whether a non-curing reversal was not yet gone on from."""
    return sum(point in finding.uncured for finding in findings) == 1

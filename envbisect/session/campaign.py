"""The whole run as a pure ask/tell: endpoints, search, verification, reversal, naming at the boundary.

``campaign`` is a generator: it yields an ``Ask``, is sent a ``Reply``, and returns an ``Answer``. It knows no clock, no
file and no process, so replaying a journal into a fresh one leads to the same state, always.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from envbisect.burnin.symptoms import SymptomState
from envbisect.search import Outcome, Search, Status
from envbisect.session.ask import Ask, Purpose, Reply
from envbisect.session.covering import excluded, must_pass, passes
from envbisect.session.endpoints import EndpointPolicy, Ends, establish
from envbisect.session.finding import Cure, Finding, KnownClash
from envbisect.session.goal import Goal, everywhere, tell
from envbisect.session.history import Counts, History
from envbisect.session.knowing import clash, in_words
from envbisect.session.oracle import Symptom, failed, tally
from envbisect.session.pursuit import find
from envbisect.session.settling import settle
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

    def known(self) -> dict[Configuration, Counts]:
        """Runs of the ends from elsewhere, as far as they count."""
        ends = ((self.zero, self.known_good), (self.top, self.known_bad))
        return {point: _capped(*known) for point, known in ends if known is not None and known[1]}

    def goal(self, symptom: Symptom, top: Configuration, spent: Callable[[], bool]) -> Goal:
        """The search for what makes ``top`` show the symptom."""
        return Goal(symptom, self.axes, top, self.confidence, self.seed, self.feasible, spent=spent, known=self.known())


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
    clashes: tuple[KnownClash, ...] = ()


@dataclass
class Campaign:
    """The running campaign; ``history`` may be read at any time, also after an interrupt."""

    plan: CampaignPlan
    history: History = field(default_factory=History)
    symptoms: tuple[Symptom, ...] = ()
    out_of: str = (
        ""  # the option whose budget is spent, set by whoever has a clock; the search ends with the best so far
    )

    def spent(self) -> bool:
        """Whether a budget is: of time, or of probes."""
        most = self.plan.max_probes
        if not self.out_of and most is not None and self.history.probes() >= most:
            self.out_of = "--max-probes"
        return bool(self.out_of)

    def run(self) -> Generator[Ask, Reply, Answer]:
        """From the endpoints to the answer."""
        plan = self.plan
        if not plan.axes:
            return Answer(Status.NOT_REPRODUCED, (), "nothing that can be moved here differs between good and bad")
        ends = yield from establish(plan.zero, plan.top, self.history, plan.policy, self.spent)
        self.symptoms = _ordered(ends.symptoms, plan.primary)
        if (early := self._without_symptom(ends)) is not None:
            return early
        reports: list[SymptomReport] = []
        for symptom in self.symptoms:
            reports.append((yield from self._search(symptom)))
        found = [finding for report in reports for finding in report.findings]
        clashes = tuple(finding.clash for finding in found if finding.clash is not None)
        status = _overall(reports)
        return Answer(status, tuple(reports), self._reason(status, found, clashes), clashes)

    def _reason(self, status: Status, found: Sequence[Finding], clashes: Sequence[KnownClash]) -> str:
        """One line on what went wrong, where something did."""
        if clashes:
            return in_words(clashes[0])
        if status is not Status.CULPRIT and any(finding.drift is not None for finding in found):
            return "the machine changed while it was measured: what it showed since is no evidence about any change"
        if status is Status.BUDGET:
            return f"the budget of {self.out_of} is spent"
        return ""

    def _without_symptom(self, ends: Ends) -> Answer | None:
        """The answers that need no search."""
        if ends.spent:
            runs = f"{len(ends.good)} of the good end and {len(ends.bad)} of the bad one"
            return Answer(Status.BUDGET, (), f"the budget of {self.out_of} is spent at the ends, after {runs}")
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
        reason = (
            f"the bad end failed in {failures[0]} of {len(ends.bad)} runs, the good end in {failures[1]} of "
            f"{len(ends.good)}: no failure that only the bad end shows"
        )
        clashes = self._clashes(ends)
        return Answer(Status.NOT_REPRODUCED, tuple(reports), "; ".join([reason, *map(in_words, clashes)]), clashes)

    def _clashes(self, ends: Ends) -> tuple[KnownClash, ...]:
        """Where no symptom was found, whatever failed counts."""
        known = self.plan.known()
        found = []
        for end, point, runs in (("good", self.plan.zero, ends.good), ("bad", self.plan.top, ends.bad)):
            bad = sum(failed(run) for run in runs)
            if point in known and (gap := clash(end, known[point], Counts(len(runs) - bad, bad))) is not None:
                found.append(gap)
        return tuple(found)

    def _search(self, symptom: Symptom) -> Generator[Ask, Reply, SymptomReport]:
        plan = self.plan
        goal = plan.goal(symptom, plan.top, self.spent)
        first = yield from find(goal, self.history, self._prepared(goal))
        findings = [first]
        if first.status is Status.CULPRIT and plan.find_all:
            findings = yield from self._others(goal, first)
        culprits = [finding.lowered for finding in findings if finding.status is Status.CULPRIT]
        if culprits and excluded(goal, self.history, culprits):
            findings = [replace(f, complete=f.status is Status.CULPRIT) for f in findings]
        good, bad = (tally(symptom, self.history.observations(point)) for point in (plan.zero, plan.top))
        medians = middle(symptom, *(self.history.observations(point) for point in (plan.zero, plan.top)))
        return SymptomReport(symptom, first.status, good, bad, tuple(findings), first.bound, medians)

    def _others(self, goal: Goal, first: Finding) -> Generator[Ask, Reply, list[Finding]]:
        """Go on below whatever still fails with every culprit found so far undone, until nothing does."""
        findings = [first]
        search = self._prepared(goal)
        untold: set[Configuration] = set()
        while not self.spent():
            points = must_pass(goal.top, [finding.lowered for finding in findings])
            left = [x for x in points or () if x not in untold and not passes(goal, self.history, x)]
            if not left:
                break
            cure = yield from settle(goal, self.history, search, left[0], Purpose.REVERSAL)
            if cure is Cure.UNRESOLVED:
                untold.add(left[0])
            if cure is not Cure.DOES_NOT_CURE:
                continue
            under = replace(goal, top=left[0])
            finding = yield from find(under, self.history, self._prepared(under))
            if finding.status is not Status.CULPRIT or finding.lowered in [other.lowered for other in findings]:
                if finding.status is Status.SUSPECTS or finding.drift is not None:
                    findings.append(finding)
                break
            findings.append(finding)
        return findings

    def _prepared(self, goal: Goal) -> Search:
        """A search over the sublattice under ``goal.top`` that knows everything observed so far."""
        search = goal.new_search(self.history.entries)
        for end, known in goal.known.items():
            point = goal.project(end)
            for outcome, count in ((Outcome.GOOD, known.good), (Outcome.BAD, known.bad)):
                if point is not None and count:
                    search.tell(point, outcome, count=count)
        for entry in self.history.lattice():
            tell(search, goal, entry)
        return search


MOST_KNOWN: Final = 1000
"""Runs known from elsewhere that count; more would say nothing new and outweigh every run made here."""


def _capped(passes: int, runs: int) -> Counts:
    counted = min(runs, MOST_KNOWN)
    good = round(passes * counted / runs)
    return Counts(good=good, bad=counted - good)


def _ordered(symptoms: Sequence[Symptom], primary: str | None) -> tuple[Symptom, ...]:
    """The user's choice first; else as the endpoints rank them."""
    return tuple(sorted(symptoms, key=lambda symptom: symptom.id != primary))


def _overall(reports: Sequence[SymptomReport]) -> Status:
    """A culprit of any symptom is a culprit; else the primary symptom decides."""
    return Status.CULPRIT if any(r.status is Status.CULPRIT for r in reports) else reports[0].status

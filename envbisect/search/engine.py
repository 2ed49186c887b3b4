"""The search engine: told outcomes in, probes out, until a minimal failing combination is proven."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from envbisect.errors import UsageError
from envbisect.search.belief import PREDICATE_ALL, SEVERAL_MASS, Belief, Counter, Single, believe, explain
from envbisect.search.certificate import (
    Classes,
    certificate,
    contradictions,
    direct_odds,
    excludes_others,
    missing,
)
from envbisect.search.choice import Chooser
from envbisect.search.climb import Climb, path_between
from envbisect.search.endpoints import Endpoints
from envbisect.search.evidence import Evidence
from envbisect.search.forecast import expected_probes, prior_document
from envbisect.search.lattice import Frame, Hypotheses, Lattice, open_frame
from envbisect.search.price import Prices
from envbisect.search.rates import Rates
from envbisect.search.words import Cause, Configuration, Costs, Outcome, Result, Status, below

TARGET: Final = 0.8  # probability of failing from which a configuration is searched below
REST_LEADS: Final = 0.5
FRAMES: Final = 10_000  # changes of the frame, or hypotheses found not to exist, between two answers
LIMIT: Final = 5000  # answers after which a test that never settles is given up
FAINTEST: Final = 1e-6  # bits for a second that are still worth a probe


@dataclass(slots=True)
class Assessment:
    """Where the search stands after all that was told: a final status, or what must be asked."""

    status: Status | None
    belief: Belief | None = None
    leader: Configuration | None = None
    confidence: float = 0.0
    members: list[Configuration] = field(default_factory=list)
    wanted: list[Configuration] = field(default_factory=list)
    special: list[Configuration] = field(default_factory=list)
    target: Configuration = ()
    climb: Climb | None = None


class Search:
    """Finds a minimal failing point of a product of ladders by asking for probes.

    Args:
        sizes: top step of each axis (1 for a flag).
        confidence: probability with which an answer shall be right.
        rates: (p, q), how often a failing and a passing configuration fail, if known; else they are inferred.
        weights: prior weight of each axis, equal by default.
        seed: seeds the generator that varies the paths looked at; the same answers give the same questions.
        infeasible: configurations that do not exist, or a predicate that says so.
        costs: seconds of building and running, or a tuple (build_s, run_s); without, every probe costs the same.
        min_effect: a difference p - q below this is given up as not reproduced.

    Raises:
        UsageError: an argument or a told configuration does not fit the lattice.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        confidence: float = 0.95,
        *,
        rates: tuple[float, float] | None = None,
        weights: Sequence[float] | None = None,
        seed: int = 0,
        infeasible: Iterable[Configuration] | Callable[[Configuration], bool] = (),
        costs: Costs | tuple[float, float] | None = None,
        min_effect: float = 0.35,
    ) -> None:
        if any(size < 1 for size in sizes):
            raise UsageError("an axis of the search has no steps", "leave out axes whose good and bad values are equal")
        if not 0.5 <= confidence < 1:
            raise UsageError(f"confidence {confidence} is not in [0.5, 1)", "use for example 0.95")
        if rates is not None and not 0 <= rates[1] < rates[0] <= 1:
            raise UsageError(
                f"rates {rates} do not satisfy 0 <= q < p <= 1", "give (p, q): how often bad and good fail"
            )
        if weights is not None and (len(weights) != len(sizes) or any(weight <= 0 for weight in weights)):
            raise UsageError("weights must be positive, one for each axis", "leave them out to treat all axes alike")
        self.lattice = Lattice(sizes)
        self.confidence = confidence
        self._seed = seed
        self._rates = Rates(rates)
        self._weights = np.array(weights if weights is not None else [1.0] * len(sizes), dtype=np.float64)
        self._evidence = Evidence(self.lattice, infeasible)
        self._endpoints = Endpoints(self._evidence, confidence, min_effect, told=rates is not None)
        self._prices = Prices(costs) if costs is not None else None
        self._told = 0
        self._legs = 1.0  # probability that the frame was chosen rightly
        self._assessment: Assessment | None = None
        self._root = open_frame(self.lattice.top, self.lattice.zero)
        self._counter: Counter | None = None

    # ------------------------------------------------------------------ telling

    def tell(self, configuration: Sequence[int], outcome: Outcome, cause: Cause | None = None) -> None:
        """Count one answer, asked or not. An UNRESOLVED without a cause is UNDECIDED."""
        point = self._checked(configuration)
        outcome = Outcome(outcome)
        self._evidence.tell(point, outcome, Cause(cause) if cause is not None else None)
        if self._counter is not None and outcome is not Outcome.UNRESOLVED:
            self._counter.add(point, bad=int(outcome is Outcome.BAD), good=int(outcome is Outcome.GOOD))
        if self._prices is not None and cause is not Cause.UNBUILDABLE:
            self._prices.built(point)
        self._told += 1
        self._assessment = None

    def mark_infeasible(self, configuration: Sequence[int]) -> None:
        """The configuration does not exist (it was snapped to another one): never ask it again, learn nothing."""
        point = self._checked(configuration)
        self._evidence.mark_infeasible(point)
        if self._counter is not None:
            self._counter.remove(point)
        self._assessment = None

    def _checked(self, configuration: Sequence[int]) -> Configuration:
        point = tuple(int(step) for step in configuration)
        sizes = self.lattice.sizes
        if len(point) != len(sizes) or any(not 0 <= step <= size for step, size in zip(point, sizes, strict=False)):
            raise UsageError(f"configuration {point} is not in the lattice {sizes}", "tell one step for each axis")
        return point

    # ------------------------------------------------------------------ asking

    def ask(self, k: int = 1, running: Iterable[Sequence[int]] = ()) -> list[Configuration]:
        """Up to ``k`` configurations that are informative together with those under way; empty when decided."""
        under_way = [self._checked(point) for point in running]
        state = self._assess()
        if state.status is not None and self._may_retry(state.status):
            self._evidence.last_chance = True
            self._assessment = None
            state = self._assess()
        if state.status is not None:
            return []
        batch: list[Configuration] = []
        for point in state.wanted:
            if len(batch) < k and point not in under_way:
                batch.append(point)
        if state.belief is None or (state.wanted and not batch and not under_way):
            return batch or list(state.wanted[:1])
        if state.climb is not None:
            step = state.climb.ask()
            return [step] if step is not None and step not in under_way else []
        chooser = self._chooser(state.belief)
        for point in [*under_way, *batch]:
            chooser.condition(point)
        generator = np.random.default_rng([self._seed, self._told, len(under_way)])
        while len(batch) < k:
            score, point = chooser.best(state.target, state.special, generator)
            if score < FAINTEST:
                break
            batch.append(point)
            if len(batch) < k:
                chooser.condition(point)
        return batch

    def _may_retry(self, status: Status) -> bool:
        if self._evidence.last_chance or not self._evidence.soft_holes():
            return False
        return status in (Status.SUSPECTS, Status.UNDECIDED)

    def _chooser(self, belief: Belief) -> Chooser:
        price = self._prices.of if self._prices is not None else None
        return Chooser(self._current().hypotheses, belief, self._evidence, price)

    # ------------------------------------------------------------------ assessing

    def _current(self) -> Counter:
        if self._counter is None:
            self._enter(self._root)
        counter = self._counter
        if counter is None:
            raise RuntimeError("the search has no frame")
        return counter

    def _enter(self, frame: Frame) -> None:
        self._counter = Counter(Hypotheses(self.lattice, frame, self._weights), self._evidence)

    def _assess(self) -> Assessment:
        if self._assessment is None:
            self._assessment = self._look()
        return self._assessment

    def _look(self) -> Assessment:
        evidence = self._evidence
        null = self._null()
        verdict = self._endpoints.verdict(null)
        if verdict is not None:
            return Assessment(verdict)
        wanted = list(self._endpoints.wanted(null))
        if wanted:
            return Assessment(None, wanted=wanted)
        if self._told >= LIMIT:
            return Assessment(Status.UNDECIDED)
        for _ in range(FRAMES):
            counter = self._current()
            target, belief = self._below_target(counter, explain(counter, evidence, self._rates))
            if belief.rest > REST_LEADS or not counter.hypotheses.total:
                climb = self._climb(counter.hypotheses.frame)
                if climb is None:
                    continue
                return Assessment(None, belief, climb=climb)
            if self._drop_missing(counter, belief):
                continue
            state = self._decide(counter.hypotheses, belief, target)
            if state is not None:
                return state
        return Assessment(Status.UNDECIDED)

    def _null(self) -> float:
        """Posterior of "nothing changed", from the frame if there is one; else from the ends."""
        if self._rates.told is not None:
            return 0.0
        counter = self._current()
        return believe(explain(counter, self._evidence, self._rates), counter, self._evidence, self._rates).null

    def _drop_missing(self, counter: Counter, belief: Belief) -> bool:
        """Remove leading hypotheses that do not exist; whether there were any. Only a predicate leaves any."""
        if self._evidence.predicate is None or counter.hypotheses.total <= PREDICATE_ALL:
            return False
        rows = np.argpartition(-belief.probability, 50)[:50]
        missing_points = [x for row in rows.tolist() if not self._evidence.exists(x := counter.hypotheses.point(row))]
        return sum(counter.remove(point) for point in missing_points) > 0

    def _climb(self, frame: Frame) -> Climb | None:
        """A search for one step of a culprit of more axes than listed; None when it was found and pinned just now."""
        target = self._target_directly(frame)
        climb = Climb(path_between(frame.base, target, coarse=frame.coarse), self._evidence, self._rates)
        index, mass = climb.best()
        if mass < self._leg_confidence() and climb.ask() is not None:
            return climb
        high, low = climb.path[index], climb.path[max(0, index - 1)]
        base = tuple(h if h > b and h != s else b for h, b, s in zip(high, frame.base, low, strict=True))
        self._legs *= mass
        if index == 0:
            base = high
        self._enter(open_frame(high, base))
        return None

    def _leg_confidence(self) -> float:
        return 1 - (1 - self.confidence) / 3

    def _target_directly(self, frame: Frame) -> Configuration:
        failing = [
            x
            for x, t in self._evidence.tallies.items()
            if t.bad > t.good and all(b <= s <= h for b, s, h in zip(frame.base, x, frame.top, strict=True))
        ]
        return min(failing, key=lambda x: (sum(x), x), default=frame.top)

    def _decide(self, hypotheses: Hypotheses, belief: Belief, target: Configuration) -> Assessment | None:
        evidence = self._evidence
        index = belief.leading()
        leader = hypotheses.point(index)
        mass = float(belief.probability[index])
        members, separator = [leader], None
        hidden = evidence.hidden()
        if hidden:
            members, separator, mass = self._class(hypotheses, belief, index)
        shown: Configuration | None = leader
        if len(members) > 1:
            shown = Classes(evidence).ceiling(members)
        odds = 1e9
        if shown is not None and self.lattice.dimensions > 1:
            odds = direct_odds(shown, evidence, float(belief.p[index]), float(belief.q[index]))
        alone = odds * (1 - SEVERAL_MASS) / (odds * (1 - SEVERAL_MASS) + SEVERAL_MASS)
        confidence = mass * alone * self._legs
        state = Assessment(None, belief, leader, confidence, members, target=target)
        if mass >= self.confidence:
            if hypotheses.frame.coarse:
                self._legs *= mass
                self._enter(open_frame(leader, self.lattice.zero))
                return None
            state.wanted = self._proofs(shown, members)
            if not state.wanted and confidence < self.confidence and shown is not None and mass < 1 - 1e-12:
                state.wanted = [shown] if evidence.chance(shown) else []
            if not state.wanted:
                state.status = Status.CULPRIT if len(members) == 1 else Status.SUSPECTS
            return state
        state.special = self._special(hypotheses, belief, leader, target)
        if separator is not None:
            state.special.append(separator)
        score, _ = self._chooser(belief).best(target, state.special, np.random.default_rng(self._seed))
        if score < FAINTEST:
            state.status = Status.SUSPECTS
            if hidden:
                state.members = self._credible(hypotheses, belief)
        return state

    def _proofs(self, shown: Configuration | None, members: list[Configuration]) -> list[Configuration]:
        """What must still be run for the certificate, as far as it can be."""
        evidence = self._evidence
        if shown is None:
            return []
        if len(members) > 1:
            return [] if evidence.tally(shown).bad else [shown]
        out = []
        for point in missing(shown, evidence):
            if evidence.chance(point) > 0:
                out.append(point)
                continue
            other = Classes(evidence).separator(shown, point) if point != shown else None
            if other is not None:
                out.append(other)
        return out

    def _class(
        self, hypotheses: Hypotheses, belief: Belief, index: int
    ) -> tuple[list[Configuration], Configuration | None, float]:
        """The class of the leader, a configuration that splits what looks alike, and the class' probability."""
        evidence, counter, classes = self._evidence, self._current(), Classes(self._evidence)
        leader = hypotheses.point(index)
        alike = np.flatnonzero(
            (counter.bad_in == counter.bad_in[index])
            & (counter.good_in == counter.good_in[index])
            & (belief.probability > 1e-9)
        )
        members, mass, separator = [leader], float(belief.probability[index]), None
        for row in alike[:2000].tolist():
            point = hypotheses.point(row)
            if row == index or not evidence.exists(point):
                continue
            found = classes.separator(leader, point)
            if found is None:
                members.append(point)
                mass += float(belief.probability[row])
            elif separator is None:
                separator = found
        return sorted(members), separator, mass

    def _credible(self, hypotheses: Hypotheses, belief: Belief) -> list[Configuration]:
        """The smallest set of minimal points that holds the confidence."""
        order = np.argsort(-np.round(belief.probability, 12), kind="stable")
        total = np.cumsum(belief.probability[order])
        count = int(np.searchsorted(total, self.confidence * float(total[-1]))) + 1
        return sorted(hypotheses.point(row) for row in order[:count].tolist())

    def _below_target(self, counter: Counter, single: Single) -> tuple[Configuration, Belief]:
        """The smallest configuration that fails with high probability, and the posterior below it.

        Probes stay below it: there is always a minimal point below a failing configuration, however many there are
        elsewhere, so failures that are met there are never evidence of different culprits.
        """
        hypotheses, evidence = counter.hypotheses, self._evidence
        frame = hypotheses.frame
        scale = [1.0 / size for size in self.lattice.sizes]
        failing = [
            x
            for x in single.failing
            if len(scale) > 1
            and x != frame.top
            and all(b <= s <= t for b, s, t in zip(frame.base, x, frame.top, strict=True))
        ]
        for point in sorted(failing, key=lambda x: (sum(a * b for a, b in zip(x, scale, strict=True)), x)):
            belief = believe(single, counter, evidence, self._rates, point)
            if float(belief.probability[hypotheses.under(point)].sum()) >= TARGET:
                return point, belief
        return frame.top, believe(single, counter, evidence, self._rates)

    def _special(
        self, hypotheses: Hypotheses, belief: Belief, leader: Configuration, target: Configuration
    ) -> list[Configuration]:
        """Configurations below the target that always compete: the leading minimal points and what is just below."""
        points = [leader]
        if hypotheses.total > 1 and hypotheses.total <= 200_000:
            rows = np.argpartition(-belief.probability, min(3, hypotheses.total - 1))[:3]
            points = sorted({leader, *(hypotheses.point(row) for row in rows.tolist())})
        below_leader = [(*leader[:axis], step - 1, *leader[axis + 1 :]) for axis, step in enumerate(leader) if step]
        out = dict.fromkeys([*points, *below_leader, *(self._prices.seen() if self._prices is not None else ())])
        inside = [point for point in out if below(point, target)]
        if belief.null > 0.01:
            inside += [self.lattice.top, self.lattice.zero]
        return [point for point in inside if self._evidence.exists(point)]

    # ------------------------------------------------------------------ answering

    def result(self) -> Result:
        """What is known now; status BUDGET as long as another probe would help."""
        state = self._assess()
        evidence = self._evidence
        status = state.status or Status.BUDGET
        if state.status is not None and self._may_retry(state.status):
            status = Status.BUDGET
        rates = self._rates.told or (1.0, 0.0)
        top: tuple[tuple[Configuration, float], ...] = ()
        if state.belief is not None and state.leader is not None:
            row = state.belief.leading()
            rates = (float(state.belief.p[row]), float(state.belief.q[row]))
            top = self._top(state.belief)
        base = Result(
            status,
            confidence=state.confidence,
            contradictions=contradictions(evidence, *rates, self.confidence),
            bound=self._endpoints.bound,
            rates=rates,
            posterior_top=top,
        )
        if status is Status.CULPRIT and state.leader is not None:
            return replace(
                base,
                culprit=state.leader,
                complete=excludes_others(state.leader, evidence),
                certificate=certificate(state.leader, evidence),
            )
        if status is Status.SUSPECTS:
            shown = Classes(evidence).ceiling(state.members) or self.lattice.top
            return replace(base, suspects=tuple(sorted(state.members)), certificate=certificate(shown, evidence))
        return base

    def _top(self, belief: Belief) -> tuple[tuple[Configuration, float], ...]:
        hypotheses = self._current().hypotheses
        count = min(5, hypotheses.total)
        rows = np.argsort(-np.round(belief.probability, 12), kind="stable")[:count]
        return tuple((hypotheses.point(row), float(belief.probability[row])) for row in rows.tolist())

    def expected_probes(self) -> float:
        """Probes expected for a deterministic test (for told rates: for these), endpoints aside."""
        return expected_probes(self._root, self.lattice, self._weights, self._rates.told, self.confidence)

    def describe_prior(self) -> dict[str, object]:
        """The prior in words and numbers, for a plan."""
        return prior_document(self._root, self.lattice, self._weights, self._rates.told)

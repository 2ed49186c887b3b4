"""The search engine: told outcomes in, probes out, until a minimal failing combination is proven."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from envbisect.errors import UsageError
from envbisect.search.assess import FAINTEST, Assessment, Assessor
from envbisect.search.belief import Belief
from envbisect.search.certificate import missing
from envbisect.search.doubts import Doubts
from envbisect.search.endpoints import Endpoints
from envbisect.search.evidence import Evidence
from envbisect.search.forecast import expected_probes, prior_document
from envbisect.search.lattice import Lattice
from envbisect.search.price import Prices
from envbisect.search.rates import DETERMINISTIC, Rates
from envbisect.search.ruling import Ruling, by_posterior, not_monotone, proven, with_holes
from envbisect.search.suspects import Finish, finish
from envbisect.search.words import Cause, Configuration, Costs, Outcome, Result, Status


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
        deterministic: prior probability that the test fails always and only with the culprit; without ``rates``.

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
        deterministic: float = DETERMINISTIC,
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
        if not 0 < deterministic < 1:
            raise UsageError(f"deterministic {deterministic} is not in (0, 1)", "use for example 0.2")
        self.lattice = Lattice(sizes)
        self.confidence = confidence
        self._rates = Rates(rates, deterministic)
        self._weights = np.array(weights if weights is not None else [1.0] * len(sizes), dtype=np.float64)
        self._evidence = Evidence(self.lattice, infeasible)
        self._endpoints = Endpoints(self._evidence, confidence, min_effect, told=rates is not None)
        self._doubts = Doubts(self.lattice, self._evidence, confidence, rates)
        self._prices = Prices(costs) if costs is not None else None
        self._assessment: Assessment | None = None
        self._finished: Finish | None = None
        self._stood: Ruling | None = None
        self._anew: Callable[[], Search] = lambda: Search(
            sizes,
            confidence,
            rates=rates,
            weights=weights,
            seed=seed,
            infeasible=self._evidence.predicate or self._evidence.infeasible,
            min_effect=min_effect,
            deterministic=deterministic,
        )
        self._asked: dict[Configuration, bool] = {}  # asked and not told yet
        self._assessor = Assessor(
            self.lattice,
            self._evidence,
            self._rates,
            self._endpoints,
            weights=self._weights,
            prices=self._prices,
            confidence=confidence,
            seed=seed,
        )

    # ------------------------------------------------------------------ telling

    def tell(self, configuration: Sequence[int], outcome: Outcome, cause: Cause | None = None, count: int = 1) -> None:
        """Take ``count`` equal answers of one configuration, asked or not. UNRESOLVED without a cause is UNDECIDED."""
        point = self._checked(configuration)
        outcome = Outcome(outcome)
        if count < 1:
            raise UsageError(f"{count} answers cannot be told", "tell at least one")
        cause = Cause(cause) if cause is not None else None
        self._evidence.tell(point, outcome, cause, count)
        if outcome is not Outcome.UNRESOLVED:
            bad = outcome is Outcome.BAD
            self._assessor.told(point, bad=count if bad else 0, good=0 if bad else count)
        self._doubts.told(point, outcome, cause, count)
        if self._asked.pop(point, False):
            self._assessor.answered += 1
        if self._prices is not None and cause is not Cause.UNBUILDABLE:
            self._prices.built(point)
        self._forget()

    def mark_infeasible(self, configuration: Sequence[int]) -> None:
        """The configuration does not exist (it was snapped to another one): never ask it again, learn nothing."""
        point = self._checked(configuration)
        self._evidence.mark_infeasible(point)
        self._assessor.gone(point)
        self._forget()

    def _checked(self, configuration: Sequence[int]) -> Configuration:
        point = tuple(int(step) for step in configuration)
        sizes = self.lattice.sizes
        if len(point) != len(sizes) or any(not 0 <= step <= size for step, size in zip(point, sizes, strict=False)):
            raise UsageError(f"configuration {point} is not in the lattice {sizes}", "tell one step for each axis")
        return point

    # ------------------------------------------------------------------ asking

    def ask(self, k: int = 1, running: Iterable[Sequence[int]] = ()) -> list[Configuration]:
        """Up to ``k`` configurations that are informative together with those under way; empty when decided."""
        self._doubts.asked()
        batch = self._ask(k, [self._checked(point) for point in running])
        self._asked.update(dict.fromkeys(batch, True))
        return batch

    def _ask(self, k: int, under_way: list[Configuration]) -> list[Configuration]:
        ruling = self._ruling()
        if self._may_retry(ruling):
            self._evidence.last_chance = True
            self._forget()
            ruling = self._ruling()
        if ruling is not None:
            if ruling.last_look:
                self._doubts.looks(ruling.asks[0])
            return [point for point in ruling.asks if point not in under_way][:k]
        return self._informative(self._assess(), k, under_way)

    def _informative(self, state: Assessment, k: int, under_way: list[Configuration]) -> list[Configuration]:
        """What the posterior wants to know."""
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
        if k == 1 and not under_way and not batch:
            return [state.probe] if state.probe is not None else []
        chooser = self._assessor.chooser(state.belief)
        for point in [*under_way, *batch]:
            chooser.condition(point)
        generator = self._assessor.generator(len(under_way) + 1)
        while len(batch) < k:
            score, point = chooser.best(state.target, state.special, generator)
            if score < FAINTEST:
                break
            batch.append(point)
            if len(batch) < k:
                chooser.condition(point)
        return batch

    def _may_retry(self, ruling: Ruling | None) -> bool:
        """Whether nothing is left to ask but what did not answer before."""
        status = ruling.status if ruling is not None else self._assess().status
        return status in (Status.SUSPECTS, Status.UNDECIDED) and not self._doubts.any and self._evidence.soft_holes()

    def _assess(self) -> Assessment:
        if self._assessment is None:
            self._assessment = self._assessor.look()
        return self._assessment

    def _forget(self) -> None:
        """Something new was told: what was concluded is looked at again."""
        self._assessment, self._finished, self._stood = None, None, None

    def _ruling(self) -> Ruling | None:
        """What overrules the posterior, if anything does."""
        state, doubts = self._assess(), self._doubts
        if doubts.drift is not None:
            return self._after_drift()
        if wanted := doubts.wanted():
            return Ruling(Status.BUDGET, wanted, confidence=state.confidence)
        ends_decide = state.status in (Status.GOOD_FAILS, Status.NOT_REPRODUCED)
        if not ends_decide and (descent := doubts.descent()) is not None:
            return not_monotone(descent, self.confidence, self._evidence)
        if state.status is Status.CULPRIT and (again := doubts.last_look(state.members[0])) is not None:
            return Ruling(Status.BUDGET, (again,), confidence=state.confidence, last_look=True)
        finish = self._finish(state)
        return with_holes(finish, self._evidence) if finish is not None else None

    def _after_drift(self) -> Ruling:
        """Only what was proven before the change still is: a search that was told no more would say so."""
        if self._stood is None:
            before = self._anew()
            for point, outcome, cause, count in self._doubts.before_change():
                before.tell(point, outcome, cause, count)
            found = before.result()
            self._stood = Ruling(Status.UNDECIDED)
            if found.status is Status.CULPRIT and found.culprit is not None:
                self._stood = proven(found.culprit, found.confidence, before._evidence)
        return self._stood

    def _finish(self, state: Assessment) -> Finish | None:
        """How holes end the search: once the posterior has no new configuration to ask, and no culprit proven."""
        if not self._evidence.any_doubt() or self._rates.told not in (None, (1.0, 0.0)):
            return None
        match state.status:
            case Status.CULPRIT if state.leader is not None and missing(state.leader, self._evidence):
                pass
            case Status.SUSPECTS:
                pass
            case None if state.belief is not None and self._repeats(state):
                pass
            case _:
                return None
        if self._finished is None:
            self._finished = finish(self._evidence, self._rates, self.confidence)
        return self._finished

    def _repeats(self, state: Assessment) -> bool:
        """Whether the next question was answered before, and is no end."""
        question = state.wanted[0] if state.wanted else state.climb.ask() if state.climb else state.probe
        if question is None or question in (self.lattice.top, self.lattice.zero):
            return False
        return self._evidence.tally(question).told

    # ------------------------------------------------------------------ answering

    def result(self) -> Result:
        """What is known now; status BUDGET as long as another probe would help."""
        state, ruling = self._assess(), self._ruling()
        base = Result(
            Status.BUDGET,
            confidence=state.confidence,
            contradictions=self._doubts.contradictions,
            drift=self._doubts.drift,
            bound=self._endpoints.bound,
            rates=self._rates.told or (1.0, 0.0),
        )
        if state.belief is not None and state.leader is not None:
            base = replace(base, rates=_leading_rates(state.belief), posterior_top=self._top(state.belief))
        if self._may_retry(ruling):
            return base
        return (ruling or by_posterior(state, self._evidence)).applied(base)

    def _top(self, belief: Belief) -> tuple[tuple[Configuration, float], ...]:
        hypotheses = self._assessor.counter.hypotheses
        count = min(5, hypotheses.total)
        rows = np.argsort(-np.round(belief.probability, 12), kind="stable")[:count]
        return tuple((hypotheses.point(row), float(belief.probability[row])) for row in rows.tolist())

    def expected_probes(self) -> float:
        """Probes expected for a deterministic test (for told rates: for these), endpoints aside."""
        return expected_probes(self._assessor.root, self.lattice, self._weights, self._rates.told, self.confidence)

    def describe_prior(self) -> dict[str, object]:
        """The prior in words and numbers, for a plan."""
        return prior_document(self._assessor.root, self.lattice, self._weights, self._rates)


def _leading_rates(belief: Belief) -> tuple[float, float]:
    row = belief.leading()
    return float(belief.p[row]), float(belief.q[row])

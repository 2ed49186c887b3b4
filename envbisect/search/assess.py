"""Where a search stands: the frame it looks at, the posterior in it, and what that decides or still asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from envbisect.search.belief import PREDICATE_ALL, Belief, Counter, Single, believe, explain
from envbisect.search.certificate import Classes, direct_odds, missing
from envbisect.search.choice import Chooser
from envbisect.search.climb import Climb, path_between
from envbisect.search.endpoints import Endpoints
from envbisect.search.evidence import Evidence
from envbisect.search.lattice import Floats, Frame, Hypotheses, Lattice, deepen, open_frame
from envbisect.search.local import prove
from envbisect.search.price import Prices
from envbisect.search.rates import Rates
from envbisect.search.words import Configuration, Status, below

TARGET: Final = 0.65  # probability of failing from which a configuration is searched below
TARGETS: Final = 12  # configurations tried as a target, lowest first
LEADS: Final = 0.5
RETURN: Final = 0.25  # probability of more axes below which the root frame is believed again
PATIENCE: Final = 100  # answers after a step was pinned before that is looked at
PINNED: Final = 0.9  # probability from which a step belongs to the culprit: the proof by its own runs comes last
FRAMES: Final = 1000  # changes of the frame, or removals of what does not exist, between two answers
LIMIT: Final = 5000  # answered questions after which a test that never settles is given up
FAINTEST: Final = 1e-6  # bits for a second that are still worth a probe


@dataclass(slots=True)
class Assessment:
    """Where the search stands after all that was told: a final status, or what must be asked."""

    status: Status | None
    belief: Belief | None = None
    leader: Configuration | None = None
    confidence: float = 0.0
    members: list[Configuration] = field(default_factory=list)  # what nothing testable tells from the leader
    wanted: list[Configuration] = field(default_factory=list)  # to be run before anything else
    special: list[Configuration] = field(default_factory=list)  # compete with every other probe
    target: Configuration = ()  # probes stay below it
    probe: Configuration | None = None  # the best single probe
    climb: Climb | None = None


class Assessor:
    """Keeps the frame and its counts, and judges the evidence."""

    def __init__(
        self,
        lattice: Lattice,
        evidence: Evidence,
        rates: Rates,
        endpoints: Endpoints,
        *,
        weights: Floats,
        prices: Prices | None,
        confidence: float,
        seed: int,
    ) -> None:
        self.lattice, self.evidence, self.rates, self.endpoints = lattice, evidence, rates, endpoints
        self.weights, self.prices, self.confidence, self.seed = weights, prices, confidence, seed
        self.root = open_frame(lattice.top, lattice.zero)
        self.answered = 0  # questions that were asked and told; known counts are none
        self._aside: Counter | None = None  # the root frame's counts while a pinned step is believed
        self._pinned_at = 0
        self._counter: Counter | None = None

    @property
    def counter(self) -> Counter:
        """The counts of the present frame; the root frame's before anything is known."""
        if self._counter is None:
            self._counter = self._open(self.root)
        return self._counter

    def _open(self, frame: Frame) -> Counter:
        return Counter(Hypotheses(self.lattice, frame, self.weights), self.evidence)

    def told(self, point: Configuration, *, bad: int, good: int) -> None:
        """Keep the counts up to date; the evidence has the runs already."""
        for counter in (self._counter, self._aside):
            if counter is not None:
                counter.add(point, bad=bad, good=good)

    def gone(self, point: Configuration) -> None:
        """The configuration does not exist."""
        for counter in (self._counter, self._aside):
            if counter is not None:
                counter.remove(point)

    def chooser(self, belief: Belief) -> Chooser:
        """Scores probes for this posterior."""
        return Chooser(self.counter.hypotheses, belief, self.evidence, self.prices.of if self.prices else None)

    def generator(self, under_way: int = 0) -> np.random.Generator:
        """A generator that depends on the seed and on how much was told, so a replay draws the same."""
        answers = sum(t.good + t.bad + t.unresolved + t.unbuildable for t in self.evidence.tallies.values())
        return np.random.default_rng([self.seed, answers, under_way])

    def look(self) -> Assessment:
        """Judge all that was told."""
        self._return()
        for _ in range(FRAMES):
            counter = self.counter
            single = explain(counter, self.evidence, self.rates)
            belief = believe(single, counter, self.evidence, self.rates)
            if self._left_root(counter.hypotheses.frame) and belief.null > LEADS:
                state = self._doubt_frame(counter.hypotheses.frame, belief)
            elif (state := self._ends(belief)) is None:
                target, belief = self._below_target(counter, single, belief)
                if self._deepen(counter.hypotheses.frame, target):
                    continue
                state = self._inside(counter, target, belief)
            if state is not None:
                return state
        return Assessment(Status.UNDECIDED)

    def _return(self) -> None:
        """Back to the root frame once its few axes explain everything after all: a step was pinned wrongly."""
        if self._aside is None or self.answered < self._pinned_at + PATIENCE:
            return
        self._pinned_at = self.answered
        single = explain(self._aside, self.evidence, self.rates)
        if believe(single, self._aside, self.evidence, self.rates).rest < RETURN:
            self._counter, self._aside = self._aside, None

    def _ends(self, belief: Belief) -> Assessment | None:
        null = 0.0 if self.rates.told is not None else belief.null
        unsure = self.endpoints.unsure(null)
        verdict = self.endpoints.verdict(unsure=unsure)
        if verdict is not None:
            return Assessment(verdict)
        wanted = list(self.endpoints.wanted(null, unsure=unsure))
        if wanted:
            return Assessment(None, wanted=wanted)
        if self.answered >= LIMIT:
            return Assessment(Status.UNDECIDED)
        return None

    def _inside(self, counter: Counter, target: Configuration, belief: Belief) -> Assessment | None:
        """What the posterior says; None when the frame changed and has to be looked at again."""
        if belief.rest > LEADS or not counter.hypotheses.total:
            climb = self._climb(counter.hypotheses.frame)
            return Assessment(None, belief, climb=climb) if climb is not None else None
        if self._drop_missing(counter, belief):
            return None
        return self._decide(counter.hypotheses, belief, target)

    # ------------------------------------------------------------------ frames

    def _doubt_frame(self, frame: Frame, belief: Belief) -> Assessment | None:
        """Nothing explains the runs below the frame's top: run that again, or leave the frame."""
        odds = direct_odds(frame.top, self.evidence, 0.9, 0.1)
        if odds > 1 and self.evidence.chance(frame.top) > 0 and self.evidence.tally(frame.top).bad < 20:
            return Assessment(None, belief, wanted=[frame.top])
        self._counter, self._aside = self._open(self.root), None
        return None

    def _left_root(self, frame: Frame) -> bool:
        return (frame.top, frame.base) != (self.root.top, self.root.base)

    def _deepen(self, frame: Frame, target: Configuration) -> bool:
        """List higher orders below a new target, where there are few enough; whether that changed the frame."""
        if self.counter.hypotheses.complete or target in (frame.top, frame.deep):
            return False
        deeper = deepen(frame, target)
        listed = frame.deep is not None and below(target, frame.deep) and deeper.deep_orders <= frame.deep_orders
        if deeper == frame or listed:
            return False
        self._counter = self._open(deeper)
        return True

    def _climb(self, frame: Frame) -> Climb | None:
        """A search for one step of a culprit of more axes than listed; None when it was found and pinned just now."""
        top = self._lowest_failing(frame)
        climb = Climb(path_between(frame.base, top, coarse=frame.coarse), self.evidence, self.rates)
        index, mass = climb.best()
        if mass < PINNED and climb.ask() is not None:
            return climb
        high, low = climb.path[index], climb.path[max(0, index - 1)]
        base = tuple(h if h != s else b for h, b, s in zip(high, frame.base, low, strict=True)) if index else high
        if not self._left_root(frame) and not frame.coarse:
            self._aside, self._pinned_at = self._counter, self.answered
        self._counter = self._open(open_frame(high, base))
        return None

    def _lowest_failing(self, frame: Frame) -> Configuration:
        failing = [
            x
            for x, t in self.evidence.tallies.items()
            if t.bad > t.good and below(frame.base, x) and below(x, frame.top)
        ]
        return min(failing, key=lambda x: (sum(x), x), default=frame.top)

    def _drop_missing(self, counter: Counter, belief: Belief) -> bool:
        """Remove leading hypotheses that do not exist; whether there were any. Only a predicate leaves any."""
        if self.evidence.predicate is None or counter.hypotheses.total <= PREDICATE_ALL:
            return False
        rows = np.argpartition(-belief.probability, 50)[:50]
        gone = [x for row in rows.tolist() if not self.evidence.exists(x := counter.hypotheses.point(row))]
        return sum(counter.remove(point) for point in gone) > 0

    def _below_target(self, counter: Counter, single: Single, whole: Belief) -> tuple[Configuration, Belief]:
        """The smallest configuration that fails with high probability, and the posterior below it.

        Probes stay below it: there is always a minimal point below a failing configuration, however many there are
        elsewhere, so failures that are met there are never evidence of different culprits.
        """
        hypotheses, sizes = counter.hypotheses, self.lattice.sizes
        frame = hypotheses.frame
        failing = [
            x
            for x in single.failing
            if len(sizes) > 1 and x != frame.top and below(frame.base, x) and below(x, frame.top)
        ]
        lowest = sorted(failing, key=lambda x: (sum(a / b for a, b in zip(x, sizes, strict=True)), x))
        for point in lowest[:TARGETS]:
            belief = believe(single, counter, self.evidence, self.rates, point)
            if float(belief.probability[counter.under(point)].sum()) >= TARGET:
                return point, belief
        return frame.top, whole

    # ------------------------------------------------------------------ deciding

    def _decide(self, hypotheses: Hypotheses, belief: Belief, target: Configuration) -> Assessment | None:
        evidence, index = self.evidence, belief.leading()
        leader, mass = hypotheses.point(index), float(belief.probability[index])
        members: list[Configuration] = [leader]
        separator: Configuration | None = None
        shown: Configuration | None = leader
        if evidence.hidden():
            members, separator, mass = self._class(belief, index)
            shown = Classes(evidence).ceiling(members) if len(members) > 1 else leader
        state = Assessment(None, belief, leader, mass, members, target=target)
        if mass < self.confidence:
            return self._probe(hypotheses, belief, state, separator)
        if hypotheses.frame.coarse:
            self._counter = self._open(open_frame(leader, self.lattice.zero))
            return None
        state.wanted = self._proofs(shown, members)
        if not state.wanted:
            self._answer(state, belief, index)
        return state

    def _answer(self, state: Assessment, belief: Belief, index: int) -> None:
        """A culprit only if it was seen failing and the runs around it are as sure of it as was asked."""
        evidence, leader = self.evidence, state.members[0]
        state.status = Status.SUSPECTS
        if len(state.members) > 1 or not evidence.tally(leader).bad:
            return
        if self.lattice.dimensions == 1:
            state.status = Status.CULPRIT  # of one ladder the posterior knows all there is
            return
        proof = prove(leader, evidence, self.rates, float(belief.p[index]), float(belief.q[index]))
        state.confidence = min(state.confidence, proof.confidence)
        if proof.confidence < self.confidence:
            if evidence.chance(proof.weakest) > 0:
                state.status, state.wanted = None, [proof.weakest]
            return
        state.status = Status.CULPRIT

    def _probe(
        self, hypotheses: Hypotheses, belief: Belief, state: Assessment, separator: Configuration | None
    ) -> Assessment:
        """Not sure yet: the best probe, or, if nothing testable helps, the smallest set of suspects."""
        state.special = self._special(hypotheses, belief, state)
        if separator is not None:
            state.special.append(separator)
        score, probe = self.chooser(belief).best(state.target, state.special, self.generator())
        if score >= FAINTEST:
            state.probe = probe
            return state
        state.status = Status.SUSPECTS
        if self.evidence.hidden():
            order = np.argsort(-np.round(belief.probability, 12), kind="stable")
            total = np.cumsum(belief.probability[order])
            count = int(np.searchsorted(total, self.confidence * float(total[-1]))) + 1
            state.members = sorted(hypotheses.point(row) for row in order[:count].tolist())
        return state

    def _proofs(self, shown: Configuration | None, members: list[Configuration]) -> list[Configuration]:
        """What must still be run for the certificate, as far as it can be."""
        evidence = self.evidence
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

    def _class(self, belief: Belief, index: int) -> tuple[list[Configuration], Configuration | None, float]:
        """The class of the leader, a configuration that splits what looks alike, and the class' probability."""
        counter, classes = self.counter, Classes(self.evidence)
        leader = counter.hypotheses.point(index)
        alike = np.flatnonzero(
            (counter.bad_in == counter.bad_in[index])
            & (counter.good_in == counter.good_in[index])
            & (belief.probability > 1e-9)
        )
        members, mass = [leader], float(belief.probability[index])
        separator: Configuration | None = None
        for row in alike[:2000].tolist():
            point = counter.hypotheses.point(row)
            if row == index or not self.evidence.exists(point):
                continue
            found = classes.separator(leader, point)
            if found is None:
                members.append(point)
                mass += float(belief.probability[row])
            elif separator is None:
                separator = found
        return sorted(members), separator, mass

    def _special(self, hypotheses: Hypotheses, belief: Belief, state: Assessment) -> list[Configuration]:
        """Configurations below the target that always compete: the leading minimal points and what is just below."""
        leader = state.leader or self.lattice.top
        points = [leader]
        if 1 < hypotheses.total <= 200_000:
            rows = np.argpartition(-belief.probability, min(3, hypotheses.total - 1))[:3]
            points = sorted({leader, *(hypotheses.point(row) for row in rows.tolist())})
        lower = [(*leader[:axis], step - 1, *leader[axis + 1 :]) for axis, step in enumerate(leader) if step]
        out = dict.fromkeys([*points, *lower, *(self.prices.seen() if self.prices is not None else ())])
        inside = [point for point in out if below(point, state.target)]
        if belief.null > 0.01:
            inside += [self.lattice.top, self.lattice.zero]
        return [point for point in inside if self.evidence.exists(point)]

"""How sure a boundary is by its own runs, and the runs that make it as sure as was asked. Pure.

A culprit is right if its configuration truly fails and every configuration right below it truly passes, whatever else
fails elsewhere. So its confidence needs no model of the other hypotheses: it is the product, over these few
configurations, of the posterior that each is what it seems. The rates are those of the neighbourhood itself: p from
what is at or above the culprit, q from what is below it, each with an atom for a test that never disagrees with itself.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Final

from envbisect.search import Search
from envbisect.search.words import below
from envbisect.session.ask import Ask, Purpose, Reply
from envbisect.session.boundary import Boundary
from envbisect.session.goal import DETERMINISTIC, Goal, tell
from envbisect.session.history import Counts, History
from envbisect.space.model import Configuration

STEADY_P: Final = DETERMINISTIC
"""Prior that a failing configuration always fails."""

STEADY_Q: Final = 0.8
"""Prior that a passing configuration always passes; otherwise q is Beta(1/2, 19/2)."""

STEADY_FAILURES: Final = 3
STEADY_PASSES: Final = 2
"""Runs that a failing configuration, and each passing one below it, need before they count as steady."""

MOST_RUNS: Final = 60


@dataclass(frozen=True, slots=True)
class Rate:
    """A failure rate known from ``bad`` and ``good`` runs: an atom of weight ``steady`` besides Beta(a, b)."""

    steady: float
    at: int  # the atom's rate, 0 or 1
    a: float
    b: float
    bad: int
    good: int

    def likelihood(self, bad: int, good: int) -> float:
        """P(these further runs), the rate integrated out."""
        return self._evidence(self.bad + bad, self.good + good) / self._evidence(self.bad, self.good)

    def _evidence(self, bad: int, good: int) -> float:
        against = good if self.at else bad
        atom = self.steady if not against else 0.0
        spread = _beta(self.a + bad, self.b + good) - _beta(self.a, self.b)
        return atom + (1 - self.steady) * math.exp(spread)


def confidence(goal: Goal, history: History, boundary: Boundary) -> float:
    """Posterior that the boundary is what it seems: its failing configuration fails, its passing ones pass."""
    doubts = _doubts(goal, history, boundary)
    return math.prod(1 - doubt for doubt in doubts.values())


def certify(goal: Goal, history: History, search: Search, boundary: Boundary) -> Generator[Ask, Reply, bool]:
    """Run the weakest configuration of the boundary again until the confidence is reached.

    Returns:
        False if a run contradicted the boundary, which has to be walked again.
    """
    for _ in range(MOST_RUNS):
        doubts = _doubts(goal, history, boundary)
        short = _too_few(goal, history, boundary)
        if not short and math.prod(1 - doubt for doubt in doubts.values()) >= goal.confidence:
            return True
        if max(doubts.values()) > 0.5:
            return False
        if goal.max_probes is not None and history.probes() >= goal.max_probes:
            return True
        weakest = short[0] if short else min(doubts, key=lambda point: (-round(doubts[point], 9), point))
        entry = yield from history.probe(Ask(weakest, Purpose.NEIGHBOUR))
        tell(search, goal, entry)
        if entry.point != weakest or history.counts(goal.symptom, weakest).unresolved >= MOST_RUNS // 10:
            return True
    return True


def _too_few(goal: Goal, history: History, boundary: Boundary) -> list[Configuration]:
    """Configurations of a boundary that looks steady so far and was run too seldom to show that it is not.

    A test that fails every second time fails twice in a row at the bad end in one search of four, and would be taken
    for a steady one from there on. Simulated over p = .4 to .9 these few runs, none of which needs a build, keep the
    wrong answers of such searches below one in twenty.
    """
    counts = {point: history.counts(goal.symptom, point) for point in (boundary.failing, *boundary.passing.values())}
    short = [boundary.failing] if counts[boundary.failing].bad < STEADY_FAILURES else []
    return short + [point for point in boundary.passing.values() if counts[point].good < STEADY_PASSES]


def _doubts(goal: Goal, history: History, boundary: Boundary) -> dict[Configuration, float]:
    """For each configuration of the boundary the posterior that it is not what it seems."""
    failing, points = boundary.failing, list(boundary.passing.values())
    counts = {entry.point: history.counts(goal.symptom, entry.point) for entry in history.lattice()}
    above = _sum(c for x, c in counts.items() if below(failing, x) and x != failing)
    under = _sum(c for x, c in counts.items() if any(below(x, point) for point in points) and x not in points)
    doubts = {failing: _doubt(counts.get(failing, Counts()), above, under, seems_bad=True)}
    for point in points:
        others = [x for x in points if x != point]
        rest = _sum([under, *(counts.get(x, Counts()) for x in others)])
        own = counts.get(point, Counts())
        implied = sum(
            c.good for x, c in counts.items() if x != point and below(point, x) and not c.bad and x not in others
        )
        seen = Counts(good=own.good + implied, bad=own.bad)
        doubts[point] = _doubt(seen, _sum([above, counts.get(failing, Counts())]), rest, seems_bad=False)
    return doubts


def _doubt(own: Counts, above: Counts, under: Counts, *, seems_bad: bool) -> float:
    fails = Rate(STEADY_P, 1, 1.0, 1.0, above.bad, above.good).likelihood(own.bad, own.good)
    passes = Rate(STEADY_Q, 0, 0.5, 9.5, under.bad, under.good).likelihood(own.bad, own.good)
    wrong = passes if seems_bad else fails
    return wrong / (fails + passes)


def _sum(counts: Iterable[Counts]) -> Counts:
    total = Counts()
    for one in counts:
        total.good += one.good
        total.bad += one.bad
    return total


def _beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

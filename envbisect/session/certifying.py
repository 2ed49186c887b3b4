"""How sure a boundary is by its own runs, and the runs that make it as sure as was asked. Pure.

A culprit is right if its configuration truly fails and every configuration right below it truly passes, whatever else
fails elsewhere. So its confidence needs no model of the other hypotheses: it is the product, over these few
configurations, of the posterior that each is what it seems. The rates are those of the neighbourhood itself: p from
what is at or above the culprit, q from what is below it, runs known from elsewhere included.

A test that never disagreed with itself is not yet deterministic: one that fails every second time fails at both runs of
the bad end in one search of four, and whatever it says on the way leads to some boundary. Only a failure that earlier
ones had implied already speaks for determinism, because only that could have come out otherwise: a second run of the
bad end, of the culprit, or of anything above a configuration that failed before.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from envbisect.search import Outcome, Search
from envbisect.search.words import below
from envbisect.session.ask import Ask, Purpose, Reply
from envbisect.session.boundary import Boundary
from envbisect.session.goal import Goal, tell, weighed, weighed_points
from envbisect.session.history import Counts, History
from envbisect.space.model import Configuration

STEADY_P: Final = 0.2
"""Prior that a failing configuration always fails; otherwise p is uniform.

Lower than the search's, because this is final. Simulated over p = .4 to .9 with two runs of each end, it keeps wrong
answers below one in twenty; ten clean runs of each end outweigh it, and nothing is repeated.
"""

STEADY_Q: Final = 0.8
"""Prior that a passing configuration always passes; otherwise q is Beta(1/2, 19/2)."""

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

    def believed(self) -> float:
        """Posterior of the atom, given runs that all agree with it."""
        return self.steady / self._evidence(self.bad, self.good)

    def _evidence(self, bad: int, good: int) -> float:
        against = good if self.at else bad
        atom = self.steady if not against else 0.0
        spread = _beta(self.a + bad, self.b + good) - _beta(self.a, self.b)
        return atom + (1 - self.steady) * math.exp(spread)


@dataclass(frozen=True, slots=True)
class Runs:
    """All runs so far: outcomes by configuration, and how many failures earlier ones had implied."""

    counts: Mapping[Configuration, Counts]
    implied_failures: int

    def and_one(self, point: Configuration, *, bad: bool) -> Runs:
        """The same with one more run of a configuration that was run before."""
        own = self.counts.get(point, Counts())
        more = Counts(own.good + (not bad), own.bad + bad, own.unresolved)
        return Runs({**self.counts, point: more}, self.implied_failures + bad)


def confidence(goal: Goal, history: History, boundary: Boundary) -> float:
    """Posterior that the boundary is what it seems: its failing configuration fails, its passing ones pass."""
    return _sure(_doubts(_runs(goal, history), boundary))


def looks_steady(goal: Goal, history: History) -> bool:
    """Whether no configuration ever disagreed with itself, here or in what is known from elsewhere."""
    return not any(count.good and count.bad for count in _runs(goal, history).counts.values())


def determinism(goal: Goal, history: History) -> float:
    """Posterior that the test is deterministic, at even odds before: 0 once it disagreed with itself."""
    if not looks_steady(goal, history):
        return 0.0
    return Rate(0.5, 1, 1.0, 1.0, _implied_failures(goal, history), 0).believed()


def certify(goal: Goal, history: History, search: Search, boundary: Boundary) -> Generator[Ask, Reply, bool]:
    """Run configurations of the boundary again until the confidence is reached: first what would add most to it.

    Returns:
        False if a run contradicted the boundary, which has to be walked again.
    """
    for _ in range(MOST_RUNS):
        runs = _runs(goal, history)
        doubts = _doubts(runs, boundary)
        if _sure(doubts) >= goal.confidence or goal.spent():
            return True
        if max(doubts.values()) > 0.5:
            return False
        point = _most_telling(runs, boundary)
        entry = yield from history.probe(Ask(point, Purpose.NEIGHBOUR))
        tell(search, goal, entry)
        if entry.point != point or history.counts(goal.symptom, point).unresolved >= MOST_RUNS // 10:
            return True
    return True


def _most_telling(runs: Runs, boundary: Boundary) -> Configuration:
    """Where one more run of the expected outcome leaves the least doubt."""
    points = [boundary.failing, *boundary.passing.values()]

    def left(point: Configuration) -> float:
        return 1 - _sure(_doubts(runs.and_one(point, bad=point == boundary.failing), boundary))

    return min(points, key=lambda point: (round(left(point), 9), point))


def _sure(doubts: Mapping[Configuration, float]) -> float:
    return math.prod(1 - doubt for doubt in doubts.values())


def _runs(goal: Goal, history: History) -> Runs:
    counts = {point: weighed(goal, history, point) for point in weighed_points(goal, history)}
    return Runs(counts, _implied_failures(goal, history))


def _doubts(runs: Runs, boundary: Boundary) -> dict[Configuration, float]:
    """For each configuration of the boundary the posterior that it is not what it seems."""
    failing, points, counts = boundary.failing, list(boundary.passing.values()), runs.counts
    above = _sum(c for x, c in counts.items() if below(failing, x) and x != failing)
    under = _sum(c for x, c in counts.items() if any(below(x, point) for point in points) and x not in points)
    own = counts.get(failing, Counts())
    passes = Rate(STEADY_Q, 0, 0.5, 9.5, under.bad, under.good)
    doubts = {failing: _wrong(own, seems=Rate(STEADY_P, 1, 1.0, 1.0, above.bad, above.good), other=passes)}
    seen = _sum([above, own])
    fails = Rate(STEADY_P, 1, 1.0, 1.0, seen.bad if seen.good else runs.implied_failures, seen.good)
    for point in points:
        others = [x for x in points if x != point]
        rest = _sum([under, *(counts.get(x, Counts()) for x in others)])
        implied = sum(
            c.good for x, c in counts.items() if x != point and below(point, x) and not c.bad and x not in others
        )
        here = counts.get(point, Counts())
        told = Counts(good=here.good + implied, bad=here.bad)
        doubts[point] = _wrong(told, seems=Rate(STEADY_Q, 0, 0.5, 9.5, rest.bad, rest.good), other=fails)
    return doubts


def _implied_failures(goal: Goal, history: History) -> int:
    """How many failures had a failure before them at or below their configuration; known ones come first."""
    failed = [point for point, counts in goal.known.items() if counts.bad]
    found = sum(max(0, counts.bad - 1) for counts in goal.known.values())
    for entry in history.lattice():
        verdict = entry.verdict(goal.symptom)
        if verdict is None or verdict.outcome is not Outcome.BAD:
            continue
        found += any(below(point, entry.point) for point in failed)
        failed.append(entry.point)
    return found


def _wrong(own: Counts, *, seems: Rate, other: Rate) -> float:
    """Posterior, at even odds before, that these runs came from the other rate than it seems."""
    right, wrong = seems.likelihood(own.bad, own.good), other.likelihood(own.bad, own.good)
    return wrong / (right + wrong)


def _sum(counts: Iterable[Counts]) -> Counts:
    total = Counts()
    for one in counts:
        total.good += one.good
        total.bad += one.bad
    return total


def _beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

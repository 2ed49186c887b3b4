"""The posterior over minimal failing points.

Four kinds of explanation compete:

* one minimal point h of the frame: everything at or above h fails with p, all else with q;
* *several*: h below a failing target, and other culprits that explain failures elsewhere: those failures are then no
  evidence about h;
* *rest*: a minimal point of more axes than the frame lists;
* *null*: nothing changed, one rate everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from envbisect.search.evidence import Evidence
from envbisect.search.lattice import Bools, Floats, Frame, Hypotheses, Ints, order_mass
from envbisect.search.rates import Likelihoods, Rates
from envbisect.search.words import Configuration, below

SEVERAL_MASS: Final = 0.15
ELSEWHERE: Final = 0.03  # how well another culprit is expected to explain one minimal failing observation
MOST_OTHERS: Final = 3
REST_MASS: Final = 0.02  # beside noise, which explains nearly as much; beside a steady test the orders' own mass counts
MORE_ORDERS: Final = 4  # orders above the listed ones that are told apart
NULL_MASS: Final = 0.12
GONE: Final = -1e12  # log prior of what does not exist
PREDICATE_ALL: Final = 20_000  # hypotheses up to which an infeasibility predicate is asked about each one at once
REMEMBERED_BYTES: Final = 100_000_000  # of masks kept by a counter


@dataclass(frozen=True, slots=True)
class Belief:
    """Posterior of a frame.

    Attributes:
        probability: for every hypothesis, that it is a minimal failing point; sums with rest, null and elsewhere to 1.
        p, q: for every hypothesis, how often something at or above it, or elsewhere, fails next time.
    """

    probability: Floats
    p: Floats
    q: Floats
    rest: float
    null: float
    elsewhere: float  # several culprits, and none below the target
    null_rate: float  # how often anything fails if nothing changed

    def leading(self) -> int:
        """The most probable hypothesis; of equal ones (after rounding) the first."""
        return int(np.argmax(self.probability >= float(self.probability.max()) - 1e-12))


class Counter:
    """The counts that every hypothesis' likelihood depends on, kept up to date run by run."""

    def __init__(self, hypotheses: Hypotheses, evidence: Evidence) -> None:
        self.hypotheses = hypotheses
        self.bad_in: NDArray[np.int32] = np.zeros(hypotheses.total, dtype=np.int32)
        self.good_in: NDArray[np.int32] = np.zeros(hypotheses.total, dtype=np.int32)
        self.log_prior: Floats = hypotheses.log_prior.copy()
        self._under: dict[Configuration, Bools] = {}
        if evidence.predicate is not None and hypotheses.total <= PREDICATE_ALL:
            for row in range(hypotheses.total):
                evidence.exists(hypotheses.point(row))
        for point in evidence.infeasible:
            self.remove(point)
        for point, tally in evidence.tallies.items():
            if tally.told:
                self.add(point, bad=tally.bad, good=tally.good)

    def remove(self, point: Configuration) -> bool:
        """The configuration does not exist, so it is no hypothesis. Whether it was one."""
        row = self.hypotheses.index(point)
        if row is None or self.log_prior[row] == GONE:
            return False
        self.log_prior[row] = GONE
        return True

    def add(self, point: Configuration, *, bad: int, good: int) -> None:
        """Count runs of one configuration."""
        mask = self.under(point)
        if bad:
            self.bad_in += mask * np.int32(bad)
        if good:
            self.good_in += mask * np.int32(good)

    def under(self, point: Configuration) -> Bools:
        """For every hypothesis: is it at or below the configuration? Remembered, since the same ones come up again."""
        mask = self._under.get(point)
        if mask is None:
            mask = self.hypotheses.under(point)
            if (len(self._under) + 1) * self.hypotheses.total <= REMEMBERED_BYTES:
                self._under[point] = mask
        return mask


def end_rates(evidence: Evidence, rates: Rates) -> tuple[float, float]:
    """(p, q) as the endpoint runs alone suggest."""
    top, zero = evidence.tally(evidence.lattice.top), evidence.tally(evidence.lattice.zero)
    one = rates.of(
        np.array([top.bad], dtype=np.int32),
        np.array([top.good], dtype=np.int32),
        top.bad + zero.bad,
        top.good + zero.good,
    )
    return float(one.p[0]), float(one.q[0])


def convincing(evidence: Evidence, p: float, q: float) -> list[Configuration]:
    """Configurations whose own runs speak for failing."""
    up, down = math.log(max(p, 1e-9) / max(q, 1e-9)), math.log(max(1 - p, 1e-9) / max(1 - q, 1e-9))
    return [point for point, tally in evidence.tallies.items() if tally.bad and tally.bad * up + tally.good * down > 0]


def minimal(points: list[Configuration]) -> list[Configuration]:
    """The points that have no other one below them."""
    return [x for x in points if not any(y != x and below(y, x) for y in points)]


@dataclass(frozen=True, slots=True)
class Single:
    """The explanations by one minimal point, by more axes and by nothing, as unnormalised logs."""

    log: Floats  # log prior + log likelihood of every hypothesis
    likelihoods: Likelihoods
    rest: float
    null: float
    failing: tuple[Configuration, ...]  # configurations whose own runs speak for failing


def explain(counter: Counter, evidence: Evidence, rates: Rates) -> Single:
    """Weigh every hypothesis of a frame on all that was told."""
    hypotheses = counter.hypotheses
    likelihoods = rates.of(counter.bad_in, counter.good_in, evidence.bad, evidence.good)
    rest = -math.inf if hypotheses.complete else math.log(REST_MASS) + _rest(evidence, rates, hypotheses)
    null = math.log(NULL_MASS) + rates.null(evidence.bad, evidence.good)
    failing = convincing(evidence, *end_rates(evidence, rates))
    return Single(counter.log_prior + likelihoods.log, likelihoods, rest, null, tuple(failing))


def believe(
    single: Single, counter: Counter, evidence: Evidence, rates: Rates, target: Configuration | None = None
) -> Belief:
    """The posterior of a frame; with a target, failures elsewhere may have a culprit of their own.

    The culprits below the target are then weighed twice, with the failures that are not above the target as evidence
    against them (one culprit) and without (several), and competes "several, and none below the target".
    """
    log, p, q = single.log, single.likelihoods.p, single.likelihoods.q
    alone = -math.inf
    if target is not None and evidence.lattice.dimensions > 1:
        others = _few([x for x in single.failing if not below(target, x) and not below(x, target)], evidence)
        if others:
            log, p, q = log + math.log(1 - SEVERAL_MASS), p.copy(), q.copy()
            rows = np.flatnonzero(counter.under(target))
            freed = _freed(rows, others, counter, evidence, rates)
            other = counter.log_prior[rows] + freed.log + _price_of_several(len(others)) + math.log(2)
            share = 1 / (1 + np.exp(np.clip(log[rows] - other, -50, 50)))
            p[rows] += share * (freed.p - p[rows])
            q[rows] += share * (freed.q - q[rows])
            log[rows] = np.logaddexp(log[rows], other)
        outside = _few([x for x in single.failing if not below(x, target)], evidence)
        if len(outside) > 1:
            alone = _price_of_several(len(outside)) + _alone(outside, evidence, rates)
    peak = max(float(log.max(initial=-1e18)), single.rest, single.null, alone)
    mass = np.exp(log - peak)
    rest, null, elsewhere = (math.exp(value - peak) for value in (single.rest, single.null, alone))
    total = float(mass.sum()) + rest + null + elsewhere
    null_rate = (evidence.bad + 0.5) / (evidence.bad + evidence.good + 1)
    return Belief(mass / total, p, q, rest / total, null / total, elsewhere / total, null_rate)


def _few(points: list[Configuration], evidence: Evidence) -> list[Configuration]:
    """The minimal ones of the points; of many only those seen failing most. More would explain any noise."""
    found = minimal(points)
    return sorted(found, key=lambda x: (evidence.tally(x).good - evidence.tally(x).bad, sum(x), x))[:MOST_OTHERS]


def _price_of_several(count: int) -> float:
    return math.log(SEVERAL_MASS) + count * math.log(ELSEWHERE)


def _freed(
    rows: NDArray[np.intp], others: list[Configuration], counter: Counter, evidence: Evidence, rates: Rates
) -> Likelihoods:
    """Likelihoods of some hypotheses if everything at or above ``others`` fails too."""
    bad_in, good_in = counter.bad_in[rows].copy(), counter.good_in[rows].copy()
    for point, tally in evidence.tallies.items():
        if tally.told and any(below(other, point) for other in others):
            free: Bools = ~counter.under(point)[rows]
            bad_in += free * np.int32(tally.bad)
            good_in += free * np.int32(tally.good)
    return rates.of(bad_in, good_in, evidence.bad, evidence.good)


def _alone(outside: list[Configuration], evidence: Evidence, rates: Rates) -> float:
    """Log likelihood if exactly what is at or above ``outside`` fails."""
    inside = [t for x, t in evidence.tallies.items() if t.told and any(below(other, x) for other in outside)]
    bad = np.array([sum(tally.bad for tally in inside)], dtype=np.int32)
    good = np.array([sum(tally.good for tally in inside)], dtype=np.int32)
    return float(rates.of(bad, good, evidence.bad, evidence.good).log[0])


def _rest(evidence: Evidence, rates: Rates, hypotheses: Hypotheses) -> float:
    """Log likelihood of a culprit of more axes than are listed: how many it hits is known only on average.

    A test that never disagreed with itself is weighed apart: at average rates, noise would explain it as well.
    """
    lattice, frame = evidence.lattice, hypotheses.frame
    free = np.array(frame.free, dtype=np.int64)
    highest: Floats = np.asarray(frame.top, dtype=np.float64)[free]
    orders = np.arange(frame.orders + 1, min(frame.orders + MORE_ORDERS, len(free)) + 1)
    mass = np.array([order_mass(order) for order in orders.tolist()])
    top, zero = evidence.tally(lattice.top), evidence.tally(lattice.zero)
    ends: Ints = np.array([top.bad], dtype=np.int32)
    ends_good: Ints = np.array([top.good], dtype=np.int32)
    start = rates.of(ends, ends_good, top.bad + zero.bad, top.good + zero.good)
    p, q = float(start.p[0]), float(start.q[0])
    noisy = np.full(len(orders), float(start.log[0]))
    for point, tally in evidence.tallies.items():
        if point in (lattice.top, lattice.zero) or not tally.told:
            continue
        share = float(np.mean(np.minimum(1.0, np.asarray(point, dtype=np.float64)[free] / highest)))
        inside = all(b <= x for b, x in zip(frame.base, point, strict=True))
        hit: Floats = np.asarray(share**orders if inside else np.zeros(len(orders)), dtype=np.float64)
        fails = p**tally.bad * (1 - p) ** tally.good
        passes = q**tally.bad * (1 - q) ** tally.good
        noisy += np.log(np.maximum(hit * fails + (1 - hit) * passes, 1e-300))
    weight = np.log(mass / mass.sum())
    rest = float(np.logaddexp.reduce(noisy + weight))
    if rates.told is None and evidence.steady():
        steady = _steady_rest(evidence, frame, orders) + np.log(mass) + math.log(rates.deterministic / REST_MASS)
        rest = float(np.logaddexp.reduce([rest, *steady.tolist()]))
    return rest


def _steady_rest(evidence: Evidence, frame: Frame, orders: NDArray[np.int64]) -> Floats:
    """Log likelihood of culprits of so many axes if every answer is true: below all failures and no pass."""
    free = np.array(frame.free, dtype=np.int64)
    base: Floats = np.asarray(frame.base, dtype=np.float64)[free]
    points = {x: t for x, t in evidence.tallies.items() if t.told}
    meet = np.array(frame.top, dtype=np.float64)[free]
    whole = meet - base
    for point, tally in points.items():
        if tally.bad:
            meet = np.minimum(meet, np.asarray(point, dtype=np.float64)[free])
    room = np.maximum(meet - base, 0.0)
    if not room.any():
        return np.full(len(orders), -math.inf)
    log = np.asarray(orders * math.log(float(np.mean(room / whole))), dtype=np.float64)
    open_axes = room > 0
    log[orders > int(open_axes.sum())] = -math.inf
    if frame.deep is not None and (meet <= np.array(frame.deep, dtype=np.float64)[free]).all():
        log[orders <= frame.deep_orders] = -math.inf  # listed
    for point, tally in points.items():
        if tally.good:
            below_it = np.clip(np.asarray(point, dtype=np.float64)[free] - base, 0.0, room)
            inside = all(b <= x for b, x in zip(frame.base, point, strict=True))
            share = float(np.mean((below_it / np.where(open_axes, room, 1.0))[open_axes])) if inside else 0.0
            log += np.log(np.maximum(1 - share**orders, 1e-300))
    return log

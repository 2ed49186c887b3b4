"""The posterior over minimal failing points.

Four kinds of explanation compete:

* one minimal point h of the frame: everything at or above h fails with p, all else with q;
* *several*: h, and besides it something that explains the failures that are not above ``x``, for a failing ``x`` above
  h: those failures are then no evidence about h (they are counted as failing for every h below ``x``);
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
from envbisect.search.lattice import Bools, Floats, Hypotheses, Ints
from envbisect.search.rates import Likelihoods, Rates
from envbisect.search.words import Configuration, below

SEVERAL_MASS: Final = 0.15
ELSEWHERE: Final = 0.2  # how well another culprit is expected to explain the failures elsewhere …
EACH_FURTHER: Final = 0.1  # … and each further minimal failing observation of them
REST_MASS: Final = 0.02
NULL_MASS: Final = 0.1
MOST_TARGETS: Final = 6


@dataclass(frozen=True, slots=True)
class Belief:
    """Posterior of a frame.

    Attributes:
        probability: for every hypothesis, that it is a minimal failing point; sums with rest and null to 1.
        p, q: for every hypothesis, how often something at or above it, or elsewhere, fails next time.
    """

    probability: Floats
    p: Floats
    q: Floats
    rest: float
    null: float

    def leading(self) -> int:
        """The most probable hypothesis; of equal ones (after rounding) the first."""
        return int(np.argmax(np.round(self.probability, 12)))


class Counter:
    """The counts that every hypothesis' likelihood depends on, kept up to date run by run."""

    def __init__(self, hypotheses: Hypotheses, evidence: Evidence) -> None:
        self.hypotheses = hypotheses
        self.bad_in: NDArray[np.int32] = np.zeros(hypotheses.total, dtype=np.int32)
        self.good_in: NDArray[np.int32] = np.zeros(hypotheses.total, dtype=np.int32)
        for point, tally in evidence.tallies.items():
            if tally.told:
                self.add(point, bad=tally.bad, good=tally.good)

    def add(self, point: Configuration, *, bad: int, good: int) -> None:
        """Count runs of one configuration."""
        mask = self.hypotheses.under(point)
        if bad:
            self.bad_in += mask * np.int32(bad)
        if good:
            self.good_in += mask * np.int32(good)


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


def believe(counter: Counter, evidence: Evidence, rates: Rates) -> Belief:
    """The posterior of a frame, from all that was told."""
    hypotheses = counter.hypotheses
    single = rates.of(counter.bad_in, counter.good_in, evidence.bad, evidence.good)
    log = hypotheses.log_prior + single.log
    p, q = single.p, single.q
    variants = _several(counter, evidence, rates) if evidence.lattice.dimensions > 1 else []
    if variants:
        merged = log + math.log(1 - SEVERAL_MASS)
        for rows, likelihoods, weight in variants:
            other = hypotheses.log_prior[rows] + likelihoods.log + weight
            share = 1 / (1 + np.exp(np.clip(merged[rows] - other, -50, 50)))
            p[rows] += share * (likelihoods.p - p[rows])
            q[rows] += share * (likelihoods.q - q[rows])
            merged[rows] = np.logaddexp(merged[rows], other)
        log = merged
    rest = -math.inf if hypotheses.complete else math.log(REST_MASS) + _rest(evidence, rates, hypotheses)
    null = math.log(NULL_MASS) + rates.null(evidence.bad, evidence.good)
    peak = max(float(log.max(initial=-1e18)), rest, null)
    mass = np.exp(log - peak)
    rest, null = math.exp(rest - peak), math.exp(null - peak)
    total = float(mass.sum()) + rest + null
    return Belief(mass / total, p, q, rest / total, null / total)


def _several(counter: Counter, evidence: Evidence, rates: Rates) -> list[tuple[NDArray[np.intp], Likelihoods, float]]:
    """For each minimal failing observation: the hypotheses below it, freed from the failures that are not above it."""
    failing = convincing(evidence, *end_rates(evidence, rates))
    targets = minimal(failing)
    if len(targets) < 2:
        return []
    targets.sort(key=lambda x: (-evidence.tally(x).bad, sum(x), x))
    out = []
    for target in targets[:MOST_TARGETS]:
        rows = np.flatnonzero(counter.hypotheses.under(target))
        if not len(rows):
            continue
        others = minimal([x for x in failing if not below(target, x)])
        bad_in, good_in = counter.bad_in[rows].copy(), counter.good_in[rows].copy()
        for point, tally in evidence.tallies.items():
            if tally.told and any(below(other, point) for other in others):
                free: Bools = ~counter.hypotheses.under(point)[rows]
                bad_in += free * np.int32(tally.bad)
                good_in += free * np.int32(tally.good)
        weight = math.log(SEVERAL_MASS * ELSEWHERE) + (len(others) - 1) * math.log(EACH_FURTHER)
        out.append((rows, rates.of(bad_in, good_in, evidence.bad, evidence.good), weight))
    return out


def _rest(evidence: Evidence, rates: Rates, hypotheses: Hypotheses) -> float:
    """Log likelihood of a culprit of more axes than are listed: how many it hits is known only on average."""
    lattice, frame = evidence.lattice, hypotheses.frame
    free = np.array(frame.free, dtype=np.int64)
    order = frame.orders + 1
    top, zero = evidence.tally(lattice.top), evidence.tally(lattice.zero)
    ends: Ints = np.array([top.bad], dtype=np.int32)
    ends_good: Ints = np.array([top.good], dtype=np.int32)
    start = rates.of(ends, ends_good, top.bad + zero.bad, top.good + zero.good)
    p, q = float(start.p[0]), float(start.q[0])
    total = float(start.log[0])
    for point, tally in evidence.tallies.items():
        if point in (lattice.top, lattice.zero) or not tally.told:
            continue
        steps = np.asarray(point, dtype=np.float64)
        share = np.mean(np.minimum(1.0, steps[free] / np.asarray(frame.top, dtype=np.float64)[free]))
        hit = float(share) ** order if all(b <= x for b, x in zip(frame.base, point, strict=True)) else 0.0
        fails = p**tally.bad * (1 - p) ** tally.good
        passes = q**tally.bad * (1 - q) ** tally.good
        total += math.log(max(hit * fails + (1 - hit) * passes, 1e-300))
    return total

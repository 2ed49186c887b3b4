"""How sure a minimal failing point is by the runs around it alone, whatever else fails elsewhere.

A configuration c is a minimal failing point if it fails and each of its lower neighbours passes. Neither claim needs a
model of the other hypotheses. Each is weighed against its opposite at even odds, over the runs that bear on it:

* at or above c everything fails if c does; at or below a passing neighbour everything passes;
* what lies above a neighbour but not above c fails if the neighbour does, and otherwise only if another culprit makes
  it fail: where its own runs say so it bears on nothing;
* what lies above c may fail on its own account, if c does not.

The flake rates are integrated out over the same runs, by the same prior as everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from envbisect.search.belief import SEVERAL_MASS
from envbisect.search.certificate import direct_odds, lower_neighbours
from envbisect.search.evidence import Evidence, Tally
from envbisect.search.rates import Rates
from envbisect.search.words import Configuration, below


@dataclass(frozen=True, slots=True)
class LocalProof:
    """The probability that all claims about a culprit hold, and the configuration whose claim is the least sure."""

    confidence: float
    weakest: Configuration


@dataclass(slots=True)
class _Counts:
    """Runs with the claim's rate of failing on one side, and on the other."""

    bad_in: int = 0
    good_in: int = 0
    bad_out: int = 0
    good_out: int = 0

    def add(self, tally: Tally, *, fails: bool) -> None:
        if fails:
            self.bad_in += tally.bad
            self.good_in += tally.good
        else:
            self.bad_out += tally.bad
            self.good_out += tally.good


def prove(culprit: Configuration, evidence: Evidence, rates: Rates, p: float, q: float) -> LocalProof:
    """Weigh the claims about a culprit; ``p`` and ``q`` only say which configurations look failing on their own."""
    around = _Around(culprit, lower_neighbours(culprit, evidence), evidence, rates)
    failing = {point for point in evidence.tallies if direct_odds(point, evidence, p, q) > 1}
    doubts = {culprit: around.doubt_of_failing()}
    for neighbour in around.neighbours:
        doubts[neighbour] = around.doubt_of_passing(neighbour, failing - {neighbour})
    sure = math.prod(1 - doubt for doubt in doubts.values())
    return LocalProof(sure, min(doubts, key=lambda point: (-round(doubts[point], 9), point)))


@dataclass(frozen=True, slots=True)
class _Around:
    """A culprit with its lower neighbours, and the runs that bear on them."""

    culprit: Configuration
    neighbours: list[Configuration]
    evidence: Evidence
    rates: Rates

    def doubt_of_failing(self) -> float:
        """Posterior that the culprit passes, and what lies above it fails on its own account."""
        claim, opposite = _Counts(), _Counts()
        for point, tally in self.evidence.tallies.items():
            if below(self.culprit, point):
                claim.add(tally, fails=True)
                opposite.add(tally, fails=point != self.culprit)
            elif self._under(point):
                claim.add(tally, fails=False)
                opposite.add(tally, fails=False)
        return _doubt(claim, opposite, self.rates, prior=SEVERAL_MASS)

    def doubt_of_passing(self, neighbour: Configuration, others: set[Configuration]) -> float:
        """Posterior that the neighbour fails; what ``others`` say above it bears on nothing."""
        claim, opposite = _Counts(), _Counts()
        for point, tally in self.evidence.tallies.items():
            if below(self.culprit, point):
                claim.add(tally, fails=True)
                opposite.add(tally, fails=True)
            elif below(neighbour, point):
                if point not in others:
                    claim.add(tally, fails=False)
                    opposite.add(tally, fails=True)
            elif self._under(point):
                claim.add(tally, fails=False)
                opposite.add(tally, fails=False)
        return _doubt(claim, opposite, self.rates, prior=0.5)

    def _under(self, point: Configuration) -> bool:
        return any(below(point, neighbour) for neighbour in self.neighbours)


def _doubt(claim: _Counts, opposite: _Counts, rates: Rates, *, prior: float) -> float:
    """Posterior of the opposite, given its prior; both count the same runs."""
    found = rates.of(
        np.array([claim.bad_in, opposite.bad_in], dtype=np.int32),
        np.array([claim.good_in, opposite.good_in], dtype=np.int32),
        claim.bad_in + claim.bad_out,
        claim.good_in + claim.good_out,
    )
    odds = math.exp(max(-500.0, min(500.0, float(found.log[0] - found.log[1]))))
    return prior / (prior + (1 - prior) * odds)

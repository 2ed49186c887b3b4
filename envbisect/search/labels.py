"""Whether a configuration's own runs say that it fails, with the flake rates learned and nothing assumed about order.

Every configuration fails with one of two rates, p or q. The ends tell which is which; any other configuration may be
either, whatever is above or below it: so a test that is not monotone does not spoil the rates. The posterior of (p, q)
is kept on a grid, with atoms at p = 1 and q = 0 for tests that are deterministic on one side or both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from envbisect.search.evidence import Evidence, Tally
from envbisect.search.words import Configuration

Floats = NDArray[np.float64]
Runs = tuple[int, int]
"""(good, bad) answers."""

NODES: Final = 24  # rates between 0 and 1, denser near both
ATOM: Final = 1e-9  # the rate of what never happens: a surprise, not a contradiction of logic

PRIOR: Final = (
    (0.3, None, None),  # weight, Beta parameters of p and of q; None is the atom
    (0.2, (1.0, 1.0), None),
    (0.2, (1.0, 1.0), (1.0, 1.0)),
    (0.3, (6.0, 1.0), (1.0, 6.0)),
)


class RateGrid:
    """The cells (p, q) of the grid with their prior, p above q; one cell where the rates are told."""

    def __init__(self, told: tuple[float, float] | None) -> None:
        if told is not None:
            self.p, self.q = np.array([told[0]]), np.array([told[1]])
            self.log_prior = np.zeros(1)
        else:
            nodes = np.sin(np.pi / 2 * (np.arange(NODES) + 0.5) / NODES) ** 2
            p = np.concatenate([nodes, [1.0]])
            q = np.concatenate([[0.0], nodes])
            weight = np.zeros((len(p), len(q)))
            for share, of_p, of_q in PRIOR:
                up = _mass(of_p, nodes, last=True)
                down = _mass(of_q, nodes, last=False)
                weight += share * np.outer(up, down)
            weight[p[:, None] <= q[None, :]] = 0.0
            keep = weight > 0
            self.p = np.broadcast_to(p[:, None], weight.shape)[keep]
            self.q = np.broadcast_to(q[None, :], weight.shape)[keep]
            self.log_prior = np.log(weight[keep] / weight.sum())
        self._log_p, self._log_not_p = _logs(self.p)
        self._log_q, self._log_not_q = _logs(self.q)

    def failing(self, runs: Runs) -> Floats:
        """Log likelihood of a failing configuration's runs, for every cell."""
        return np.asarray(runs[0] * self._log_not_p + runs[1] * self._log_p, dtype=np.float64)

    def passing(self, runs: Runs) -> Floats:
        """Log likelihood of a passing configuration's runs, for every cell."""
        return np.asarray(runs[0] * self._log_not_q + runs[1] * self._log_q, dtype=np.float64)

    def either(self, runs: Runs) -> Floats:
        """Log likelihood if nobody knows which."""
        return np.asarray(np.logaddexp(self.failing(runs), self.passing(runs)) - math.log(2), dtype=np.float64)


def _mass(beta: tuple[float, float] | None, nodes: Floats, *, last: bool) -> Floats:
    """The prior of one rate over the nodes and its atom, which stands last for p and first for q."""
    mass = np.zeros(len(nodes) + 1)
    atom, rest = (len(nodes), slice(0, len(nodes))) if last else (0, slice(1, len(nodes) + 1))
    if beta is None:
        mass[atom] = 1.0
        return mass
    # The nodes are even in the arcsine of the root: their spacing is proportional to sqrt(x (1 - x)).
    density = nodes ** (beta[0] - 0.5) * (1 - nodes) ** (beta[1] - 0.5)
    mass[rest] = density / density.sum()
    return mass


def _logs(rate: Floats) -> tuple[Floats, Floats]:
    return np.log(np.maximum(rate, ATOM)), np.log(np.maximum(1 - rate, ATOM))


def runs_of(tally: Tally) -> Runs:
    """The (good, bad) answers of a tally."""
    return tally.good, tally.bad


class Labels:
    """The posterior of the rates after everything told, and what it says about single configurations.

    ``instead`` replaces the runs of an end.
    """

    def __init__(
        self, grid: RateGrid, evidence: Evidence, instead: Mapping[Configuration, Runs] = MappingProxyType({})
    ) -> None:
        self.grid, self.evidence = grid, evidence
        lattice = evidence.lattice
        top, zero = (instead.get(end, runs_of(evidence.tally(end))) for end in (lattice.top, lattice.zero))
        self._log = grid.log_prior + grid.failing(top) + grid.passing(zero)
        ends = (lattice.top, lattice.zero)
        counts = Counter(runs_of(t) for x, t in evidence.tallies.items() if t.told and x not in ends)
        for runs, count in counts.items():
            self._log = self._log + count * grid.either(runs)

    def without(self, points: Iterable[Configuration]) -> Floats:
        """The weight of every cell, learned from all but these configurations (which are no ends)."""
        log = self._log - sum(self.grid.either(runs_of(self.evidence.tally(point))) for point in points)
        weight = np.exp(log - log.max())
        return np.asarray(weight / weight.sum(), dtype=np.float64)

    def fails(self, point: Configuration) -> float:
        """Probability that the configuration fails, from its own runs at even odds."""
        runs = runs_of(self.evidence.tally(point))
        if point in (self.evidence.lattice.top, self.evidence.lattice.zero):
            return float(point == self.evidence.lattice.top)
        weight = self.without([point])
        fail = float((weight * np.exp(self.grid.failing(runs))).sum())
        succeed = float((weight * np.exp(self.grid.passing(runs))).sum())
        return fail / (fail + succeed) if fail + succeed > 0 else 0.5

    def surprise(self, lower: Configuration, upper: Configuration) -> float:
        """How probable so many failures of ``lower`` and passes of ``upper`` are if the test is monotone.

        Then both fail, both pass, or only the upper one fails. The most favourable of these leaves either the lower
        one's failures to q, or the upper one's passes to p.
        """
        weight = self.without([lower, upper])
        (good, bad), (upper_good, upper_bad) = (runs_of(self.evidence.tally(point)) for point in (lower, upper))
        failures = float((weight * at_least(bad, good + bad, self.grid.q)).sum())
        passes = float((weight * at_least(upper_good, upper_good + upper_bad, 1 - self.grid.p)).sum())
        return max(failures, passes)


def at_least(count: int, runs: int, rate: Floats) -> Floats:
    """The chance of ``count`` or more of ``runs``, for every rate (binomial)."""
    log, log_not = _logs(rate)
    total = np.zeros(len(rate))
    for number in range(count, runs + 1):
        ways = math.lgamma(runs + 1) - math.lgamma(number + 1) - math.lgamma(runs - number + 1)
        total += np.exp(ways + number * log + (runs - number) * log_not)
    return np.minimum(total, 1.0)

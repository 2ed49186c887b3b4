"""How likely counts are when the flake rates are hidden: one atom for a deterministic test, Beta priors besides.

A failing configuration fails with probability p, a passing one with q. For a hypothesis only four counts matter: bad
and good runs at or above it (``bad_in``, ``good_in``) and elsewhere. The marginal likelihood is a sum over a few
conjugate components (Beta-binomial), so no rate need be assumed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Component:
    """A prior of (p, q). ``None`` stands for the atom p = 1 or q = 0, a pair for the parameters of a Beta."""

    weight: float
    p: tuple[float, float] | None
    q: tuple[float, float] | None


DETERMINISTIC: Final = 0.2  # weight of the atom where nothing is known about the test

HIDDEN: Final = (
    Component(DETERMINISTIC, None, None),  # leads until something contradicts it
    Component(0.15, (1.0, 1.0), None),  # fails sometimes, never without the culprit
    Component(0.20, (1.0, 1.0), (0.5, 19.5)),
    Component(0.07, None, (0.5, 4.0)),  # always fails with the culprit, and sometimes without
    Component(0.14, (6.0, 1.0), (1.0, 6.0)),  # nearly deterministic: what clean endpoint runs easily hide
    Component(0.06, (2.0, 1.0), (1.0, 2.0)),  # this and the next two cover what is left of p > q about evenly
    Component(0.09, (4.0, 3.0), (2.0, 5.0)),
    Component(0.09, (5.0, 2.0), (3.0, 4.0)),
)


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """For every hypothesis: log marginal likelihood and the predictive failure rates above it and elsewhere."""

    log: Floats
    p: Floats
    q: Floats


def components(deterministic: float) -> tuple[Component, ...]:
    """The prior with this weight of the deterministic atom; the others share the rest as they do in ``HIDDEN``."""
    scale = (1 - deterministic) / (1 - DETERMINISTIC)
    atom, *noisy = HIDDEN
    return (replace(atom, weight=deterministic), *(replace(c, weight=c.weight * scale) for c in noisy))


class Rates:
    """The likelihood of counts, with rates hidden or told."""

    def __init__(self, told: tuple[float, float] | None, deterministic: float = DETERMINISTIC) -> None:
        self.told = told
        self.deterministic = deterministic
        self._components = components(deterministic)

    def of(self, bad_in: Counts, good_in: Counts, bad: int, good: int) -> Likelihoods:
        """Likelihoods for arrays of counts; ``bad`` and ``good`` are the totals over all runs."""
        grid = (bad + 1) * (good + 1)
        if grid >= len(bad_in):
            return self._direct(bad_in, good_in, bad, good)
        every = np.arange(grid, dtype=np.int32)
        table = self._direct(every // (good + 1), every % (good + 1), bad, good)
        where = bad_in * np.int32(good + 1) + good_in
        return Likelihoods(table.log[where], table.p[where], table.q[where])

    def _direct(self, bad_in: Counts, good_in: Counts, bad: int, good: int) -> Likelihoods:
        bad_out, good_out = bad - bad_in, good - good_in
        if self.told is not None:
            p, q = self.told
            log = _power(bad_in, p) + _power(good_in, 1 - p) + _power(bad_out, q) + _power(good_out, 1 - q)
            ones = np.ones(len(bad_in))
            return Likelihoods(log, ones * p, ones * q)
        logs, ps, qs = [], [], []
        for component in self._components:
            log_p, mean_p = _beta(component.p, bad_in, good_in)
            log_q, mean_q = _beta(component.q, good_out, bad_out, atom_mirrored=True)
            logs.append(math.log(component.weight) + log_p + log_q)
            ps.append(mean_p)
            qs.append(mean_q)
        stack = np.stack(logs)
        peak = stack.max(axis=0)
        share = np.exp(stack - peak)
        total = share.sum(axis=0)
        share /= total
        return Likelihoods(peak + np.log(total), (share * np.stack(ps)).sum(axis=0), (share * np.stack(qs)).sum(axis=0))

    def null(self, bad: int, good: int) -> float:
        """Log likelihood of "nothing changed": one rate everywhere, uniform, rather small, or zero."""
        if self.told is not None:
            return -math.inf
        flat = math.lgamma(bad + 1) + math.lgamma(good + 1) - math.lgamma(bad + good + 2)
        small = math.log(9) + math.lgamma(bad + 1) + math.lgamma(good + 9) - math.lgamma(bad + good + 10)
        never = 0.0 if not bad else -math.inf
        return float(np.logaddexp.reduce([flat, small, never])) - math.log(3)


def _power(count: Counts, rate: float) -> Floats:
    if rate > 0:
        return np.asarray(count * math.log(rate), dtype=np.float64)
    return np.where(count > 0, -1e9, 0.0)


def _rising(start: float, most: int) -> Floats:
    """log Gamma(start + n) - log Gamma(start) for n = 0..most."""
    return np.concatenate([[0.0], np.cumsum(np.log(start + np.arange(most)))])


def _beta(
    prior: tuple[float, float] | None, first: Counts, second: Counts, *, atom_mirrored: bool = False
) -> tuple[Floats, Floats]:
    """Log marginal and predictive mean of "bad" for (bad, good) counts, or for (good, bad) ones when mirrored."""
    if prior is None:
        log = np.where(second > 0, -1e9, 0.0)
        return log, np.full(len(first), 0.0 if atom_mirrored else 1.0)
    a, b = (prior[1], prior[0]) if atom_mirrored else prior
    most = int(first.max(initial=0) + second.max(initial=0)) + 1
    log = _rising(a, most)[first] + _rising(b, most)[second] - _rising(a + b, most)[first + second]
    mean = (a + first) / (a + b + first + second)
    return log, 1 - mean if atom_mirrored else mean

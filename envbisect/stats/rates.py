"""How often something fails: Beta posteriors (uniform prior) and exact binomial intervals, without scipy."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Final

GRID: Final = 2000  # cells of a rate; the error of a bound is at most one cell


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def binomial_tail(k: int, n: int, rate: float) -> float:
    """P(at least ``k`` of ``n`` fail) at a failure rate."""
    if k <= 0:
        return 1.0
    if rate <= 0:
        return 0.0
    if rate >= 1:
        return 1.0
    logs = (_log_choose(n, i) + i * math.log(rate) + (n - i) * math.log1p(-rate) for i in range(k, n + 1))
    return min(1.0, math.fsum(math.exp(value) for value in logs))


def binomial_interval(failures: int, runs: int, confidence: float = 0.95) -> tuple[float, float]:
    """Two-sided exact interval of a failure rate (Clopper and Pearson 1934); (0, 1) without runs."""
    _check(failures, runs)
    if not runs:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    low = 0.0 if failures == 0 else _solve(lambda rate: binomial_tail(failures, runs, rate), tail)
    high = 1.0 if failures == runs else _solve(lambda rate: binomial_tail(failures + 1, runs, rate), 1 - tail)
    return low, high


def _solve(increasing: Callable[[float], float], value: float) -> float:
    """The point in 0..1 where an increasing function reaches the value, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if increasing(middle) < value:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _cells(failures: int, runs: int) -> list[float]:
    """Posterior mass of each of GRID cells of the rate, uniform prior: the exact Beta distribution's differences."""
    # P(rate <= x) for Beta(a + 1, n - a + 1) is a binomial tail with n + 1 draws.
    edges = [binomial_tail(failures + 1, runs + 1, cell / GRID) for cell in range(GRID + 1)]
    return [high - low for low, high in pairwise(edges)]


def upper_bound_difference(
    bad_failures: int, bad_runs: int, good_failures: int, good_runs: int, confidence: float = 0.95
) -> float:
    """The value that p - q does not exceed with this probability (uniform priors, independent ends), in -1..1."""
    _check(bad_failures, bad_runs)
    _check(good_failures, good_runs)
    bad, good = _cells(bad_failures, bad_runs), _cells(good_failures, good_runs)
    below = [0.0]
    for mass in good:
        below.append(below[-1] + mass)
    low, high = -GRID, GRID
    while low < high:
        shift = (low + high) // 2
        # p in cell i is at most q + shift if q is in a cell >= i - shift.
        reached = math.fsum(mass * (1 - below[min(GRID, max(0, i - shift))]) for i, mass in enumerate(bad))
        if reached >= confidence:
            high = shift
        else:
            low = shift + 1
    return min(1.0, (low + 1) / GRID)


def difference_probability(bad_failures: int, bad_runs: int, good_failures: int, good_runs: int) -> float:
    """P(p > q): the bad end fails more often than the good one (uniform priors, independent ends)."""
    _check(bad_failures, bad_runs)
    _check(good_failures, good_runs)
    bad, good = _cells(bad_failures, bad_runs), _cells(good_failures, good_runs)
    total, below = 0.0, 0.0
    for p, q in zip(bad, good, strict=True):
        total += p * (below + q / 2)
        below += q
    return min(1.0, total)


def _check(failures: int, runs: int) -> None:
    if not 0 <= failures <= runs:
        raise ValueError(f"{failures} failures of {runs} runs")

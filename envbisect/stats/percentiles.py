"""Percentiles with their intervals, and the rule that too few calls give no percentile at all.

The interval of a quantile is given by order statistics: the number of calls below the true quantile is binomial. Below
the smallest number of calls with a finite upper bound (299 one-sided for p99) the answer is "undecided".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from envbisect.stats.permutation import Worse, smallest_p


@dataclass(frozen=True, slots=True)
class Percentile:
    """A percentile of calls, in the unit of the values, with its order-statistics interval."""

    quantile: float
    value: float
    low: float
    high: float
    calls: int


def samples_needed(quantile: float, confidence: float = 0.95) -> int:
    """Fewest calls for which the largest one bounds the quantile from above: 299 for p99 at 95 %, one-sided."""
    _check(quantile)
    return math.ceil(math.log(1 - confidence) / math.log(quantile))


def launches_needed(alpha: float, worse: Worse = Worse.HIGHER) -> int:
    """Fewest launches an end for which an exact permutation test can get below ``alpha``: 4 for 5 %."""
    count = 1
    while smallest_p(count, count, worse) >= alpha:
        count += 1
    return count


def percentile(values: Sequence[float], quantile: float, confidence: float = 0.95) -> Percentile | None:
    """The quantile of ``values`` with a one-sided upper and lower bound; None ("undecided") for too few values.

    Raises:
        ValueError: the quantile is not inside 0..1, or a value is not finite.
    """
    _check(quantile)
    if not all(math.isfinite(value) for value in values):
        raise ValueError("a call has no finite duration")
    n = len(values)
    if n < samples_needed(max(quantile, 1 - quantile), confidence):
        return None
    ordered = sorted(values)
    value = ordered[min(n - 1, math.ceil(quantile * n) - 1)]
    tail = 1 - confidence
    low, high = 0, n - 1
    below = 0.0  # P(at most k calls are below the quantile)
    for k in range(n + 1):
        mass = math.exp(
            math.lgamma(n + 1)
            - math.lgamma(k + 1)
            - math.lgamma(n - k + 1)
            + k * math.log(quantile)
            + (n - k) * math.log1p(-quantile)
        )
        if below + mass <= tail:
            low = k
        below += mass
        if below >= confidence:
            high = min(high, k)
            break
    return Percentile(quantile, value, ordered[low], ordered[high], n)


def _check(quantile: float) -> None:
    if not 0 < quantile < 1:
        raise ValueError(f"quantile {quantile} is not inside 0..1")

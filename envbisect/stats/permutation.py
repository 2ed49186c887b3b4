"""Whether two ends differ in a number, when the *launch* is the unit.

Calls of one launch are alike and launches differ, so tests over calls cry wolf (28-65 % instead of 5 %); a
permutation of whole launches is exact. Too few launches can never be
significant, and then the answer is "undecided", not "same".
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from typing import Final, assert_never

MOST_SPLITS: Final = 20_000  # beyond this, a random part of all splits is taken, the observed one always
SAMPLED: Final = 10_000
TOLERANCE: Final = 1e-12


class Worse(StrEnum):
    """Which direction of a metric is worse."""

    HIGHER = "higher"
    LOWER = "lower"
    DIFFERENT = "different"


class Separation(StrEnum):
    """Whether the bad end is worse than the good one."""

    WORSE = "worse"
    NOT_WORSE = "not-worse"
    UNDECIDED = "undecided"  # so few launches that no outcome could have been significant


def separates(good: Sequence[float], bad: Sequence[float], worse: Worse = Worse.HIGHER) -> float:
    """The p value, exact up to 20 000 splits, of "bad is no worse than good", by permuting whole launches.

    Args:
        good, bad: one number a launch (its p99, its median, …), at least one each.
        worse: one-sided for HIGHER and LOWER, two-sided for DIFFERENT.

    Raises:
        ValueError: a side is empty or a number is not finite.
    """
    if not good or not bad:
        raise ValueError("both ends need at least one launch")
    values = [float(value) for value in (*bad, *good)]
    if not all(math.isfinite(value) for value in values):
        raise ValueError("a launch has no finite number")
    match worse:
        case Worse.HIGHER:
            pass
        case Worse.LOWER:
            values = [-value for value in values]
        case Worse.DIFFERENT:
            middle = math.fsum(values) / len(values)
            values = [value - middle for value in values]
        case _:
            assert_never(worse)
    size, total = len(bad), math.fsum(values)

    def statistic(chosen: Sequence[float]) -> float:
        inside = math.fsum(chosen)
        difference = inside / size - (total - inside) / (len(values) - size)
        return abs(difference) if worse is Worse.DIFFERENT else difference

    observed = statistic(values[:size])
    slack = TOLERANCE * max(abs(value) for value in (*values, 1.0))
    if math.comb(len(values), size) <= MOST_SPLITS:
        splits = [statistic(chosen) >= observed - slack for chosen in combinations(values, size)]
        return sum(splits) / len(splits)
    generator = random.Random(0)  # the same numbers give the same p value
    reached = sum(statistic(generator.sample(values, size)) >= observed - slack for _ in range(SAMPLED))
    return (reached + 1) / (SAMPLED + 1)


def smallest_p(good: int, bad: int, worse: Worse = Worse.HIGHER) -> float:
    """The smallest p value that so many launches can reach."""
    if not good or not bad:
        return 1.0
    both = 2 if worse is Worse.DIFFERENT and good == bad else 1
    return min(1.0, both / math.comb(good + bad, bad))


def separation(
    good: Sequence[float],
    bad: Sequence[float],
    worse: Worse = Worse.HIGHER,
    *,
    alpha: float = 0.05,
    min_effect: float = 0.0,
) -> Separation:
    """Three-valued verdict: worse (p below alpha), not worse, or undecided because of too few launches.

    ``min_effect`` is the smallest difference of the medians, in the metric's unit, that matters.
    """
    if smallest_p(len(good), len(bad), worse) >= alpha:
        return Separation.UNDECIDED
    if separates(good, bad, worse) >= alpha:
        return Separation.NOT_WORSE
    effect = abs(median(bad) - median(good))
    return Separation.WORSE if effect >= min_effect else Separation.NOT_WORSE


def median(values: Sequence[float]) -> float:
    """The median; of an even number the mean of the middle two."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p values that control the chance of any false alarm among all (Holm 1979), in the given order."""
    ordered = sorted(p_values, key=lambda name: (p_values[name], name))
    adjusted: dict[str, float] = {}
    running = 0.0
    for rank, name in enumerate(ordered):
        running = max(running, min(1.0, (len(ordered) - rank) * p_values[name]))
        adjusted[name] = running
    return {name: adjusted[name] for name in p_values}

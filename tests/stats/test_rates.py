"""Rates and their bounds, against closed forms and simulation."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envbisect.stats import binomial_interval, difference_probability, upper_bound_difference


def test_interval_of_no_failure_is_the_rule_of_three() -> None:
    low, high = binomial_interval(0, 100, confidence=0.9)
    assert low == 0
    assert high == pytest.approx(1 - 0.05 ** (1 / 100), abs=1e-9)
    assert binomial_interval(0, 0) == (0.0, 1.0)


def test_interval_known_value() -> None:
    low, high = binomial_interval(3, 10)
    assert low == pytest.approx(0.0667, abs=1e-4)
    assert high == pytest.approx(0.6525, abs=1e-4)


def test_interval_covers() -> None:
    generator = random.Random(3)
    hits = 0
    for _ in range(400):
        rate = generator.random()
        failures = sum(generator.random() < rate for _ in range(12))
        low, high = binomial_interval(failures, 12, confidence=0.9)
        hits += low <= rate <= high
    assert hits / 400 >= 0.88


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_probability_is_antisymmetric(a: int, b: int, c: int, d: int) -> None:
    a, b, c, d = min(a, b), max(a, b), min(c, d), max(c, d)
    assert difference_probability(a, b, c, d) + difference_probability(c, d, a, b) == pytest.approx(1, abs=1e-6)


def test_probability_known_value() -> None:
    # p ~ Beta(3, 1), q ~ Beta(1, 3): P(p > q) = 1 - E[q^3] = 0.95
    assert difference_probability(2, 2, 0, 2) == pytest.approx(0.95, abs=1e-3)


def test_bound_shrinks_with_runs_and_covers() -> None:
    assert upper_bound_difference(0, 2, 0, 2) > upper_bound_difference(0, 20, 0, 20) > 0
    assert upper_bound_difference(0, 20, 20, 20) < 0
    generator = random.Random(5)
    hits = 0
    for _ in range(60):
        p, q = generator.random(), generator.random()
        bad, good = (sum(generator.random() < rate for _ in range(10)) for rate in (p, q))
        hits += p - q <= upper_bound_difference(bad, 10, good, 10)
    assert hits >= 52


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="3 failures of 2 runs"):
        binomial_interval(3, 2)

"""Launch-level permutation, Holm's correction and percentiles."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envbisect.stats import (
    Separation,
    Worse,
    holm,
    launches_needed,
    percentile,
    samples_needed,
    separates,
    separation,
)


def test_clear_difference_reaches_the_smallest_p() -> None:
    good, bad = [18.0, 18.4, 18.1, 17.9, 18.2], [203.0, 200.1, 190.0, 210.5, 199.0]
    assert separates(good, bad) == pytest.approx(1 / 252)
    assert separates(good, bad, Worse.LOWER) == 1
    assert separates(good, bad, Worse.DIFFERENT) == pytest.approx(2 / 252)
    assert separation(good, bad) is Separation.WORSE
    assert separation(good, bad, Worse.LOWER) is Separation.NOT_WORSE
    assert separation(good, bad, min_effect=500) is Separation.NOT_WORSE


def test_three_launches_an_end_decide_nothing() -> None:
    assert separation([1.0, 1.1, 1.2], [9.0, 9.1, 9.2]) is Separation.UNDECIDED  # p is 1/20 at best
    assert separation([1.0, 1.1, 1.2, 1.0], [9.0, 9.1, 9.2, 9.0]) is Separation.WORSE
    assert launches_needed(0.05) == 4
    assert launches_needed(0.01) == 5
    assert launches_needed(0.05, Worse.DIFFERENT) == 4


def test_many_launches_are_sampled() -> None:
    generator = random.Random(4)
    good, bad = ([generator.gauss(shift, 1) for _ in range(15)] for shift in (0, 3))
    assert separates(good, bad) < 0.001
    assert separates(bad, good) > 0.9


def test_equal_numbers_never_separate() -> None:
    assert separates([1.0] * 5, [1.0] * 5) == 1
    with pytest.raises(ValueError, match="at least one launch"):
        separates([], [1.0])
    with pytest.raises(ValueError, match="finite"):
        separates([float("nan")], [1.0])


def test_false_alarms_stay_at_the_level() -> None:
    generator = random.Random(11)
    alarms = 0
    for _ in range(300):
        values = [generator.gauss(0, 1) for _ in range(10)]
        alarms += separates(values[:5], values[5:]) <= 0.05
    assert alarms / 300 <= 0.08


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_monotone_and_never_below_the_raw_value(values: list[float]) -> None:
    raw = {str(i): value for i, value in enumerate(values)}
    adjusted = holm(raw)
    assert list(adjusted) == list(raw)
    assert all(raw[name] <= adjusted[name] <= 1 for name in raw)
    ordered = sorted(raw, key=lambda name: raw[name])
    assert all(adjusted[a] <= adjusted[b] for a, b in pairwise(ordered))


def test_holm_known_value() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})


def test_percentile_is_undecided_below_its_smallest_sample() -> None:
    assert samples_needed(0.99) == 299
    assert samples_needed(0.999) == 2995
    assert percentile([1.0] * 298, 0.99) is None
    found = percentile([float(i) for i in range(1000)], 0.99)
    assert found is not None
    assert found.low < found.value <= found.high
    assert found.value == 989


def test_percentile_bounds_cover() -> None:
    generator = random.Random(2)
    below, above = 0, 0
    for _ in range(200):
        found = percentile([generator.random() for _ in range(400)], 0.9)
        assert found is not None
        below += found.low <= 0.9
        above += found.high >= 0.9
    assert below / 200 >= 0.92
    assert above / 200 >= 0.92

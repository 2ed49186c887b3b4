"""Warm-up, quantiles and their sample sizes on made series, and the whole check on real torch."""

from __future__ import annotations

import random

import pytest

from envbisect.burnin.result import CheckStatus
from envbisect.payload.checks.latency import SMALLEST_N, quantiles, steady_from, time_calls
from tests.payload.conftest import Run, needs_torch


def test_a_steady_series_has_no_warm_up() -> None:
    assert steady_from([1.0] * 1000) == 0


def test_slow_first_calls_are_left_out_and_rare_slow_ones_are_not() -> None:
    generator = random.Random(1)
    warm_up = [10.0 - 9.0 * i / 200 for i in range(200)]
    steady = [200.0 if generator.random() < 0.02 else 1.0 + generator.random() * 0.02 for _ in range(1000)]
    start = steady_from(warm_up + steady)
    assert start is not None
    assert 175 <= start <= 225
    assert quantiles((warm_up + steady)[start:])["p99_ms"] == 200.0


@pytest.mark.parametrize(("early", "start"), [(3, 125), (4, 0)])
def test_four_windows_in_a_row_are_steady_and_three_are_not(early: int, start: int) -> None:
    calls = [1.0] * 25 * early + [3.0] * 25 * 2 + [1.0] * 1000
    assert steady_from(calls) == start


def test_a_drift_that_never_ends_has_no_steady_state() -> None:
    assert steady_from([2.0**i for i in range(64) for _ in range(10)]) is None


def test_calls_that_are_too_few_for_a_window_have_none_either() -> None:
    assert steady_from([1.0] * 60) is None


@pytest.mark.parametrize("count", [298, 299, 2994, 2995])
def test_a_quantile_is_given_only_with_the_calls_that_bound_it(count: int) -> None:
    given = quantiles([float(i) for i in range(count)])
    assert ("p99_ms" in given) == (count >= SMALLEST_N["p99"])
    assert ("p999_ms" in given) == (count >= SMALLEST_N["p999"])
    # the smallest n for which the maximum bounds the quantile with 95 % confidence
    assert (1 - 0.99**count >= 0.95) == (count >= SMALLEST_N["p99"])
    assert (1 - 0.999**count >= 0.95) == (count >= SMALLEST_N["p999"])


def test_quantiles_are_order_statistics() -> None:
    generator = random.Random(2)
    given = quantiles(generator.sample([float(i) for i in range(1, 1001)], 1000))
    assert given == {"p50_ms": 500.5, "p99_ms": 990.0, "max_ms": 1000.0}


def test_the_budget_ends_a_slow_series_but_not_before_there_are_enough() -> None:
    assert len(time_calls(lambda: None, calls=10_000, budget_s=0.0)) == 2 * SMALLEST_N["p99"]


@needs_torch
@pytest.mark.torch
def test_the_check_gives_numbers_or_says_that_it_cannot(run: Run) -> None:
    check = run(checks=["latency"], torch={"threads": 1}).only()
    assert check.status in (CheckStatus.PASS, CheckStatus.CANNOT_TELL)  # which one depends on the machine's load
    assert len(check.samples["latency_ms"]) >= 2 * SMALLEST_N["p99"]
    if check.status is CheckStatus.PASS:
        assert 0 < check.metrics["p50_ms"] <= check.metrics["p99_ms"] <= check.metrics["max_ms"]
    else:
        assert not check.metrics

"""Pins, rates and times as people read them."""

from __future__ import annotations

import pytest

from envbisect.report.values import count, duration, percent, percent_at_most, shown


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (9.94, "9.9 s"),
        (10, "10 s"),
        (59.6, "1 min"),
        (200, "3 min 20 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("probability", "text"), [(0, "0 %"), (0.35, "35 %"), (0.9567, "95.6 %"), (0.9999, "99.9 %"), (1, "100 %")]
)
def test_percentages_never_round_up(probability: float, text: str) -> None:
    assert percent(probability) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "(not set)"),
        (True, "true"),
        (8, "8"),
        ("", '""'),
        (" x", '" x"'),
        ("2.1", "2.1"),
        (["a", 1], '["a", 1]'),
        ("é", "é"),
    ],
)
def test_pins(value: object, text: str) -> None:
    assert shown(value) == text


def test_counts() -> None:
    assert [count(n, "probe") for n in (0, 1, 2)] == ["0 probes", "1 probe", "2 probes"]


@pytest.mark.parametrize(("bound", "text"), [(0.0, "0 %"), (0.3451, "34.6 %"), (0.35, "35 %"), (0.9999, "100 %")])
def test_upper_bounds_never_round_down(bound: float, text: str) -> None:
    assert percent_at_most(bound) == text

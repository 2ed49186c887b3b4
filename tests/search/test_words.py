"""The words that other parts build on."""

from __future__ import annotations

from envbisect.search import Contradiction, Drift, Outcome, Result, Search, Status


def test_a_result_without_drift_says_so() -> None:
    assert Result(Status.BUDGET).drift is None
    engine = Search((3,))
    engine.tell((3,), Outcome.BAD)
    assert engine.result().drift is None


def test_drift_and_contradiction_are_values_with_their_counts() -> None:
    drift = Drift((0, 0), before=(6, 0), after=(0, 4), probability=0.002)
    assert drift == Drift((0, 0), (6, 0), (0, 4), 0.002)
    assert Result(Status.UNDECIDED, drift=drift).drift == drift
    pair = Contradiction((1, 0), (2, 0), lower_runs=(0, 2), upper_runs=(2, 0))
    assert (pair.lower_runs, pair.upper_runs) == ((0, 2), (2, 0))

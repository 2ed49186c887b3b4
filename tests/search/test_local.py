"""The proof of a culprit by the runs around it alone."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from envbisect.search import Configuration, Outcome, Search, Status
from envbisect.search.evidence import Evidence
from envbisect.search.lattice import Lattice
from envbisect.search.local import prove
from envbisect.search.rates import Rates
from tests.search.simulated import Truth, antichain, random_point, search

SIZES = (1, 1, 1)
TOP: Configuration = (1, 1, 1)
ZERO: Configuration = (0, 0, 0)
Runs = Mapping[Configuration, tuple[int, int]]
"""(good, bad) of each configuration."""


def _evidence(runs: Runs) -> Evidence:
    evidence = Evidence(Lattice(SIZES))
    for point, (good, bad) in runs.items():
        if good:
            evidence.tell(point, Outcome.GOOD, None, good)
        if bad:
            evidence.tell(point, Outcome.BAD, None, bad)
    return evidence


def _proof(runs: Runs, culprit: Configuration) -> tuple[float, Configuration]:
    found = prove(culprit, _evidence(runs), Rates(None), 0.8, 0.05)
    return found.confidence, found.weakest


def test_own_failures_and_passes_below_make_it_sure() -> None:
    ends: Runs = {TOP: (0, 10), ZERO: (10, 0)}
    sure, _ = _proof({**ends, (1, 1, 0): (0, 3), (1, 0, 0): (3, 0), (0, 1, 0): (3, 0)}, (1, 1, 0))
    assert sure > 0.95


def test_a_culprit_that_never_ran_is_as_doubtful_as_the_prior() -> None:
    sure, weakest = _proof({TOP: (0, 10), ZERO: (10, 0), (1, 0, 1): (5, 0), (0, 1, 1): (5, 0)}, (1, 1, 0))
    assert sure < 0.9
    assert weakest == (1, 1, 0)


def test_the_neighbour_that_ran_least_is_the_weakest() -> None:
    flaky: Runs = {TOP: (5, 5), ZERO: (10, 0), (1, 1, 0): (2, 2), (1, 0, 0): (8, 0), (0, 1, 0): (1, 0)}
    sure, weakest = _proof(flaky, (1, 1, 0))
    assert sure < 0.9
    assert weakest == (0, 1, 0)


def test_a_pass_above_a_neighbour_speaks_for_it() -> None:
    base: Runs = {TOP: (5, 5), ZERO: (10, 0), (1, 1, 0): (2, 2), (1, 0, 0): (8, 0), (0, 1, 0): (1, 0)}
    assert _proof({**base, (0, 1, 1): (6, 0)}, (1, 1, 0))[0] > _proof(base, (1, 1, 0))[0]


def test_another_culprit_above_a_neighbour_does_not_speak_against_it() -> None:
    base: Runs = {TOP: (0, 10), ZERO: (10, 0), (1, 1, 0): (0, 3), (1, 0, 0): (3, 0), (0, 1, 0): (3, 0)}
    sure, _ = _proof({**base, (0, 1, 1): (0, 5)}, (1, 1, 0))
    assert sure == pytest.approx(_proof(base, (1, 1, 0))[0], abs=0.01)


def test_a_neighbour_that_fails_itself_refutes_the_culprit() -> None:
    base: Runs = {TOP: (0, 10), ZERO: (10, 0), (1, 1, 0): (0, 3), (1, 0, 0): (0, 3), (0, 1, 0): (3, 0)}
    assert _proof(base, (1, 1, 0))[0] < 0.05


@pytest.mark.slow
def test_answers_are_as_right_as_they_say_where_noise_is_high_and_culprits_are_several() -> None:
    """Rates that the prior holds for unlikely: q of .2 to .5, p - q of .3 to .6."""
    right = answered = 0
    for seed in range(60):
        generator = random.Random(seed)
        points = antichain(random_point((1,) * 9, generator.randint(1, 3), generator) for _ in range(2))
        q = generator.uniform(0.2, 0.5)
        truth = Truth((1,) * 9, points, min(1.0, q + generator.uniform(0.3, 0.6)), q, seed=seed)
        result = search(truth, Search((1,) * 9, confidence=0.9), ends=10, limit=800).result
        answered += result.status is Status.CULPRIT
        right += result.status is Status.CULPRIT and result.culprit in points
    assert answered >= 40
    assert right >= 0.8 * answered  # nine in ten; four in five once in a hundred sets of 50

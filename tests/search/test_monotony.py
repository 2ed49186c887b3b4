"""Contradictions: only where monotony itself is broken beyond the rates, and a locally minimal failure all the same."""

from __future__ import annotations

import random

import numpy as np
import pytest

from envbisect.search import Configuration, Outcome, Result, Search, Status
from envbisect.search.evidence import Evidence
from envbisect.search.labels import Labels, RateGrid, at_least
from envbisect.search.lattice import Lattice
from envbisect.search.monotony import Order
from tests.search.simulated import Truth, antichain, points_of, random_point, under

SPACES: tuple[Configuration, ...] = ((1,) * 6, (7, 1, 1, 1), (16,), (4, 4, 1, 1), (30, 2))
SMALL: tuple[Configuration, ...] = ((1,) * 3, (1,) * 4, (3, 1, 1), (10,), (4, 4), (2, 2, 1))


def test_one_flat_contradiction_is_run_again_on_both_sides_before_anything_is_concluded() -> None:
    engine = Search([2, 1])
    engine.tell((0, 0), Outcome.GOOD, count=2)
    engine.tell((2, 1), Outcome.BAD, count=2)
    engine.tell((1, 0), Outcome.BAD)
    engine.tell((2, 0), Outcome.GOOD)
    assert engine.result().status is Status.BUDGET
    assert engine.result().contradictions == ()
    assert engine.ask(1) == [(2, 0)]
    engine.tell((2, 0), Outcome.GOOD)
    assert engine.ask(1) == [(1, 0)]
    engine.tell((1, 0), Outcome.BAD)
    asked: list[Configuration] = []
    while batch := engine.ask(1):
        asked += batch
        engine.tell(batch[0], Outcome.BAD if batch[0] in {(1, 0), (2, 1)} else Outcome.GOOD)
    assert (0, 0) in asked  # is the machine the same?
    assert len(asked) <= 20
    result = engine.result()
    (pair,) = result.contradictions
    assert (pair.lower, pair.upper) == ((1, 0), (2, 0))
    assert pair.lower_runs[0] == pair.upper_runs[1] == 0
    assert min(pair.lower_runs[1], pair.upper_runs[0]) >= 2
    assert (result.status, result.culprit) == (Status.CULPRIT, (1, 0))
    assert result.drift is None


def test_a_test_that_flakes_after_all_is_no_contradiction() -> None:
    engine = Search([2, 1])
    engine.tell((0, 0), Outcome.GOOD, count=2)
    engine.tell((2, 1), Outcome.BAD, count=2)
    engine.tell((1, 0), Outcome.BAD)
    engine.tell((2, 0), Outcome.GOOD)
    engine.tell((2, 0), Outcome.BAD)  # run again it fails
    assert engine.ask(1) == [(0, 0)]
    engine.tell((0, 0), Outcome.GOOD)
    assert engine.ask(1) != [(0, 0)]
    assert engine.result().contradictions == ()


def _drive(engine: Search, truth: Truth, ends: int, limit: int) -> tuple[Result, int]:
    for _ in range(ends):
        for end in ((0,) * len(truth.sizes), truth.sizes):
            engine.tell(end, *truth.answer(end))
    asked = 0
    while asked < limit and (batch := engine.ask(1)):
        asked += 1
        engine.tell(batch[0], *truth.answer(batch[0]))
    return engine.result(), asked


def _monotone_worlds(seeds: range, ends: int) -> int:
    """How many searches in monotone worlds with hidden rates report a contradiction or drift."""
    reported = 0
    for seed in seeds:
        generator = random.Random(seed)
        sizes = generator.choice(SPACES)
        p, q = 0.0, 0.0
        while p - q < 0.15:
            q, p = sorted((generator.random(), generator.random()))
        chosen = [random_point(sizes, generator.randint(1, min(2, len(sizes))), generator) for _ in range(2)]
        result, _ = _drive(Search(sizes), Truth(sizes, antichain(chosen), p, q, seed=seed), ends, 150)
        reported += bool(result.contradictions) or result.drift is not None
    return reported


def test_a_monotone_test_with_any_rates_is_hardly_ever_accused() -> None:
    assert _monotone_worlds(range(12), 2) == 0


@pytest.mark.slow
def test_a_monotone_test_is_accused_in_less_than_a_hundredth_of_the_searches() -> None:
    assert _monotone_worlds(range(1000, 1300), 2) <= 3
    assert _monotone_worlds(range(2000, 2060), 10) <= 1


class Scrambled(Truth):
    """Fails where it likes; only the ends are as they must be."""

    def fails(self, point: Configuration) -> bool:
        return point in self.points


def _scrambled(sizes: Configuration, seed: int) -> Scrambled:
    generator = random.Random(seed)
    bad = {x for x in points_of(sizes) if any(x) and generator.random() < 0.5} | {sizes}
    return Scrambled(sizes, tuple(sorted(bad)))


@pytest.mark.parametrize("sizes", SMALL, ids=str)
def test_what_is_not_monotone_is_said_whenever_it_was_seen(sizes: Configuration) -> None:
    seen = 0
    for seed in range(40):
        truth, engine = _scrambled(sizes, seed), Search(sizes)
        told: dict[Configuration, Outcome] = {}
        for end in ((0,) * len(sizes), sizes):
            engine.tell(end, truth.answer(end)[0], count=2)
        asked = 0
        while batch := engine.ask(1):
            asked += 1
            told[batch[0]] = truth.answer(batch[0])[0]
            engine.tell(batch[0], told[batch[0]])
        assert asked <= 60
        result = engine.result()
        broken = any(
            under(x, y) and (one, other) == (Outcome.BAD, Outcome.GOOD)
            for x, one in told.items()
            for y, other in told.items()
            if x != sizes and any(y)
        )
        seen += broken
        assert bool(result.contradictions) is broken
        assert result.status is Status.CULPRIT
        assert result.culprit is not None
        assert truth.fails(result.culprit)
        if broken:
            _locally_minimal(result, truth)
    assert seen or len(sizes) == 1  # halving one ladder never looks beyond a pass


def _locally_minimal(result: Result, truth: Truth) -> None:
    """Every line by its own runs: nothing is implied where the test is not monotone."""
    own, *neighbours = result.certificate
    assert own.bad > own.good
    assert len(neighbours) == sum(1 for step in own.configuration if step)
    for line in neighbours:
        assert line.good > line.bad
        assert line.witness is None
        assert not truth.fails(line.configuration)
    assert not result.complete


@pytest.mark.slow
def test_noise_and_no_monotony_still_end_at_a_failing_configuration() -> None:
    right = answered = reported = 0
    for seed in range(60):
        sizes = SMALL[seed % len(SMALL)]
        truth = _scrambled(sizes, seed)
        truth.p, truth.q = 0.85, 0.05
        engine = Search(sizes)
        for x in points_of(sizes):  # what another symptom ran
            for _ in range(5):
                engine.tell(x, *truth.answer(x))
        result, _ = _drive(engine, truth, 3, 200)
        reported += bool(result.contradictions)
        if result.contradictions and result.status is Status.CULPRIT:
            answered += 1
            culprit = result.culprit or ()
            lower = [(*culprit[:i], step - 1, *culprit[i + 1 :]) for i, step in enumerate(culprit) if step]
            right += truth.fails(culprit) and not any(truth.fails(x) for x in lower)
    assert reported >= 12
    assert answered >= 0.9 * reported
    assert right >= 0.9 * answered


def test_told_rates_make_the_same_runs_a_contradiction_or_none() -> None:
    for rates, count in (((0.5, 0.2), 0), ((1.0, 0.0), 1)):
        engine = Search([3, 1], rates=rates)
        engine.tell((0, 0), Outcome.GOOD, count=2)
        engine.tell((3, 1), Outcome.BAD, count=2)
        engine.tell((1, 0), Outcome.BAD, count=2)
        engine.tell((2, 0), Outcome.GOOD, count=2)
        assert len(engine.result().contradictions) == count


def test_labels_follow_the_ends_and_forget_what_is_judged() -> None:
    evidence = Evidence(Lattice((4, 1)))
    evidence.tell((4, 1), Outcome.BAD, None, 9)
    evidence.tell((4, 1), Outcome.GOOD, None, 1)
    evidence.tell((0, 0), Outcome.GOOD, None, 10)
    evidence.tell((2, 0), Outcome.BAD, None, 3)
    evidence.tell((3, 0), Outcome.GOOD, None, 3)
    labels = Labels(RateGrid(None), evidence)
    assert labels.fails((2, 0)) > 0.99
    assert labels.fails((3, 0)) < 0.05
    assert labels.fails((1, 1)) == pytest.approx(0.5)
    assert labels.surprise((2, 0), (3, 0)) < 0.02
    assert np.average(RateGrid(None).p > RateGrid(None).q) == 1


def test_binomial_tails() -> None:
    rates = np.array([0.0, 0.25, 1.0])
    assert at_least(2, 3, rates).tolist() == pytest.approx([0, 3 * 0.25**2 * 0.75 + 0.25**3, 1], abs=1e-9)
    assert at_least(0, 3, rates).tolist() == pytest.approx([1, 1, 1])


def test_pairs_are_counted_without_the_ends() -> None:
    lattice = Lattice((2, 2))
    evidence = Evidence(lattice)
    order = Order(evidence)
    for point in ((0, 0), (2, 2), (1, 0), (1, 1), (0, 2), (1, 1)):
        evidence.tell(point, Outcome.BAD if sum(point) == 1 else Outcome.GOOD, None)
        order.add(point)
    assert order.pairs == 1
    assert order.against() == [((1, 0), (1, 1))]

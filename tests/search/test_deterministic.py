"""Deterministic tests: every answer is exact, and the number of probes is bounded."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import combinations, product

import pytest

from envbisect.search import Configuration, Outcome, Role, Search, Status
from tests.search.simulated import Truth, antichain, random_point, search, under

FLAGS = (1,) * 14
MIXED = (7,) * 6 + (1,) * 14
Draw = Callable[[random.Random], tuple[Configuration, ...]]


def _sets(*sizes: int) -> Draw:
    return lambda g: tuple(random_point(FLAGS, size, g) for size in sizes)


def _fork(generator: random.Random) -> tuple[Configuration, ...]:
    a, b, c = generator.sample(range(14), 3)
    return tuple(tuple(int(i in pair) for i in range(14)) for pair in ((a, b), (a, c)))


@pytest.mark.parametrize(
    ("sizes", "draw", "mean"),
    [
        pytest.param((1024,), lambda g: (random_point((1024,), 1, g),), 11.5, id="ladder of 1024 steps"),
        pytest.param(FLAGS, _sets(1), 6.2, id="14 flags, one"),
        pytest.param(FLAGS, _sets(2), 9.5, id="14 flags, pair"),
        pytest.param(FLAGS, _sets(1, 1), 9, id="14 flags, two independent"),
        pytest.param(FLAGS, _fork, 12, id="14 flags, A with B or C"),
        pytest.param(FLAGS, _sets(2, 2), 13, id="14 flags, two pairs"),
        pytest.param(FLAGS, _sets(3), 18, id="14 flags, triple"),
        pytest.param(MIXED, lambda g: (random_point(MIXED, 1, g),), 8.5, id="ladders and flags, one"),
        pytest.param(MIXED, lambda g: (random_point(MIXED, 2, g),), 14, id="ladders and flags, pair"),
    ],
)
def test_culprit_is_exact_and_cheap(sizes: Configuration, draw: Draw, mean: float) -> None:
    counts = []
    for seed in range(8):
        truth = Truth(sizes, antichain(draw(random.Random(seed))))
        run = search(truth, Search(sizes), ends=10)
        assert run.result.status is Status.CULPRIT
        assert run.result.culprit in truth.points
        counts.append(len(run.asked))
    assert sum(counts) / len(counts) <= mean


@pytest.mark.parametrize(("order", "mean"), [(1, 7), (2, 11)])
def test_two_runs_of_each_end_are_enough(order: int, mean: float) -> None:
    counts = []
    for seed in range(8):
        point = random_point(FLAGS, order, random.Random(seed))
        run = search(Truth(FLAGS, (point,)), Search(FLAGS), ends=2)
        assert run.result.culprit == point
        counts.append(len(run.asked))
    assert sum(counts) / len(counts) <= mean


@pytest.mark.parametrize(
    ("sizes", "order", "mean"),
    [
        pytest.param((1024,), 1, 12, id="ladder of 1024 steps"),
        pytest.param(FLAGS, 1, 7, id="14 flags, one"),
        pytest.param(FLAGS, 2, 11, id="14 flags, pair"),
    ],
)
def test_a_test_that_is_mostly_deterministic_needs_no_more_runs_of_the_ends(
    sizes: Configuration, order: int, mean: float
) -> None:
    counts = []
    for seed in range(20):
        point = random_point(sizes, order, random.Random(seed))
        run = search(Truth(sizes, (point,)), Search(sizes, deterministic=0.6), ends=2)
        assert run.result.culprit == point
        counts.append(len(run.asked))
    assert sum(counts) / len(counts) <= mean


def _all_antichains(points: Sequence[Configuration], most: int) -> list[tuple[Configuration, ...]]:
    found = []
    for count in range(1, most + 1):
        for chosen in combinations(points, count):
            if antichain(chosen) == tuple(sorted(chosen)):
                found.append(chosen)
    return found


def _check(truth: Truth, *, probes: int) -> None:
    engine = Search(truth.sizes)
    run = search(truth, engine)
    result = run.result
    assert len(run.asked) <= probes
    assert result.status is Status.CULPRIT
    assert result.culprit in truth.points
    lines = {line.configuration: line for line in result.certificate}
    culprit = lines.pop(result.culprit)
    assert culprit.role is Role.CULPRIT
    assert culprit.bad >= 1
    assert len(lines) == sum(1 for step in result.culprit if step)
    for point, line in lines.items():
        assert line.role is Role.NEIGHBOUR
        assert not truth.fails(point)
        assert line.good or (line.witness is not None and under(point, line.witness) and not truth.fails(line.witness))
    if result.complete:
        assert truth.points == (result.culprit,)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_monotone_function_of_few_flags(count: int) -> None:
    sizes = (1,) * count
    points = [x for x in product((0, 1), repeat=count) if any(x)]
    for chosen in _all_antichains(points, 4):
        _check(Truth(sizes, chosen), probes=2 * 2**count)


@pytest.mark.slow
def test_every_monotone_function_of_four_flags() -> None:
    points = [x for x in product((0, 1), repeat=4) if any(x)]
    chains = _all_antichains(points, 6)
    assert len(chains) == 166  # Dedekind number 168 without the two constant functions
    for chosen in chains:
        _check(Truth((1,) * 4, chosen), probes=14)


def test_monotone_functions_of_two_ladders_and_a_flag() -> None:
    sizes = (2, 2, 1)
    points = [x for x in product(range(3), range(3), range(2)) if any(x)]
    for chosen in random.Random(1).sample(_all_antichains(points, 4), 80):
        _check(Truth(sizes, chosen), probes=14)


def test_the_same_answers_give_the_same_questions() -> None:
    truth = Truth(MIXED, (random_point(MIXED, 2, random.Random(5)),))
    first = search(truth, Search(MIXED))
    again = search(truth, Search(MIXED))
    assert first.asked == again.asked
    recorded = Search(MIXED)
    for _ in range(2):
        recorded.tell((0,) * 20, Outcome.GOOD)
        recorded.tell(MIXED, Outcome.BAD)
    for point in first.asked:
        assert recorded.ask(1) == [point]
        recorded.tell(point, *truth.answer(point))
    assert recorded.ask(1) == []
    assert recorded.result() == first.result


def test_four_changes_together_are_found() -> None:
    for seed in range(3):
        point = random_point(FLAGS, 4, random.Random(seed))
        run = search(Truth(FLAGS, (point,)), Search(FLAGS))
        assert run.result.culprit == point
        assert len(run.asked) <= 26


def test_answers_that_were_not_asked_for_do_not_merge_two_culprits() -> None:
    """Another symptom's probes: two halves fail, each for a reason of its own; nothing is below both."""
    points: tuple[Configuration, ...] = ((1,) + (0,) * 13, (0,) * 13 + (1,))
    truth = Truth(FLAGS, points)
    engine = Search(FLAGS)
    for half in ((1,) * 7 + (0,) * 7, (0,) * 7 + (1,) * 7):
        engine.tell(half, *truth.answer(half))
    run = search(truth, engine, ends=2)
    assert run.result.culprit in points
    assert run.result.complete is False
    assert len(run.asked) <= 16


def test_complete_only_when_every_other_culprit_is_excluded() -> None:
    truth = Truth((3, 1, 1), ((2, 0, 0),))
    engine = Search((3, 1, 1))
    result = search(truth, engine).result
    assert not result.complete or engine.result().culprit == (2, 0, 0)
    engine.tell((1, 1, 1), *truth.answer((1, 1, 1)))
    assert engine.result().complete


def test_told_rates_cost_more_in_the_forecast() -> None:
    exact = Search((1024,), rates=(1.0, 0.0)).expected_probes()
    flaky = Search((1024,), rates=(0.5, 0.02)).expected_probes()
    assert exact == pytest.approx(10, abs=0.1)
    assert 35 < flaky < 60


def test_a_flat_contradiction_is_reported() -> None:
    engine = Search([2, 1])
    for _ in range(6):
        engine.tell((0, 0), Outcome.GOOD)
        engine.tell((2, 1), Outcome.BAD)
        engine.tell((1, 0), Outcome.BAD)
        engine.tell((2, 0), Outcome.GOOD)
    engine.ask(1)
    found = engine.result().contradictions
    assert [(pair.lower, pair.upper) for pair in found] == [((1, 0), (2, 0))]

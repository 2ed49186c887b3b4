"""Large spaces, high orders, batches and prices."""

from __future__ import annotations

import random
import time
from math import comb

import pytest

from envbisect.errors import UsageError
from envbisect.search import Configuration, Costs, Outcome, Search, Status
from envbisect.search.lattice import order_masses
from tests.search.simulated import Truth, random_point, search

FLAGS = (1,) * 14


@pytest.mark.parametrize(("ends", "deterministic"), [(2, 0.6), (10, 0.2)])
@pytest.mark.parametrize(("axes", "order"), [(40, 4), (60, 5), (200, 3)])
def test_orders_that_are_not_listed_are_found_by_climbing(
    axes: int, order: int, ends: int, deterministic: float
) -> None:
    """Two runs of each end say little: a run expects a deterministic test then."""
    for seed in range(3):
        point = random_point((1,) * axes, order, random.Random(seed))
        run = search(Truth((1,) * axes, (point,)), Search((1,) * axes, deterministic=deterministic), ends=ends)
        assert run.result.status is Status.CULPRIT
        assert run.result.culprit == point
        assert run.result.confidence >= 0.94
        assert len(run.asked) <= 12 * order + 12


def test_several_culprits_of_high_order() -> None:
    generator = random.Random(3)
    points = tuple(random_point((1,) * 40, 4, generator) for _ in range(3))
    run = search(Truth((1,) * 40, points), Search((1,) * 40))
    assert run.result.culprit in points


def test_above_the_cap_axes_are_found_before_their_steps() -> None:
    sizes = (200,) * 14
    counts = []
    for seed in range(2):
        point = random_point(sizes, 2, random.Random(seed))
        run = search(Truth(sizes, (point,)), Search(sizes))
        assert run.result.culprit == point
        counts.append(len(run.asked))
        first = run.asked[0]
        assert set(first) <= {0, 200}
    assert sum(counts) / len(counts) <= 34


def test_a_rare_high_order_under_noise_keeps_its_confidence() -> None:
    right = 0
    for seed in range(5):
        point = random_point((1,) * 40, 4, random.Random(seed))
        run = search(Truth((1,) * 40, (point,), 0.9, 0.0, seed=seed), Search((1,) * 40), ends=5, limit=300)
        right += run.result.culprit == point
    assert right >= 4


def test_a_batch_is_informative_together() -> None:
    serial, rounds = [], []
    for seed in range(5):
        point = random_point(FLAGS, 1, random.Random(seed))
        serial.append(len(search(Truth(FLAGS, (point,)), Search(FLAGS), ends=10).asked))
        engine = Search(FLAGS)
        for _ in range(10):
            engine.tell((0,) * 14, Outcome.GOOD)
            engine.tell(FLAGS, Outcome.BAD)
        count = 0
        while batch := engine.ask(3):
            assert len(batch) <= 3
            count += 1
            for x in batch:
                engine.tell(x, Outcome.BAD if all(a >= b for a, b in zip(x, point, strict=True)) else Outcome.GOOD)
        assert engine.result().culprit == point
        rounds.append(count)
    assert sum(rounds) < 0.75 * sum(serial)


def test_what_is_under_way_is_not_repeated() -> None:
    engine = Search(FLAGS)
    for _ in range(10):
        engine.tell((0,) * 14, Outcome.GOOD)
        engine.tell(FLAGS, Outcome.BAD)
    first = engine.ask(1)
    second = engine.ask(1, running=first)
    assert second
    assert second != first


@pytest.mark.parametrize("costs", [(10.0, 1.0), Costs(1.0, [([0, 1, 2, 3], 10.0)])], ids=["whole", "group"])
def test_dear_builds_are_saved(costs: Costs | tuple[float, float]) -> None:
    """With repeats needed, repeats of what is built come first; the total falls."""
    sizes = (8, 8, 8, 8)

    def total(engine: Search, seed: int) -> float:
        point = random_point(sizes, 1, random.Random(seed))
        run = search(Truth(sizes, (point,), 0.5, 0.0, seed=seed), engine, ends=10)
        return len(run.asked) + 10.0 * len(set(run.asked))

    seeds = range(10)
    assert sum(total(Search(sizes, costs=costs), s) for s in seeds) < 0.8 * sum(total(Search(sizes), s) for s in seeds)


def test_prior_weights_move_the_first_questions() -> None:
    weights = [100.0] + [1.0] * 13
    point: Configuration = (1,) + (0,) * 13
    plain = search(Truth(FLAGS, (point,)), Search(FLAGS), ends=10)
    weighted = search(Truth(FLAGS, (point,)), Search(FLAGS, weights=weights), ends=10)
    assert weighted.result.culprit == point
    assert len(weighted.asked) < len(plain.asked)


@pytest.mark.parametrize("sizes", [FLAGS, (1024,), (7,) * 6 + (1,) * 14, (200,) * 14], ids=len)
def test_expected_probes_are_near_what_is_needed(sizes: Configuration) -> None:
    start = time.perf_counter()
    expected = Search(sizes).expected_probes()
    assert time.perf_counter() - start < 2
    counts = []
    for seed in range(4):
        generator = random.Random(seed)
        point = random_point(sizes, 1 + (seed % 2 if len(sizes) > 1 else 0), generator)
        counts.append(len(search(Truth(sizes, (point,)), Search(sizes), ends=10).asked))
    assert expected == pytest.approx(sum(counts) / len(counts), rel=0.4)


def test_the_prior_is_described() -> None:
    prior = Search((7, 1, 1)).describe_prior()
    orders = prior["orders"]
    assert isinstance(orders, dict)
    assert {name: entry["hypotheses"] for name, entry in orders.items()} == {"1": 9, "2": 15, "3": 7}
    assert sum(entry["mass"] for entry in orders.values()) == pytest.approx(1, abs=1e-3)


def test_the_prior_says_how_deterministic_the_test_is() -> None:
    assert Search((3,)).describe_prior()["deterministic"] == 0.2
    assert Search((3,), deterministic=0.6).describe_prior()["deterministic"] == 0.6
    assert Search((3,), rates=(0.5, 0.0)).describe_prior()["deterministic"] is None


def test_known_counts_are_told_at_once_and_spend_no_question() -> None:
    start = time.perf_counter()
    engine = Search((1024,))
    engine.tell((0,), Outcome.GOOD, count=30_000)
    engine.tell((1024,), Outcome.BAD, count=30_000)
    asked = 0
    while batch := engine.ask(1):
        asked += 1
        engine.tell(batch[0], Outcome.BAD if batch[0][0] >= 333 else Outcome.GOOD)
    assert (engine.result().status, engine.result().culprit) == (Status.CULPRIT, (333,))
    assert asked <= 11
    assert time.perf_counter() - start < 2


def test_a_count_says_what_as_many_answers_say() -> None:
    whole, single = Search((6, 1)), Search((6, 1))
    for point, outcome in (((0, 0), Outcome.GOOD), ((6, 1), Outcome.BAD), ((3, 1), Outcome.BAD)):
        whole.tell(point, outcome, count=3)
        for _ in range(3):
            single.tell(point, outcome)
    assert whole.ask(1) == single.ask(1)
    assert whole.result() == single.result()


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(UsageError, match="no steps"):
        Search([0])
    with pytest.raises(UsageError, match="confidence"):
        Search([1], confidence=1.0)
    with pytest.raises(UsageError, match="rates"):
        Search([1], rates=(0.1, 0.5))
    for weight in (0.0, 1.0):
        with pytest.raises(UsageError, match="deterministic"):
            Search([1], deterministic=weight)
    with pytest.raises(UsageError, match="0 answers"):
        Search([1]).tell((1,), Outcome.BAD, count=0)
    with pytest.raises(UsageError, match="not in the lattice"):
        Search([1]).tell((2,), Outcome.BAD)


@pytest.mark.parametrize("axes", [1, 2, 3, 4, 14])
def test_no_pair_of_axes_is_likelier_than_one_axis(axes: int) -> None:
    masses = order_masses(axes, 3)
    assert len(masses) == 3
    sets = [comb(axes, order) for order in (1, 2, 3)]
    each = [mass / count if count else 0.0 for mass, count in zip(masses, sets, strict=True)]
    assert each[0] > 0
    assert each == sorted(each, reverse=True)


def test_many_changes_together_are_as_sure_as_asked() -> None:
    """Every axis that is pinned makes the frame less sure; the certificate's own runs make up for it."""
    point = random_point((1,) * 40, 9, random.Random(0))
    run = search(Truth((1,) * 40, (point,)), Search((1,) * 40), ends=5, limit=150)
    assert (run.result.status, run.result.culprit) == (Status.CULPRIT, point)
    assert run.result.confidence >= 0.95

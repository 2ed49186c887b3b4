"""A machine that changes on the way: told apart from a test that is not monotone, and never blamed on an axis."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from envbisect.search import Configuration, Outcome, Search, Status
from envbisect.search.drift import change_point, fisher
from tests.search.simulated import Truth, random_point, search, under


@pytest.mark.parametrize(
    ("answers", "earliest"), [("GGBB", 1), ("GGGBBB", 3), ("GBGGBBB", 2), ("BBGGGG", 1), ("GGBGBB", 2)]
)
def test_the_change_is_as_improbable_as_counting_says(answers: str, earliest: int) -> None:
    """Among all orders of the same answers, those that split as well somewhere."""
    seen = [letter == "B" for letter in answers]

    def level(order: tuple[bool, ...]) -> float:
        return min(fisher(sum(order[:k]), sum(order), k, len(order)) for k in range(earliest, len(order)))

    own = level(tuple(seen))
    orders = list(permutations(seen))
    share = sum(level(order) <= own * (1 + 1e-9) for order in orders) / len(orders)
    found = change_point(seen, earliest)
    assert found is not None
    place, chance = found
    assert fisher(sum(seen[:place]), sum(seen), place, len(seen)) == pytest.approx(own)
    # An unconvincing split is not counted out: its own level is already a lower bound.
    assert chance == pytest.approx(share if own <= 0.01 else own)


def test_a_clear_change_is_counted_out() -> None:
    answers = [False] * 9 + [True] * 6
    found = change_point(answers, 5)
    assert found is not None
    assert found[0] == 9
    assert 1 / 5005 <= found[1] <= 4 / 5005
    assert change_point([True] * 5, 1) is None
    assert change_point([], 1) is None


def test_answers_told_before_the_search_asked_are_in_no_order() -> None:
    """A flaky good end, told as sums: all its passes, then all its failures."""
    engine = Search((4, 1))
    engine.tell((4, 1), Outcome.BAD, count=20)
    engine.tell((0, 0), Outcome.GOOD, count=20)
    engine.tell((0, 0), Outcome.BAD, count=6)
    engine.ask(1)
    assert engine.result().drift is None
    engine.tell((0, 0), Outcome.GOOD)
    assert engine.result().drift is None


@pytest.mark.parametrize("ends", [2, 5, 10])
def test_a_good_end_that_fails_from_now_on_is_drift_and_no_culprit(ends: int) -> None:
    engine = Search((1,) * 6)
    zero, top = (0,) * 6, (1,) * 6
    engine.tell(zero, Outcome.GOOD, count=ends)
    engine.tell(top, Outcome.BAD, count=ends)
    engine.ask(1)
    engine.tell((1, 1, 1, 0, 0, 0), Outcome.GOOD)
    engine.tell((1, 1, 0, 0, 0, 0), Outcome.BAD)  # from here on everything fails
    asked: list[Configuration] = []
    while batch := engine.ask(1):
        asked += batch
        engine.tell(batch[0], Outcome.BAD)
    result = engine.result()
    assert result.status is Status.UNDECIDED
    assert result.culprit is None
    assert result.drift is not None
    assert result.drift.configuration == zero
    assert result.drift.before == (ends, 0)
    assert result.drift.after[0] == 0
    assert result.drift.probability < 0.01
    assert asked.count(zero) <= 5 + (10 - min(ends, 10))
    assert len(asked) <= (22 if ends == 2 else 16)


def test_a_bad_end_that_passes_from_now_on_is_drift() -> None:
    engine = Search((8,))
    engine.tell((0,), Outcome.GOOD, count=10)
    engine.tell((8,), Outcome.BAD, count=10)
    engine.ask(1)
    engine.tell((8,), Outcome.GOOD, count=4)
    result = engine.result()
    assert result.drift is not None
    assert (result.drift.configuration, result.drift.before, result.drift.after) == ((8,), (0, 10), (4, 0))
    assert engine.ask(1) == []
    assert result.status is Status.UNDECIDED


def test_what_was_proven_before_the_change_stands() -> None:
    truth, engine = Truth((1,) * 6, ((0, 1, 0, 0, 0, 0),)), Search((1,) * 6)
    found = search(truth, engine, ends=10).result
    assert found.culprit == truth.points[0]
    engine.tell((0,) * 6, Outcome.GOOD)  # the machine is still the same
    engine.tell((0,) * 6, Outcome.BAD, count=5)
    result = engine.result()
    assert result.drift is not None
    assert (result.status, result.culprit) == (Status.CULPRIT, truth.points[0])
    assert result.certificate[0] == found.certificate[0]
    assert engine.ask(1) == []


def test_what_may_have_been_measured_after_the_change_does_not() -> None:
    truth, engine = Truth((1,) * 6, ((0, 1, 0, 0, 0, 0),)), Search((1,) * 6)
    search(truth, engine, ends=10)
    engine.tell((0,) * 6, Outcome.BAD, count=5)  # nobody knows since when
    assert engine.result().drift is not None
    assert (engine.result().status, engine.result().culprit) == (Status.UNDECIDED, None)


def test_without_drift_the_ends_are_left_alone() -> None:
    """The last look is taken only after five equal answers, at most once."""
    looks = 0
    for seed in range(40):
        point = random_point((1,) * 10, 1 + seed % 2, random.Random(seed))
        run = search(Truth((1,) * 10, (point,)), Search((1,) * 10), ends=10)
        assert run.result.culprit == point
        assert run.result.drift is None
        looks += run.asked.count((0,) * 10)
    assert looks <= 5


@pytest.mark.slow
@pytest.mark.parametrize(("fails", "ends", "wrong"), [(True, 2, 20), (True, 10, 28), (False, 5, 14), (False, 10, 14)])
def test_drift_is_mostly_noticed(fails: bool, ends: int, wrong: int) -> None:
    """After one to six answers everything fails, or passes. A change that the last few answers hide is not seen."""
    named = found = 0
    for seed in range(60):
        generator = random.Random(seed)
        sizes = generator.choice([(1,) * 6, (1,) * 10, (7, 1, 1, 1), (16,), (4, 4, 1, 1)])
        point = random_point(sizes, generator.randint(1, min(2, len(sizes))), generator)
        change, asked = generator.randint(1, 6), 0
        engine = Search(sizes)
        engine.tell((0,) * len(sizes), Outcome.GOOD, count=ends)
        engine.tell(sizes, Outcome.BAD, count=ends)
        while asked < 60 and (batch := engine.ask(1)):
            asked += 1
            bad = fails if asked > change else under(point, batch[0])
            engine.tell(batch[0], Outcome.BAD if bad else Outcome.GOOD)
        result = engine.result()
        named += result.culprit not in (None, point)
        found += result.drift is not None
        assert result.drift is None or result.status in (Status.UNDECIDED, Status.CULPRIT)
    assert named <= wrong
    assert found >= 8

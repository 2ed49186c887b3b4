"""What cannot be tested: unbuildable steps, unresolved answers, points that do not exist."""

from __future__ import annotations

import random
from itertools import product

import pytest

from envbisect.search import Cause, Configuration, Outcome, Role, Search, Status
from tests.search.simulated import Truth, random_point, search, slabs, smallest_set, under


@pytest.mark.parametrize("sizes", [(9,), (4, 1), (3, 3), (3, 2, 1), (4, 3, 1, 1)], ids=str)
def test_unbuildable_steps_leave_the_smallest_set_of_suspects(sizes: Configuration) -> None:
    seen: set[Status] = set()
    for seed in range(12):
        generator = random.Random(seed)
        holes = slabs(sizes, generator, 0.4)
        point = random_point(sizes, generator.randint(1, min(2, len(sizes))), generator)
        expected = smallest_set(sizes, point, holes)
        run = search(Truth(sizes, (point,), unbuildable=holes), Search(sizes))
        seen.add(run.result.status)
        assert len(run.asked) <= 40
        if len(expected) == 1:
            assert (run.result.status, run.result.culprit) == (Status.CULPRIT, point)
        else:
            assert run.result.status is Status.SUSPECTS
            assert set(run.result.suspects) == expected
    assert seen == {Status.CULPRIT, Status.SUSPECTS}


def test_random_holes_leave_no_more_than_what_fits() -> None:
    sizes = (2, 2, 1)
    every = [x for x in product(*(range(size + 1) for size in sizes)) if any(x) and x != sizes]
    for seed in range(40):
        generator = random.Random(seed)
        holes = frozenset(x for x in every if generator.random() < 0.25)
        point = random_point(sizes, generator.randint(1, 2), generator)
        run = search(Truth(sizes, (point,), unbuildable=holes), Search(sizes))
        expected = smallest_set(sizes, point, holes)
        found = {run.result.culprit} if run.result.culprit else set(run.result.suspects)
        assert found == expected
        assert len(run.asked) <= 24


def test_holes_in_a_large_space_are_learned_by_step() -> None:
    sizes = (7,) * 6 + (1,) * 14
    counts = []
    for seed in range(5):
        generator = random.Random(seed)
        point = random_point(sizes, 1, generator)
        dead = {(i, s) for i, m in enumerate(sizes) for s in range(1, m) if generator.random() < 0.2}

        def answer(x: Configuration, point: Configuration = point, dead: set[tuple[int, int]] = dead) -> Outcome:
            if any((i, s) in dead for i, s in enumerate(x)):
                return Outcome.UNRESOLVED
            return Outcome.BAD if under(point, x) else Outcome.GOOD

        engine = Search(sizes)
        for _ in range(2):
            engine.tell((0,) * 20, Outcome.GOOD)
            engine.tell(sizes, Outcome.BAD)
        asked = 0
        while asked < 200 and (batch := engine.ask(1)):
            asked += 1
            outcome = answer(batch[0])
            engine.tell(batch[0], outcome, Cause.UNBUILDABLE if outcome is Outcome.UNRESOLVED else None)
        counts.append(asked)
        result = engine.result()
        axis = next(i for i, step in enumerate(point) if step)
        low, high = point[axis] - 1, point[axis]
        while (axis, low) in dead:
            low -= 1
        while (axis, high) in dead:
            high += 1
        expected = {tuple(s if i == axis else 0 for i in range(20)) for s in range(low + 1, high + 1)}
        found = {result.culprit} if result.culprit else set(result.suspects)
        assert found == expected
    assert sum(counts) / len(counts) <= 25


def test_an_undecided_configuration_is_asked_again_and_then_left() -> None:
    engine = Search([4])
    for _ in range(2):
        engine.tell((0,), Outcome.GOOD)
        engine.tell((4,), Outcome.BAD)
    asked: list[Configuration] = []
    while batch := engine.ask(1):
        asked.append(batch[0])
        match batch[0]:
            case (2,):
                engine.tell((2,), Outcome.UNRESOLVED)
            case (1,):
                engine.tell((1,), Outcome.GOOD)
            case _:
                engine.tell(batch[0], Outcome.BAD)
    result = engine.result()
    assert result.status is Status.SUSPECTS
    assert result.suspects == ((2,), (3,))
    assert 4 <= asked.count((2,)) <= 6  # three, and again when nothing else is left


def test_another_failure_may_pass_later() -> None:
    engine = Search([1, 1])
    for _ in range(2):
        engine.tell((0, 0), Outcome.GOOD)
        engine.tell((1, 1), Outcome.BAD)
    engine.tell((1, 0), Outcome.UNRESOLVED, Cause.OTHER_FAILURE)
    while batch := engine.ask(1):
        engine.tell(batch[0], Outcome.BAD if batch[0][0] else Outcome.GOOD)
    assert engine.result().culprit == (1, 0)


def test_infeasible_steps_are_skipped_not_suspected() -> None:
    engine = Search([6], infeasible=[(3,), (4,)])
    for _ in range(2):
        engine.tell((0,), Outcome.GOOD)
        engine.tell((6,), Outcome.BAD)
    while batch := engine.ask(1):
        assert batch[0] not in {(3,), (4,)}
        engine.tell(batch[0], Outcome.BAD if batch[0][0] >= 3 else Outcome.GOOD)
    result = engine.result()
    assert (result.status, result.culprit) == (Status.CULPRIT, (5,))
    assert [line.configuration for line in result.certificate if line.role is Role.NEIGHBOUR] == [(2,)]


@pytest.mark.parametrize("listed", [True, False])
def test_infeasible_corner_is_no_hypothesis(listed: bool) -> None:
    gone = {(1, 0, 0), (1, 0, 1)}  # the first flag needs the second
    engine = Search([1, 1, 1], infeasible=gone if listed else gone.__contains__)
    for _ in range(2):
        engine.tell((0, 0, 0), Outcome.GOOD)
        engine.tell((1, 1, 1), Outcome.BAD)
    while batch := engine.ask(1):
        assert batch[0] not in gone
        engine.tell(batch[0], Outcome.BAD if batch[0][0] else Outcome.GOOD)
    assert engine.result().culprit == (1, 1, 0)


def test_snapped_points_are_told_where_they_landed() -> None:
    """Every configuration with an odd first step is realised one step lower."""
    engine = Search([8, 1, 1])
    for _ in range(2):
        engine.tell((0, 0, 0), Outcome.GOOD)
        engine.tell((8, 1, 1), Outcome.BAD)
    asked: list[Configuration] = []
    while batch := engine.ask(1):
        asked.append(batch[0])
        point = (batch[0][0] - batch[0][0] % 2, *batch[0][1:])
        engine.tell(point, Outcome.BAD if point[0] >= 4 else Outcome.GOOD)
        if point != batch[0]:
            engine.mark_infeasible(batch[0])
    result = engine.result()
    assert (result.status, result.culprit) == (Status.CULPRIT, (4, 0, 0))
    assert len(asked) <= 14
    snapped = [point for point in asked if point[0] % 2]
    assert len(set(snapped)) == len(snapped)

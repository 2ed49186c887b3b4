"""Every monotone failure of small lattices, by brute force: minimal, certified, complete only if true, few probes."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envbisect.search import Cause, Configuration, Costs, Outcome, Result, Search, Status
from tests.search.simulated import Truth, monotone_functions, points_of, search, under
from tests.search.test_oracle import check

NONE: frozenset[Configuration] = frozenset()
LATTICES: tuple[Configuration, ...] = ((1,), (1, 1), (1, 1, 1), (1, 1, 1, 1), (2, 2, 1), (3, 1), (4, 1), (5, 1))


def bound(sizes: Configuration, ends: int) -> int:
    """Probes that no deterministic search may exceed: a few more than the configurations, where these are very few.

    With only two runs of each end what was answered once is run again now and then.
    """
    return min(len(points_of(sizes)) + 4, 16) + (2 if ends < 10 else 0)


def run_one(sizes: Configuration, points: tuple[Configuration, ...], ends: int) -> None:
    run = search(Truth(sizes, points), Search(sizes), ends=ends, limit=100)
    check(Truth(sizes, points), NONE, run.result)
    assert run.result.status is Status.CULPRIT
    assert run.result.contradictions == ()
    assert run.result.drift is None
    assert len(run.asked) <= bound(sizes, ends)


@pytest.mark.parametrize("ends", [2, 10])
@pytest.mark.parametrize("sizes", LATTICES, ids=str)
def test_a_sample_of_monotone_failures(sizes: Configuration, ends: int) -> None:
    functions = monotone_functions(sizes)
    for points in random.Random(ends).sample(functions, min(25, len(functions))):
        run_one(sizes, points, ends)


@pytest.mark.slow
@pytest.mark.parametrize("ends", [2, 10])
def test_every_monotone_failure(ends: int) -> None:
    for sizes in LATTICES:
        for points in monotone_functions(sizes):
            run_one(sizes, points, ends)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_other_symptoms_ran_never_makes_a_proof_wrong(data: st.DataObject) -> None:
    """Told before, in between and after: the answer stays a true minimal point, and complete stays true."""
    sizes = data.draw(st.sampled_from(LATTICES))
    truth = Truth(sizes, data.draw(st.sampled_from(monotone_functions(sizes))))
    told = st.lists(st.sampled_from(points_of(sizes)), max_size=6)
    engine = Search(sizes, deterministic=data.draw(st.sampled_from([0.2, 0.6])))
    for point in data.draw(told):
        engine.tell(point, *truth.answer(point))
    run = search(truth, engine, ends=data.draw(st.sampled_from([0, 2, 10])), limit=100)
    check(truth, NONE, run.result)
    for _ in range(3):
        for point in data.draw(told):
            engine.tell(point, *truth.answer(point))
        asked = 0
        while (batch := engine.ask(1)) and asked < 40:
            asked += 1
            engine.tell(batch[0], *truth.answer(batch[0]))
        check(truth, NONE, engine.result())
        assert asked <= 20


class Recorded:
    """A search whose every call is written down, so that a fresh engine can be taken through the same calls."""

    def __init__(self, make: st.DataObject, sizes: Configuration, seed: int) -> None:
        draw = make.draw
        self.sizes, self.generator = sizes, random.Random(seed)
        axes = tuple(range(len(sizes)))
        self.costs = draw(
            st.sampled_from([None, (10.0, 1.0), Costs(1.0, [(axes[:1], 20.0), (axes, 3.0)]), Costs(2.0)]), label="costs"
        )
        weights = st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=len(sizes), max_size=len(sizes))
        self.weights = draw(st.none() | weights, label="weights")
        self.deterministic = draw(st.sampled_from([0.2, 0.6]), label="deterministic")
        self.calls: list[tuple[str, tuple[object, ...], object]] = []

    def engine(self) -> Search:
        return Search(
            self.sizes, costs=self.costs, weights=self.weights, deterministic=self.deterministic, seed=len(self.sizes)
        )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_a_fresh_engine_taken_through_the_same_calls_asks_the_same(data: st.DataObject, seed: int) -> None:
    sizes = data.draw(st.sampled_from([(1,) * 6, (5, 2, 1), (16,), (3, 3, 1, 1)]), label="sizes")
    record = Recorded(data, sizes, seed)
    generator = record.generator
    point = tuple(generator.randint(0, size) for size in sizes)
    truth = Truth(sizes, (point if any(point) else sizes,), *data.draw(st.sampled_from([(1.0, 0.0), (0.7, 0.1)])))
    truth.generator = generator
    k = data.draw(st.integers(1, 4), label="k")
    looks = data.draw(st.booleans(), label="looks")
    first, running = record.engine(), list[Configuration]()

    def tell(x: Configuration, outcome: Outcome, cause: Cause | None, count: int) -> None:
        first.tell(x, outcome, cause, count)
        record.calls.append(("tell", (x, outcome, cause, count), None))

    for end in ((0,) * len(sizes), sizes):
        tell(end, *truth.answer(end), 2)
    for _ in range(25):
        asked = first.ask(k, running=tuple(running))
        record.calls.append(("ask", (k, tuple(running)), asked))
        running += asked
        if not running:
            break
        for _ in range(generator.randint(1, len(running))):
            x = running.pop(generator.randrange(len(running)))
            chance = generator.random()
            if chance < 0.1 and x not in ((0,) * len(sizes), sizes):
                tell(x, Outcome.UNRESOLVED, generator.choice([*Cause, None]), 1)
            elif chance < 0.15 and x not in ((0,) * len(sizes), sizes):
                first.mark_infeasible(x)
                record.calls.append(("mark", (x,), None))
            else:
                tell(x, *truth.answer(x), 1 + (chance > 0.95))
        if looks:  # looking at the answer changes nothing
            first.result()
    again, result = _replay(record)
    assert result == first.result()
    assert again.ask(1) == first.ask(1)


def _replay(record: Recorded) -> tuple[Search, Result]:
    engine = record.engine()
    for name, arguments, answer in record.calls:
        match name, arguments:
            case "ask", (int(k), tuple(running)):
                assert engine.ask(k, running=running) == answer
            case "mark", (tuple(point),):
                engine.mark_infeasible(point)
            case "tell", (tuple(point), Outcome() as outcome, cause, int(count)):
                engine.tell(point, outcome, cause if isinstance(cause, Cause) else None, count)
            case _:
                raise AssertionError(name)
    return engine, engine.result()


def test_complete_is_never_claimed_beside_another_culprit() -> None:
    for points in monotone_functions((1, 1, 1)):
        engine = Search((1, 1, 1))
        truth = Truth((1, 1, 1), points)
        for x in points_of((1, 1, 1)):
            engine.tell(x, *truth.answer(x))
        result = search(truth, engine).result
        assert result.complete is (points == (result.culprit,))
        assert all(under(result.culprit or (), x) for x in points_of((1, 1, 1)) if truth.fails(x)) is result.complete

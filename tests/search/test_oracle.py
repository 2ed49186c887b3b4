"""Small lattices with holes: a culprit that is proven, or exactly the smallest set of suspects, by brute force."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import product

import pytest

from envbisect.search import Cause, Configuration, Outcome, Result, Role, Search, Status
from envbisect.search.evidence import Evidence
from envbisect.search.lattice import Lattice
from envbisect.search.rates import Rates
from envbisect.search.suspects import finish, what_is_left
from tests.search.simulated import (
    Truth,
    hole_pattern,
    monotone_functions,
    points_of,
    search,
    smallest_sets,
    under,
)

LATTICES: tuple[Configuration, ...] = ((1, 1), (1, 1, 1), (1, 1, 1, 1), (2, 2, 1), (3, 2), (2, 1, 1), (4, 2))
KINDS = ("points", "steps", "pairs")


def check(truth: Truth, holes: frozenset[Configuration], result: Result) -> None:
    """A true minimal point with a certificate of real observations, or one of the smallest sets."""
    if result.status is Status.SUSPECTS:
        suspects = set(result.suspects)
        assert suspects in smallest_sets(truth.sizes, truth.points, holes)
        assert len(suspects) > 1 or suspects <= holes
        return
    assert result.status is Status.CULPRIT
    assert result.culprit in truth.points
    lines = {line.configuration: line for line in result.certificate}
    own = lines.pop(result.culprit)
    assert (own.role, bool(own.bad)) == (Role.CULPRIT, True)
    lowered = {
        (*result.culprit[:axis], step - 1, *result.culprit[axis + 1 :])
        for axis, step in enumerate(result.culprit)
        if step
    }
    assert set(lines) == lowered
    for point, line in lines.items():
        seen = point if line.good else line.witness
        assert seen is not None
        assert under(point, seen)
        assert seen not in holes
        assert not truth.fails(seen)
    assert not result.complete or truth.points == (result.culprit,)


def run_one(sizes: Configuration, points: tuple[Configuration, ...], kind: str, cause: Cause, seed: int) -> None:
    holes = hole_pattern(sizes, kind, random.Random(seed))
    unbuildable = cause is Cause.UNBUILDABLE
    none: frozenset[Configuration] = frozenset()
    truth = Truth(
        sizes, points, unbuildable=holes if unbuildable else none, silent=none if unbuildable else holes, cause=cause
    )
    run = search(truth, Search(sizes), limit=200)
    check(truth, holes, run.result)
    # What cannot be built is asked once; another failure may pass, so some of it is asked again. A few answers are
    # repeated for the confidence, and one after a long streak.
    assert len(run.asked) <= len(points_of(sizes)) + (3 if unbuildable else 9)


def cases(per_lattice: int) -> Iterable[tuple[Configuration, tuple[Configuration, ...], str, Cause, int]]:
    """A seeded sample of functions, hole patterns and causes."""
    for sizes in LATTICES:
        generator = random.Random(len(sizes))
        functions = monotone_functions(sizes)
        for number in range(per_lattice):
            cause = generator.choice([Cause.UNBUILDABLE, Cause.OTHER_FAILURE, Cause.UNDECIDED])
            yield sizes, generator.choice(functions), KINDS[number % 3], cause, generator.randrange(10**6)


def test_the_functions_are_counted_right() -> None:
    """Dedekind numbers 6, 20 and 168 without the two constants, and lattice paths for two ladders."""
    assert [len(monotone_functions((1,) * axes)) for axes in (2, 3, 4)] == [4, 18, 166]
    assert len(monotone_functions((3, 2))) == 33


@pytest.mark.parametrize("sizes", LATTICES, ids=str)
def test_a_sample_of_hole_patterns_is_exact(sizes: Configuration) -> None:
    for case in cases(15):
        if case[0] == sizes:
            run_one(*case)


@pytest.mark.slow
@pytest.mark.parametrize("cause", [Cause.UNBUILDABLE, Cause.OTHER_FAILURE])
def test_every_monotone_function_with_holes_is_exact(cause: Cause) -> None:
    for sizes in LATTICES:
        for seed, points in enumerate(monotone_functions(sizes)):
            run_one(sizes, points, KINDS[seed % 3], cause, seed)


def test_a_smallest_set_always_holds_a_minimal_point_where_several_are_needed() -> None:
    """The definition itself: whatever fails behind the holes."""
    sizes, several = (1, 1, 1), 0
    for points, number in product(monotone_functions(sizes), range(20)):
        holes = hole_pattern(sizes, "points", random.Random(number))
        sets = smallest_sets(sizes, points, holes)
        if len(sets) > 1:
            several += 1
            assert all(members & set(points) for members in sets)
    assert several > 50


def _told(sizes: Configuration, bad: Iterable[Configuration], good: Iterable[Configuration]) -> Evidence:
    evidence = Evidence(Lattice(sizes))
    for point in bad:
        evidence.tell(point, Outcome.BAD, None)
    for point in good:
        evidence.tell(point, Outcome.GOOD, None)
    return evidence


def test_what_is_left_lies_below_the_lowest_failure_and_not_below_a_pass() -> None:
    left = what_is_left(_told((3, 1), [(3, 1), (2, 1)], [(0, 0), (0, 1), (3, 0)]))
    assert left is not None
    assert left.members == ((1, 1), (2, 1))
    assert left.ceiling == (2, 1)
    assert left.asks == ((1, 1),)
    assert left.walls == {(0, 1): ((0, 1),), (2, 0): ((3, 0),)}
    assert not left.culprit


def test_disagreeing_answers_are_left_to_the_posterior() -> None:
    assert what_is_left(_told((3,), [(3,), (1,)], [(0,), (1,)])) is None  # one configuration both ways
    assert what_is_left(_told((3,), [(3,), (1,)], [(0,), (2,)])) is None  # not monotone


def test_one_point_is_blamed_for_two_failures_only_if_what_it_predicts_was_tried() -> None:
    """Both pairs with the last flag fail, and it does not build alone: is it that flag, or are there two culprits?"""
    evidence = _told((1, 1, 1), [(1, 1, 1), (0, 1, 1), (1, 0, 1)], [(0, 0, 0)])
    evidence.tell((0, 0, 1), Outcome.UNRESOLVED, Cause.UNBUILDABLE)
    left = what_is_left(evidence)
    assert left is not None
    assert left.members == ((0, 0, 1),)
    assert left.asks == ((1, 1, 0),)
    evidence.tell((1, 1, 0), Outcome.BAD, None)
    left = what_is_left(evidence)
    assert left is not None
    assert left.members == ((0, 0, 1), (0, 1, 0), (0, 1, 1))
    assert left.asks == ((0, 1, 0),)


def test_a_single_run_is_repeated_where_the_confidence_asks_for_it() -> None:
    evidence = _told((2, 1), [(2, 1), (1, 0)], [(0, 0), (0, 1)])
    rates = Rates(None)
    found = finish(evidence, rates, 0.5)
    assert found is not None
    assert (found.asks, found.left.culprit) == ((), True)
    surer = finish(evidence, rates, 0.99)
    assert surer is not None
    assert surer.asks in {((1, 0),), ((0, 1),)}

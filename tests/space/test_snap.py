"""Snapping against brute force: the first point is feasible, and no feasible point is cheaper."""

from __future__ import annotations

import random
from itertools import islice, product

from hypothesis import given, settings
from hypothesis import strategies as st

from envbisect.space.model import Configuration
from envbisect.space.snap import HELD_WEIGHT, Feasibility, Matrix, distance, nearest


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Feasibility, Configuration, frozenset[int], frozenset[int]]:
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=2, max_size=4)))
    places = range(len(sizes))
    pairs: dict[tuple[int, int], Matrix] = {}
    for pair in [(i, j) for i in places for j in places if i < j]:
        if draw(st.booleans()):
            row = st.tuples(*[st.booleans()] * (sizes[pair[1]] + 1))
            pairs[pair] = draw(st.tuples(*[row] * (sizes[pair[0]] + 1)))
    alone: dict[int, tuple[bool, ...]] = {}
    if draw(st.booleans()):
        axis = draw(st.sampled_from(places))
        alone[axis] = draw(st.tuples(*[st.booleans()] * (sizes[axis] + 1)))
    asked = draw(st.tuples(*[st.integers(0, size) for size in sizes]))
    held = draw(st.frozensets(st.sampled_from(places), max_size=1))
    movable = draw(st.sampled_from([frozenset(places), frozenset(places) - {0}]))
    return Feasibility(sizes, alone, pairs), asked, held, movable


def brute_force(
    world: Feasibility, asked: Configuration, held: frozenset[int], movable: frozenset[int]
) -> tuple[int, ...]:
    weights = [HELD_WEIGHT if axis in held else 1 for axis in range(len(asked))]
    return tuple(
        sorted(
            distance(asked, point, weights)
            for point in product(*(range(size + 1) for size in world.sizes))
            if not world.violation(point)
            and all(axis in movable or point[axis] == asked[axis] for axis in range(len(asked)))
        )
    )


@given(worlds())
@settings(max_examples=300, deadline=None)
def test_first_point_is_feasible_and_of_minimal_cost(
    world: tuple[Feasibility, Configuration, frozenset[int], frozenset[int]],
) -> None:
    feasibility, asked, held, movable = world
    costs = brute_force(feasibility, asked, held, movable)
    found = next(nearest(asked, feasibility, held=held, movable=movable), None)
    if found is None:
        assert not costs
        return
    weights = [HELD_WEIGHT if axis in held else 1 for axis in range(len(asked))]
    assert not feasibility.violation(found)
    assert distance(asked, found, weights) == costs[0]


@given(worlds())
@settings(max_examples=100, deadline=None)
def test_rejected_points_give_way_to_others(
    world: tuple[Feasibility, Configuration, frozenset[int], frozenset[int]],
) -> None:
    feasibility, asked, held, movable = world
    rejected: dict[Configuration, frozenset[int]] = {}
    seen = []
    for point in islice(nearest(asked, feasibility, held=held, movable=movable, rejected=rejected), 6):
        seen.append(point)
        rejected[point] = movable
    assert len(set(seen)) == len(seen)
    assert not any(feasibility.violation(point) for point in seen)
    frozen = [axis for axis in range(len(asked)) if axis not in movable]
    assert all(point[axis] == asked[axis] for point in seen for axis in frozen)


def test_a_feasible_point_is_its_own_nearest() -> None:
    assert next(nearest((2, 1), Feasibility((3, 3)), movable=frozenset({0, 1}))) == (2, 1)


def test_the_companion_moves_and_not_what_the_search_moved() -> None:
    tied = tuple(tuple(i == j for j in range(4)) for i in range(4))
    world = Feasibility((3, 3), {}, {(0, 1): tied})
    movable = frozenset({0, 1})
    assert next(nearest((3, 0), world, held=frozenset({0}), movable=movable)) == (3, 3)
    assert next(nearest((3, 0), world, held=frozenset({1}), movable=movable)) == (0, 0)


def test_both_move_where_neither_can_clear_the_pair_alone() -> None:
    corners = tuple(tuple((i, j) in {(0, 0), (3, 3)} for j in range(4)) for i in range(4))
    world = Feasibility((3, 3), {}, {(0, 1): corners})
    assert next(nearest((2, 2), world, movable=frozenset({0, 1}))) == (3, 3)


def test_nothing_near_is_an_empty_search() -> None:
    world = Feasibility((1, 1), {0: (False, False)})
    assert list(nearest((0, 0), world, movable=frozenset({0, 1}))) == []


def test_the_search_gives_up_after_its_bound() -> None:
    never = ((False,) * 5,) * 5
    world = Feasibility((4, 4, 4), {}, {(0, 1): ((True,) * 5,) * 5, (1, 2): never})
    assert list(nearest((0, 0, 0), world, movable=frozenset({0, 1, 2}), max_expanded=3)) == []


def test_where_the_nearest_is_too_far_any_near_point_will_do() -> None:
    """Sixteen axes of which every pair of neighbours conflicts almost everywhere but at the ends."""
    count, top = 16, 12
    dice = random.Random(3)
    steps = range(top + 1)
    pairs = {
        (i, i + 1): tuple(tuple(a == b == 0 or a == b == top or dice.random() < 0.15 for b in steps) for a in steps)
        for i in range(count - 1)
    }
    world = Feasibility((top,) * count, {}, pairs)
    asked = tuple(dice.randint(0, top) for _ in range(count))
    exact = next(nearest(asked, world, movable=frozenset(range(count)), max_expanded=20_000))
    rough = next(nearest(asked, world, movable=frozenset(range(count)), max_expanded=100))
    assert not world.violation(rough)
    assert distance(asked, rough, [1] * count) >= distance(asked, exact, [1] * count)

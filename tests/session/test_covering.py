"""Every culprit is found with ``--all``, and ``complete`` is said only where no other one can be left."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envbisect.search import Status
from envbisect.session.campaign import Answer
from envbisect.session.covering import must_pass
from envbisect.session.finding import Finding
from envbisect.space.model import Configuration
from tests.session.worlds import World, monotone, steady


def point_of(sizes: Configuration, finding: Finding) -> Configuration:
    steps = [0] * len(sizes)
    for change in finding.changes:
        steps[int(change.key.removeprefix("env.A"))] = int(str(change.first_bad))
    return tuple(steps)


def culprits(sizes: Configuration, answer: Answer) -> set[Configuration]:
    return {point_of(sizes, f) for f in answer.reports[0].findings if f.status is Status.CULPRIT}


def flags(*sets: str) -> tuple[Configuration, ...]:
    return tuple(tuple(int(letter in members) for letter in "ABCDEFGH") for members in sets)


@pytest.mark.parametrize(
    "sets", [("A",), ("AB",), ("A", "B"), ("AB", "AC"), ("AB", "CD"), ("A", "B", "C"), ("A", "BC"), ("AB", "BC", "AC")]
)
def test_all_finds_every_culprit_and_says_that_none_is_left(sets: tuple[str, ...]) -> None:
    truth = flags(*sets)
    world = World((1,) * 8, steady(monotone(*truth)))
    _, answer = world.solve(find_all=True)
    assert culprits(world.sizes, answer) == set(truth)
    assert all(finding.complete for finding in answer.reports[0].findings)
    one = World((1,) * 8, steady(monotone(*truth)))
    _, first = one.solve()
    assert first.reports[0].findings[0].complete is (len(sets) == 1)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_complete_is_never_said_while_a_culprit_is_left(data: st.DataObject) -> None:
    sizes = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)))
    points = st.tuples(*(st.integers(0, size) for size in sizes)).filter(any)
    drawn = data.draw(st.lists(points, min_size=1, max_size=3, unique=True))
    fails = monotone(*drawn)
    minimal = {x for x in drawn if not any(y != x and monotone(y)(x) for y in drawn)}
    find_all = data.draw(st.booleans())
    world = World(sizes, steady(fails))
    _, answer = world.solve(find_all=find_all)
    found = culprits(sizes, answer)
    assert found <= minimal
    if answer.reports[0].findings[0].complete:
        assert found == minimal
    if find_all:
        assert found == minimal
        assert answer.reports[0].findings[0].complete


def test_what_must_pass_lowers_one_change_of_each_culprit() -> None:
    assert must_pass((1, 1, 1), [{0: 0}]) == [(0, 1, 1)]
    assert must_pass((1, 1, 1), [{0: 0, 1: 0}]) == [(0, 1, 1), (1, 0, 1)]
    assert must_pass((1, 1, 1), [{0: 0, 1: 0}, {0: 0, 2: 0}]) == [(0, 1, 1), (1, 0, 0)]
    assert must_pass((5, 1), [{0: 3}, {0: 1, 1: 0}]) == [(3, 0), (1, 1)]
    assert must_pass((1, 1), [{}]) is None

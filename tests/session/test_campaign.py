"""The campaign finds true minimal points, proves them, and says so when it cannot."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envbisect.search import Status
from envbisect.session.ask import Purpose
from envbisect.session.campaign import Answer
from envbisect.session.codec import ask_data, ask_of, reply_data, reply_of
from envbisect.session.finding import Cure, Role
from envbisect.space.model import Configuration
from tests.session.worlds import (
    OTHER,
    UNBUILDABLE,
    World,
    cannot_tell,
    failed,
    flaky,
    monotone,
    passed,
    steady,
)

FLAGS = (1,) * 14


def steps_of(world: World, answer: Answer) -> Configuration:
    """The culprit of the first symptom as a configuration."""
    assert answer.status is Status.CULPRIT, answer
    steps = [0] * len(world.sizes)
    for change in answer.reports[0].findings[0].changes:
        axis = next(n for n, axis in enumerate(world.axes) if axis.key == change.key)
        steps[axis] = [step.value for step in world.axes[axis].steps].index(change.first_bad)
        assert change.last_good == world.axes[axis].steps[steps[axis] - 1].value
    return tuple(steps)


def probes_to_decision(world: World) -> int:
    return sum(ask.purpose is Purpose.SEARCH for ask in world.asks)


def test_every_single_flag_of_fourteen_is_found_in_seven_probes_on_average() -> None:
    spent = []
    for flag in range(14):
        culprit = tuple(int(n == flag) for n in range(14))
        world = World(FLAGS, steady(monotone(culprit)))
        _, answer = world.solve()
        assert steps_of(world, answer) == culprit
        spent.append(probes_to_decision(world))
    assert sum(spent) / len(spent) <= 7


def test_every_pair_of_fourteen_flags_is_found_in_eleven_probes_on_average() -> None:
    spent = []
    for pair in itertools.combinations(range(14), 2):
        culprit = tuple(int(n in pair) for n in range(14))
        world = World(FLAGS, steady(monotone(culprit)))
        _, answer = world.solve()
        assert steps_of(world, answer) == culprit
        spent.append(probes_to_decision(world))
    assert sum(spent) / len(spent) <= 11


@pytest.mark.parametrize("step", [1, 2, 511, 512, 513, 1000, 1024])
def test_a_step_of_a_long_ladder_is_found_like_by_bisection(step: int) -> None:
    world = World((1024,), steady(monotone((step,))))
    _, answer = world.solve()
    assert steps_of(world, answer) == (step,)
    assert probes_to_decision(world) <= 14


def test_two_independent_culprits_give_one_that_is_minimal_and_all_gives_both() -> None:
    one, other = (1, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0)
    world = World((1,) * 6, steady(monotone(one, other)))
    _, answer = world.solve()
    assert steps_of(world, answer) in (one, other)
    finding = answer.reports[0].findings[0]
    assert finding.reversal["all"] is Cure.DOES_NOT_CURE
    assert not finding.complete
    world = World((1,) * 6, steady(monotone(one, other)))
    _, answer = world.solve(find_all=True)
    found = {tuple(c.key for c in finding.changes) for finding in answer.reports[0].findings}
    assert found == {("env.A0",), ("env.A3",)}


def test_the_certificate_holds_failures_of_the_culprit_and_passes_of_every_lower_neighbour() -> None:
    world = World((4, 1, 1, 3), steady(monotone((2, 0, 1, 0))))
    _, answer = world.solve()
    finding = answer.reports[0].findings[0]
    rows = {role: [row for row in finding.certificate if row.role is role] for role in Role}
    assert [row.configuration["env.A0"] for row in rows[Role.CULPRIT]] == ["2"]
    assert all(row.counts.bad and not row.counts.good for row in rows[Role.CULPRIT])
    assert {(row.configuration["env.A0"], row.configuration["env.A2"]) for row in rows[Role.NEIGHBOUR]} == {
        ("1", "1"),
        ("2", "0"),
    }
    assert all(row.counts.good and not row.counts.bad for row in rows[Role.NEIGHBOUR])
    assert finding.reversal == {"all": Cure.CURES, "env.A0": Cure.CURES, "env.A2": Cure.CURES}


def test_a_step_that_fails_otherwise_is_never_the_culprit() -> None:
    def truth(point: Configuration) -> object:
        if point[0] in (3, 4):
            return failed(OTHER)
        return failed() if point[0] >= 6 else passed()

    world = World((8, 1, 1), truth)  # type: ignore[arg-type]
    _, answer = world.solve()
    assert steps_of(world, answer) == (6, 0, 0)


def test_a_boundary_behind_unbuildable_steps_gives_the_interval_as_suspects() -> None:
    def truth(point: Configuration) -> object:
        if point[0] in (1, 2):
            return UNBUILDABLE
        return failed() if point[0] >= 3 else passed()

    world = World((4, 1), truth)  # type: ignore[arg-type]
    _, answer = world.solve()
    assert answer.status is Status.SUSPECTS
    (group,) = answer.reports[0].findings[0].suspects
    (change,) = group
    assert (change.key, change.last_good, change.first_bad, change.between) == ("env.A0", "0", "3", ("1", "2"))


def test_a_flaky_culprit_is_found_and_its_reversal_is_repeated() -> None:
    right = 0
    for seed in range(12):
        world = World((16, 1, 1), flaky(monotone((9, 0, 0)), 0.5, 0.0, seed))
        _, answer = world.solve()
        right += answer.status is Status.CULPRIT and steps_of(world, answer) == (9, 0, 0)
    assert right >= 10


def test_equal_manifests_need_no_probe() -> None:
    world = World((), steady(monotone(())))
    _, answer = world.solve()
    assert answer.status is Status.NOT_REPRODUCED
    assert not world.asks


def test_ends_that_behave_alike_are_not_reproduced_after_ten_runs_each() -> None:
    world = World((1, 1), lambda point: passed())
    _, answer = world.solve()
    assert answer.status is Status.NOT_REPRODUCED
    assert len(world.asks) == 20


def test_a_good_end_that_always_fails_stops_at_once() -> None:
    world = World((1, 1), lambda point: failed())
    _, answer = world.solve()
    assert answer.status is Status.GOOD_FAILS
    assert len(world.asks) <= 4
    assert "failed" in answer.reason


def test_a_test_that_cannot_tell_is_undecided() -> None:
    world = World((1, 1), lambda point: passed() if point == (0, 0) else cannot_tell())
    _, answer = world.solve()
    assert answer.status is Status.UNDECIDED
    assert "bad end" in answer.reason


def test_a_budget_ends_with_the_best_so_far() -> None:
    world = World((1024,), steady(monotone((700,))))
    _, answer = world.solve(max_probes=8)
    assert answer.status is Status.BUDGET
    assert len(world.asks) == 8


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_small_monotone_world_gives_a_true_minimal_point(data: st.DataObject) -> None:
    sizes = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)))
    points = st.tuples(*(st.integers(0, size) for size in sizes)).filter(any)
    minimal = data.draw(st.lists(points, min_size=1, max_size=3))
    fails = monotone(*minimal)
    world = World(sizes, steady(fails))
    _, answer = world.solve()
    culprit = steps_of(world, answer)
    assert fails(culprit)
    for axis, step in enumerate(culprit):
        if step:
            assert not fails(tuple(s - (n == axis) for n, s in enumerate(culprit)))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_a_journal_replays_into_the_same_asks_and_the_same_answer(seed: int) -> None:
    world = World((5, 1, 1, 2), flaky(monotone((3, 0, 1, 0)), 0.8, 0.0, seed))
    campaign, answer = world.solve()
    again = World(world.sizes, world.truth)
    generator = type(campaign)(again.plan()).run()
    ask = next(generator)
    replayed = None
    for entry in campaign.history.entries:
        assert replayed is None
        assert ask_of(ask_data(ask)) == ask_of(ask_data(entry.ask))
        try:
            ask = generator.send(reply_of(reply_data(entry.reply)))
        except StopIteration as stop:
            replayed = stop.value
    assert replayed == answer


def test_a_snapped_configuration_is_told_where_it_was_realised() -> None:
    """Axis 1 must follow axis 0, as httpcore must follow httpx: the culprit is axis 0 alone."""

    def snap(point: Configuration) -> Configuration:
        return (point[0], 1, point[2]) if point[0] >= 2 else (point[0], 0, point[2])

    def truth(point: Configuration) -> object:
        return failed() if point[0] >= 4 else passed()

    world = World((5, 1, 1), truth, snap)  # type: ignore[arg-type]
    _, answer = world.solve()
    assert answer.status is Status.CULPRIT
    (change,) = answer.reports[0].findings[0].changes
    assert (change.key, change.last_good, change.first_bad) == ("env.A0", "3", "4")

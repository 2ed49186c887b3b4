"""A machine that changes while it is measured is named, and no change of the stack is blamed for it."""

from __future__ import annotations

import random

import pytest

from envbisect.burnin.symptoms import Observation
from envbisect.search import Status
from envbisect.session.ask import Purpose
from envbisect.session.campaign import Answer, Campaign
from envbisect.session.document import Frame, result_document
from envbisect.session.history import Counts
from envbisect.session.knowing import one_rate
from envbisect.space.model import Configuration
from tests.session.test_campaign import steps_of
from tests.session.worlds import World, failed, flaky, monotone, passed, steady


def drifting(sizes: Configuration, culprit: Configuration, p: float, seed: int, *, at: int, to: float) -> World:
    """Anything fails with ``to`` after ``at`` probes, if it does not fail more often anyway."""
    generator, fails = random.Random(seed), monotone(culprit)
    made = [0]

    def truth(point: Configuration) -> Observation:
        rate = max(p if fails(point) else 0.0, to if made[0] >= at else 0.0)
        made[0] += 1
        return failed() if generator.random() < rate else passed()

    return World(sizes, truth)


def document(campaign: Campaign, answer: Answer) -> dict[str, object]:
    numbers = tuple(range(1, len(campaign.history.entries) + 1))
    return result_document(campaign, answer, Frame("s", "a", "b", (), (), 0, 0.0, numbers=numbers))


def test_a_machine_that_breaks_on_the_way_is_told_with_the_probe_from_which_on() -> None:
    world = drifting((1024,), (700,), 0.8, 4, at=30, to=1.0)
    campaign, answer = world.solve()
    assert answer.status is Status.UNDECIDED
    told = document(campaign, answer)
    drift = told["drift"]
    assert isinstance(drift, dict)
    assert drift["end"] == "good"
    assert drift["before"]["good"] > 5 * drift["before"]["bad"]
    assert drift["after"]["bad"] > drift["after"]["good"]
    assert 20 <= drift["since"] <= 60
    assert drift["probability"] < 0.01
    assert told["culprits"] == []
    assert "the machine changed" in str(told["reason"])


@pytest.mark.slow
def test_few_drifting_machines_get_a_change_blamed() -> None:
    wrong = runs = 0
    cases: list[tuple[Configuration, Configuration, float]] = [
        ((1,) * 8, (0, 1, 0, 0, 1, 0, 0, 0), 0.8),
        ((1,) * 8, (1, 1, 0, 0, 1, 0, 0, 0), 1.0),
        ((200,), (140,), 0.8),
    ]
    for sizes, culprit, p in cases:
        for seed in range(12):
            world = drifting(sizes, culprit, p, seed, at=20, to=0.6)
            _, answer = world.solve(max_probes=300)
            runs += 1
            wrong += answer.status is Status.CULPRIT and steps_of(world, answer) != culprit
    assert wrong <= 0.06 * runs


def test_the_good_end_is_run_again_now_and_then_and_no_oftener() -> None:
    world = World((1024,), flaky(monotone((700,)), 0.5, 0.0, 3))
    campaign, answer = world.solve()
    assert steps_of(world, answer) == (700,)
    places = [n for n, ask in enumerate(world.asks) if ask.configuration == (0,)]
    assert all(ask.purpose is Purpose.ENDPOINT for ask in world.asks if ask.configuration == (0,))
    longest = max(later - sooner for sooner, later in zip(places, [*places[1:], len(world.asks)], strict=True))
    assert longest <= 27
    short = World((1,) * 14, steady(monotone((1,) + (0,) * 13)))
    short.solve()
    assert sum(not any(ask.configuration) for ask in short.asks) == 2
    assert document(campaign, answer)["drift"] is None


@pytest.mark.parametrize("seed", range(4))
def test_known_runs_that_do_not_go_with_those_seen_end_the_search(seed: int) -> None:
    """The bad end is said to fail always, and fails in one run of ten."""
    world = World((1,) * 6, flaky(monotone((1, 0, 0, 0, 0, 0)), 0.1, 0.0, seed))
    campaign, answer = world.solve(known_bad=(0, 12))
    assert answer.status in (Status.UNDECIDED, Status.NOT_REPRODUCED)
    (gap,) = answer.clashes
    assert gap.end == "bad"
    assert gap.probability < 0.01
    assert len(world.asks) == 20
    assert "--known says that the bad end passed 0 of 12 runs" in answer.reason
    assert document(campaign, answer)["contradictions"]


def test_known_runs_that_go_with_those_seen_are_no_contradiction() -> None:
    for seed in range(6):
        world = World((1,) * 6, flaky(monotone((1, 0, 0, 0, 0, 0)), 0.5, 0.0, seed))
        _, answer = world.solve(known_bad=(6, 12), known_good=(12, 12))
        assert not answer.clashes
        assert answer.status is Status.CULPRIT


def test_two_counts_of_one_rate_are_weighed_exactly() -> None:
    assert one_rate(Counts(3, 0), Counts(0, 3)) == pytest.approx(2 / 20)  # both outermost tables of C(6, 3)
    assert one_rate(Counts(5, 5), Counts(5, 5)) == pytest.approx(1)
    assert one_rate(Counts(0, 12), Counts(9, 1)) < 1e-4
    assert one_rate(Counts(), Counts(3, 1)) == 1

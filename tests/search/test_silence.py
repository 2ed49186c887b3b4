"""What fails in another way, or cannot tell: few questions, the same suspects."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from envbisect.search import Cause, Configuration, Outcome, Search, Status
from envbisect.search.evidence import Evidence
from envbisect.search.lattice import Lattice
from envbisect.search.silence import Patch, explain_silence
from tests.search.simulated import Truth, random_point, search, slabs, smallest_set

LADDERS = (10, 8, 1, 1)


@pytest.mark.parametrize("cause", [Cause.OTHER_FAILURE, Cause.UNDECIDED])
@pytest.mark.parametrize("deterministic", [0.2, 0.6])
@pytest.mark.parametrize(("point", "probes"), [((5, 0, 0, 0), 22), ((7, 3, 0, 0), 25), ((5, 0, 1, 0), 22)], ids=str)
def test_steps_that_always_fail_in_another_way_cost_few_probes(
    point: Configuration, probes: int, deterministic: float, cause: Cause
) -> None:
    silent = frozenset(x for x in product(*(range(size + 1) for size in LADDERS)) if x[0] in {4, 5, 6})
    truth = Truth(LADDERS, (point,), silent=silent, cause=cause)
    run = search(truth, Search(LADDERS, deterministic=deterministic))
    assert run.result.status is Status.SUSPECTS
    assert set(run.result.suspects) == {(step, *point[1:]) for step in (4, 5, 6, 7)}
    assert len(run.asked) <= probes


def test_steps_that_fail_only_together_are_blamed_together() -> None:
    sizes = (9, 12, 1, 1, 1)
    every = product(*(range(size + 1) for size in sizes))
    silent = frozenset(x for x in every if x[0] == 5 and x[1] >= 3)
    for point in ((5, 3, 0, 0, 0), (6, 6, 0, 0, 0)):
        run = search(Truth(sizes, (point,), silent=silent), Search(sizes))
        assert set(run.result.suspects) == {(step, *point[1:]) for step in (5, 6)}
        assert len(run.asked) <= 32
    # The step answers where the other axis is low, so a culprit of its own is found all the same.
    run = search(Truth(sizes, ((5, 0, 0, 0, 0),), silent=silent), Search(sizes))
    assert run.result.culprit == (5, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("sizes", "most", "mean"),
    [((9,), 20, 14), ((3, 3), 26, 17), ((4, 3, 1, 1), 28, 17), ((6, 5, 1), 36, 19), ((8, 4, 2), 40, 22)],
    ids=str,
)
def test_silent_steps_leave_the_smallest_set_of_suspects(sizes: Configuration, most: int, mean: float) -> None:
    counts = []
    for seed in range(20):
        generator = random.Random(seed)
        silent = slabs(sizes, generator, 0.4)
        point = random_point(sizes, generator.randint(1, min(2, len(sizes))), generator)
        run = search(Truth(sizes, (point,), silent=silent), Search(sizes))
        found = {run.result.culprit} if run.result.culprit else set(run.result.suspects)
        assert found == smallest_set(sizes, point, silent)
        counts.append(len(run.asked))
    assert max(counts) <= most
    assert sum(counts) / len(counts) <= mean


@pytest.mark.parametrize("sizes", [LADDERS, (1,) * 14, (64,)], ids=len)
def test_silence_that_passes_hides_nothing(sizes: Configuration) -> None:
    """Three of ten runs cannot tell, wherever they are."""
    counts = []
    for seed in range(10):
        generator = random.Random(seed)
        point = random_point(sizes, generator.randint(1, min(2, len(sizes))), generator)
        truth, engine = Truth(sizes, (point,)), Search(sizes)
        for _ in range(2):
            engine.tell((0,) * len(sizes), Outcome.GOOD)
            engine.tell(sizes, Outcome.BAD)
        counts.append(0)
        while (batch := engine.ask(1)) and counts[-1] < 100:
            counts[-1] += 1
            silent = generator.random() < 0.3
            engine.tell(batch[0], *((Outcome.UNRESOLVED, None) if silent else truth.answer(batch[0])))
        assert engine.result().culprit == point
    assert sum(counts) / len(counts) <= 18


def test_chances_of_moves_are_those_of_the_moved_configurations() -> None:
    sizes = (4, 3, 2, 1)
    every = list(product(*(range(size + 1) for size in sizes)))
    patches = 0
    for seed in range(15):
        generator = random.Random(seed)
        evidence = Evidence(Lattice(sizes))
        for point in generator.sample(every, 14):
            silent = point[0] == 2 and point[1] >= 1
            evidence.tell(point, Outcome.UNRESOLVED if silent else Outcome.GOOD, Cause.UNDECIDED if silent else None)
        patches += len(evidence.silence().patches)
        for point in generator.sample(every, 20):
            chances = evidence.move_chances(point).tolist()
            moved = [(*point[:i], step, *point[i + 1 :]) for i, size in enumerate(sizes) for step in range(size + 1)]
            assert chances == pytest.approx([evidence.chance(x) for x in moved])
        assert evidence.chances(np.array(every)) == pytest.approx([evidence.chance(x) for x in every])
    assert patches > 0


def test_a_step_is_dead_only_if_it_never_answered() -> None:
    lattice = Lattice((4, 4, 1))
    answered = [(0, 0, 0), (4, 4, 1), (3, 2, 1)]
    found = explain_silence(lattice, [(2, 4, 1), (2, 2, 1)], answered, 2)
    assert _levels(found.dead.tolist(), lattice) == [(0, 2)]
    assert not found.patches
    found = explain_silence(lattice, [(2, 4, 1), (2, 2, 1)], [*answered, (2, 0, 0)], 2)
    assert not any(found.dead)
    assert Patch((2, 2, 1), (2, 4, 1)) in found.patches
    found = explain_silence(lattice, [(2, 4, 1), (2, 2, 1)], [*answered, (2, 3, 1)], 2)
    assert not found.found


def _levels(dead: list[bool], lattice: Lattice) -> list[tuple[int, int]]:
    """(axis, step) of every level that is dead."""
    return [(int(lattice.axis_of[i]), int(lattice.step_of[i])) for i, is_dead in enumerate(dead) if is_dead]


def test_silence_without_axes_ends() -> None:
    engine = Search([])
    asked = 0
    while engine.ask(1):
        asked += 1
        engine.tell((), Outcome.UNRESOLVED)
    assert engine.result().status is Status.UNDECIDED
    assert asked <= 6

"""What cannot be built is learned: single steps, and pairs of steps that do not go together."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from envbisect.search import Cause, Configuration, Outcome, Search, Status
from envbisect.search.lattice import Lattice
from envbisect.search.unbuildable import Unbuildable
from tests.search.simulated import random_point, under

Level = tuple[int, int]


def _level(lattice: Lattice, level: Level) -> int:
    return int(lattice.offset[level[0]]) + level[1]


def _levels(lattice: Lattice, point: Configuration) -> NDArray[np.int64]:
    return np.asarray(lattice.offset + np.array(point, dtype=np.int64), dtype=np.int64)


def _chance(learned: Unbuildable, point: Configuration) -> float:
    levels = _levels(learned.lattice, point)
    return float(np.prod(learned.steps()[levels])) * learned.pairs().of(levels)


def test_the_only_unproven_pair_is_blamed() -> None:
    lattice = Lattice((9, 9, 1))
    learned = Unbuildable(lattice)
    for point in ((3, 0, 0), (0, 5, 0), (3, 0, 1), (0, 5, 1), (3, 4, 0)):
        learned.built(point)
    learned.failed((3, 5, 0))
    pairs = learned.pairs()
    assert list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)) == [
        (_level(lattice, (0, 3)), _level(lattice, (1, 5)))
    ]
    assert 0 < _chance(learned, (3, 5, 1)) < 0.7
    learned.failed((3, 5, 1))
    assert _chance(learned, (3, 5, 1)) == 0.0
    assert _chance(learned, (3, 4, 1)) == 1.0
    learned.built((3, 5, 1))  # it was the machine
    assert _chance(learned, (3, 5, 0)) == 1.0


def test_a_known_culprit_takes_the_blame_off_the_others() -> None:
    lattice = Lattice((9, 9, 9))
    learned = Unbuildable(lattice)
    for point in ((3, 0, 0), (0, 5, 0), (0, 0, 7), (3, 0, 7)):
        learned.built(point)
    learned.failed((3, 5, 7))  # 3 with 5, or 5 with 7
    before = _chance(learned, (0, 5, 7))
    assert _chance(learned, (3, 5, 0)) == pytest.approx(before)
    learned.failed((3, 5, 0))
    assert _chance(learned, (3, 5, 0)) < 0.3
    assert _chance(learned, (0, 5, 7)) > before


def test_an_unproven_step_is_blamed_before_any_pair() -> None:
    learned = Unbuildable(Lattice((9, 9, 1)))
    learned.built((0, 5, 0))
    learned.failed((4, 5, 0))
    assert not len(learned.pairs().chance)
    assert _chance(learned, (4, 9, 1)) == pytest.approx(0.3)
    learned.failed((4, 9, 1))
    assert _chance(learned, (4, 0, 0)) == 0.0


def test_chances_of_moves_are_those_of_the_moved_configurations() -> None:
    sizes = (4, 3, 2, 1)
    lattice = Lattice(sizes)
    every = list(product(*(range(size + 1) for size in sizes)))
    suspicious = 0
    for seed in range(10):
        generator = random.Random(seed)
        learned = Unbuildable(lattice)
        for point in generator.sample(every, 30):
            if point[0] == 2 and point[1] == 1:
                learned.failed(point)
            else:
                learned.built(point)
        pairs = learned.pairs()
        suspicious += len(pairs.chance)
        for point in generator.sample(every, 15):
            moves = pairs.of_moves(_levels(lattice, point), lattice)
            moved = [(*point[:i], step, *point[i + 1 :]) for i, size in enumerate(sizes) for step in range(size + 1)]
            assert moves.tolist() == pytest.approx([pairs.of(_levels(lattice, x)) for x in moved])
    assert suspicious


def _world(sizes: Configuration, generator: random.Random) -> list[tuple[Level, Level]]:
    """Five pairs of steps that do not go together; both ends build."""
    levels = [(axis, step) for axis, size in enumerate(sizes) for step in range(size + 1)]
    pairs: list[tuple[Level, Level]] = []
    while len(pairs) < 5:
        one, other = generator.sample(levels, 2)
        ends = all(step in (0,) for _, step in (one, other)) or all(step == sizes[axis] for axis, step in (one, other))
        if one[0] != other[0] and not ends:
            pairs.append((one, other))
    return pairs


@pytest.mark.parametrize(
    ("sizes", "mean", "most"), [((7,) * 4 + (1,) * 6, 13, 45), ((12, 9, 6), 13, 30), ((1,) * 8, 24, 60)], ids=str
)
def test_pairs_that_do_not_build_waste_few_probes(sizes: Configuration, mean: float, most: int) -> None:
    counts = []
    for seed in range(12):
        generator = random.Random(seed)
        pairs = _world(sizes, generator)
        point = random_point(sizes, generator.randint(1, 2), generator)
        engine = Search(sizes)
        engine.tell((0,) * len(sizes), Outcome.GOOD, count=2)
        engine.tell(sizes, Outcome.BAD, count=2)
        counts.append(0)
        while (batch := engine.ask(1)) and counts[-1] < 200:
            counts[-1] += 1
            asked = batch[0]
            if any(asked[one[0]] == one[1] and asked[other[0]] == other[1] for one, other in pairs):
                engine.tell(asked, Outcome.UNRESOLVED, Cause.UNBUILDABLE)
            else:
                engine.tell(asked, Outcome.BAD if under(point, asked) else Outcome.GOOD)
        result = engine.result()
        assert result.status in (Status.CULPRIT, Status.SUSPECTS)
        assert point in (result.culprit, *result.suspects)
    assert sum(counts) / len(counts) <= mean
    assert max(counts) <= most

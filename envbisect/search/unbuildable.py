"""Which steps, and which pairs of steps of two axes, keep an environment from being built: learned from what did not.

Everything in a configuration that was built is proven: its steps, and its steps two by two. What did not build is
blamed on its one unproven step if there is one; if all of its steps are proven, on its pairs of steps that never stood
together in anything built. Pairs that would explain many failures share the blame of each first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from envbisect.search.lattice import Lattice
from envbisect.search.words import Configuration

Floats = NDArray[np.float64]
Levels = NDArray[np.int64]

BLAMED: Final = 0.3  # chance that a step builds that is blamed once
DEAD_AFTER: Final = 2  # unbuildable configurations that blame the same step alone
SMALL: Final = 64  # points of a lattice so small that every single one may be tried
RARE: Final = 0.02  # share of the pairs of steps that do not go together
ELSE: Final = 0.02  # chance that a failed build has another reason than a pair: three steps together, say
CERTAIN: Final = 0.97  # how guilty a pair must be for nothing with it to be asked; found alone in two failures it is
BELIEVED: Final = 0.97
ROUNDS: Final = 12
MOST_PAIRS: Final = 400


@dataclass(frozen=True, slots=True)
class Pairs:
    """Suspicious pairs of levels, ``first`` of a lower axis than ``second``, with the chance that they build."""

    first: Levels
    second: Levels
    chance: Floats

    def of(self, levels: Levels) -> float:
        """The chance of a configuration, given its levels."""
        if not len(self.chance):
            return 1.0
        inside = np.isin(self.first, levels) & np.isin(self.second, levels)
        return float(np.prod(self.chance[inside]))

    def of_moves(self, levels: Levels, lattice: Lattice) -> Floats:
        """For every level: the chance of the configuration with that axis moved to that step."""
        out = np.ones(lattice.levels)
        if not len(self.chance):
            return out
        has_first, has_second = np.isin(self.first, levels), np.isin(self.second, levels)
        for number in np.flatnonzero(has_first | has_second).tolist():
            first, second, chance = int(self.first[number]), int(self.second[number]), float(self.chance[number])
            if has_first[number] and has_second[number]:
                elsewhere = ~np.isin(lattice.axis_of, lattice.axis_of[[first, second]])
                out[elsewhere] *= chance
                out[[first, second]] *= chance
            else:
                out[second if has_first[number] else first] *= chance
        return out


NO_PAIRS: Final = Pairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.ones(0))


class Unbuildable:
    """What was built and what was not, and what that says about the rest. Both ends are taken for buildable."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self._built: dict[Configuration, None] = dict.fromkeys((lattice.zero, lattice.top))
        self._failed: dict[Configuration, None] = {}
        self._proven = np.zeros(lattice.levels, dtype=np.bool_)
        for point in self._built:
            self._proven[self._levels_of(point)] = True
        self._judged: tuple[Floats, Pairs] | None = None

    def built(self, point: Configuration) -> None:
        """The configuration was built."""
        if point not in self._built or point in self._failed:
            self._built[point] = None
            self._failed.pop(point, None)
            self._proven[self._levels_of(point)] = True
            self._judged = None

    def failed(self, point: Configuration) -> None:
        """The configuration cannot be built."""
        if point not in self._failed:
            self._failed[point] = None
            self._judged = None

    def steps(self) -> Floats:
        """For every level: the chance that it builds, as far as steps alone are to blame."""
        return self._judgement()[0]

    def pairs(self) -> Pairs:
        """The pairs of steps that are to blame."""
        return self._judgement()[1]

    def _levels_of(self, point: Configuration) -> Levels:
        return np.asarray(self.lattice.offset + np.asarray(point, dtype=np.int64), dtype=np.int64)

    def _judgement(self) -> tuple[Floats, Pairs]:
        if self._judged is None:
            self._judged = self._judge()
        return self._judged

    def _judge(self) -> tuple[Floats, Pairs]:
        if not self._failed or not self.lattice.dimensions:
            return np.ones(self.lattice.levels), NO_PAIRS
        blame = np.zeros(self.lattice.levels, dtype=np.int32)
        open_pairs: list[list[tuple[int, int]]] = []
        built = np.array(list(self._built), dtype=np.int32)
        for point in self._failed:
            levels = self._levels_of(point)
            unproven = levels[~self._proven[levels]]
            if len(unproven) == 1:
                blame[unproven[0]] += 1
            elif not len(unproven):
                open_pairs.append(_unseen_pairs(np.array(point, dtype=np.int32), levels, built))
        chance = np.where(self._proven, 1.0, BLAMED ** np.minimum(blame, 8))
        if self.lattice.points > SMALL:
            chance[(blame >= DEAD_AFTER) & ~self._proven] = 0.0
        return chance, self._blame_pairs(open_pairs)

    def _blame_pairs(self, failures: list[list[tuple[int, int]]]) -> Pairs:
        every = sorted({pair for pairs in failures for pair in pairs})
        if not every:
            return NO_PAIRS
        number = {pair: row for row, pair in enumerate(every)}
        within = np.zeros((len(failures), len(every)), dtype=np.bool_)
        for row, pairs in enumerate(failures):
            within[row, [number[pair] for pair in pairs]] = True
        guilty = _guilt(within)
        chance = 1 - BELIEVED * guilty
        if self.lattice.points > SMALL:
            chance[guilty >= CERTAIN] = 0.0
        worst = np.argsort(np.round(chance, 12), kind="stable")[:MOST_PAIRS]
        first, second = np.array(every, dtype=np.int64)[worst].T
        return Pairs(first, second, np.asarray(chance[worst], dtype=np.float64))


def _guilt(within: NDArray[np.bool_]) -> Floats:
    """How probable each cause is; ``within`` says which causes (columns) are part of which failure (rows).

    Every failure has a reason: a cause in it, or rarely something else. Mean field: what the others leave unexplained
    speaks for a cause, so one that explains a failure for sure takes the blame off the others.
    """
    prior = math.log(RARE / (1 - RARE))
    guilty: Floats = np.full(within.shape[1], RARE)
    for _ in range(ROUNDS):
        innocent = np.log1p(-np.minimum(guilty, 1 - 1e-9))
        whole = (within * innocent).sum(axis=1)
        others = np.log(ELSE + (1 - ELSE) * -np.expm1(np.minimum(whole[:, None] - innocent[None, :], 0.0)))
        odds = prior - (within * others).sum(axis=0)
        guilty = 0.5 * guilty + 0.5 / (1 + np.exp(-np.clip(odds, -50, 50)))
    return guilty


def _unseen_pairs(point: NDArray[np.int32], levels: Levels, built: NDArray[np.int32]) -> list[tuple[int, int]]:
    """The pairs of levels of a configuration that never stood together in anything built."""
    same = (built == point).astype(np.int32)
    together = same.T @ same
    rows, columns = np.nonzero(np.triu(together == 0, 1))
    return list(zip(levels[rows].tolist(), levels[columns].tolist(), strict=True))

"""Whether the test is monotone: pairs x at or below y where x fails and y passes, beyond what the rates allow."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from envbisect.search.evidence import Evidence
from envbisect.search.labels import Labels, RateGrid, runs_of
from envbisect.search.words import Configuration, Contradiction

LEAST_RUNS: Final = 2  # runs of both before a pair is judged: once is chance, or a fault
LOOKED_AT: Final = 20  # pairs judged at a time, the most striking ones
LOOKS: Final = 2  # the search looks after every answer, and may stop at any: a stricter level makes up for it


class Order:
    """Which of the configurations that answered lie at or below which; grows with the evidence. The ends are no part:
    they define what failing and passing is."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.points: list[Configuration] = []
        self.pairs = 0  # comparable ones
        self._against: list[tuple[Configuration, Configuration]] | None = None
        self._known: set[Configuration] = {evidence.lattice.top, evidence.lattice.zero}
        self._steps: NDArray[np.int32] = np.zeros((0, evidence.lattice.dimensions), dtype=np.int32)
        self._below: NDArray[np.bool_] = np.zeros((0, 0), dtype=np.bool_)

    def add(self, point: Configuration) -> None:
        """Take in an answer of a configuration; the evidence has it already."""
        self._against = None
        if point in self._known:
            return
        self._known.add(point)
        self.points.append(point)
        row = np.array(point, dtype=np.int32)
        under = (self._steps <= row).all(axis=1)
        over = (self._steps >= row).all(axis=1)
        self._steps = np.concatenate([self._steps, row[None]])
        below = np.zeros((len(self.points), len(self.points)), dtype=np.bool_)
        below[:-1, :-1] = self._below
        below[:-1, -1] = under
        below[-1, :-1] = over
        self._below = below
        self.pairs += int(under.sum()) + int(over.sum())

    def against(self) -> list[tuple[Configuration, Configuration]]:
        """Pairs (lower, upper) that mostly fail and mostly pass, the most runs first."""
        if self._against is None:
            self._against = self._find() if self.points else []
        return self._against

    def _find(self) -> list[tuple[Configuration, Configuration]]:
        tallies = [self.evidence.tally(point) for point in self.points]
        failing = np.array([tally.bad > tally.good for tally in tallies])
        passing = np.array([tally.good > tally.bad for tally in tallies])
        rows, columns = np.nonzero(self._below & failing[:, None] & passing[None, :])
        weight = [min(t.bad - t.good if t.bad > t.good else t.good - t.bad, 99) for t in tallies]
        found = sorted(
            zip(rows.tolist(), columns.tolist(), strict=True),
            key=lambda pair: (
                -min(weight[pair[0]], weight[pair[1]]),
                -weight[pair[0]] - weight[pair[1]],
                self.points[pair[0]],
                self.points[pair[1]],
            ),
        )
        return [(self.points[low], self.points[high]) for low, high in found]


def contradictions(evidence: Evidence, order: Order, grid: RateGrid, confidence: float) -> tuple[Contradiction, ...]:
    """The pairs that a monotone test would show with a probability below 1 - confidence, however many were compared.

    The rates are those learned from the ends and all other configurations. Every pair must have run twice on both
    sides; the level is shared between all comparable pairs (Bonferroni).
    """
    pairs = [
        (low, high)
        for low, high in order.against()[:LOOKED_AT]
        if min(sum(runs_of(evidence.tally(low))), sum(runs_of(evidence.tally(high)))) >= LEAST_RUNS
    ]
    if not pairs:
        return ()
    labels = Labels(grid, evidence)
    level = (1 - confidence) / (LOOKS * max(order.pairs, 1))
    return tuple(
        Contradiction(low, high, runs_of(evidence.tally(low)), runs_of(evidence.tally(high)))
        for low, high in pairs
        if labels.surprise(low, high) < level
    )

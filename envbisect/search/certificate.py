"""What proves a culprit, and what no test can tell apart from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from envbisect.search.evidence import Evidence
from envbisect.search.words import Configuration, Proof, Role, below

ENUMERABLE: Final = 4096  # points of a lattice whose testable points are all looked at


def lower_neighbours(culprit: Configuration, evidence: Evidence) -> list[Configuration]:
    """For each axis of the culprit the nearest step below that exists; infeasible steps are skipped."""
    found = []
    for axis, step in enumerate(culprit):
        for lower in range(step - 1, -1, -1):
            point = (*culprit[:axis], lower, *culprit[axis + 1 :])
            if evidence.exists(point):
                found.append(point)
                break
    return found


def missing(culprit: Configuration, evidence: Evidence) -> list[Configuration]:
    """The configurations that still have to be run: the culprit if never seen failing, uncertified neighbours."""
    open_points = [] if evidence.tally(culprit).bad else [culprit]
    neighbours = lower_neighbours(culprit, evidence)
    return open_points + [point for point in neighbours if evidence.pass_above(point, culprit) is None]


def certificate(culprit: Configuration, evidence: Evidence) -> tuple[Proof, ...]:
    """The observations that prove the culprit, one line for it and one for each lower neighbour."""
    own = evidence.tally(culprit)
    lines = [Proof(Role.CULPRIT, culprit, own.good, own.bad, own.unresolved + own.unbuildable)]
    for point in lower_neighbours(culprit, evidence):
        tally = evidence.tally(point)
        witness = None if tally.good else evidence.pass_above(point, culprit)
        unresolved = tally.unresolved + tally.unbuildable
        lines.append(Proof(Role.NEIGHBOUR, point, tally.good, tally.bad, unresolved, witness))
    return tuple(lines)


def excludes_others(culprit: Configuration, evidence: Evidence) -> bool:
    """Whether every maximal configuration that is not at or above the culprit was seen passing (mostly)."""
    for axis, step in enumerate(culprit):
        if not step:
            continue
        ceiling = (*evidence.lattice.top[:axis], step - 1, *evidence.lattice.top[axis + 1 :])
        tally = evidence.tally(ceiling)
        if tally.good <= tally.bad:
            return False
    return True


def direct_odds(culprit: Configuration, evidence: Evidence, p: float, q: float) -> float:
    """Likelihood ratio of the culprit's own runs: failing with p against passing with q."""
    tally = evidence.tally(culprit)
    up = math.log(max(p, 1e-6) / max(q, 1e-6))
    down = math.log(max(1 - p, 1e-6) / max(1 - q, 1e-6))
    return math.exp(max(-50.0, min(50.0, tally.bad * up + tally.good * down)))


class Classes:
    """Which minimal points no testable configuration tells apart."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        lattice = evidence.lattice
        self._points: np.ndarray[tuple[int, ...], np.dtype[np.int32]] | None = None
        if lattice.points <= ENUMERABLE:
            every = np.indices([size + 1 for size in lattice.sizes], dtype=np.int32).reshape(lattice.dimensions, -1).T
            self._points = every[evidence.testable(every)]
        self._dead = evidence.dead_steps()

    def separator(self, one: Configuration, other: Configuration) -> Configuration | None:
        """A testable configuration at or above exactly one of the two, None if there is none."""
        if self._points is not None:
            points = self._points
            differ = (points >= np.array(one)).all(axis=1) != (points >= np.array(other)).all(axis=1)
            found = points[differ]
            if not len(found):
                return None
            outside = (found > np.maximum(one, other)).any(axis=1)
            order = np.lexsort((*found.T[::-1], found.sum(axis=1), outside))
            return tuple(found[order[0]].tolist())
        return next((x for x in self._candidates(one, other) if self.evidence.chance(x) > 0), None)

    def members(self, leader: Configuration, alike: Iterable[Configuration]) -> list[Configuration]:
        """The leader and all of ``alike`` that nothing testable separates from it."""
        return [leader] + [x for x in alike if x != leader and self.separator(leader, x) is None]

    def ceiling(self, members: Sequence[Configuration]) -> Configuration | None:
        """The lowest testable configuration at or above all members: where they are seen failing."""
        joined = tuple(max(steps) for steps in zip(*members, strict=True))
        if self._points is not None:
            above = [tuple(x) for x in self._points[(self._points >= np.array(joined)).all(axis=1)].tolist()]
            return min(above, key=lambda x: (sum(x), x), default=None)
        raised = self._raise(joined)
        return raised if self.evidence.chance(raised) > 0 else None

    def _raise(self, point: Configuration) -> Configuration:
        """Every axis at the next step that is not dead."""
        lattice, steps = self.evidence.lattice, []
        for axis, step in enumerate(point):
            raised = step
            while raised < lattice.sizes[axis] and self._dead[lattice.offset[axis] + raised]:
                raised += 1
            steps.append(raised)
        return tuple(steps)

    def _candidates(self, one: Configuration, other: Configuration) -> Iterable[Configuration]:
        lattice = self.evidence.lattice
        for low, high in ((one, other), (other, one)):
            raised = self._raise(low)
            if not below(high, raised):
                yield raised
            for axis, step in enumerate(high):
                lower = step - 1
                while lower > low[axis] and self._dead[lattice.offset[axis] + lower]:
                    lower -= 1
                if lower >= low[axis] and not self._dead[lattice.offset[axis] + lower]:
                    yield (*raised[:axis], lower, *raised[axis + 1 :])
                    yield (*lattice.top[:axis], lower, *lattice.top[axis + 1 :])

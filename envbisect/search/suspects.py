"""What the evidence leaves where holes hide the boundary: the smallest set that must hold a minimal failing point.

A test that never disagreed with itself is taken at its word here. Let c be a configuration seen failing with nothing
lower seen failing. Some minimal failing point lies at or below c, whatever else fails, and none lies at or below a
configuration that passed; so

* ``below c``: what is at or below c, but not at or below anything that passed, holds a minimal failing point;
* ``common``: if one minimal point explains everything, it is also at or below every other failing configuration.

The common set is the answer if it is not empty and nothing testable speaks against it; else the smallest set below a
failing configuration. A single member that was seen failing is a culprit: everything right below it is known to pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from envbisect.search.certificate import direct_odds
from envbisect.search.evidence import GIVE_UP_AFTER, Evidence
from envbisect.search.rates import Rates
from envbisect.search.unbuildable import SMALL
from envbisect.search.words import Configuration

Points = NDArray[np.int32]
Mask = NDArray[np.bool_]

ENUMERABLE: Final = 1500  # points of a lattice whose points are all looked at


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left.

    Attributes:
        members: every configuration that may be the minimal failing point, sorted; one of them is one.
        ceiling: the lowest configuration seen failing that is at or above all members.
        asks: testable configurations whose answer makes the set smaller, or tests that one point explains all; the
            most telling first, none if nothing testable is left that would.
        walls: the highest configurations below the ceiling that are known to pass, each with what was seen passing
            at or above it (and not at or above the ceiling).
    """

    members: tuple[Configuration, ...]
    ceiling: Configuration
    asks: tuple[Configuration, ...]
    walls: dict[Configuration, tuple[Configuration, ...]]

    @property
    def culprit(self) -> bool:
        """Whether the one member was itself seen failing, and nothing is left to ask."""
        return self.members == (self.ceiling,) and not self.asks

    def shown(self, evidence: Evidence, p: float, q: float) -> tuple[float, Configuration]:
        """How sure the runs alone make it that a minimal point is among the members, and what to run again to be surer.

        The ceiling's failures and, for every wall, the passes above it are weighed against the opposite at even odds.
        """
        odds = {self.ceiling: direct_odds(self.ceiling, evidence, p, q)}
        for passing in self.walls.values():
            weakest = min(passing, key=lambda x: (evidence.tally(x).good, sum(x), x))
            against = math.prod(direct_odds(x, evidence, p, q) for x in passing)
            odds[weakest] = min(odds.get(weakest, math.inf), 1 / against)
        return math.prod(each / (1 + each) for each in odds.values()), min(odds, key=lambda x: (odds[x], x))


@dataclass(frozen=True, slots=True)
class Finish:
    """How a search with holes ends: with what is left, as soon as there is nothing to ask."""

    left: Remaining
    confidence: float
    asks: tuple[Configuration, ...]


def finish(evidence: Evidence, rates: Rates, confidence: float) -> Finish | None:
    """What to ask until the smallest set of suspects is known as surely as is wanted; None as for ``what_is_left``."""
    left = what_is_left(evidence)
    if left is None:
        return None
    # The answers never disagreed: what was seen failing has counted for p, all else for q.
    bad, good = np.array([evidence.bad], dtype=np.int32), np.zeros(1, dtype=np.int32)
    found = rates.of(bad, good, evidence.bad, evidence.good)
    sure, weakest = left.shown(evidence, float(found.p[0]), float(found.q[0]))
    if left.asks or sure >= confidence or evidence.tally(weakest).unresolved >= GIVE_UP_AFTER:
        return Finish(left, sure, left.asks)
    return Finish(left, sure, (weakest,))


def what_is_left(evidence: Evidence) -> Remaining | None:
    """The smallest set of suspects; None if the lattice is large, or if the answers disagree with each other."""
    lattice = evidence.lattice
    if lattice.points > ENUMERABLE or not evidence.steady():
        return None
    failing = np.array([x for x, t in evidence.tallies.items() if t.bad], dtype=np.int32)
    passing = np.array([x for x, t in evidence.tallies.items() if t.good], dtype=np.int32)
    if not len(failing) or not len(passing) or _reached(failing, passing).any():
        return None
    every = np.indices([size + 1 for size in lattice.sizes], dtype=np.int32).reshape(lattice.dimensions, -1).T
    every = every[np.array([evidence.exists(tuple(x)) for x in every.tolist()], dtype=np.bool_)]
    alive = every[~_reached(every, passing).any(axis=1)]
    lowest = failing[_reached(failing, failing).sum(axis=0) == 1]
    return _Sieve(evidence, every, alive, failing, passing, lowest).result()


def _reached(low: Points, high: Points) -> Mask:
    """Shape (len(low), len(high)): is the one at or below the other?"""
    out = np.ones((len(low), len(high)), dtype=np.bool_)
    for axis in range(low.shape[1]):
        out &= low[:, None, axis] <= high[None, :, axis]
    return out


@dataclass(frozen=True, slots=True)
class _Sieve:
    """The points of a small lattice, sorted by what the answers say about them."""

    evidence: Evidence
    every: Points
    alive: Points  # not at or below anything that passed
    failing: Points
    passing: Points
    lowest: Points  # the minimal ones of the failing

    def result(self) -> Remaining | None:
        under = _reached(self.alive, self.lowest)
        common = self.alive[under.all(axis=1)]
        column = min(range(len(self.lowest)), key=lambda i: (under[:, i].sum(), *_order(self.lowest[i])))
        local = self.alive[under[:, column]]
        members = common if len(common) else local
        if not len(members):  # the failing one itself is said not to exist
            return None
        asks = self._splitting(members)
        if not asks and len(common) and len(common) < int(under.sum(axis=0).min()):
            asks = self._explained(members)
        above = self.failing[_reached(members, self.failing).all(axis=0)]
        ceiling = _ranked(above)[0]
        return Remaining(_sorted(members), ceiling, asks, self._walls(ceiling))

    def _walls(self, ceiling: Configuration) -> dict[Configuration, tuple[Configuration, ...]]:
        met = np.minimum(self.passing, np.array(ceiling, dtype=np.int32))
        walls = np.unique(met, axis=0)
        walls = walls[_reached(walls, walls).sum(axis=1) == 1]
        over = _reached(walls, self.passing)
        return {tuple(wall): tuple(_ranked(self.passing[row])) for wall, row in zip(walls.tolist(), over, strict=True)}

    def _open(self) -> Points:
        """What may still be asked."""
        return self.every[self.evidence.askable(self.every, guess=self.evidence.lattice.points > SMALL)]

    def _splitting(self, members: Points) -> tuple[Configuration, ...]:
        """What is at or above some members but not all, nearest to half first; the only member, if not run."""
        candidates = self._open()
        if len(members) == 1:
            return _ranked(candidates[(candidates == members[0]).all(axis=1)])
        above = _reached(members, candidates).sum(axis=0)
        even = np.minimum(above, len(members) - above)
        return _ranked(candidates[even > 0], -even[even > 0])

    def _explained(self, members: Points) -> tuple[Configuration, ...]:
        """What one minimal point predicts and nobody saw: the rest passes, and all above fails."""
        candidates = self._open()
        above = _reached(members, candidates).any(axis=0)
        unseen = candidates[~above & ~_reached(candidates, self.passing).any(axis=1)]
        highest = unseen[_reached(unseen, unseen).sum(axis=1) == 1]
        return _ranked(highest) or _ranked(candidates[above & ~_reached(self.lowest, candidates).any(axis=0)])


def _order(point: Points) -> tuple[int, Configuration]:
    return int(point.sum()), tuple(point.tolist())


def _sorted(points: Points) -> tuple[Configuration, ...]:
    return tuple(sorted(tuple(point) for point in points.tolist()))


def _ranked(points: Points, first_by: NDArray[np.int64] | None = None) -> tuple[Configuration, ...]:
    """The points by a key, then lowest first."""
    keys = first_by.tolist() if first_by is not None else [0] * len(points)
    pairs = sorted((key, sum(x), tuple(x)) for key, x in zip(keys, points.tolist(), strict=True))
    return tuple(x for _, _, x in pairs)

"""Finding one axis step that a culprit must have, whatever its order: a search along one monotone path.

On a path from a base to a failing configuration the failures start at one point. The step taken there belongs to every
minimal failing point below it, so it is pinned and the rest is searched with one axis less.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from envbisect.search.choice import entropy
from envbisect.search.evidence import Evidence
from envbisect.search.rates import Rates
from envbisect.search.words import Configuration, below


def path_between(base: Configuration, top: Configuration, *, coarse: bool) -> list[Configuration]:
    """The configurations from base to top, one step (or, when coarse, one axis) at a time."""
    steps = list(base)
    path = [base]
    for axis, high in enumerate(top):
        for step in range(base[axis] + 1, high + 1):
            steps[axis] = step
            if not coarse or step == high:
                path.append(tuple(steps))
    return path


class Climb:
    """The flip point of one path. Points that cannot be tested are left out; the last one fails.

    It looks at the evidence as it is at first, so every answer needs a new one.
    """

    def __init__(self, path: list[Configuration], evidence: Evidence, rates: Rates) -> None:
        self.path = [path[0], *(x for x in path[1:-1] if evidence.chance(x) > 0), path[-1]]
        self.evidence, self.rates = evidence, rates

    @cached_property
    def _posterior(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """(probability, p, q) for the first failing index 0..length-1."""
        length = len(self.path)
        bad_at, good_at = np.zeros(length, dtype=np.int32), np.zeros(length, dtype=np.int32)
        for point, tally in self.evidence.tallies.items():
            under = [i for i, x in enumerate(self.path) if below(x, point)]
            above = [i for i, x in enumerate(self.path) if below(point, x)]
            if tally.good and under:
                good_at[under[-1]] += tally.good
            if tally.bad and above:
                bad_at[above[0]] += tally.bad
        bad_in = np.cumsum(bad_at[::-1])[::-1].astype(np.int32)
        good_in = np.cumsum(good_at[::-1])[::-1].astype(np.int32)
        found = self.rates.of(bad_in, good_in, int(bad_at.sum()), int(good_at.sum()))
        mass = np.exp(found.log - found.log.max())
        return mass / mass.sum(), found.p, found.q

    def best(self) -> tuple[int, float]:
        """The most probable first failing index and its probability."""
        mass, _, _ = self._posterior
        index = int(np.argmax(np.round(mass, 12)))
        return index, float(mass[index])

    def ask(self) -> Configuration | None:
        """The most informative point of the path, None if none can be tested."""
        mass, p, q = self._posterior
        bits = np.zeros(len(self.path))
        for index, point in enumerate(self.path):
            rate = np.where(np.arange(len(mass)) <= index, p, q)
            chance = self.evidence.chance(point)
            bits[index] = chance * (entropy(np.array([(mass * rate).sum()]))[0] - (mass * entropy(rate)).sum())
        index = int(np.argmax(np.round(bits, 9)))
        return self.path[index] if bits[index] > 1e-9 else None

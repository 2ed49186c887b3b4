"""What the two ends alone say: does good fail too, does bad fail at all, how far may p - q reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from envbisect.search.evidence import GIVE_UP_AFTER, Evidence, Tally
from envbisect.search.words import Configuration, Status

GRID: Final = 801
ENOUGH: Final = 10  # runs of each end while they leave doubt, before the search itself has to settle it
ALWAYS: Final = 5  # failures in a row that a good end needs beside a bad end that passes too: such a test flakes


@dataclass(frozen=True, slots=True)
class Caution:
    """When the ends are run on, before or besides anything inside, and when nothing is found to differ.

    The shares divide 1 - confidence: the ends are looked at after every run.

    Attributes:
        doubt: posterior of "nothing changed" from which the ends must tell p from q by their own runs.
        separation_share: of the risk that p > q is believed by chance.
        bound_share: of the risk that a difference of ``min_effect`` is given up.
    """

    doubt: float
    separation_share: float
    bound_share: float


NOISY: Final = Caution(doubt=0.01, separation_share=10, bound_share=3)  # the good end was seen failing
QUIET: Final = Caution(doubt=0.05, separation_share=1, bound_share=400)  # … never: a rare failure is a failure too


def _density(tally: Tally) -> NDArray[np.float64]:
    """Posterior of a failure rate on a grid over 0..1, uniform prior."""
    rate = (np.arange(GRID) + 0.5) / GRID
    log = tally.bad * np.log(rate) + tally.good * np.log1p(-rate)
    mass = np.exp(log - log.max())
    return np.asarray(mass / mass.sum(), dtype=np.float64)


def separation(bad_end: Tally, good_end: Tally) -> float:
    """P(p > q) by the runs of the ends alone (uniform priors, independent ends)."""
    not_above = np.cumsum(_density(bad_end))
    return 1 - float((_density(good_end) * not_above).sum())


def difference_bound(bad_end: Tally, good_end: Tally, level: float) -> float:
    """The value that p - q does not exceed with probability ``level`` (uniform priors, independent ends)."""
    difference = np.convolve(_density(bad_end), _density(good_end)[::-1])
    reached = np.cumsum(difference)
    step = int(np.searchsorted(reached, level))
    return float(min(1.0, (step - (GRID - 1) + 1) / GRID))


def good_always_fails(good_end: Tally, bad_end: Tally) -> bool:
    """Whether the good end failed in every run, and in enough of them: in more where the bad end passes too."""
    return not good_end.good and good_end.bad >= (ALWAYS if bad_end.good else 2)


class Endpoints:
    """Decides what the ends still have to show before anything else is asked."""

    def __init__(self, evidence: Evidence, confidence: float, min_effect: float, *, told: bool) -> None:
        self.evidence, self.told, self.min_effect = evidence, told, min_effect
        self.confidence = confidence

    @property
    def bound(self) -> float:
        """Upper bound of p - q at the confidence."""
        return self._bound(1)

    def verdict(self, *, unsure: bool) -> Status | None:
        """A final status that the ends alone decide."""
        lattice = self.evidence.lattice
        top, zero = self.evidence.tally(lattice.top), self.evidence.tally(lattice.zero)
        if good_always_fails(zero, top):
            return Status.GOOD_FAILS
        for end in (top, zero):
            if not end.told and (end.unbuildable or end.unresolved >= GIVE_UP_AFTER):
                return Status.UNDECIDED
        if lattice.points == 1:
            return Status.NOT_REPRODUCED if zero.good else None
        if top.told and zero.told and unsure:
            return Status.NOT_REPRODUCED if self._bound(self._caution.bound_share) < self.min_effect else None
        return None

    def wanted(self, null: float, *, unsure: bool) -> Sequence[Configuration]:
        """The end to run next, none if both have shown what they must; ``null`` as in ``unsure``."""
        lattice = self.evidence.lattice
        top, zero = self.evidence.tally(lattice.top), self.evidence.tally(lattice.zero)
        if not top.told:
            return (lattice.top,)
        if not zero.told or (zero.bad and not zero.good):
            return (lattice.zero,)
        few = min(top.good + top.bad, zero.good + zero.bad) < ENOUGH and max(top.good, zero.bad) > 0
        doubtful = not self.told and few and null > 1 - self.confidence
        if not doubtful and not unsure:
            return ()
        return (lattice.top,) if _variance(top) >= _variance(zero) else (lattice.zero,)

    @property
    def _caution(self) -> Caution:
        return NOISY if self.evidence.tally(self.evidence.lattice.zero).bad else QUIET

    def _bound(self, risk_share: float) -> float:
        lattice = self.evidence.lattice
        level = 1 - (1 - self.confidence) / risk_share
        return difference_bound(self.evidence.tally(lattice.top), self.evidence.tally(lattice.zero), level)

    def unsure(self, null: float) -> bool:
        """Whether the ends must still tell p from q; ``null`` is the posterior of "nothing changed"."""
        if self.told:
            return False
        if null > 0.5 or not self.evidence.bad:
            return True
        lattice = self.evidence.lattice
        top, zero = self.evidence.tally(lattice.top), self.evidence.tally(lattice.zero)
        caution = self._caution
        return null > caution.doubt and separation(top, zero) < 1 - (1 - self.confidence) / caution.separation_share


def _variance(tally: Tally) -> float:
    a, b = tally.bad + 1, tally.good + 1
    return a * b / ((a + b) ** 2 * (a + b + 1))

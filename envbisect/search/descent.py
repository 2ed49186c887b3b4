"""Below a failing configuration to one that is locally minimal, by each configuration's own runs alone.

Where the test is not monotone a pass above says nothing about what is below. But wherever one starts, lowering one axis
after the other ends where every configuration right below passes: that is still a cause, of this failure at least.
Along one axis the boundary is halved; every configuration is run until it is clear whether it fails.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from envbisect.search.certificate import lower_neighbours
from envbisect.search.evidence import Evidence
from envbisect.search.labels import Labels, runs_of
from envbisect.search.words import Configuration, Proof, Role

MOST_RUNS: Final = 16  # of one configuration that cannot decide itself
SHARE: Final = 4  # a single label may be wrong with this part of what the whole answer may


@dataclass(frozen=True, slots=True)
class Descent:
    """Where a descent stands: it asks, or it has found, or (with neither) every way down is hidden.

    ``confidence`` is the product over the culprit and what is right below it.
    """

    ask: Configuration | None = None
    culprit: Configuration | None = None
    confidence: float = 0.0


def descend(evidence: Evidence, labels: Labels, confidence: float) -> Descent:
    """The next run, or a configuration that fails while each one right below it passes."""
    clear = 1 - (1 - confidence) / SHARE
    lattice = evidence.lattice
    starts = [x for x in evidence.tallies if x == lattice.top or _known(x, evidence, labels, clear) is True]
    for start in sorted(starts, key=lambda x: (sum(x), x)):
        below = lower_neighbours(start, evidence)
        known = [_known(x, evidence, labels, clear) for x in below]
        if True in known:
            continue  # that one was a start already, and is hidden
        for point, fails in zip(below, known, strict=True):
            if fails is None and (ask := _halve(start, point, evidence, labels, clear)) is not None:
                return Descent(ask)
        if None in known:
            continue
        sure = {x: labels.fails(x) if x == start else 1 - labels.fails(x) for x in (start, *below)}
        weakest = min(sure, key=lambda x: (sure[x], x))
        whole = math.prod(sure.values())
        if whole < confidence and evidence.chance(weakest) > 0 and not _exhausted(weakest, evidence):
            return Descent(weakest)
        return Descent(None, start, whole)
    return Descent()


def _known(point: Configuration, evidence: Evidence, labels: Labels, clear: float) -> bool | None:
    """Whether its own runs say that it fails; None as long as they are not clear."""
    if not evidence.tally(point).told:
        return None
    fails = labels.fails(point)
    return True if fails >= clear else False if fails <= 1 - clear else None


def _exhausted(point: Configuration, evidence: Evidence) -> bool:
    tally = evidence.tally(point)
    return sum(runs_of(tally)) + tally.unresolved >= MOST_RUNS


def _halve(
    start: Configuration, neighbour: Configuration, evidence: Evidence, labels: Labels, clear: float
) -> Configuration | None:
    """What to run on the way down from ``start`` towards ``neighbour``: a clear pass below is looked for first."""
    axis = next(i for i, (high, low) in enumerate(zip(start, neighbour, strict=True)) if high != low)
    low = -1
    unclear: list[int] = []
    for step in range(start[axis]):
        point = (*start[:axis], step, *start[axis + 1 :])
        match _known(point, evidence, labels, clear):
            case False:
                low, unclear = step, []
            case None if evidence.chance(point) > 0 and not _exhausted(point, evidence):
                unclear.append(step)
            case _:
                pass
    if not unclear:
        return None
    started = [s for s in unclear if evidence.tally((*start[:axis], s, *start[axis + 1 :])).told]
    middle = (low + start[axis]) / 2
    step = min(started or unclear, key=lambda s: (s if low < 0 else abs(s - middle), s))
    return (*start[:axis], step, *start[axis + 1 :])


def own_certificate(culprit: Configuration, evidence: Evidence) -> tuple[Proof, ...]:
    """A certificate of own runs: nothing is implied by what passes above."""
    roles = [(Role.CULPRIT, culprit), *((Role.NEIGHBOUR, x) for x in lower_neighbours(culprit, evidence))]
    lines = []
    for role, point in roles:
        tally = evidence.tally(point)
        lines.append(Proof(role, point, tally.good, tally.bad, tally.unresolved + tally.unbuildable))
    return tuple(lines)

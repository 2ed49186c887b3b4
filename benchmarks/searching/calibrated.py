"""What trials come to by confidence and by kind of world, and whether that is what is wanted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from envbisect.search import Status
from envbisect.stats import binomial_interval
from searching.randomworlds import RandomWorld, draw
from searching.trials import CONFIDENCES, Trial

SURE: Final = 0.95  # of each one-sided bound
ANSWERED: Final = 0.8  # share of the searches with a testable boundary that shall name a culprit
ALL: Final = "all"

WIDE: Final = 0.5
MIN_EFFECT: Final = 0.35  # differences below it may be given up as not reproduced: the default of the search

KINDS: Final[Mapping[str, Callable[[RandomWorld], bool]]] = {
    ALL: lambda _: True,
    "deterministic": lambda world: (world.p, world.q) == (1.0, 0.0),
    "q = 0, p < 1": lambda world: world.q == 0 and world.p < 1,
    "q > 0, p − q > .5": lambda world: world.q > 0 and world.p - world.q > WIDE,
    "q > 0, p − q ≤ .5": lambda world: world.q > 0 and world.p - world.q <= WIDE,
    "p − q < .35": lambda world: world.p - world.q < MIN_EFFECT,
    "one minimal point": lambda world: len(world.points) == 1,
    "several minimal points": lambda world: len(world.points) > 1,
    "with unbuildable steps": lambda world: bool(world.unbuildable),
}
"""Kinds of worlds by name; a world is of several."""


@dataclass(frozen=True, slots=True)
class Share:
    """Some of a number of searches."""

    part: int
    whole: int

    @property
    def bounds(self) -> tuple[float, float]:
        """The lower and the upper bound of the true share, each one-sided at 95 % (Clopper and Pearson 1934)."""
        return binomial_interval(self.part, self.whole, 2 * SURE - 1)


class Standing(StrEnum):
    """How a share stands to what it shall be."""

    MET = "met"
    WITHIN_CHANCE = "missed, within chance"
    MISSED = "missed"
    NOTHING = "nothing to judge"


def standing(share: Share, wanted: float) -> Standing:
    """Missed is what a true share of ``wanted`` comes to in fewer than one of twenty measurements."""
    if not share.whole:
        return Standing.NOTHING
    if share.part / share.whole >= wanted:
        return Standing.MET
    return Standing.MISSED if share.bounds[1] < wanted else Standing.WITHIN_CHANCE


@dataclass(frozen=True, slots=True)
class Tally:
    """What the searches of one kind came to at one confidence.

    Attributes:
        kind: its name in ``KINDS``.
        confidence: that was asked for.
        searches: how many there are.
        culprits: searches that named a culprit.
        right: those whose culprit is a true minimal point.
        suspecting: searches that ended with suspects.
        containing: those with a true minimal point among them.
        suspects_mean: how many they named.
        testable: searches where all minimal points and what is right below them can be tested.
        answered: those of them that named a culprit.
        probes_mean: from the ends on, those at lower confidences included.
        probes_p95: 95 % of the searches took no more.
        statuses: how they ended, by the search's own word.
    """

    kind: str
    confidence: float
    searches: int
    culprits: int
    right: int
    suspecting: int
    containing: int
    suspects_mean: float
    testable: int
    answered: int
    probes_mean: float
    probes_p95: int
    statuses: dict[str, int]


@dataclass(frozen=True, slots=True)
class Goal:
    """One share that is wanted, and what it is."""

    title: str
    wanted: float
    share: Share

    @property
    def standing(self) -> Standing:
        """Whether it is met."""
        return standing(self.share, self.wanted)


def goals(tally: Tally) -> tuple[Goal, Goal, Goal]:
    """What is wanted of the searches at one confidence."""
    return (
        Goal("the culprit is right", tally.confidence, Share(tally.right, tally.culprits)),
        Goal("the suspects contain the truth", tally.confidence, Share(tally.containing, tally.suspecting)),
        Goal("answered, of a testable boundary", ANSWERED, Share(tally.answered, tally.testable)),
    )


def missed(tallies: Sequence[Tally]) -> list[tuple[Tally, Goal]]:
    """What all searches together miss beyond chance; one kind alone decides nothing."""
    whole = [each for each in tallies if each.kind == ALL]
    return [(tally, goal) for tally in whole for goal in goals(tally) if goal.standing is Standing.MISSED]


def tallies(trials: Sequence[Trial]) -> Iterator[Tally]:
    """Every kind that occurs, at every confidence."""
    worlds = [(trial, draw(trial.seed)) for trial in trials]
    for kind, belongs in KINDS.items():
        chosen = [(trial, world) for trial, world in worlds if belongs(world)]
        if chosen:
            yield from (_tally(kind, number, chosen) for number in range(len(CONFIDENCES)))


def _tally(kind: str, number: int, chosen: Sequence[tuple[Trial, RandomWorld]]) -> Tally:
    endings = [trial.endings[number] for trial, _ in chosen]
    culprits = [each for each in endings if each.status == Status.CULPRIT.value]
    suspecting = [each for each in endings if each.status == Status.SUSPECTS.value]
    testable = [trial.endings[number].status for trial, world in chosen if world.boundary_builds]
    probes = sorted(each.probes for each in endings)
    return Tally(
        kind=kind,
        confidence=CONFIDENCES[number],
        searches=len(endings),
        culprits=len(culprits),
        right=sum(each.right for each in culprits),
        suspecting=len(suspecting),
        containing=sum(each.right for each in suspecting),
        suspects_mean=round(sum(each.suspects for each in suspecting) / max(1, len(suspecting)), 2),
        testable=len(testable),
        answered=testable.count(Status.CULPRIT.value),
        probes_mean=round(sum(probes) / len(probes), 2),
        probes_p95=probes[math.ceil(0.95 * len(probes)) - 1],
        statuses=dict(sorted(Counter(each.status for each in endings).items())),
    )

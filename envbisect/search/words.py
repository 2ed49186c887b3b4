"""The words of the search: outcomes, causes, statuses, costs and results. Light: nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import le
from typing import TypeAlias

Configuration: TypeAlias = tuple[int, ...]
"""A step for every axis; good is all 0, bad is all top."""


class Outcome(StrEnum):
    """What one probe said about the symptom."""

    GOOD = "good"
    BAD = "bad"
    UNRESOLVED = "unresolved"


class Cause(StrEnum):
    """Why a probe said nothing."""

    UNBUILDABLE = "unbuildable"  # the environment cannot be made: learned at once
    OTHER_FAILURE = "other-failure"  # it failed, but not in the way that is searched
    UNDECIDED = "undecided"  # the test itself could not tell


class Status(StrEnum):
    """How a search stands."""

    CULPRIT = "culprit"
    SUSPECTS = "suspects"
    NOT_REPRODUCED = "not-reproduced"
    GOOD_FAILS = "good-fails"
    BUDGET = "budget"  # not decided yet: more probes would help
    UNDECIDED = "undecided"  # nothing left to ask, and no answer


class Role(StrEnum):
    """What a configuration of the certificate shows."""

    CULPRIT = "culprit"
    NEIGHBOUR = "neighbour"


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of a probe: ``run_s`` each time, and ``build_s`` of a group when its projection on ``axes`` is new."""

    run_s: float
    groups: Sequence[tuple[Sequence[int], float]] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """One line of a certificate: a configuration and what its own runs said.

    ``witness`` is set when a neighbour's pass is implied: that configuration, at or above it on every axis, passed.
    """

    role: Role
    configuration: Configuration
    good: int
    bad: int
    unresolved: int
    witness: Configuration | None = None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """``lower`` fails although ``upper``, which has all its changes and more, passes: the test is not monotone.

    ``lower_runs`` and ``upper_runs`` are the (good, bad) answers of both.
    """

    lower: Configuration
    upper: Configuration
    lower_runs: tuple[int, int] = (0, 0)
    upper_runs: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Drift:
    """One configuration answered otherwise late than early: the machine changed, or something else that is no axis.

    Attributes:
        configuration: an end of the search, which was run again and again.
        before: its (good, bad) answers up to the change.
        after: its (good, bad) answers since.
        probability: the chance of so large a change, wherever it lies, if there was none.
    """

    configuration: Configuration
    before: tuple[int, int]
    after: tuple[int, int]
    probability: float


@dataclass(frozen=True, slots=True)
class Result:
    """What the search knows now.

    Attributes:
        status: see Status; BUDGET while probes are left to ask.
        culprit: a minimal failing point, only with status CULPRIT.
        confidence: probability that the culprit (or one of the suspects) is a true minimal failing point; 0 without.
        suspects: with status SUSPECTS, the points that no testable configuration tells apart.
        complete: the passes seen exclude every other minimal failing point.
        certificate: the culprit's own runs, then one line for every lower neighbour.
        contradictions: pairs of observations that no monotone failure explains at the rates found.
        drift: an end whose answers changed on the way; what was measured across the change proves nothing.
        bound: upper bound of p - q from the endpoint runs alone.
        rates: (p, q) as estimated: how often a failing and a passing configuration fails.
        posterior_top: the few most probable minimal points with their probability.
    """

    status: Status
    culprit: Configuration | None = None
    confidence: float = 0.0
    suspects: tuple[Configuration, ...] = ()
    complete: bool = False
    certificate: tuple[Proof, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    drift: Drift | None = None
    bound: float = 1.0
    rates: tuple[float, float] = (1.0, 0.0)
    posterior_top: tuple[tuple[Configuration, float], ...] = field(default=())


def below(lower: Configuration, upper: Configuration) -> bool:
    """Whether ``lower`` is at or below ``upper`` on every axis."""
    return all(map(le, lower, upper))

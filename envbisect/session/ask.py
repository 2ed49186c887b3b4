"""What the campaign asks of the executor, and what it hears back. Plain values: the journal stores both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from envbisect.burnin.symptoms import Observation
from envbisect.manifest.stack import Value
from envbisect.space.model import Configuration, Rider


class Purpose(StrEnum):
    """Why a probe is run; endpoints and verification are counted apart."""

    ENDPOINT = "endpoint"
    SEARCH = "search"
    NEIGHBOUR = "neighbour"
    REVERSAL = "reversal"
    NAMING = "naming"


@dataclass(frozen=True, slots=True)
class Ask:
    """One probe to run. ``changes`` exchange single packages without resolution (naming at the boundary)."""

    configuration: Configuration
    purpose: Purpose
    changes: Mapping[str, Value] = field(default_factory=dict)
    expected_left: float | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """The burn-in ran. ``point`` is the realised configuration that was really tested.

    ``components`` holds every pin of the realised stack, packages included.
    """

    point: Configuration
    observation: Observation
    components: Mapping[str, Value]
    riders: tuple[Rider, ...]
    build_s: float
    run_s: float


@dataclass(frozen=True, slots=True)
class NotBuilt:
    """The stack of ``point`` cannot be built, after a retry.

    ``blamed`` are the pins ("pyyaml==5.4") that failed: they fail in every stack with the same Python.
    """

    point: Configuration
    reason: str
    blamed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotFeasible:
    """The requirements contradict each other at and near the asked configuration; nothing was built or run."""

    reason: str


Reply = Ran | NotBuilt | NotFeasible

"""What a session tells whoever watches it. Subscribers (live progress, plain lines) never reach back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from envbisect.manifest.stack import Value


class Phase(StrEnum):
    """The stages of a run, in order; a run may go back from VERIFICATION to SEARCH."""

    PLANNING = "planning"
    ENDPOINTS = "endpoints"
    SEARCH = "search"
    VERIFICATION = "verification"
    NAMING = "naming"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class PhaseChanged:
    """A new stage began; ``detail`` is one line for people."""

    phase: Phase
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Something the user should know now: the plan's choice of runtime, a retry, a rider."""

    text: str


@dataclass(frozen=True, slots=True)
class ProbeStarted:
    """``changes`` are the axes that are not at their good value; ``expected_left`` is None while unknown."""

    number: int
    phase: Phase
    changes: Mapping[str, Value]
    axes: int
    expected_left: float | None = None


@dataclass(frozen=True, slots=True)
class BuildStarted:
    """An environment is being made for probe ``number``."""

    number: int


@dataclass(frozen=True, slots=True)
class BuildFinished:
    """The environment of probe ``number`` is ready, or failed (``failure`` says why)."""

    number: int
    build_s: float
    reused: bool
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ProbeFinished:
    """Probe ``number`` is durable in the journal. ``outcome`` is for the primary symptom once there is one.

    ``outcome`` is "good", "bad" or "unresolved"; during the endpoint runs, before a symptom is known, it is
    "pass", "fail" or "cannot-tell". ``detail`` is one line: the failure's own words.
    """

    number: int
    phase: Phase
    outcome: str
    cause: str
    detail: str
    run_s: float


@dataclass(frozen=True, slots=True)
class Decided:
    """The run has its answer; ``status`` as in the result document."""

    status: str


Event: TypeAlias = PhaseChanged | Note | ProbeStarted | BuildStarted | BuildFinished | ProbeFinished | Decided
Subscriber: TypeAlias = Callable[[Event], None]


def ignore(event: Event) -> None:
    """The subscriber that watches nothing."""

"""The burn-in result (schema 1) as the controller reads it: tolerant of fields that a later payload adds."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from envbisect.errors import EnvbisectError


class CheckStatus(StrEnum):
    """How a check ended. ``refused``: torch itself declined to run it under the pinned flags."""

    PASS = "pass"
    FAIL = "fail"
    REFUSED = "refused"
    ERROR = "error"
    HANG = "hang"
    SKIPPED = "skipped"
    CANNOT_TELL = "cannot-tell"


class FailureKind(StrEnum):
    """What a failure is known by."""

    VALUE = "value"
    EXCEPTION = "exception"
    EXIT = "exit"
    SIGNAL = "signal"
    HANG = "hang"
    PATTERN = "pattern"


class _Tolerant(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ExceptionFacts(_Tolerant):
    """An exception without what differs from run to run. Frames are ``package.module:function``, raising one last."""

    type: str
    frames: tuple[str, ...] = ()
    message: str = ""


class Failure(_Tolerant):
    """What identifies a failure. ``exit_code`` is negative for a signal."""

    kind: FailureKind
    type: str | None = None
    frames: tuple[str, ...] = ()
    message: str = ""
    exit_code: int | None = None
    signal: str | None = None
    rank: int | None = None
    pattern: str | None = None


class RankFacts(_Tolerant):
    """How one rank ended; times are seconds since the epoch."""

    rank: int
    exit_code: int | None = None
    signal: str | None = None
    exception: ExceptionFacts | None = None
    started: float | None = None
    failed_at: float | None = None


class CheckResult(_Tolerant):
    """One check. ``metrics`` are numbers by name, ``samples`` raw series, ``log`` a file beside the document."""

    id: str
    status: CheckStatus
    detail: str = ""
    failure: Failure | None = None
    metrics: Mapping[str, float] = {}
    samples: Mapping[str, tuple[float, ...]] = {}
    seconds: float = 0.0
    rounds: int = 0
    ranks: tuple[RankFacts, ...] = ()
    output_tail: str = ""
    log: str | None = None


class FlagState(_Tolerant):
    """A torch flag: what was asked for and what torch answered afterwards."""

    asked: str | int | float | bool
    read_back: str | int | float | bool | None


class BurninFault(_Tolerant):
    """A problem of the burn-in itself; ``kind`` is request, flag, setup, hook, metrics, classify or interrupted."""

    kind: str
    message: str


class BurninResult(_Tolerant):
    """What one probe observed. ``in_flight`` names the check that was running when the payload died, if it did."""

    schema_: Literal[1]
    kind: Literal["burnin-result"]
    probe: int
    python: str
    torch: str | None = None
    devices: tuple[str, ...] = ()
    flags: Mapping[str, FlagState] = {}
    checks: tuple[CheckResult, ...] = ()
    complete: bool = False
    in_flight: str | None = None
    seconds: float = 0.0
    faults: tuple[BurninFault, ...] = ()

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=lambda name: name.rstrip("_"))

    def check(self, identifier: str) -> CheckResult | None:
        """The result of one check, None if it did not run."""
        return next((check for check in self.checks if check.id == identifier), None)


def parse_result(document: Mapping[str, object]) -> BurninResult:
    """Read a result document.

    Raises:
        EnvbisectError: it is no burn-in result of schema 1.
    """
    try:
        return BurninResult.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        message = f"the burn-in result cannot be read: {place}: {first['msg']}"
        raise EnvbisectError(message, "the payload and this envbisect must be of one version") from error

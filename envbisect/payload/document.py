"""The burn-in result (schema 1): what its parts are, and a writer that keeps the file truthful at every moment.

The file is replaced atomically before a check begins (``in_flight`` names it) and after it ended, so a crash or a
kill leaves a partial document that says where it happened.
"""

from __future__ import annotations

import enum
import json
import os
import platform
import threading
import time
from typing import Any, Dict, List, Optional, TypedDict

from . import SCHEMA


class Status(str, enum.Enum):
    """How a check ended. ``REFUSED``: torch itself declined to run it under the pinned flags."""

    PASS = "pass"
    FAIL = "fail"
    REFUSED = "refused"
    ERROR = "error"
    HANG = "hang"
    SKIPPED = "skipped"
    CANNOT_TELL = "cannot-tell"


class FailureKind(str, enum.Enum):
    """What a failure is known by."""

    VALUE = "value"  # a result is wrong, or differs from its repetition
    EXCEPTION = "exception"
    EXIT = "exit"
    SIGNAL = "signal"
    HANG = "hang"
    PATTERN = "pattern"  # [burnin.classify] bad_if


class FaultKind(str, enum.Enum):
    """Where a problem of the burn-in itself, not of the stack, came from."""

    REQUEST = "request"
    FLAG = "flag"
    SETUP = "setup"
    HOOK = "hook"
    METRICS = "metrics"
    CLASSIFY = "classify"
    INTERRUPTED = "interrupted"


class ExceptionFacts(TypedDict):
    """An exception without what differs from run to run: no line numbers, paths, addresses or numbers.

    ``text`` alone is for people: the first line of the message as it was.
    """

    type: str
    frames: List[str]
    message: str
    text: str


class Failure(TypedDict):
    """What identifies a failure; fields that do not apply are None or empty. ``text`` says it as it was, for people."""

    kind: FailureKind
    type: Optional[str]
    frames: List[str]
    message: str
    text: str
    exit_code: Optional[int]
    signal: Optional[str]
    rank: Optional[int]
    pattern: Optional[str]


class RankFacts(TypedDict):
    """How one rank of a test ended. Times are seconds since the epoch; ``failed_at`` is None for a rank that passed."""

    rank: int
    exit_code: Optional[int]
    signal: Optional[str]
    exception: Optional[ExceptionFacts]
    started: Optional[float]
    failed_at: Optional[float]


class CheckResult(TypedDict):
    """One check's outcome. ``log`` is a file name beside the result document."""

    id: str
    status: Status
    detail: str
    failure: Optional[Failure]
    metrics: Dict[str, float]
    samples: Dict[str, List[float]]
    seconds: float
    rounds: int
    ranks: List[RankFacts]
    output_tail: str
    log: Optional[str]


def make_failure(
    kind: FailureKind,
    message: str = "",
    *,
    exception: Optional[ExceptionFacts] = None,
    exit_code: Optional[int] = None,
    signal: Optional[str] = None,
    rank: Optional[int] = None,
    pattern: Optional[str] = None,
) -> Failure:
    """A failure; type, frames and message come from ``exception`` if there is one."""
    return {
        "kind": kind,
        "type": exception["type"] if exception else None,
        "frames": list(exception["frames"]) if exception else [],
        "message": exception["message"] if exception else message,
        "text": exception["text"] if exception else message,
        "exit_code": exit_code,
        "signal": signal,
        "rank": rank,
        "pattern": pattern,
    }


def make_result(
    check: str, status: Status, detail: str = "", *, failure: Optional[Failure] = None, rounds: int = 0
) -> CheckResult:
    """A check's result with everything optional empty."""
    return {
        "id": check,
        "status": status,
        "detail": detail,
        "failure": failure,
        "metrics": {},
        "samples": {},
        "seconds": 0.0,
        "rounds": rounds,
        "ranks": [],
        "output_tail": "",
        "log": None,
    }


class ResultWriter:
    """Owns the result file. Safe to call from the watchdog's thread."""

    def __init__(self, path: str, probe: int) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._begun = time.monotonic()
        self._check_begun = self._begun
        self._closed = False
        self._checks: List[CheckResult] = []
        self._document: Dict[str, Any] = {
            "schema": SCHEMA,
            "kind": "burnin-result",
            "probe": probe,
            "python": platform.python_version(),
            "torch": None,
            "devices": [],
            "flags": {},
            "checks": self._checks,
            "complete": False,
            "in_flight": None,
            "seconds": 0.0,
            "faults": [],
        }
        self.write()

    @property
    def folder(self) -> str:
        """Where logs go: the folder of the result."""
        return os.path.dirname(os.path.abspath(self._path))

    @property
    def in_flight(self) -> Optional[str]:
        """The id of the check that is running, None between checks."""
        running: Optional[str] = self._document["in_flight"]
        return running

    def environment(self, torch: Optional[str], devices: List[str]) -> None:
        """Say which torch and which devices there are."""
        self._document["torch"] = torch
        self._document["devices"] = devices

    def flag(self, name: str, asked: object, read_back: object) -> None:
        """Say what a flag was set to and what torch answers when it is asked."""
        plain = read_back if isinstance(read_back, (str, int, float, bool, type(None))) else repr(read_back)
        self._document["flags"][name] = {"asked": asked, "read_back": plain}

    def fault(self, kind: FaultKind, message: str) -> None:
        """Add a problem of the burn-in itself."""
        with self._lock:
            self._document["faults"].append({"kind": kind, "message": message})

    def begin(self, check: str) -> None:
        """Say that ``check`` is about to run."""
        with self._lock:
            self._document["in_flight"] = check
            self._check_begun = time.monotonic()
            self.write()

    def finish(self, result: CheckResult) -> None:
        """Add the result of the check in flight; its seconds are the time since ``begin``."""
        with self._lock:
            result["seconds"] = round(time.monotonic() - self._check_begun, 6)
            self._checks.append(result)
            self._document["in_flight"] = None
            self.write()

    def skip(self, result: CheckResult) -> None:
        """Add the result of a check that never began."""
        with self._lock:
            self._checks.append(result)
            self.write()

    def complete(self) -> None:
        """Say that everything that was asked for has been tried."""
        with self._lock:
            self._document["complete"] = True
            self.write()
            self._closed = True

    def abandon(self, result: CheckResult) -> None:
        """The last word of a watchdog or a signal handler: ``result`` for the check in flight, then nothing more."""
        with self._lock:
            if self._closed:
                return
            self.finish(result)
            self._closed = True

    def write(self) -> None:
        """Replace the file atomically. After ``complete`` or ``abandon`` nothing is written any more."""
        with self._lock:
            if self._closed:
                return
            self._document["seconds"] = round(time.monotonic() - self._begun, 6)
            temporary = self._path + ".tmp"
            with open(temporary, "w", encoding="utf-8") as stream:
                json.dump(self._document, stream, allow_nan=False)
            os.replace(temporary, self._path)

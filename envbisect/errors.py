"""The one error root. Every error says what went wrong, where, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class ExitCode(IntEnum):
    """What the process tells its caller (documented in ``docs/exit-codes.md``)."""

    DONE = 0
    NO_CULPRIT = 1
    USAGE = 2
    ENVIRONMENT = 3
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in one place of a manifest or of the command line.

    ``line`` is 1-based, 0 when the place is a whole file. ``nearest`` is the nearest right name, empty if none is near.
    """

    message: str
    file: str = ""
    line: int = 0
    key: str = ""
    expected: str = ""
    nearest: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        return f"{place}{self.message}"


class EnvbisectError(Exception):
    """Root of all errors that a user may see.

    Attributes:
        message: one line, what and where.
        hint: one line, what to do next; may be empty.
        faults: the single faults, when several are reported at once.
        exit_code: the exit code of the process if nobody handles the error.
    """

    exit_code: ExitCode = ExitCode.ENVIRONMENT

    def __init__(self, message: str, hint: str = "", faults: Sequence[Fault] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.faults = tuple(faults)


class UsageError(EnvbisectError):
    """The command line, a manifest or a file that it names is wrong (exit code 2)."""

    exit_code = ExitCode.USAGE


class ManifestError(UsageError):
    """A manifest has faults; all of them are in ``faults``."""


class EnvironmentFailure(EnvbisectError):  # noqa: N818 - no error of ours: the world around us failed
    """The machine, the network, a daemon or the disk failed: no evidence about the stack (exit code 3)."""

    exit_code = ExitCode.ENVIRONMENT

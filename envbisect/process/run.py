"""Run a command in its own process group, with a deadline, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended. ``exit_code`` is negative for a signal, as in subprocess."""

    exit_code: int
    timed_out: bool
    seconds: float


def run_group(
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    cwd: Path,
    stdout: Path,
    stderr: Path,
    deadline_s: float | None,
) -> Finished:
    """Run ``command`` to its end or to the deadline; every process that it started is dead afterwards.

    Raises:
        OSError: the command could not be started.
        KeyboardInterrupt: Ctrl-C came; the group was killed first.
    """
    raise NotImplementedError  # the owner of this module writes it

"""Why a command could not be started; its exit code as in a shell: 127 is not there, 126 cannot be run."""

from __future__ import annotations

import os
from typing import Mapping, NamedTuple


class NotStarted(NamedTuple):
    """The exit code that a shell would give, and one line for people."""

    exit_code: int
    reason: str


def not_started(program: str, environ: Mapping[str, str], error: OSError) -> NotStarted:
    """Say why ``program`` could not be started here: ``error`` is what the operating system said."""
    if not isinstance(error, FileNotFoundError):
        return NotStarted(126, "%s: cannot be run: %s" % (program, error.strerror or error))
    if os.sep not in program:
        return NotStarted(127, "%s: not found in PATH of the test: %s" % (program, environ.get("PATH", "(not set)")))
    if os.path.exists(program):
        return NotStarted(127, "%s: the interpreter that its first line names is not there" % program)
    return NotStarted(127, "%s: not found in %s" % (program, os.getcwd()))

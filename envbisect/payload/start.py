"""Why a command could not be started; its exit code as in a shell: 127 is not there, 126 cannot be run."""

from __future__ import annotations

import os
import sys
from typing import Mapping, NamedTuple


class NotStarted(NamedTuple):
    """The exit code that a shell would give, one line for people, and what they may want to see besides."""

    exit_code: int
    reason: str
    shown: str = ""


def not_started(program: str, environ: Mapping[str, str], error: OSError) -> NotStarted:
    """Say why ``program`` could not be started here: ``error`` is what the operating system said."""
    if not isinstance(error, FileNotFoundError):
        return NotStarted(126, "%s: cannot be run: %s" % (program, error.strerror or error))
    if os.sep not in program:
        reason = "%s: not found in PATH of the environment of %s" % (program, sys.executable)
        return NotStarted(127, reason, "PATH=%s" % environ["PATH"] if "PATH" in environ else "PATH is not set")
    if os.path.exists(program):
        return NotStarted(127, "%s: the interpreter that its first line names is not there" % program)
    return NotStarted(127, "%s: not found in %s" % (program, os.getcwd()))

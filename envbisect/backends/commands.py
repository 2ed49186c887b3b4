"""Whether a test's command can be started at all, asked before anything is built or run."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

THE_ENVIRONMENTS_OWN: Final = frozenset({"python", "python3"})
"""Names for which the payload takes the interpreter of the environment, whatever PATH says."""

_LONGEST_FIRST_LINE: Final = 256  # Linux: BINPRM_BUF_SIZE


def command_problem(command: Sequence[str], cwd: Path, path: str) -> str:
    """Why ``command`` cannot be started, one line; empty if nothing speaks against it.

    Args:
        command: the program and its arguments, not empty.
        cwd: the folder that it is started in.
        path: PATH of the environment; its relative folders mean ``cwd``, as they do to exec.
    """
    program = command[0]
    if program in THE_ENVIRONMENTS_OWN:
        return ""
    if os.sep in program:
        return _problem_of(cwd / program, program)
    problems = []
    for folder in path.split(os.pathsep):
        file = cwd / folder / program
        if not os.path.lexists(file):
            continue
        problem = _problem_of(file, program)
        if not problem:
            return ""
        problems.append(f"{problem} ({file})")
    if problems:
        return problems[0]
    here = ": it lies in the test's folder; write ./" + program if (cwd / program).is_file() else ""
    return f"{program} is not found on the PATH of the environment{here}"


def _problem_of(file: Path, program: str) -> str:
    try:
        status = file.stat()
    except FileNotFoundError:
        return f"{program} is a broken link" if file.is_symlink() else f"{program} is not there ({file})"
    except OSError as error:
        return f"{program} cannot be looked at: {error.strerror}"
    if stat.S_ISDIR(status.st_mode):
        return f"{program} is a folder"
    if not os.access(file, os.X_OK):
        return f"{program} is not executable: chmod +x it, or name its interpreter before it"
    return _first_line_problem(file, program)


def _first_line_problem(file: Path, program: str) -> str:
    """A script whose interpreter is missing fails with "No such file", which says the wrong thing."""
    try:
        with file.open("rb") as opened:
            first = opened.read(_LONGEST_FIRST_LINE).partition(b"\n")[0]
    except OSError:  # may be run, not read
        return ""
    if not first.startswith(b"#!"):
        return ""
    interpreter = os.fsdecode(first[2:].strip(b" \t").split(b" ")[0])
    if interpreter.endswith("\r") or (interpreter.startswith(os.sep) and not Path(interpreter).exists()):
        return f"{program} names an interpreter that is not there: {interpreter!r}"
    return ""

"""The three standard streams, whatever the caller made of them: closed, full, or with a reader that went away."""

from __future__ import annotations

import io
import os
import sys
from typing import Final

STDIN, STDOUT, STDERR = range(3)
_FLAGS: Final = {STDIN: os.O_RDONLY, STDOUT: os.O_WRONLY, STDERR: os.O_WRONLY}


class Forgiving(io.TextIOWrapper):
    """Standard error: what it cannot take is lost, for a run must not end because nobody watches its progress."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            discard(STDERR)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            discard(STDERR)


def settle() -> bool:
    """Make the streams fit to be used; returns whether there is a standard output at all.

    A descriptor that the caller closed is opened on the null device: else the next file that is opened, a journal for
    example, would get its number, and with it what a library prints.
    """
    missing = {fd for fd in (STDIN, STDOUT, STDERR) if _is_closed(fd)}
    for fd in sorted(missing):
        _point_at_null(fd)
    if STDOUT in missing or sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.FileIO(os.devnull, "w"))
    # A name or a message may hold what the terminal's encoding cannot say; the answer must come out all the same.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if STDERR in missing or sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.FileIO(os.devnull, "w"), errors="backslashreplace")
    elif type(sys.stderr) is io.TextIOWrapper:  # no other: whoever put it there wants to see what is written
        sys.stderr = Forgiving(
            sys.stderr.buffer, encoding=sys.stderr.encoding, errors="backslashreplace", line_buffering=True
        )
    return STDOUT not in missing


def put(text: str) -> None:
    """Write to standard output, all of it or an OSError.

    Not by its buffer, which loses what is left (CPython 3.11) when a signal meets it waiting for the reader of a pipe.
    """
    try:
        fd = sys.stdout.fileno()
    except OSError:  # no file, but something in memory
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    left = memoryview(text.encode(sys.stdout.encoding, "backslashreplace"))
    while left:
        left = left[os.write(fd, left) :]


def discard(fd: int) -> None:
    """From now on what is written to ``fd`` is lost without an error, also what the interpreter flushes at its end."""
    _point_at_null(fd)


def _is_closed(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return True
    return False


def _point_at_null(fd: int) -> None:
    null = os.open(os.devnull, _FLAGS[fd])
    if null != fd:
        os.dup2(null, fd)
        os.close(null)
    os.set_inheritable(fd, True)

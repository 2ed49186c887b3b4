"""Describe a failure by what stays the same when it happens again."""

from __future__ import annotations

import re
import signal
from types import TracebackType
from typing import List, Optional

from .document import ExceptionFacts

FRAMES = 3
"""How many of the last frames identify an exception."""

MESSAGE_CHARACTERS = 300

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+")
_PATH = re.compile(r"(?<![\w.])(?:~|\.{1,2})?(?:/[\w.+@~-]+){2,}/?")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_MACHINERY = ("importlib", "importlib._bootstrap", "importlib._bootstrap_external", "runpy")
_OWN = ("envbisect_payload", "envbisect.payload")


def describe_exception(error: BaseException) -> ExceptionFacts:
    """Type, last frames and first line of ``error``, normalised, and that line as it is."""
    text = _text(error)
    return {
        "type": type(error).__qualname__,
        "frames": frames_of(error.__traceback__),
        "message": normalised_message(text),
        "text": first_line(text),
    }


def told(exception: ExceptionFacts) -> str:
    """An exception as Python says it on its last line: ``KeyError: 'x'``."""
    return ": ".join(filter(None, (exception["type"], exception["text"])))


def frames_of(traceback: Optional[TracebackType]) -> List[str]:
    """The last frames as ``package.module:function``, the raising one last.

    Import machinery is left out, because what it looks like depends on the interpreter; so are frames of the payload,
    unless nothing else is left.
    """
    frames = []
    while traceback is not None:
        frame = traceback.tb_frame
        module = str(frame.f_globals.get("__name__", "?"))
        frames.append(("__main__" if module == "__mp_main__" else module, frame.f_code.co_name))
        traceback = traceback.tb_next
    frames = [frame for frame in frames if frame[0] not in _MACHINERY]
    foreign = [frame for frame in frames if not frame[0].startswith(_OWN)]
    return ["%s:%s" % frame for frame in (foreign or frames)[-FRAMES:]]


def first_line(text: str) -> str:
    """The first line that says something, for people: control characters spelled out, cut to a readable length."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in _first(text))
    return line if len(line) <= MESSAGE_CHARACTERS else line[: MESSAGE_CHARACTERS - 1] + "…"


def normalised_message(text: str) -> str:
    """The first line that says something, with addresses, paths and numbers replaced."""
    line = _first(text)
    line = _ADDRESS.sub("<address>", line)
    line = _PATH.sub("<path>", line)
    return _NUMBER.sub("N", line)[:MESSAGE_CHARACTERS]


def signal_name(exit_code: Optional[int]) -> Optional[str]:
    """``SIGSEGV`` for -11; None for an exit code that is no signal."""
    if exit_code is None or exit_code >= 0:
        return None
    try:
        return signal.Signals(-exit_code).name
    except ValueError:  # a real-time signal has no name
        return "SIG%d" % -exit_code


def _first(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:  # a third-party __str__ may fail in any way
        return "<no message: %s>" % type(broken).__name__

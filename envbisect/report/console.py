"""The console that reports are printed on: colours on a terminal only, no wrapping anywhere else."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from rich.console import Console

UNWRAPPED: Final = 10_000
"""Columns of a console that is no terminal: a file or a pipe keeps every line whole, so that it can be grepped."""


def coloured(stream: TextIO) -> bool:
    """True if escape sequences may be written to ``stream``: a terminal that can, and no ``NO_COLOR``."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def console_for(stream: TextIO) -> Console:
    """A console on ``stream``. Markup is off: ``[x]`` in a manifest or in the output of a test is no markup."""
    from rich.console import Console

    terminal = stream.isatty()
    return Console(
        file=stream,
        force_terminal=terminal,
        color_system="auto" if coloured(stream) else None,
        width=None if terminal else UNWRAPPED,
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=True,
    )


def same_place(one: TextIO, other: TextIO) -> bool:
    """True if both streams end in one place (a terminal, a pipe, a file): who reads one of them reads the other."""
    try:
        return os.path.samestat(os.fstat(one.fileno()), os.fstat(other.fileno()))
    except (OSError, ValueError):  # a stream without a file, or a closed one
        return False


def rendered(render: Callable[[Console], None], stream: TextIO) -> str:
    """What ``render`` prints for ``stream``, as text: who writes it decides what a closed pipe means."""
    console = console_for(stream)
    with console.capture() as captured:
        render(console)
    text = captured.get()
    return text if stream.isatty() else "".join(f"{line.rstrip()}\n" for line in text.splitlines())

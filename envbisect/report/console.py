"""The console that reports are printed on: colours on a terminal only, no wrapping anywhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from rich.console import Console

UNWRAPPED: Final = 10_000
"""Columns of a console that is no terminal: a file or a pipe keeps every line whole, so that it can be grepped."""


def console_for(stream: TextIO) -> Console:
    """A console on ``stream``. ``NO_COLOR`` and ``TERM=dumb`` are honoured; markup and highlighting are off.

    Both are off because most of what is printed comes from manifests and tests, and ``[x]`` there is no markup.
    """
    from rich.console import Console

    width = None if stream.isatty() else UNWRAPPED
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False, soft_wrap=True)

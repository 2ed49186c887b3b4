"""What a command hands back: one document, how people read it, and the exit code. Only ``main`` prints it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envbisect.errors import ExitCode

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of one command.

    Attributes:
        document: what ``--json`` prints, exactly once, on stdout.
        render: prints the same for people on the console that it is given.
        exit_code: the exit code of the process.
    """

    document: Mapping[str, object]
    render: Callable[[Console], None]
    exit_code: ExitCode = ExitCode.DONE


@dataclass(frozen=True, slots=True)
class Told:
    """All that a command says to the outside: the exit code, the text for stdout, and whole lines for stderr."""

    exit_code: int
    out: str = ""
    err: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Invocation:
    """What the command line says to every command, wherever it stands: ``--json``, ``--debug`` and what follows ``--``.

    ``test`` is the user's own test (what follows the first ``--``), None if there is no ``--``.
    """

    json: bool
    debug: bool
    test: tuple[str, ...] | None

    @classmethod
    def parse(cls, argv: list[str]) -> tuple[Invocation, list[str]]:
        """Split ``argv`` at the first ``--``; returns what was said and the arguments that Typer reads."""
        cut = argv.index("--") if "--" in argv else len(argv)
        head = argv[:cut]
        test = tuple(argv[cut + 1 :]) if cut < len(argv) else None
        return cls(json="--json" in head, debug="--debug" in head, test=test), head


def encode(document: Mapping[str, object]) -> str:
    """One JSON document and a newline; plain ASCII, so that no locale of the terminal can break it.

    Raises:
        ValueError: the document holds a NaN or an infinity, which JSON cannot say.
    """
    return json.dumps(document, indent=2, allow_nan=False) + "\n"

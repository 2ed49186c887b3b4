"""Arguments and options that several commands share, each described once."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from envbisect.errors import UsageError

Good: TypeAlias = Annotated[
    str, typer.Argument(metavar="GOOD", help="Manifest (or pip freeze) of the stack that works.", show_default=False)
]
Bad: TypeAlias = Annotated[
    str, typer.Argument(metavar="BAD", help="Manifest (or pip freeze) of the stack that does not.", show_default=False)
]
SessionFolder: TypeAlias = Annotated[
    str, typer.Argument(metavar="DIR", help="Folder of the session.", show_default=False)
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Debug: TypeAlias = Annotated[bool, typer.Option("--debug", help="Show the traceback of an internal error.")]
Confidence: TypeAlias = Annotated[
    float, typer.Option("--confidence", metavar="P", help="Probability that an answer must reach.")
]
MaxProbes: TypeAlias = Annotated[
    int | None, typer.Option("--max-probes", metavar="N", help="Stop after N probes.", show_default="no limit")
]
MaxHours: TypeAlias = Annotated[
    float | None, typer.Option("--max-hours", metavar="H", help="Stop after H hours.", show_default="no limit")
]
Backend: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--backend",
        metavar="NAME",
        help="How environments are made: local or venv.",
        show_default="the smallest that can move what differs",
    ),
]
BurninFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--burnin", metavar="FILE", help="TOML file whose burnin table is used.", show_default="what the manifests say"
    ),
]
Seed: TypeAlias = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the search.")]
FindAll: TypeAlias = Annotated[
    bool, typer.Option("--all", help="Go on after the first culprit until no other one is left.")
]
Interpreter: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--python",
        metavar="PATH",
        help="Interpreter whose packages are meant.",
        show_default="the first of $VIRTUAL_ENV, PATH and envbisect's own that fits",
    ),
]
Checks: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--checks", metavar="ID,…", help="Built-in checks to run, by id.", show_default="what the manifests say"
    ),
]
Known: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--known",
        metavar="END=PASSES/RUNS",
        help="What is known already: good=30/30, bad=0/12.",
        show_default=False,
    ),
]


def check_ids(text: str | None) -> tuple[str, ...] | None:
    """``"repeat, ladder"`` to ids; None if the option was not given.

    Raises:
        UsageError: no id is named.
    """
    if text is None:
        return None
    ids = tuple(word.strip() for word in text.split(",") if word.strip())
    if not ids:
        raise UsageError("--checks names no check", "name at least one, for example --checks repeat")
    return ids


def known_runs(words: list[str] | None) -> dict[str, tuple[int, int]]:
    """``["good=30/30"]`` to ``{"good": (30, 30)}``: passes and runs, both counts.

    Raises:
        UsageError: an entry is malformed, or an end is named twice.
    """
    known: dict[str, tuple[int, int]] = {}
    for word in words or []:
        end, equals, counts = word.partition("=")
        passes, slash, runs = counts.partition("/")
        numbers = passes.isdecimal() and runs.isdecimal()
        if end not in ("good", "bad") or not (equals and slash and numbers):
            raise UsageError(f"--known {word} is not END=PASSES/RUNS", "write for example --known good=30/30")
        if end in known:
            raise UsageError(f"--known names {end} twice", "add the runs up and name each end once")
        known[end] = (int(passes), int(runs))
    return known

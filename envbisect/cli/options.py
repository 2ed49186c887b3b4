"""Arguments and options that several commands share, each described once."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from envbisect.errors import UsageError

if TYPE_CHECKING:
    from envbisect.session.options import RunOptions

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
Until: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--until", metavar="HH:MM", help="Stop at this time of day, when it comes next.", show_default="no limit"
    ),
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


def moment(text: str | None, now: datetime | None = None) -> str | None:
    """``"07:00"`` to the next such moment of local time, as ISO 8601 with its offset; None if it was not given.

    Raises:
        UsageError: it is no time of day.
    """
    if text is None:
        return None
    hours, colon, minutes = text.strip().partition(":")
    digits = (hours + minutes).isascii() and hours.isdecimal() and minutes.isdecimal()
    if not (colon and digits and len(hours) <= 2 and len(minutes) == 2 and int(hours) < 24 and int(minutes) < 60):
        raise UsageError(f"--until {text} is no time of day", "write HH:MM in local time, for example --until 07:00")
    now = (now or datetime.now()).replace(tzinfo=None)
    then = now.replace(hour=int(hours), minute=int(minutes), second=0, microsecond=0)
    # Made local only at the end: the offset of tomorrow's morning need not be today's.
    return (then if then > now else then + timedelta(days=1)).astimezone().isoformat()


def run_options(
    test: tuple[str, ...] | None,
    good: str,
    bad: str,
    *,
    confidence: float,
    max_probes: int | None,
    max_hours: float | None,
    until: str | None,
    backend: str | None,
    burnin: str | None,
    seed: int,
    find_all: bool,
    python: str | None,
    checks: str | None,
    known: list[str] | None,
    session: str | None = None,
) -> RunOptions:
    """What ``run`` and ``plan`` were told, as the session takes it; ``test`` is what followed ``--``.

    Raises:
        UsageError: an option makes no sense.
    """
    from envbisect.session.options import RunOptions

    runs = known_runs(known)
    return RunOptions(
        good=good,
        bad=bad,
        command=test,
        confidence=confidence,
        max_probes=max_probes,
        max_hours=max_hours,
        until=moment(until),
        backend=backend,
        burnin=burnin,
        seed=seed,
        find_all=find_all,
        python=python,
        checks=check_ids(checks),
        known_good=runs.get("good"),
        known_bad=runs.get("bad"),
        session=session,
    )


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

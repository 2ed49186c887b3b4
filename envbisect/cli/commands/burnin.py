"""``envbisect burnin``: the burn-in once, in the stack of one manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from envbisect.cli import options
from envbisect.cli.reply import Invocation, Reply
from envbisect.errors import ExitCode, UsageError


def command(
    context: typer.Context,
    manifest: Annotated[
        str,
        typer.Argument(
            metavar="MANIFEST", help="Manifest (or pip freeze) of the stack; a session with --at.", show_default=False
        ),
    ],
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="PLACE",
            help="Where in the session MANIFEST: good, bad, culprit, or neighbour (just below the culprit).",
            show_default=False,
        ),
    ] = None,
    backend: options.Backend = None,
    burnin: options.BurninFile = None,
    python: options.Interpreter = None,
    checks: options.Checks = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Reply:
    """Run the burn-in once in the stack of MANIFEST and print what every check found.

    A number above the `max` that `[burnin.metrics]` gives it fails its check.
    """
    from envbisect.report.burnin import held_to, passed, render
    from envbisect.session.api import burnin_once

    invocation: Invocation = context.obj
    ids = options.check_ids(checks)
    if at is not None:
        given = {"--backend": backend, "--burnin": burnin, "--python": python, "--checks": ids}
        _refuse_another_test({**given, "a test after `--`": invocation.test})
        told = burnin_once(manifest, at=at)
        document = held_to(told, _limits_of_session(manifest))
    else:
        limits = _limits_of_manifest(manifest, invocation.test, burnin)
        told = burnin_once(manifest, command=invocation.test, backend=backend, burnin=burnin, python=python, checks=ids)
        document = held_to(told, limits)
    code = ExitCode.DONE if passed(document) else ExitCode.NO_CULPRIT
    return Reply(document, lambda console: render(document, console), code)


def _refuse_another_test(given: Mapping[str, object]) -> None:
    """With ``--at`` the session says how the burn-in runs.

    Raises:
        UsageError: the command line says it too.
    """
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"--at runs what the session ran: {name} does not go with it", "leave one of them out")


def _limits_of_manifest(manifest: str, test: tuple[str, ...] | None, burnin: str | None) -> dict[str, float]:
    from envbisect.manifest import load_any

    loaded = load_any(manifest, command=test, burnin_file=Path(burnin) if burnin else None)
    return {name: metric.max for name, metric in loaded.burnin.metrics.items() if metric.max is not None}


def _limits_of_session(session: str) -> dict[str, float]:
    from envbisect.session.store import read_json

    burnin = read_json(Path(session) / "session.json").get("setting", {}).get("burnin", {})
    metrics = burnin.get("metrics", {}) if isinstance(burnin, dict) else {}
    return {name: metric["max"] for name, metric in metrics.items() if metric.get("max") is not None}

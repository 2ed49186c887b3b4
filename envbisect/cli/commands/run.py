"""``envbisect run``: find the minimal failing combination."""

from __future__ import annotations

from typing import Annotated

import typer

from envbisect.cli import options
from envbisect.cli.reply import Invocation, Reply


def command(
    context: typer.Context,
    good: options.Good,
    bad: options.Bad,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="DIR", help="Folder of the session.", show_default="new, in .envbisect/"),
    ] = None,
    confidence: options.Confidence = 0.95,
    max_probes: options.MaxProbes = None,
    max_hours: options.MaxHours = None,
    until: options.Until = None,
    backend: options.Backend = None,
    burnin: options.BurninFile = None,
    seed: options.Seed = 0,
    find_all: options.FindAll = False,
    python: options.Interpreter = None,
    checks: options.Checks = None,
    known: options.Known = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Reply:
    """Find the minimal combination of changes that breaks GOOD on its way to BAD.

    What follows `--` is the test: exit 0 is good, 125 cannot tell, any other end is bad if it fails as BAD does.
    """
    from envbisect.cli.sessions import watched
    from envbisect.session.api import start

    invocation: Invocation = context.obj
    chosen = options.run_options(
        invocation.test,
        good,
        bad,
        confidence=confidence,
        max_probes=max_probes,
        max_hours=max_hours,
        until=until,
        backend=backend,
        burnin=burnin,
        seed=seed,
        find_all=find_all,
        python=python,
        checks=checks,
        known=known,
        session=session,
    )
    return watched(invocation, lambda subscriber: start(chosen, subscriber))

"""``envbisect plan``: what a run would do, before anything is built."""

from __future__ import annotations

import typer

from envbisect.cli import options
from envbisect.cli.reply import Invocation, Reply


def command(
    context: typer.Context,
    good: options.Good,
    bad: options.Bad,
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
    """Show what a run would do: axes, steps, what cannot be moved, expected probes. Nothing is built or run."""
    from envbisect.report.plan import render
    from envbisect.session.api import plan

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
    )
    document = plan(chosen)
    return Reply(document, lambda console: render(document, console))

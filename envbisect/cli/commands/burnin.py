"""``envbisect burnin``: the burn-in once, in the stack of one manifest."""

from __future__ import annotations

from typing import Annotated

import typer

from envbisect.cli import options
from envbisect.cli.reply import Invocation, Reply
from envbisect.errors import ExitCode


def command(
    context: typer.Context,
    manifest: Annotated[
        str, typer.Argument(metavar="MANIFEST", help="Manifest (or pip freeze) of the stack.", show_default=False)
    ],
    backend: options.Backend = None,
    burnin: options.BurninFile = None,
    python: options.Interpreter = None,
    checks: options.Checks = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Reply:
    """Run the burn-in once in the stack of MANIFEST and print what every check found."""
    from envbisect.report.burnin import passed, render
    from envbisect.session.api import burnin_once

    invocation: Invocation = context.obj
    document = burnin_once(
        manifest,
        command=invocation.test,
        backend=backend,
        burnin=burnin,
        python=python,
        checks=options.check_ids(checks),
    )
    code = ExitCode.DONE if passed(document) else ExitCode.NO_CULPRIT
    return Reply(document, lambda console: render(document, console), code)

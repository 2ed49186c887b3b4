"""The Typer application: one file per command, one line here for each."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from envbisect.cli.commands import burnin, diff, doctor, lint, plan, resume, run, schema, show

COMMANDS: Final = (run, plan, diff, burnin, lint, show, resume, schema, doctor)
"""Every command, in the order of ``--help``. The module's name is the command's, its function ``command``."""

TAKE_A_TEST: Final = frozenset({"run", "plan", "burnin"})
"""Commands that read the user's own test after ``--``."""

EPILOG: Final = (
    "Exit codes: 0 culprit found or done, 1 no culprit, 2 usage or manifest, 3 environment, 130 interrupted."
)

app = typer.Typer(name="envbisect", add_completion=True, epilog=EPILOG, pretty_exceptions_enable=False)


def _tell_version(context: typer.Context, asked: bool) -> None:
    """Print the version, as a document if ``--json`` stands anywhere."""
    if not asked:
        return
    from envbisect import __version__
    from envbisect.cli.reply import encode

    as_json = context.obj is not None and context.obj.json
    typer.echo(encode({"schema": 1, "version": __version__}) if as_json else f"envbisect {__version__}\n", nl=False)
    raise typer.Exit


@app.callback()
def envbisect(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_tell_version)
    ] = False,
    # Read by main wherever they stand; hidden here because every command lists them.
    json: Annotated[bool, typer.Option("--json", hidden=True)] = False,
    debug: Annotated[bool, typer.Option("--debug", hidden=True)] = False,
) -> None:
    """Find the minimal combination of stack changes that broke determinism or latency."""


def command_names() -> list[str]:
    return [module.__name__.rpartition(".")[2] for module in COMMANDS]


for _name, _module in zip(command_names(), COMMANDS, strict=True):
    app.command(_name)(_module.command)

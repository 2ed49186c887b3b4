"""``docs/cli.md``, made from the Typer application: ``python -m envbisect.cli.document > docs/cli.md``."""

from __future__ import annotations

import inspect
from typing import Any

import typer

from envbisect.cli.app import COMMANDS, TAKE_A_TEST, app

INTRODUCTION = """\
# Command line

<!-- Made from the application by `python -m envbisect.cli.document`: change the commands, not this page. -->

Every command takes `--json`: exactly one JSON document on stdout, everything else on stderr. Every error is one line on
stderr and, with `--json`, a document too; what the exit codes mean stands in [exit-codes.md](exit-codes.md).
Colours and live progress appear on a terminal only; `NO_COLOR` is honoured. `envbisect --version` prints the version.
"""
SHARED = frozenset({"json", "debug"})


def render_markdown() -> str:
    """The reference of all commands, in the order of ``--help``."""
    group: Any = typer.main.get_command(app)
    sections = [INTRODUCTION]
    for module in COMMANDS:
        name = module.__name__.rpartition(".")[2]
        sections.append(_section(name, group.commands[name], inspect.getdoc(module.command) or ""))
    return "\n".join(sections)


def _section(name: str, command: Any, text: str) -> str:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option" and param.name not in SHARED]
    words = ["envbisect", name, *(str(param.metavar) for param in arguments), "[OPTIONS]"]
    words += ["[-- COMMAND…]"] if name in TAKE_A_TEST else []
    rows = [(f"`{param.metavar}`", param.help or "", "required") for param in arguments]
    rows += [(f"`{_option(param)}`", param.help or "", _default(param)) for param in options]
    table = (
        [f"| {' | '.join(row)} |" for row in (("", "what", "default"), ("---", "---", "---"), *rows)] if rows else []
    )
    return "\n".join([f"## {name}", "", f"    {' '.join(words)}", "", text, "", *table, *([""] if table else [])])


def _option(param: Any) -> str:
    return f"{param.opts[0]} {param.metavar}" if param.metavar else str(param.opts[0])


def _default(param: Any) -> str:
    if isinstance(param.show_default, str):
        return param.show_default
    return "" if param.default is None or param.default is False else str(param.default)


if __name__ == "__main__":
    print(render_markdown(), end="")

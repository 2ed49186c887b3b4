"""``envbisect diff``: what differs between two stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from envbisect.cli import options
from envbisect.cli.reply import Reply

if TYPE_CHECKING:
    from envbisect.space.deltas import Delta


def command(
    a: Annotated[str, typer.Argument(metavar="A", help="Manifest or pip freeze.", show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help="Manifest or pip freeze.", show_default=False)],
    json: options.Json = False,
    debug: options.Debug = False,
) -> Reply:
    """List the components that differ between A and B, as they are pinned; nothing is resolved."""
    from envbisect.manifest import load_any
    from envbisect.report.diff import render
    from envbisect.space.deltas import deltas

    first, second = load_any(a), load_any(b)
    found = deltas(first, second)
    document: dict[str, object] = {
        "schema": 1,
        "a": {"source": a, "name": first.name},
        "b": {"source": b, "name": second.name},
        "deltas": [_row(delta) for delta in found.deltas],
        "derived": [_row(delta) for delta in found.derived],
        "unknown": list(found.unknown),
    }
    return Reply(document, lambda console: render(document, console))


def _row(delta: Delta) -> dict[str, object]:
    return {"key": delta.key, "a": delta.good, "b": delta.bad}

"""``diff`` for people: one line a delta, from the document only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from envbisect.report.tables import plain_table
from envbisect.report.values import count, shown

if TYPE_CHECKING:
    from rich.console import Console


def render(document: Mapping[str, Any], console: Console) -> None:
    """Print the document of ``envbisect diff``."""
    deltas, derived = document["deltas"], document["derived"]
    if deltas or derived:
        table = plain_table("key", document["a"]["source"], "→ " + document["b"]["source"], "")
        for delta in deltas:
            table.add_row(delta["key"], shown(delta["a"]), "→ " + shown(delta["b"]), "")
        for delta in derived:
            table.add_row(delta["key"], shown(delta["a"]), "→ " + shown(delta["b"]), "follows from others")
        console.print(table)
    console.print(f"{count(len(deltas), 'component')} differ{'s' if len(deltas) == 1 else ''}")
    for key in document["unknown"]:
        console.print(f"unknown on one side, so not compared: {key}")

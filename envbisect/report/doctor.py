"""What this machine can do, for people, from the document only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from envbisect.report.tables import plain_table
from envbisect.report.values import count, one_line

if TYPE_CHECKING:
    from rich.console import Console

STYLE: Final[Mapping[str, str]] = {"fine": "green", "absent": "yellow", "problem": "red"}


def render(document: Mapping[str, Any], console: Console) -> None:
    """Print every fact, and what to do about those that are not fine."""
    from rich.text import Text

    table = plain_table("", "", "")
    table.show_header = False
    for fact in document["facts"]:
        state = Text(fact["state"], style=STYLE.get(fact["state"], ""))
        hint = f" ({one_line(fact['hint'])})" if fact["hint"] else ""
        table.add_row(fact["subject"], state, one_line(fact["detail"]) + hint)
    console.print(table)
    problems = sum(fact["state"] == "problem" for fact in document["facts"])
    console.print(count(problems, "problem") if problems else "no problem")

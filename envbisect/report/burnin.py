"""One burn-in result for people, from its document only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from envbisect.report.tables import plain_table
from envbisect.report.values import count, duration, one_line, printable

if TYPE_CHECKING:
    from rich.console import Console

FAILED: Final = frozenset({"fail", "error", "hang"})
STYLE: Final[Mapping[str, str]] = {"pass": "green", "fail": "red", "error": "red", "hang": "red", "refused": "yellow"}
LAST_LINES: Final = 12
"""Lines of a failed check's output that are shown."""


def passed(document: Mapping[str, Any]) -> bool:
    """True if the burn-in came to its end, something passed and nothing failed."""
    statuses = [check["status"] for check in document["checks"]]
    return bool(document["complete"]) and "pass" in statuses and FAILED.isdisjoint(statuses)


def render(document: Mapping[str, Any], console: Console) -> None:
    """Print every check, the output of those that failed, and what the burn-in itself could not do."""
    from rich.text import Text

    checks = document["checks"]
    table = plain_table("check", "", "", "")
    for check in checks:
        status = Text(check["status"], style=STYLE.get(check["status"], ""))
        table.add_row(check["id"], status, duration(check.get("seconds", 0.0)), _finding(check))
    if checks:
        console.print(table)
    for check in checks:
        if check["status"] in FAILED:
            _output(check, console)
    if in_flight := document.get("in_flight"):
        console.print(f"the burn-in died in {in_flight}", style="red")
    for fault in document.get("faults", ()):
        console.print(f"{fault['kind']}: {one_line(fault['message'])}", style="yellow")
    failed = sum(check["status"] in FAILED for check in checks)
    torch = f", torch {document['torch']}" if document.get("torch") else ""
    verdict = f"{failed} failed" if failed else "none failed" if document["complete"] else "not finished"
    where = f"Python {document['python']}{torch}, {duration(document['seconds'])}"
    console.print(f"{count(len(checks), 'check')}, {verdict} ({where})")


def _finding(check: Mapping[str, Any]) -> str:
    metrics = [f"{name} {value:g}" for name, value in check.get("metrics", {}).items()]
    return "; ".join(filter(None, (one_line(check.get("detail", "")), ", ".join(metrics))))


def _output(check: Mapping[str, Any], console: Console) -> None:
    lines = str(check.get("output_tail", "")).rstrip().splitlines()[-LAST_LINES:]
    if lines:
        console.print(f"{check['id']} ended with:", style="dim")
        for line in lines:
            console.print(f"  | {printable(line.expandtabs())}")

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


def held_to(document: Mapping[str, Any], limits: Mapping[str, float]) -> Mapping[str, Any]:
    """The document with every check failed that passed by itself and reports a number above its limit.

    ``limits`` are by the metric's name (``[burnin.metrics.NAME] max``).
    """
    return {**document, "checks": [_held(check, limits) for check in document["checks"]]} if limits else document


def _held(check: Mapping[str, Any], limits: Mapping[str, float]) -> Mapping[str, Any]:
    metrics = check.get("metrics", {})
    beyond = [name for name, limit in limits.items() if name in metrics and metrics[name] > limit]
    if check["status"] != "pass" or not beyond:
        return check
    detail = ", ".join(f"{name} {metrics[name]:g} is above its max {limits[name]:g}" for name in beyond)
    failure: dict[str, Any] = {
        "kind": "value",
        "type": None,
        "frames": [],
        "message": f"{beyond[0]} is above its max",
        "text": detail,
    }
    failure |= {"exit_code": None, "signal": None, "rank": None, "pattern": None}
    return {**check, "status": "fail", "detail": detail, "failure": failure}


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
    """What a check found, and its numbers unless it told them itself."""
    detail = one_line(check.get("detail", ""))
    numbers = [f"{name} {value:g}" for name, value in check.get("metrics", {}).items()]
    more = [] if all(number in detail for number in numbers) else numbers
    return "; ".join(filter(None, (detail, ", ".join(more))))


def _output(check: Mapping[str, Any], console: Console) -> None:
    lines = str(check.get("output_tail", "")).rstrip().splitlines()[-LAST_LINES:]
    if lines:
        console.print(f"{check['id']} ended with:", style="dim")
        for line in lines:
            console.print(f"  | {printable(line.expandtabs())}")

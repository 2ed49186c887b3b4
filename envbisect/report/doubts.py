"""What speaks against a result, in words, and what to do about it: contradictions and drift."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from envbisect.report.values import pins, shown

if TYPE_CHECKING:
    from rich.console import Console

Json = Mapping[str, Any]


def doubts(document: Json, console: Console) -> None:
    """Print the doubts of a result document; nothing where there are none."""
    if drift := document.get("drift"):
        _drift(drift, document, console)
    pairs = 0
    for contradiction in document["contradictions"]:
        console.print(f"contradiction: {_contradiction(contradiction)}")
        pairs += isinstance(contradiction, Mapping) and "fails" in contradiction
    if pairs and not document.get("drift"):
        console.print(
            "  A test that fails less with more changes is not monotone: one change mends what another breaks, or the"
        )
        console.print("  test depends on something that is no pin. A culprit above is still minimal where it was run.")


def _drift(drift: Json, document: Json, console: Console) -> None:
    before, after = drift["before"], drift["after"]
    where = f"the {drift['end']} stack"
    console.print(
        f"drift: {where} passed {_share(before)} at first and {_share(after)} later: the machine changed meanwhile, "
        f"or something else that is no pin"
    )
    since = drift.get("since")
    if since is None:
        console.print("  Results are doubtful. Let the machine cool down or reset it, and run again.")
        return
    console.print(
        f"  Results since probe {since} are doubtful. Let the machine cool down or reset it, then go on with:"
    )
    console.print(f"  envbisect resume {document.get('session', 'DIR')} --forget {since}")


def _share(counts: Json) -> str:
    return f"{counts['good']} of {counts['good'] + counts['bad']} runs"


def _contradiction(told: Any) -> str:
    if isinstance(told, Mapping) and {"fails", "passes"} <= told.keys():
        fails, passes = (pins(told[name]) + _told(told.get(f"{name}_runs")) for name in ("fails", "passes"))
        return f"fails with {fails}, but passes with {passes}"
    if isinstance(told, Mapping) and {"end", "known", "seen"} <= told.keys():
        known, seen = _share(told["known"]), _share(told["seen"])
        return f"--known says that the {told['end']} end passed {known}, here it passed {seen}"
    return told if isinstance(told, str) else shown(told)


def _told(runs: Json | None) -> str:
    """`` (0 of 3 runs pass; probes 5, 9)``; nothing where the runs were not counted."""
    if not runs:
        return ""
    probes = runs.get("probes") or ()
    where = f"; probe{'s' if len(probes) > 1 else ''} {', '.join(map(str, probes))}" if probes else ""
    return f" ({runs['good']} of {runs['good'] + runs['bad']} runs pass{where})"

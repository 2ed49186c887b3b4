"""The result document for people. Everything printed comes from the document; nothing is looked up elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from envbisect.report.doubts import doubts
from envbisect.report.tables import plain_table
from envbisect.report.values import count, duration, one_line, percent, percent_at_most, pins, shown, unmoved

if TYPE_CHECKING:
    from rich.console import Console

Json = Mapping[str, Any]

NOTHING_MOVES: Final = "Nothing that can be moved here differs"


def render(document: Json, console: Console, said: Collection[str] = ()) -> None:
    """Print the result document (``run``, ``resume``, ``show``), without the notes that were ``said`` before."""
    _headline(document, console)
    for culprit in document["culprits"]:
        _culprit(culprit, console)
    for suspect in document["suspects"]:
        _suspect(suspect, console)
    _symptoms(document, console)
    _left_over(document, console, said)
    _spent(document, console)
    _reproduce(document, console)


def _headline(document: Json, console: Console) -> None:
    culprits, suspects = document["culprits"], document["suspects"]
    match document["status"]:
        case "culprit":
            console.print(f"{count(len(culprits), 'culprit')} found.", style="bold")
        case "suspects":
            found = count(len(suspects), "suspect")
            console.print(f"{found}: steps that cannot be tested hide the exact boundary.", style="bold")
        case "not-reproduced" if not document["probes"]["total"]:
            console.print(f"{NOTHING_MOVES}.", style="bold")
        case "not-reproduced":
            console.print("Not reproduced: the bad stack does not fail more often than the good one.", style="bold")
        case "good-fails":
            console.print("The good stack fails too: there is nothing to bisect.", style="bold")
        case "budget":
            console.print("The budget is spent before the answer was sure.", style="bold")
        case "undecided":
            console.print("Undecided: what could be tested does not single out a culprit.", style="bold")
        case "interrupted":
            console.print("Interrupted.", style="bold")
        case other:
            console.print(f"Status: {other}.", style="bold")
    reason = one_line(str(document.get("reason") or ""))
    if reason and not reason.lower().startswith(NOTHING_MOVES.lower()):
        console.print(reason)
    _logs(document, console)


def _logs(document: Json, console: Console) -> None:
    """Where the output of the runs lies that were not expected to fail; the first run is the good end's."""
    session, total = document.get("session"), document["probes"]["total"]
    if not session or not total:
        return
    if document["status"] == "good-fails":
        console.print(f"What it printed: {session}/probes/0001/")
    elif document["status"] == "undecided":
        console.print(f"What each run printed: {session}/probes/")


def _culprit(culprit: Json, console: Console) -> None:
    also = f" (also {', '.join(culprit['also'])})" if culprit["also"] else ""
    others = "no other culprit" if culprit["complete"] else "other culprits are not excluded"
    console.print()
    console.print(f"Culprit of {culprit['symptom']}{also}: confidence {percent(culprit['confidence'])}, {others}")
    _changes(culprit["changes"], console)
    _certificate(culprit, console)
    if culprit["reversal"]:
        console.print()
        console.print("Undone in the bad stack")
        table = plain_table("", "", indent=4)
        table.show_header = False
        for key, effect in culprit["reversal"].items():
            table.add_row("", "everything above" if key == "all" else f"only {key}", str(effect).replace("-", " "))
        console.print(table)
    for rider in culprit["riders"]:
        console.print(f"  came along: {rider['key']} {shown(rider.get('good'))} → {shown(rider.get('bad'))}")
    for note in culprit.get("notes", ()):
        console.print(f"  note: {one_line(str(note))}")


def _changes(changes: list[Json], console: Console, boundary: tuple[str, str] = ("last good", "→ first bad")) -> None:
    table = plain_table("key", "good", "→ bad", *boundary, indent=4)
    for change in changes:
        table.add_row(
            "",
            change["key"],
            shown(change["good"]),
            "→ " + shown(change["bad"]),
            shown(change["last_good"]),
            "→ " + shown(change["first_bad"]),
        )
    console.print(table)
    for change in changes:
        if note := change.get("note"):
            console.print(f"  {change['key']} {shown(change['first_bad'])}: {one_line(str(note))}")


def _certificate(culprit: Json, console: Console) -> None:
    rows = culprit.get("certificate")
    if not rows:
        return
    keys = [change["key"] for change in culprit["changes"]]
    console.print()
    console.print("Evidence")
    table = plain_table("role", "good", "bad", "unresolved", "with", indent=4)
    for row in rows:
        configuration = row["configuration"]
        pinned = {key: configuration[key] for key in keys if key in configuration}
        counts = (str(row[name]) for name in ("good", "bad", "unresolved"))
        table.add_row("", row["role"], *counts, pins(pinned or configuration))
    console.print(table)


def _suspect(suspect: Json, console: Console) -> None:
    console.print()
    console.print(f"Suspects of {suspect['symptom']}: confidence {percent(suspect['confidence'])}")
    _changes(suspect["changes"], console, ("last known good", "→ first known bad"))
    for change in suspect["changes"]:
        if between := change.get("between"):
            console.print(f"  cannot be tested: {change['key']} {', '.join(shown(value) for value in between)}")
    _certificate(suspect, console)


def _symptoms(document: Json, console: Console) -> None:
    symptoms = document["symptoms"]
    if not symptoms:
        return
    console.print()
    bounded = any(symptom.get("bound") is not None for symptom in symptoms)
    table = plain_table("symptom", "status", "fails in good", "in bad", *(["more often by at most"] if bounded else []))
    for symptom in symptoms:
        bound = symptom.get("bound")
        last = ["" if bound is None else percent_at_most(bound)] if bounded else []
        table.add_row(symptom["id"], symptom["status"], _failed(symptom, "good"), _failed(symptom, "bad"), *last)
    console.print(table)
    for symptom in symptoms:
        if numbers := _numbers(symptom):
            console.print(f"{symptom['id']}: {numbers}")


def _failed(symptom: Json, end: str) -> str:
    """``0 of 2``: how often the symptom showed at an end; the bare share where the runs were not counted."""
    failures, runs = symptom.get(f"{end}_failed"), symptom.get(f"{end}_runs")
    if failures is not None and runs is not None:
        return f"{failures} of {runs}"
    rate = symptom.get(f"{end}_rate")
    return "?" if rate is None else percent(rate)


def _numbers(symptom: Json) -> str:
    """A number's medians at both ends and where bad begins; empty for what is no number."""
    medians = [
        f"{symptom[f'{end}_median']:g} in {end}" for end in ("good", "bad") if symptom.get(f"{end}_median") is not None
    ]
    limits = [
        f"{side} {symptom[f'bad_{side}']:g}" for side in ("above", "below") if symptom.get(f"bad_{side}") is not None
    ]
    told = [f"median {', '.join(medians)}"] if medians else []
    told += [f"bad {' or '.join(limits)}"] if limits else []
    return "; ".join(told)


def _left_over(document: Json, console: Console, said: Collection[str]) -> None:
    """What the answer does not cover: deltas that stayed, observations that contradict each other, notes."""
    for delta in document["unmovable"]:
        console.print(unmoved(delta))
    doubts(document, console)
    for note in document.get("notes", ()):
        if note not in said:
            console.print(f"note: {one_line(str(note))}", style="dim")


def _spent(document: Json, console: Console) -> None:
    probes, seconds = document["probes"], document["seconds"]
    outcomes = ", ".join(f"{probes[name]} {name}" for name in ("good", "bad", "unresolved"))
    console.print()
    console.print(
        f"{count(probes['total'], 'probe')} ({outcomes}), {count(probes['built'], 'environment')} built, "
        f"{duration(seconds['total'])} (build {duration(seconds['build'])}, burn-in {duration(seconds['burnin'])})"
    )
    if document.get("session"):
        console.print(f"Session: {document['session']}")


def _reproduce(document: Json, console: Console) -> None:
    """Commands as they are: each is one line that a shell takes."""
    if lines := document.get("reproduce"):
        console.print()
        console.print("Reproduce with:", style="bold")
        for line in lines:
            console.print(f"  {line['command']}" + (f"   # {line['expect']}" if line.get("expect") else ""))

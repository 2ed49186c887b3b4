"""The plan for people, from its document only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from envbisect.report.tables import plain_table
from envbisect.report.values import count, duration, one_line, percent_at_most, shown, unmoved

if TYPE_CHECKING:
    from rich.console import Console

Json = Mapping[str, Any]

LARGEST_ORDER: Final = 2
"""Changes of one culprit that are told apart in the prior; beyond, they are summed up."""

MOST_LEFT_OUT: Final = 3
"""Versions of one axis whose reason for being left out is spelled out."""


def render(document: Json, console: Console) -> None:
    """Print the document of ``envbisect plan``."""
    _axes(document["axes"], console)
    for axis in document["axes"]:
        _left_out(axis, console)
    for delta in document["unmovable"]:
        console.print(unmoved(delta))
    for bundle in document["bundles"]:
        console.print(f"move together: {', '.join(bundle)}")
    for rider in document["riders"]:
        console.print(f"comes along: {rider['key']} {shown(rider['good'])} → {shown(rider['bad'])}")
    if document["infeasible_pairs"]:
        console.print(
            f"ruled out by metadata: {percent_at_most(document['infeasible_pairs'])} of all pairs of versions"
        )
    for note in document["notes"]:
        console.print(f"note: {one_line(note)}", style="dim")
    _expected(document, console)


def _axes(axes: list[Json], console: Console) -> None:
    if not axes:
        console.print("Nothing differs that could be moved.")
        return
    table = plain_table("axis", "good", "→ bad", "steps", "from")
    for axis in axes:
        dates = [date[:10] for date in (axis["first_date"], axis["last_date"]) if date]
        source = axis["source"] + (f" {' to '.join(dates)}" if dates else "")
        table.add_row(axis["key"], shown(axis["good"]), "→ " + shown(axis["bad"]), str(axis["steps"]), source)
    console.print(table)


def _left_out(axis: Json, console: Console) -> None:
    left_out = [one_line(reason) for reason in axis["off_ladder"]]
    if left_out:
        more = len(left_out) - MOST_LEFT_OUT
        told = "; ".join(left_out[:MOST_LEFT_OUT]) + (f"; {more} more" if more > 0 else "")
        console.print(f"left out of {axis['key']}: {told}")


def _expected(document: Json, console: Console) -> None:
    expected, runtime = document["expected"], document["runtime"]
    points = document["configurations"]
    console.print()
    console.print(f"Runtime {one_line(runtime['why'])}")
    console.print(f"{count(len(document['axes']), 'axis', 'axes')}, {count(points, 'configuration')}")
    if document["axes"]:
        longest = duration(expected["hours_at_most"] * 3600)
        console.print(f"Expected: {expected['endpoints']} runs of both ends, then about {_probes(expected['probes'])}")
        console.print(f"          (if the test never disagrees with itself; at most {longest}, builds aside)")
        console.print(f"Held likely before the first probe: {_prior(document)}", style="dim")


def _probes(number: float) -> str:
    return f"{number:g} {'probe' if number == 1 else 'probes'}"


def _prior(document: Json) -> str:
    """Of how many changes a culprit is, before anything is seen; how many culprits there are is another question."""
    prior = document["prior"]
    masses = {int(order): entry["mass"] for order, entry in prior["orders"].items()}
    told = [f"{count(order, 'change')} {round(masses[order] * 100)} %" for order in masses if order <= LARGEST_ORDER]
    rest = sum(mass for order, mass in masses.items() if order > LARGEST_ORDER)
    told += [f"more {round(rest * 100)} %"] if rest else []
    sizes = "a culprit of " + ", of ".join(told)
    if len(document["axes"]) < 2:
        return sizes
    return f"{sizes}; and with {round(prior['several'] * 100)} %, whatever their size, more than one culprit"

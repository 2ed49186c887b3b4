"""Which built-in checks there are: ids, families and documentation, taken from the payload's own registry."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from envbisect.errors import Fault, UsageError
from envbisect.payload.registry import CHECKS, expand, family_of

COMMAND: Final = "command"
"""Id of the user's own test in results and symptoms."""


@dataclass(frozen=True, slots=True)
class CheckInfo:
    """One built-in check. ``needs`` are the distributions that an interpreter must have for it."""

    id: str
    family: str
    documentation: str
    needs: tuple[str, ...] = ("torch",)


def catalogue() -> tuple[CheckInfo, ...]:
    """Every built-in check, in the order in which they run."""
    return tuple(CheckInfo(check.id, family_of(check.id), check.documentation) for check in CHECKS.values())


def families() -> tuple[str, ...]:
    """``ladder``, ``repeat``, ``latency``: asking for a family asks for all its checks."""
    return tuple(dict.fromkeys(info.family for info in catalogue()))


def validate(ids: Iterable[str]) -> tuple[CheckInfo, ...]:
    """The checks that ``ids`` (ids or families) name, each once, in the order in which they run.

    Raises:
        UsageError: some are unknown; every one is named, with the nearest right id.
    """
    asked = tuple(ids)
    known = (*families(), *CHECKS)
    unknown = [name for name in asked if name not in known]
    if unknown:
        faults = [_unknown(name, known) for name in unknown]
        near = [fault.nearest for fault in faults if fault.nearest]
        hint = f"did you mean {' or '.join(near)}?" if near else f"families are {', '.join(families())}"
        raise UsageError(f"no check is called {', '.join(unknown)}", hint, faults)
    infos = {info.id: info for info in catalogue()}
    return tuple(infos[check.id] for check in expand(asked))


def needs(ids: Iterable[str]) -> tuple[str, ...]:
    """What an interpreter must have installed for these checks; empty if it needs nothing."""
    return tuple(sorted({name for info in validate(ids) for name in info.needs}))


def render_markdown() -> str:
    """``docs/checks.md``: generated, and compared with the committed file by a test."""
    lines = [
        "# Built-in checks",
        "",
        "Generated from the payload's registry; do not edit. `[burnin] checks` takes an id or a whole family.",
        "",
    ]
    for family in families():
        lines += [f"## {family}", "", "| id | what it does |", "|---|---|"]
        lines += [f"| `{info.id}` | {info.documentation} |" for info in catalogue() if info.family == family]
        lines.append("")
    return "\n".join(lines)


def _unknown(name: str, known: Iterable[str]) -> Fault:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return Fault(f"no check is called {name}", key="burnin.checks", nearest=near[0] if near else "")

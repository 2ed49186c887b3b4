"""How pins, rates and times are written for people."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

NOT_SET = "(not set)"


def shown(value: object) -> str:
    """A pin as people read it: ``(not set)``, ``true``, ``2.1.0``, ``["a", "b"]``; an empty string is ``""``."""
    if value is None:
        return NOT_SET
    if isinstance(value, str):
        return value if value and value.isprintable() and value == value.strip() else json.dumps(value)
    return json.dumps(value, ensure_ascii=False)


def pins(table: Mapping[str, object]) -> str:
    """``{"env.A": "1", "torch.threads": 2}`` as ``env.A=1 torch.threads=2``."""
    return " ".join(f"{key}={shown(value)}" for key, value in table.items()) or "nothing changed"


def unmoved(delta: Mapping[str, Any]) -> str:
    """A delta that nobody moves, in one line; ``stays`` is None where nobody knows where the machine is."""
    ends = f"{shown(delta.get('good'))} → {shown(delta.get('bad'))}"
    stays = "as this machine has it" if delta.get("stays") is None else f"stays at {shown(delta['stays'])}"
    reason = f": {one_line(str(delta['reason']))}" if delta.get("reason") else ""
    return f"not moved: {delta['key']} {ends}, {stays}{reason}"


def printable(text: str) -> str:
    """``text`` with control characters spelled out: a terminal would obey them."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def one_line(text: str) -> str:
    """``text`` on one line, fit to print."""
    return printable(" ".join(text.split()))


def percent(probability: float) -> str:
    """A probability, rounded down to a tenth of a percent: a claim never grows by rounding."""
    return f"{math.floor(probability * 1000 + 1e-9) / 10:g} %"


def percent_at_most(bound: float) -> str:
    """An upper bound, rounded up to a tenth of a percent, for the same reason."""
    return f"{math.ceil(bound * 1000 - 1e-9) / 10:g} %"


def duration(seconds: float) -> str:
    """``0.4 s``, ``12 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def count(number: int, noun: str, plural: str = "") -> str:
    """``1 probe``, ``2 probes``, ``2 axes``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"

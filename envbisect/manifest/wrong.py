"""What is wrong with one value, before its place in a file is known."""

from __future__ import annotations

import datetime
import json
from typing import Final

_LONGEST: Final = 60
_LONGEST_LINE: Final = 400


class Wrong(Exception):  # noqa: N818 - a finding on the way to a Fault, never shown by itself
    """A value that its key cannot have: what it is, what was expected and the nearest right value, if one is near."""

    def __init__(self, message: str, expected: str, nearest: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.expected = expected
        self.nearest = nearest


def shown(raw: object) -> str:
    """A TOML value in a message: with its type where the value alone would mislead."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, str):
        return json.dumps(_short(raw), ensure_ascii=False)
    if isinstance(raw, int | float):
        return f"the number {_short(str(raw))}"
    if isinstance(raw, datetime.date | datetime.time):
        return f"the date {raw.isoformat()}"
    return "a table" if isinstance(raw, dict) else "an array"


def printable(text: str) -> str:
    """Text for one line of a terminal: control characters, which a file may hold to confuse it, are escaped."""
    shortened = text if len(text) <= _LONGEST_LINE else text[:_LONGEST_LINE] + "…"
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in shortened
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"

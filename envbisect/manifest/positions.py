"""Where each key of a TOML document stands: the parser that gives the values forgets it.

The scanner trusts that the text is valid TOML (tomli has read it before) and so only has to find the ends of values.
"""

from __future__ import annotations

import bisect
import re
from typing import Final, TypeAlias

import tomli

TreePath: TypeAlias = tuple[str | int, ...]
"""The way to a value: names of tables and keys, indices of arrays."""

_BLANK: Final = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_BARE_KEY: Final = re.compile(r"[^\s.=\]\"'#,{}\[]+")
_SCALAR: Final = re.compile(r"[^,\]}#\n]*")
# A string ends at the first delimiter that is not escaped; up to two quotes may stand directly before a triple one.
_STRINGS: Final = (
    ('"""', re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL)),
    ("'''", re.compile(r"'''(?:[^']|'(?!''))*'{3,5}", re.DOTALL)),
    ('"', re.compile(r'"(?:[^"\\\n]|\\.)*"')),
    ("'", re.compile(r"'[^'\n]*'")),
)


def key_lines(text: str) -> dict[TreePath, int]:
    """The 1-based line of every table, key and array element of a valid TOML document.

    A table that is only implied (``a`` in ``[a.b]``) has the line of the first key or header that implies it.
    """
    return _Scanner(text.replace("\r\n", "\n")).scan()


class _Scanner:
    """One pass over a text. ``_at`` is the position of the next character to read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._lines: dict[TreePath, int] = {}
        self._arrays: dict[TreePath, int] = {}  # arrays of tables: index of the last one

    def scan(self) -> dict[TreePath, int]:
        table: TreePath = ()
        while True:
            self._skip(_BLANK)
            if self._at >= len(self._text):
                return self._lines
            table = self._header() if self._peek() == "[" else self._pair(table)

    def _header(self) -> TreePath:
        is_array = self._text.startswith("[[", self._at)
        start = self._at
        self._at += 2 if is_array else 1
        parts = self._key()
        self._at += 2 if is_array else 1
        path: TreePath = ()
        for index, part in enumerate(parts):
            path = (*path, part)
            self._note(path, start)
            if path in self._arrays and not (is_array and index == len(parts) - 1):
                path = (*path, self._arrays[path])
        if is_array:
            self._arrays[path] = self._arrays.get(path, -1) + 1
            path = (*path, self._arrays[path])
            self._note(path, start)
        return path

    def _pair(self, table: TreePath) -> TreePath:
        start = self._at
        path = table
        for part in self._key():
            path = (*path, part)
            self._note(path, start)
        self._at += 1  # the equals sign
        self._skip(_BLANK)
        self._value(path)
        return table

    def _key(self) -> list[str]:
        """A dotted key, up to what ends it: ``=`` or ``]``."""
        parts: list[str] = []
        while True:
            self._skip(_BLANK)
            if self._peek() in {'"', "'"}:
                start = self._at
                self._string()
                parts.append(_unquoted(self._text[start : self._at]))
            else:
                parts.append(self._take(_BARE_KEY))
            self._skip(_BLANK)
            if self._peek() != ".":
                return parts
            self._at += 1

    def _value(self, path: TreePath) -> None:
        match self._peek():
            case "[":
                self._array(path)
            case "{":
                self._inline_table(path)
            case '"' | "'":
                self._string()
            case _:
                self._skip(_SCALAR)

    def _array(self, path: TreePath) -> None:
        self._at += 1
        index = 0
        while True:
            self._skip(_BLANK)
            match self._peek():
                case "]":
                    self._at += 1
                    return
                case ",":
                    self._at += 1
                case _:
                    element = (*path, index)
                    self._note(element, self._at)
                    self._value(element)
                    index += 1

    def _inline_table(self, path: TreePath) -> None:
        self._at += 1
        while True:
            self._skip(_BLANK)
            match self._peek():
                case "}":
                    self._at += 1
                    return
                case ",":
                    self._at += 1
                case _:
                    self._pair(path)

    def _string(self) -> None:
        for opening, pattern in _STRINGS:
            if self._text.startswith(opening, self._at):
                self._take(pattern)
                return

    def _note(self, path: TreePath, position: int) -> None:
        self._lines.setdefault(path, bisect.bisect_right(self._line_starts, position))

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None:  # only if the caller's promise of valid TOML does not hold
            raise ValueError(f"not TOML at character {self._at}")
        self._at = match.end()
        return match.group()


def _unquoted(quoted: str) -> str:
    parsed: str = tomli.loads(f"x = {quoted}")["x"]
    return parsed

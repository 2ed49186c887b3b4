"""Read one TOML file from disk, whatever it really is, and know the line of each of its keys."""

from __future__ import annotations

import codecs
import errno
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tomli

from envbisect.errors import Fault, ManifestError
from envbisect.manifest.positions import TreePath, key_lines
from envbisect.manifest.wrong import printable

MAX_BYTES: Final = 2 * 1024 * 1024
MAX_DEPTH: Final = 12


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a file as the user named it, and a 1-based line (0: the file as a whole)."""

    file: str
    line: int = 0

    def fault(self, message: str, *, key: str = "", expected: str = "", nearest: str = "") -> Fault:
        return Fault(printable(message), self.file, self.line, printable(key), expected, nearest)


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed TOML file. ``path`` is as the user named it; ``folder`` is what its relative paths mean, resolved."""

    path: Path
    tree: dict[str, object]
    lines: dict[TreePath, int]
    text: str

    @property
    def folder(self) -> Path:
        return self.path.parent.resolve()

    def place(self, *path: str | int) -> Place:
        """The line of a value, or of the nearest table around it that has one."""
        for length in range(len(path), 0, -1):
            line = self.lines.get(path[:length])
            if line is not None:
                return Place(str(self.path), line)
        return Place(str(self.path))


def read_text(path: Path) -> str:
    """The text of a regular file of sensible size, line ends normalised, a byte-order mark removed.

    Raises:
        ManifestError: anything else; one fault that says what the file is.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise _unreadable(path, error) from error
    if stat.S_ISDIR(status.st_mode):
        if path == Path():  # an empty word on the command line is the current folder to pathlib
            raise _refused(path, "no file is named: this is the current folder", "name a manifest")
        raise _refused(path, "is a folder, not a file", "name the manifest in it")
    if not stat.S_ISREG(status.st_mode):
        raise _refused(path, "is no regular file", "write it to a file first")
    if status.st_size > MAX_BYTES:
        size = f"{status.st_size / 1e6:.0f} MB"
        raise _refused(
            path, f"is {size} large; a manifest has at most {MAX_BYTES // 1_000_000} MB", "is it the right file?"
        )
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    return _decoded(path, content)


def read_document(path: Path) -> Document:
    """Read and parse one TOML file.

    Raises:
        ManifestError: the file cannot be read or is not TOML; one fault with its line.
    """
    return parse_document(path, read_text(path))


def parse_document(path: Path, text: str) -> Document:
    """Parse the text of one TOML file. Raises ManifestError with one fault and its line."""
    try:
        tree = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        place = Place(str(path), error.lineno)
        message = f"not valid TOML: {error.msg[:1].lower()}{error.msg[1:]} (column {error.colno})"
        raise refusal(place.fault(message), "see https://toml.io for the syntax") from error
    except RecursionError as error:
        raise _refused(path, "is nested too deeply", _SHALLOW) from error
    except ValueError as error:  # from int(), which refuses thousands of digits
        raise _refused(path, "has a number with too many digits", _SMALL) from error
    _check_shape(path, tree)
    return Document(path, tree, key_lines(text), text)


_NO_PATH: Final = frozenset({errno.ELOOP, errno.ENAMETOOLONG})
_SHALLOW: Final = "no manifest needs that; is it the right file?"
_SMALL: Final = "TOML's integers have 64 bits"


def refusal(fault: Fault, hint: str = "") -> ManifestError:
    """The error for a single fault: its message is the fault with its place."""
    return ManifestError(str(fault), hint, [fault])


def _decoded(path: Path, content: bytes) -> str:
    if b"\0" in content:
        raise _refused(path, "is a binary file", "a manifest is TOML text in UTF-8")
    try:
        text = content.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        place = Place(str(path), error.object.count(b"\n", 0, error.start) + 1)
        fault = place.fault(f"not UTF-8: byte 0x{error.object[error.start]:02x}")
        raise refusal(fault, "save it as UTF-8") from error
    return text.replace("\r\n", "\n")


def _check_shape(path: Path, tree: object) -> None:
    """Refuse what would exhaust a later step. Without recursion: the document may be built to exhaust that too."""
    waiting = [(tree, 1)]
    while waiting:
        value, level = waiting.pop()
        if level > MAX_DEPTH:
            raise _refused(path, f"is nested more than {MAX_DEPTH} levels deep", _SHALLOW)
        if isinstance(value, int) and abs(value) >= 2**63:
            raise _refused(path, "has a number with too many digits", _SMALL)
        children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        waiting.extend((child, level + 1) for child in children)


def _unreadable(path: Path, error: OSError) -> ManifestError:
    wrong_path = isinstance(error, FileNotFoundError | NotADirectoryError) or error.errno in _NO_PATH
    hint = "check the path" if wrong_path else "check its permissions"
    reason = (error.strerror or str(error)).lower()
    return refusal(Place(str(path)).fault(f"cannot be read: {reason}"), hint)


def _refused(path: Path, what: str, hint: str) -> ManifestError:
    return refusal(Place(str(path)).fault(what), hint)

"""Read what ``pip freeze`` prints: the packages of an environment, and nothing about the rest of the stack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion

from envbisect.errors import Fault
from envbisect.keys import Layer
from envbisect.manifest.burnin import Burnin
from envbisect.manifest.document import Place, read_text
from envbisect.manifest.model import Launch, Manifest
from envbisect.manifest.packages import exact_version
from envbisect.manifest.reader import python_settings, summary
from envbisect.manifest.stack import Value
from envbisect.manifest.wrong import shown

_PACKAGES: Final = "python.packages."
_NAME: Final = r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)"
_PINNED: Final = re.compile(rf"{_NAME}\s*===?\s*(?P<version>[^\s;#]+)")
_DIRECT: Final = re.compile(rf"{_NAME}\s*@\s*(?P<url>\S+)")
_EDITABLE: Final = re.compile(r"(?:-e|--editable)[\s=]\s*(?P<what>.+)")
_GIT: Final = re.compile(r"git\+(?P<url>[^#\s]+?)@(?P<rev>[^@#/\s]+)(?:#(?P<fragment>\S*))?")
_EGG: Final = re.compile(r"(?:^|&)egg=([A-Za-z0-9._-]+)")
_NAMED_BY_COMMENT: Final = re.compile(rf"# Editable .*\({_NAME}(?:==\S+)?\)")
_HASH: Final = re.compile(r"(?:\s+|^)--hash[=\s]\S+")
_INDEX: Final = re.compile(r"(?:-i|--index-url|--extra-index-url)[\s=]\s*(?P<url>\S+)")

_HIDDEN: Final = ("pip", "setuptools", "wheel", "distribute")
"""What ``pip freeze`` leaves out without ``--all``, on some Pythons: unknown, not absent, when it is not listed."""


@dataclass(slots=True)
class _Read:
    pins: dict[str, Value] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    index: list[str] = field(default_factory=list)
    unknown: dict[str, str] = field(default_factory=dict)  # package key to what was written instead of a version
    notes: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def looks_like_freeze(text: str) -> bool:
    """Whether the first line that says something is one that ``pip freeze`` could have printed."""
    for _, line in _statements(text):
        if not line.startswith("#"):
            return any(pattern.match(line) for pattern in (_PINNED, _DIRECT, _EDITABLE, _INDEX))
    return False


def read_freeze(path: Path, *, python: str | None = None, text: str | None = None) -> Manifest:
    """The environment of a ``pip freeze``: a complete list of exact packages; everything else is unknown.

    ``python`` is the version of its interpreter, if the caller knows it. ``text`` is the content of ``path`` if it has
    been read before. A package that is there without a version that can be installed (a local folder, a conda build)
    is unknown, with a note.

    Raises:
        ManifestError: with every line that is none of a freeze.
    """
    read = _Read()
    editable_name = ""
    for number, line in _statements(read_text(path) if text is None else text):
        place = Place(str(path), number)
        comment = _NAMED_BY_COMMENT.match(line)
        if comment:
            editable_name = comment["name"]
        elif not line.startswith("#"):
            _line(read, place, line, editable_name)
            editable_name = ""
    if read.faults:
        raise summary(path, read.faults)
    return _manifest(path, read, python)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers: continued lines joined, hashes and comments after a pin removed, blank ones dropped."""
    pending, start = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        start = start if pending else number
        joined = f"{pending} {raw.strip()}" if pending else raw.strip()
        if joined.endswith("\\"):
            pending = joined.removesuffix("\\").rstrip()
            continue
        pending = ""
        line = _HASH.sub("", joined)
        if not line.startswith("#"):
            line = re.sub(r"\s+#.*$", "", line).strip()
        if line:
            yield start, line


def _line(read: _Read, place: Place, line: str, editable_name: str) -> None:
    if editable := _EDITABLE.fullmatch(line):
        _editable(read, place, editable["what"].strip(), editable_name)
    elif index := _INDEX.fullmatch(line):
        read.index.append(index["url"])
    elif direct := _DIRECT.fullmatch(line):
        _direct(read, place, direct["name"], direct["url"])
    elif pinned := _PINNED.fullmatch(line):
        _pinned(read, place, pinned["name"], pinned["version"])
    else:
        read.faults.append(
            place.fault(f"cannot read {shown(line)}", expected="name==version, as `pip freeze` prints it")
        )


def _pinned(read: _Read, place: Place, name: str, version: str) -> None:
    try:
        _pin(read, place, name, exact_version(version))
    except InvalidVersion:
        _unknown(read, place, name, f"the version {shown(version)} is none that an index could have")


def _direct(read: _Read, place: Place, name: str, url: str) -> None:
    git = _GIT.fullmatch(url)
    if git:
        _git(read, place, name, git)
        return
    version = _wheel_version(url)
    if version:
        read.notes.append(f"{place.file}:{place.line}: {name} came from {url}; {version} is looked for in the index")
        _pin(read, place, name, version)
    else:
        _unknown(read, place, name, f"it was installed from {url}, which tells no version")


def _git(read: _Read, place: Place, name: str, git: re.Match[str]) -> None:
    if "subdirectory=" in (git["fragment"] or ""):
        _unknown(read, place, name, f"it is a part of {git['url']}, and a Git pin means the whole repository")
    else:
        _pin(read, place, name, {"git": git["url"], "rev": git["rev"], "patches": []})


def _editable(read: _Read, place: Place, what: str, name: str) -> None:
    git = _GIT.fullmatch(what)
    egg = _EGG.search(git["fragment"] or "") if git else None
    if git and (egg or name):
        _git(read, place, egg[1] if egg else name, git)
    elif name:
        _unknown(read, place, name, f"it is an editable install of {what}")
    else:
        read.notes.append(
            f"{place.file}:{place.line}: an editable install of {what} is left out: its name is not known"
        )


def _pin(read: _Read, place: Place, name: str, value: Value) -> None:
    key = _PACKAGES + canonicalize_name(name)
    if key in read.pins and read.pins[key] != value:
        first = read.places[key].line
        read.faults.append(
            place.fault(f"{key} is pinned twice, first on line {first}", key=key, expected="one version")
        )
        return
    read.pins[key] = value
    read.places[key] = place


def _unknown(read: _Read, place: Place, name: str, why: str) -> None:
    read.unknown[_PACKAGES + canonicalize_name(name)] = why
    read.notes.append(f"{place.file}:{place.line}: {name} is left out: {why}")


def _wheel_version(url: str) -> str:
    filename = unquote(url.partition("#")[0].rpartition("/")[2])
    try:
        return str(parse_wheel_filename(filename)[1])
    except InvalidWheelFilename:
        return ""


def _manifest(path: Path, read: _Read, python: str | None) -> Manifest:
    unknown = {*read.unknown, *(f"{layer}.*" for layer in Layer if layer is not Layer.PYTHON)}
    unknown |= {_PACKAGES + name for name in _HIDDEN} - set(read.pins)
    pins = dict(read.pins)
    if python is None:
        unknown.add("python.version")
    else:
        pins["python.version"] = python
    return Manifest(
        name=path.stem,
        path=path,
        folder=path.parent.resolve(),
        burnin=Burnin(),
        pins=MappingProxyType(pins),
        axes=MappingProxyType({}),
        python=python_settings({**pins, "python.complete": True, "python.index": [*read.index]}),
        code=None,
        launch=Launch(),
        unknown=frozenset(unknown),
        notes=tuple(read.notes),
        places=MappingProxyType(read.places),
    )

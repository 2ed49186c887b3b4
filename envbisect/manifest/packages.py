"""Python packages as a manifest pins them: exact versions, specifiers and Git sources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from envbisect.manifest.paths import inside, is_url
from envbisect.manifest.spelling import nearest
from envbisect.manifest.stack import Value
from envbisect.manifest.wrong import Wrong, shown

_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_LONGEST: Final = 200
_GIT_KEYS: Final = ("git", "rev", "patches")
_EXPECTED: Final = 'a version "2.1.0", a specifier ">=2.1", or { git = "https://…", rev = "…" }'


def canonical_name(name: str) -> str:
    """The PEP 503 form of a distribution's name. Raises Wrong if it is none."""
    if "[" in name:
        raise Wrong(f"{shown(name)} names extras", "the plain name; list the packages of the extra by themselves")
    if not _NAME.fullmatch(name):
        raise Wrong(f"{shown(name)} is no package name", "letters, digits, and . - _ between them")
    return canonicalize_name(name)


def is_exact(value: Value) -> bool:
    """Whether a pin leaves nothing open: a version or a Git source, no specifier."""
    if isinstance(value, Mapping):
        return True
    try:
        exact_version(str(value))
    except InvalidVersion:
        return False
    return True


def exact_version(text: str) -> str:
    """A version in its PEP 440 form (``1.0RC1`` is ``1.0rc1``). Raises InvalidVersion if it is none."""
    if len(text) > _LONGEST:  # int() refuses thousands of digits with another error
        raise InvalidVersion(text[:_LONGEST])
    return str(Version(text))


def check_package(key: str, raw: object, folder: Path) -> Value:
    """A pin in its canonical form: a PEP 440 version or specifier, ``{"git", "rev", "patches"}`` with absolute patches.

    Raises:
        Wrong: none of these.
    """
    if isinstance(raw, dict):
        return _git_source(key, raw, folder)
    if not isinstance(raw, str):
        raise Wrong(f"{key} is {shown(raw)}", _EXPECTED)
    text = raw.strip()
    exact = text.removeprefix("==").strip()
    if is_exact(exact):
        return exact_version(exact)
    try:
        if 0 < len(text) <= _LONGEST:
            return str(SpecifierSet(text))
    except InvalidSpecifier:
        pass
    raise Wrong(f"{shown(raw)} is neither a version nor a specifier", _EXPECTED)


def check_requirement(text: str) -> str:
    """A requirement as PEP 508 writes it, in its canonical form. Raises Wrong if it is none."""
    expected = '"nvidia-cudnn-cu12==9.15.1.9"'
    if len(text) > _LONGEST:
        raise Wrong(f"{shown(text)} is too long for a requirement", expected)
    try:
        return str(Requirement(text))
    except InvalidRequirement as error:
        raise Wrong(f"{shown(text)} is no requirement", expected) from error


def _git_source(key: str, raw: Mapping[str, object], folder: Path) -> Value:
    for name in raw:
        if name not in _GIT_KEYS:
            raise Wrong(
                f"{key} is a table with {shown(name)} in it",
                'git, rev and patches; a name with a dot stands in quotes: "zope.interface"',
                nearest(name, _GIT_KEYS),
            )
    url, rev = (_text(key, raw, name) for name in ("git", "rev"))
    if not is_url(url):
        url = str(inside(folder, url))
    if rev.startswith("-") or any(character.isspace() for character in rev):
        raise Wrong(f"{shown(rev)} is no revision", "a commit, tag or branch")
    patches = raw.get("patches", [])
    if not isinstance(patches, list) or not all(isinstance(patch, str) for patch in patches):
        raise Wrong(f"patches of {key} is {shown(patches)}", "an array of paths")
    return {"git": url, "rev": rev, "patches": [_patch(folder, patch) for patch in patches]}


def _text(key: str, raw: Mapping[str, object], name: str) -> str:
    value = raw.get(name)
    if isinstance(value, str) and value and not value.startswith("-") and "\0" not in value:
        return value
    state = f"is {shown(value)}" if name in raw else "is missing"
    raise Wrong(f"{name} of {key} {state}", f'{name} = "…"')


def _patch(folder: Path, text: str) -> str:
    path = inside(folder, text)
    if not path.is_file():
        raise Wrong(f"the patch {shown(text)} does not exist", "a path relative to the manifest")
    return str(path)

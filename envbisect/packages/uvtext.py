"""What uv says, as values: its failures and the annotated list of a resolution. Texts of uv 0.9 to 0.13."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

_STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")
_NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_MENTION: Final = re.compile(
    rf"(?:(?<=versions of )|(?<=depends on )|(?<=depend on )|(?<=require )|(?<![\w.+=<>~!-]))({_NAME})(?:\[[^\]]*\])?"
    r"(?=\s*(?:===|==|~=|!=|>=|<=|<|>)\s*[\w.]| depends? on\b|(?<=[\w\]]), we can conclude)"
)
_NETWORK: Final = re.compile(
    r"error sending request|Request failed after|Failed to fetch|Failed to download|dns error|operation timed out"
    r"|Connection (?:refused|reset)|Could not connect|HTTP status (?:client|server) error|unexpected EOF"
    r"|error decoding response body",
    re.IGNORECASE,
)
_MACHINE: Final = re.compile(
    r"No space left on device|Disk quota exceeded|Read-only file system|Permission denied|Too many open files"
    r"|Cannot allocate memory",
    re.IGNORECASE,
)
_BUILD: Final = re.compile(
    r"(?:Failed to (?:download and )?build|Failed to build and install|Failed to prepare metadata for"
    r"|Failed to generate package metadata for|Failed to resolve requirements from .* of)\s+`([^`]+)`"
)
_BROKEN: Final = re.compile(
    r"(?:Failed to parse metadata from|Couldn't parse metadata (?:of|from)|Failed to read metadata (?:of|from)"
    r"|Package metadata (?:name|version)|Invalid wheel|Failed to extract archive)[^`]*`([^`]+)`"
)
_NO_VERSION: Final = re.compile(rf"there (?:is|are) no versions? of ({_NAME})(?:\[[^\]]*\])?(==[^\s,]+)?")
_NO_PACKAGE: Final = re.compile(rf"({_NAME}) was not found in the package registry")
_NO_VERSIONS: Final = re.compile(rf"there (?:is|are) no versions? of ({_NAME})(==)?")
_TOO_NEW: Final = re.compile(rf"`({_NAME})` was filtered by `exclude-newer`")
_UNDATED: Final = re.compile(r"`([^`]+)` is missing an upload date")
_BAD_INPUT: Final = re.compile(
    r"Couldn't parse requirement|Invalid URL|Failed to parse|Unsupported requirement|invalid value '"
)
_GIT: Final = re.compile(r"Git operation failed")
_GIT_REV: Final = re.compile(
    r"Git operation failed.*(?:failed to find branch|couldn't find remote ref|unknown revision|not our ref"
    r"|does not appear to be a git repository|repository '[^']*' not found)",
    re.IGNORECASE | re.DOTALL,
)


class Failure(Enum):
    """Why uv could not resolve."""

    NO_PACKAGE = auto()  # a package that no index has
    NO_VERSION = auto()  # a version that was never published, or only after the cut-off date
    CONFLICT = auto()  # requirements that contradict each other, the Python or the platform
    BUILD = auto()  # a source distribution did not build, or is damaged
    OFFLINE = auto()  # not in the cache, and the network was not allowed
    NETWORK = auto()
    MACHINE = auto()
    INPUT = auto()  # a requirement that cannot be read
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Verdict:
    """``subjects`` are what the failure is about: canonical names, or "name==version" for versions and builds."""

    failure: Failure
    subjects: tuple[str, ...] = ()


_TABLE: Final = (
    (_MACHINE, Failure.MACHINE),
    (re.compile(r"network was disabled|Network connectivity is disabled"), Failure.OFFLINE),
    (_GIT_REV, Failure.INPUT),
    (_GIT, Failure.NETWORK),
    (_NETWORK, Failure.NETWORK),
)
"""In this order, before anything is held against a package: a network fault inside a build says nothing about it."""


def classify(stderr: str) -> Verdict:
    """What a failed run's stderr says."""
    text = plain(stderr)
    errors = text[max(0, text.find("error:")) :]
    for pattern, failure in _TABLE:
        if pattern.search(errors):
            return Verdict(failure)
    built = _BUILD.findall(errors) or _BROKEN.findall(errors)
    if built:
        return Verdict(Failure.BUILD, (built[0],))
    if "No solution found" in errors or "unsatisfiable" in errors:
        return _unsolvable(errors)
    return Verdict(Failure.INPUT if _BAD_INPUT.search(errors) else Failure.UNKNOWN)


def _unsolvable(errors: str) -> Verdict:
    missing = _names(_NO_PACKAGE.findall(errors))
    if missing:
        return Verdict(Failure.NO_PACKAGE, missing)
    unpublished = [f"{_names([name])[0]}{exact.rstrip('.')}" for name, exact in _NO_VERSION.findall(errors) if exact]
    if unpublished:
        return Verdict(Failure.NO_VERSION, tuple(dict.fromkeys(unpublished)))
    return Verdict(Failure.CONFLICT, mentioned(errors))


def mentioned(text: str) -> tuple[str, ...]:
    """The packages that a resolver's explanation speaks of (canonical), in its order."""
    return tuple(name for name in _names(_MENTION.findall(text)) if name != "python")


def _names(found: Iterable[str]) -> tuple[str, ...]:
    from packaging.utils import canonicalize_name

    return tuple(dict.fromkeys(canonicalize_name(name) for name in found))


def too_new(stderr: str) -> tuple[str, ...]:
    """Packages of which uv says that the cut-off date hid the wanted version."""
    return _names(_TOO_NEW.findall(plain(stderr)))


def pageless(stderr: str) -> tuple[str, ...]:
    """Packages of which uv found no page, or no file on it."""
    text = plain(stderr)
    if "No solution found" not in text and "unsatisfiable" not in text:
        return ()
    return _names([*_NO_PACKAGE.findall(text), *(name for name, exact in _NO_VERSIONS.findall(text) if not exact)])


def undated(stderr: str) -> tuple[str, ...]:
    """File names that uv passed over because their index gives no upload date."""
    return tuple(dict.fromkeys(_UNDATED.findall(plain(stderr))))


def notes(stderr: str) -> tuple[str, ...]:
    """uv's warnings worth telling: what is yanked, what extra does not exist."""
    lines = [line.removeprefix("warning: ") for line in plain(stderr).splitlines() if line.startswith("warning: ")]
    return tuple(line for line in lines if "upload date" not in line)


def reason(stderr: str, limit: int = 400) -> str:
    """uv's explanation in one line without its progress and hints."""
    text = plain(stderr)
    start = text.find("error:")
    lines = [line.strip() for line in text[max(0, start) :].split("\nhint:")[0].splitlines() if line.strip()]
    lines = [re.sub(r"^(?:error|cause|Caused by|×|╰─▶|├─▶|│)[:\s]*", "", line) for line in lines]
    joined = " ".join(line for line in lines if not line.startswith("No solution found when resolving dependencies"))
    return joined if len(joined) <= limit else joined[: limit - 1].rstrip() + "…"


def plain(text: str) -> str:
    """Without terminal styles."""
    return _STYLE.sub("", text)


def parse_compiled(stdout: str) -> list[tuple[str, tuple[str, ...]]]:
    """``uv pip compile --annotation-style line``: (requirement, its parents), parents without the input files."""
    result: list[tuple[str, tuple[str, ...]]] = []
    for line in stdout.splitlines():
        if not line.strip() or line.startswith(("#", "-")):
            continue
        requirement, _, comment = line.partition("  # via ")
        if not comment:
            requirement, _, comment = line.partition(" # via ")
        parents = tuple(part for part in comment.split(", ") if part and not part.startswith("-"))
        result.append((requirement.strip(), parents))
    return result

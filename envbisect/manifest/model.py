"""A manifest that has been read: what every other layer sees of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from envbisect.manifest.burnin import Burnin
from envbisect.manifest.document import Place
from envbisect.manifest.stack import Value


class PackageHome(StrEnum):
    """Where packages live: an environment of its own, or the image's Python with the deltas overlaid."""

    VENV = "venv"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class PythonSettings:
    """The interpreter and how its packages are resolved.

    ``packages`` maps PEP 503 names to an exact version, a specifier or ``{"git", "rev", "patches"}``. ``version`` is
    None if the manifest leaves the interpreter open. ``exclude_newer`` is RFC 3339 in UTC, or empty.
    """

    version: str | None = None
    packages: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    index: tuple[str, ...] = ()
    exclude_newer: str = ""
    overrides: tuple[str, ...] = ()
    source: PackageHome = PackageHome.VENV
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """The user's own program. ``repo`` is a URL or the absolute path of a work tree; ``dirty_patch`` is absolute."""

    repo: str
    rev: str | None = None
    dirty_patch: Path | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """How a test is started."""

    nproc_per_node: int = 1
    per_rank_env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Manifest:
    """One whole stack, pinned, with the test that judges it.

    Attributes:
        path: the file as the user named it.
        folder: what relative paths mean, and where a user's test runs; absolute.
        pins: every pinned component, see ``components``.
        axes: steps that the manifest lists for single components.
        unknown: keys that the source does not speak of, ``env.*`` for a whole table: neither set nor absent. Empty for
            a TOML manifest, where silence means absent.
        notes: what could not be read, or was read in a way that a user should know.
        places: where each pinned component stands, and each axis under ``axes.KEY``.
    """

    name: str
    path: Path
    folder: Path
    burnin: Burnin
    pins: Mapping[str, Value]
    axes: Mapping[str, tuple[Value, ...]]
    python: PythonSettings
    code: Code | None
    launch: Launch
    unknown: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    places: Mapping[str, Place] = field(default_factory=lambda: MappingProxyType({}))

    def components(self) -> dict[str, Value]:
        """Every pinned component by dotted key, sorted. A key that is missing is absent, unless it ``is_unknown``."""
        return dict(sorted(self.pins.items()))

    def is_unknown(self, key: str) -> bool:
        """Whether the source does not say what ``key`` is."""
        if key in self.pins:
            return False
        if key in self.unknown:
            return True
        return any(name.endswith(".*") and key.startswith(name[:-1]) for name in self.unknown)

    def place(self, key: str) -> Place:
        """Where a component stands, for messages; the file as a whole if it is not pinned."""
        return self.places.get(key, Place(str(self.path)))

    def axis_place(self, key: str) -> Place:
        """Where the steps of an axis are listed."""
        return self.place(f"axes.{key}")

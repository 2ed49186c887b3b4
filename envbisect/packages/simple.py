"""The projects of all configured sources, merged: which versions are published, as which files, since when."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.packages.config import IndexConfig
from envbisect.packages.fetch import Fetcher
from envbisect.packages.pages import File, files_of_folder, parse_page
from envbisect.packages.pythons import python_satisfies, wheel_tags
from envbisect.packages.sources import IndexStrategy, local_path

if TYPE_CHECKING:
    from packaging.version import Version

_SDIST_ENDS: Final = (".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz")


@dataclass(frozen=True, slots=True)
class Release:
    """One published version with its files, the most preferred source first."""

    name: str
    version: Version
    files: tuple[File, ...]

    @property
    def yanked(self) -> str | None:
        """Why all its files were yanked ("" if nobody said), None if one was not."""
        reasons = [file.yanked for file in self.files]
        return None if None in reasons or not reasons else next((reason for reason in reasons if reason), "")

    @property
    def upload_time(self) -> str:
        """When its first file came (RFC 3339, UTC); empty if the index does not say."""
        return min((file.upload_time for file in self.files if file.upload_time), default="")

    def usable(self, python: str, platforms: tuple[str, ...] | None = None) -> list[File]:
        """The files that CPython ``python`` can install here: wheels, best first, then source distributions."""
        from packaging.utils import parse_wheel_filename

        ranks = wheel_tags(python, platforms)
        wheels: list[tuple[int, int, File]] = []
        sdists: list[File] = []
        for place, file in enumerate(self.files):
            if file.requires_python and not python_satisfies(file.requires_python, python):
                continue
            if not file.is_wheel:
                sdists.append(file)
                continue
            found = [ranks[tag] for tag in parse_wheel_filename(file.filename)[3] if tag in ranks]
            if found:
                wheels.append((min(found), place, file))
        return [file for _, _, file in sorted(wheels, key=lambda entry: entry[:2])] + sdists

    def settled(self, python: str, platforms: tuple[str, ...] | None = None) -> str:
        """When the last file that CPython ``python`` can install came (RFC 3339, UTC); empty if no file has a date.

        Files for other Pythons may follow years later; they do not count.
        """
        files = self.usable(python, platforms) or self.files
        return max((file.upload_time for file in files if file.upload_time), default="")


@dataclass(frozen=True, slots=True)
class Project:
    """Everything published under one canonical name, by version."""

    name: str
    releases: Mapping[Version, Release]

    def get(self, version: str) -> Release | None:
        """The release of ``version``; without a local part it also means a build with one (PEP 440: 1.0 is 1.0+cpu)."""
        from packaging.version import InvalidVersion, Version

        try:
            wanted = Version(version)
        except InvalidVersion:
            return None
        if wanted in self.releases or wanted.local is not None:
            return self.releases.get(wanted)
        locals_ = [version for version in self.releases if version.public == wanted.public]
        return self.releases[max(locals_)] if locals_ else None

    def require(self, version: str) -> Release:
        """Like ``get``.

        Raises:
            UsageError: no such version; the hint names its neighbours.
        """
        found = self.get(version)
        if found is None:
            raise UsageError(f"{self.name} {version} is not published", self._neighbours(version))
        return found

    def published(self, release: Release) -> str:
        """When ``release`` came; a build with a local part that has no date of its own came with its public version."""
        from packaging.version import Version

        if release.upload_time or release.version.local is None:
            return release.upload_time
        public = self.releases.get(Version(release.version.public))
        return public.upload_time if public else ""

    @property
    def dated(self) -> bool:
        """Whether any file has an upload time: without one, a cut-off date cannot be applied."""
        return any(release.upload_time for release in self.releases.values())

    def _neighbours(self, version: str) -> str:
        from packaging.version import InvalidVersion, Version

        finals = [known for known in self.releases if not known.is_prerelease]
        ordered = sorted(finals or self.releases)
        try:
            wanted = Version(version)
        except InvalidVersion:
            return f"'{version}' is not a version by PEP 440."
        below = [str(known) for known in ordered if known < wanted][-2:]
        above = [str(known) for known in ordered if known > wanted][:2]
        return f"The nearest published versions are {', '.join(below + above)}." if ordered else ""


class PackageIndex:
    """All configured sources as one. Pages are read once per instance; safe to use from several threads."""

    def __init__(self, config: IndexConfig, cache_dir: Path, *, offline: bool = False) -> None:
        self.config = config
        self.fetcher = Fetcher(config, cache_dir, offline=offline)
        self._lock = threading.Lock()
        self._projects: dict[str, Project | None] = {}
        self._links: list[File] | None = None

    def project(self, name: str) -> Project:
        """The project of ``name`` (any spelling).

        Raises:
            UsageError: no source has it.
            EnvironmentFailure: a source cannot be reached.
        """
        from packaging.utils import canonicalize_name

        canonical = canonicalize_name(name)
        if canonical not in self._projects:
            project = _merge(canonical, self._files(canonical))
            with self._lock:
                self._projects[canonical] = project if project.releases else None
        found = self._projects[canonical]
        if found is None:
            raise UsageError(
                f"no package {canonical} in {self.config.describe()}",
                "Check its spelling; a private index belongs into python.index or pip's or uv's configuration.",
            )
        return found

    def prefetch(self, names: Iterable[str]) -> None:
        """Read the pages of ``names`` at once, 16 at a time; names that no source has are passed over."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(16, thread_name_prefix="index") as pool:
            try:
                for future in [pool.submit(self.project, name) for name in dict.fromkeys(names)]:
                    try:
                        future.result()
                    except UsageError:
                        continue
            except EnvironmentFailure:  # an index that is silent is so for all of them
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def close(self) -> None:
        self.fetcher.close()

    def _files(self, name: str) -> list[File]:
        found = [file for file in self._linked() if _belongs(file, name)]
        for index in self.config.indexes:
            page = self.fetcher.page(f"{index.url}/{name}/")
            files = [file for file in parse_page(page) if _belongs(file, name)] if page else []
            found += files
            if files and self.config.strategy is IndexStrategy.FIRST_INDEX:
                break
        return found

    def _linked(self) -> list[File]:
        """The files of all link pages and folders, read once."""
        with self._lock:
            if self._links is None:
                links: list[File] = []
                for place in self.config.find_links:
                    path = local_path(place)
                    if path is not None and path.is_dir():
                        links += files_of_folder(path)
                    elif page := self.fetcher.page(place):
                        links += parse_page(page)
                self._links = links
            return self._links


def _belongs(file: File, name: str) -> bool:
    return (parsed := parse_filename(file.filename)) is not None and parsed[0] == name


def parse_filename(filename: str) -> tuple[str, Version] | None:
    """Canonical name and version of a wheel or source distribution; None for other files (eggs, installers, …)."""
    from packaging import utils

    try:
        if filename.endswith(".whl"):
            name, version, _, _ = utils.parse_wheel_filename(filename)
            return name, version
        for end in _SDIST_ENDS:
            if filename.endswith(end):
                return utils.parse_sdist_filename(filename.removesuffix(end) + ".tar.gz")
    except (utils.InvalidWheelFilename, utils.InvalidSdistFilename):
        return None
    return None


def _merge(name: str, files: Iterable[File]) -> Project:
    """Group files by version. The same file name from a second source only completes what the first left open."""
    by_version: dict[Version, dict[str, File]] = {}
    for file in files:
        parsed = parse_filename(file.filename)
        if parsed is None:
            continue
        known = by_version.setdefault(parsed[1], {})
        first = known.get(file.filename)
        known[file.filename] = file if first is None else _completed(first, file)
    return Project(
        name, {version: Release(name, version, tuple(found.values())) for version, found in by_version.items()}
    )


def _completed(first: File, second: File) -> File:
    """What a mirror does not say (upload time, Requires-Python) is taken from elsewhere if the archive is the same."""
    digests = dict(first.hashes).items() & dict(second.hashes).items()
    if first.hashes and second.hashes and not digests:
        return first
    return replace(
        first,
        upload_time=first.upload_time or second.upload_time,
        requires_python=first.requires_python or second.requires_python,
        yanked=first.yanked if first.yanked is not None else second.yanked,
        size=first.size or second.size,
    )


def moment_after(index: PackageIndex, pins: Iterable[tuple[str, str]], *, python: str) -> str:
    """The earliest cut-off date at which all ``pins`` (name, version) can be had: a minute after the last upload.

    RFC 3339 in UTC; empty if no index gives any date. A cut-off date is exclusive, so that the newest pin's own upload
    time would rule it out.

    Raises:
        UsageError: a pin is not published.
        EnvironmentFailure: an index cannot be reached.
    """
    from datetime import UTC, datetime, timedelta

    releases = [index.project(name).require(version) for name, version in pins]
    moments = [datetime.fromisoformat(found) for release in releases if (found := release.settled(python))]
    if not moments:
        return ""
    after = max(moments).astimezone(UTC).replace(microsecond=0) + timedelta(minutes=1)
    return after.isoformat().replace("+00:00", "Z")

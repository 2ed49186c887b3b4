"""What a release requires, read without building it: PEP 658, byte ranges of a wheel, or a static PKG-INFO."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from envbisect.packages.pages import File
from envbisect.packages.simple import PackageIndex, Release
from envbisect.packages.sources import local_path
from envbisect.packages.store import Entry, read_entry, write_entry
from envbisect.packages.wheelzip import remote_member

if TYPE_CHECKING:
    from packaging.requirements import Requirement

ReleaseKey: TypeAlias = tuple[str, str]
"""Name and version."""

THREADS: Final = 16
_ARCHIVE_LIMIT_BYTES: Final = 32 << 20
_STATIC_SINCE: Final = (2, 2)  # PEP 643: only from here on does a source distribution's PKG-INFO bind its wheels
_UNKNOWN: Final = 204
_KNOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a release says about itself. ``requires_python`` is a specifier set, empty for any Python."""

    requires_dist: tuple[Requirement, ...] = ()
    requires_python: str = ""


class MetadataReader:
    """Requirements of releases, kept on disk for ever: an archive never changes. Safe to use from several threads.

    All wheels of a version are taken to require the same; the one that fits best is read.
    """

    def __init__(self, index: PackageIndex) -> None:
        self._index = index
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str, str], Metadata | None] = {}

    def requirements_of(self, name: str, version: str, *, python: str) -> Metadata | None:
        """The metadata of a release as CPython ``python`` would get it; None if only a build could tell.

        Raises:
            UsageError: no such package or version.
            EnvironmentFailure: the index cannot be reached.
        """
        key = (name, version, python)
        if key not in self._known:
            found = self._read(self._index.project(name).require(version), python)
            with self._lock:
                self._known[key] = found
        return self._known[key]

    def prefetch(self, releases: Iterable[ReleaseKey], *, python: str) -> Mapping[ReleaseKey, Metadata | None]:
        """``requirements_of`` for many releases, 16 at a time, in the order given.

        Raises:
            UsageError: as for the first release that raises it.
            EnvironmentFailure: likewise.
        """
        from concurrent.futures import ThreadPoolExecutor

        wanted = list(dict.fromkeys(releases))
        with ThreadPoolExecutor(THREADS, thread_name_prefix="metadata") as pool:
            try:
                found = list(pool.map(lambda one: self.requirements_of(*one, python=python), wanted))
            except BaseException:  # whatever it is, do not wait for hundreds of requests first
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return dict(zip(wanted, found, strict=True))

    def _read(self, release: Release, python: str) -> Metadata | None:
        for file in _sources(release, python):
            text = self._cached_text(file)
            found = None if text is None else parse_metadata(text, static=file.is_wheel)
            if found is not None:
                return found if found.requires_python else Metadata(found.requires_dist, file.requires_python)
        return None

    def _cached_text(self, file: File) -> bytes | None:
        """METADATA or PKG-INFO of ``file``; local files are read anew, since they may be replaced."""
        if local_path(file.url) is not None:
            return self._text(file)
        digest = hashlib.sha256(f"{file.url} {file.hashes}".encode()).hexdigest()
        entry = self._index.fetcher.cache_dir / "metadata" / digest
        known = read_entry(entry)
        if known is not None:
            return known.body if known.status == _KNOWN else None
        text = self._text(file)
        status = _UNKNOWN if text is None else _KNOWN
        write_entry(entry, Entry(status, url=file.filename, content_type="", etag="", body=text or b""))
        return text

    def _text(self, file: File) -> bytes | None:
        fetcher = self._index.fetcher
        if file.has_metadata:
            text = fetcher.read(f"{file.url}.metadata")
            if text is not None:
                return text
        if file.is_wheel:
            text = remote_member(lambda first, last: fetcher.read(file.url, (first, last)), _is_metadata)
            if text is not None:
                return text
        if file.size > _ARCHIVE_LIMIT_BYTES:
            return None
        archive = fetcher.read(file.url, limit_bytes=_ARCHIVE_LIMIT_BYTES)
        if archive is None:
            return None
        return _member(archive, _is_metadata if file.is_wheel else _is_pkg_info)


def _sources(release: Release, python: str) -> list[File]:
    """Where to look, in order: the wheel that would be installed, else the source distribution, else any wheel."""
    usable = release.usable(python)
    if usable and usable[0].is_wheel:
        return usable[:1]
    wheels = [file for file in release.files if file.is_wheel]
    return [file for file in release.files if not file.is_wheel][:1] + wheels[:1]


def _is_metadata(name: str) -> bool:
    return name.endswith(".dist-info/METADATA") and name.count("/") == 1


def _is_pkg_info(name: str) -> bool:
    return Path(name).name == "PKG-INFO" and name.strip("./").count("/") == 1


def _member(archive: bytes, wanted: Callable[[str], bool]) -> bytes | None:
    """The wanted member of a zip or tar archive in memory; None if it has none or is damaged."""
    stream = io.BytesIO(archive)
    try:
        if zipfile.is_zipfile(stream):
            with zipfile.ZipFile(stream) as opened:
                return next((opened.read(name) for name in opened.namelist() if wanted(name)), None)
        stream.seek(0)
        with tarfile.open(fileobj=stream) as packed:
            for member in packed:
                if member.isfile() and wanted(member.name) and (file := packed.extractfile(member)) is not None:
                    return file.read()
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError):
        return None
    return None


def parse_metadata(text: bytes, *, static: bool = True) -> Metadata | None:
    """Core metadata. None if it is unreadable, or not binding: a source distribution's (``static`` false) that is older
    than version 2.2 or calls its requirements dynamic.
    """
    from packaging.metadata import parse_email
    from packaging.requirements import InvalidRequirement, Requirement

    raw, _ = parse_email(text)
    if not static and not _is_binding(raw.get("metadata_version", ""), raw.get("dynamic", [])):
        return None
    try:
        requires = tuple(Requirement(line) for line in raw.get("requires_dist", []))
    except InvalidRequirement:
        return None
    return Metadata(requires, raw.get("requires_python", ""))


def _is_binding(version: str, dynamic: Iterable[str]) -> bool:
    level = tuple(int(part) for part in version.split(".") if part.isdigit())
    return level >= _STATIC_SINCE and not {"requires-dist", "requires-python"} & {one.lower() for one in dynamic}

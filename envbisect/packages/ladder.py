"""The published versions between two versions of a package, in the order in which the world saw them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from envbisect.packages.pages import File
from envbisect.packages.simple import PackageIndex, Project, Release

if TYPE_CHECKING:
    from packaging.version import Version


@dataclass(frozen=True, slots=True)
class LadderStep:
    """One version of a ladder; ``upload_time`` is RFC 3339, empty if the index does not say."""

    version: str
    upload_time: str = ""


@dataclass(frozen=True, slots=True)
class Ladder:
    """``steps[0]`` is the good version, ``steps[-1]`` the bad one.

    ``off`` lists the published versions between them that are not on the ladder, each with the reason. ``dated`` is
    false if upload times are missing: then the steps stand in version order.
    """

    name: str
    steps: tuple[LadderStep, ...]
    off: tuple[tuple[str, str], ...] = ()
    dated: bool = True


def ladder(
    index: PackageIndex,
    name: str,
    good: str,
    bad: str,
    *,
    python: str,
    platforms: tuple[str, ...] | None = None,
    exclude_newer: str = "",
    prereleases: bool | None = None,
) -> Ladder:
    """The ladder of ``name`` from ``good`` to ``bad``; a downgrade is the ladder from bad to good, reversed.

    A release is a step if CPython ``python`` can install it on ``platforms`` (default: this machine), it is not yanked
    and no pre-release, it is not newer than ``exclude_newer`` (RFC 3339, exclusive), and it was a new version maximum
    when it came: a later release of an older branch may have what a higher version lacks. The endpoints are exempt.

    Args:
        prereleases: whether pre-releases count; None: if an endpoint is one.

    Raises:
        UsageError: no such package, or an endpoint was never published.
        EnvironmentFailure: an index cannot be reached.
    """
    project = index.project(name)
    ends = project.require(good), project.require(bad)
    low, high = sorted(ends, key=lambda release: release.version)
    if prereleases is None:
        prereleases = low.version.is_prerelease or high.version.is_prerelease
    off: list[tuple[Version, str]] = []
    candidates: list[Release] = []
    for release in _between(project, low.version, high.version, off):
        reason = _unfit(release, python, platforms, exclude_newer, prereleases)
        if reason:
            off.append((release.version, reason))
        else:
            candidates.append(release)
    dated = not candidates or all(project.published(release) for release in (*candidates, high))
    kept = _maxima(project, candidates, low, high, off) if dated else sorted(candidates, key=lambda one: one.version)
    steps = [_step(release) for release in kept]
    first, last = (_step(release, text) for release, text in zip(ends, (good, bad), strict=True))
    if ends[0].version > ends[1].version:
        steps.reverse()
    return Ladder(
        project.name,
        (first, *steps, last) if low.version != high.version else (first,),
        tuple((str(version), reason) for version, reason in sorted(off)),
        dated,
    )


def _step(release: Release, version: str = "") -> LadderStep:
    return LadderStep(version or str(release.version), release.upload_time)


def _between(project: Project, low: Version, high: Version, off: list[tuple[Version, str]]) -> list[Release]:
    """The releases strictly between, one for each public version: of builds with local parts, the ends' kind."""
    wanted = [high.local, low.local]
    by_public: dict[str, list[Version]] = {}
    for version in project.releases:
        if version.public not in {low.public, high.public} and low < version < high:
            by_public.setdefault(version.public, []).append(version)
    chosen: list[Release] = []
    for builds in by_public.values():
        fitting = sorted(
            (build for build in builds if build.local in wanted), key=lambda build: wanted.index(build.local)
        )
        if fitting:
            chosen.append(project.releases[fitting[0]])
        else:
            off.extend((build, "another local build than the endpoints'") for build in builds)
    return chosen


def _unfit(
    release: Release, python: str, platforms: tuple[str, ...] | None, exclude_newer: str, prereleases: bool
) -> str:
    """Why a release cannot be a step; empty if it can."""
    if release.yanked is not None:
        return f"yanked: {release.yanked}" if release.yanked else "yanked"
    if release.version.is_prerelease and not prereleases:
        return "a pre-release"
    files = [file for file in release.usable(python, platforms) if file.yanked is None]
    if not files:
        return f"nothing that Python {python} can install here"
    if exclude_newer and not any(_older(file, exclude_newer) for file in files):
        return f"newer than {exclude_newer}"
    return ""


def _older(file: File, moment: str) -> bool:
    return not file.upload_time or parse_moment(file.upload_time) < parse_moment(moment)


def parse_moment(text: str) -> float:
    """Seconds since 1970 of an RFC 3339 moment or date; without an offset it is UTC.

    Raises:
        ValueError: the text is neither.
    """
    from datetime import UTC, datetime

    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _maxima(
    project: Project, candidates: list[Release], low: Release, high: Release, off: list[tuple[Version, str]]
) -> list[Release]:
    """In upload order, those that were the highest version yet; once ``high`` is out, nothing below it is."""
    ordered = sorted((*candidates, high), key=lambda one: (parse_moment(project.published(one)), one.version))
    highest = low.version
    kept: list[Release] = []
    for release in ordered:
        if release.version > highest:
            highest = release.version
            kept.append(release)
        else:
            off.append((release.version, f"a later release of an older branch (after {highest})"))
    return [release for release in kept if release is not high]

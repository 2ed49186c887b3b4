"""Both ends resolved to full closures: every transitive package exact, nothing floats silently."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.manifest.paths import is_url
from envbisect.manifest.stack import Closure, GitSource, Pin, Value
from envbisect.space.deltas import PACKAGES
from envbisect.space.index import PackageSource, Question, RequirementsConflict, SourceBuildFailed
from envbisect.space.plan import End
from envbisect.space.requirements import Demands, parents_in

if TYPE_CHECKING:
    from envbisect.manifest import Manifest


def resolve_end(manifest: Manifest, index: PackageSource, *, python: str, moment: str) -> End:
    """The closure of one end under ``python``; what floats in it resolves as of ``moment`` (RFC 3339).

    Raises:
        UsageError: the pins contradict each other, or a version does not exist.
        EnvironmentFailure: the index cannot be reached, or a source distribution does not build here.
    """
    packages = packages_of(manifest.components())
    if manifest.python.complete:
        closure = Closure.of(python, (_exact_pin(manifest, name, value) for name, value in packages.items()), moment)
        return End(closure, _metadata_parents(closure, index), complete=True)
    if not packages:
        return End(Closure.of(python, (), moment), {})
    question = Question(
        python=python,
        requirements=tuple(requirement(name, value, manifest.folder) for name, value in packages.items()),
        overrides=tuple(manifest.python.overrides),
        exclude_newer=moment,
    )
    try:
        answer = index.resolve(question)
    except RequirementsConflict as problem:
        raise UsageError(
            f"{manifest.name}: its packages contradict each other: {problem.reason}",
            "change the pins; if they list an environment that works as it is, set complete = true in [python]",
        ) from problem
    except SourceBuildFailed as problem:
        raise EnvironmentFailure(
            f"{manifest.name}: {problem.pin or 'a package'} has no wheel for Python {python} and does not build here: "
            f"{problem.reason}",
            "install its build tools, or pin a version that has a wheel",
        ) from problem
    closure = restored(answer.closure, git_pins(packages, manifest.folder))
    return End(closure, answer.parents, notes=answer.notes)


def completed(manifest: Manifest, end: End, other: End) -> End:
    """``end`` with what ``manifest`` does not speak of (pip in a freeze) as the other end has it."""
    have = {pin.name for pin in end.closure.pins}
    unknown = [pin for pin in other.closure.pins if pin.name not in have and manifest.is_unknown(PACKAGES + pin.name)]
    closure = Closure.of(end.closure.python, (*end.closure.pins, *unknown), end.closure.exclude_newer)
    return replace(end, closure=closure)


def packages_of(components: Mapping[str, Value]) -> dict[str, Value]:
    """``[python.packages]`` by canonical name, in order."""
    return {key.removeprefix(PACKAGES): value for key, value in sorted(components.items()) if key.startswith(PACKAGES)}


def requirement(name: str, value: Value, folder: Path) -> str:
    """A pin as a requirement: ``numpy==2.1.0``, ``numpy>=2.1`` or ``apex @ git+https://…@rev``."""
    source = git_source(value, folder)
    if source is not None:
        return Pin(name, "", source).requirement()
    text = str(value).strip()
    if text == "*":
        return name
    return name + (text if text[:1] in "<>=!~" else f"=={text}")


def git_source(value: Value, folder: Path) -> GitSource | None:
    """The Git source that a component names; None if it names none. Folders become ``file://`` URLs."""
    if not isinstance(value, dict):
        return None
    url, patches = str(value.get("git", "")), value.get("patches") or []
    if not is_url(url):
        url = (folder / url).resolve().as_uri()
    if not isinstance(patches, list):
        raise UsageError(f"patches of {url} are no list of files", 'write patches = ["a.patch"]')
    return GitSource(url, str(value.get("rev", "HEAD")), tuple(folder / str(patch) for patch in patches))


def git_pins(packages: Mapping[str, Value], folder: Path) -> dict[str, Pin]:
    """The packages that come from Git, as pins."""
    sources = {name: git_source(value, folder) for name, value in packages.items()}
    return {name: Pin(name, "", source) for name, source in sources.items() if source is not None}


def restored(closure: Closure, pins: Mapping[str, Pin]) -> Closure:
    """A resolver's closure with Git pins (and their patches) put back in the place of what it found there."""
    return Closure.of(closure.python, (pins.get(pin.name, pin) for pin in closure.pins), closure.exclude_newer)


def _exact_pin(manifest: Manifest, name: str, value: Value) -> Pin:
    source = git_source(value, manifest.folder)
    return Pin(name, "", source) if source is not None else Pin(name, str(value))


def _metadata_parents(closure: Closure, index: PackageSource) -> Mapping[str, tuple[str, ...]]:
    releases = [(pin.name, pin.version) for pin in closure.pins if pin.git is None]
    needs = index.needs(releases, python=closure.python)
    return parents_in(Demands(needs, closure.python), versions_of(closure.pins))


def versions_of(pins: Iterable[Pin]) -> dict[str, str | None]:
    """Version by name; None for what comes from Git."""
    return {pin.name: None if pin.git else pin.version for pin in pins}

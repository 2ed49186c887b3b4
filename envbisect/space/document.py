"""A space and its realisations as JSON documents: what a session keeps to go on after a kill, without the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from envbisect.errors import EnvbisectError
from envbisect.manifest.stack import Closure, GitSource, Pin, Stack
from envbisect.space.build import package_axes_of
from envbisect.space.index import Needs, PackageSource
from envbisect.space.lattice import Lattice
from envbisect.space.model import Axis, Infeasible, Realised, Rider, Step, StepSource, Unmovable
from envbisect.space.packages import Facts, PackageLattice
from envbisect.space.plan import PackagePlan

SCHEMA: Final = 1


def space_document(space: Lattice) -> dict[str, Any]:
    """Axes, closures and the metadata table. Only resolutions between the ends are missing; they can be repeated."""
    return {
        "schema": SCHEMA,
        "folder": str(space.folder),
        "axes": [_axis(axis) for axis in space.axes],
        "unmovable": [
            {"key": one.key, "good": one.good, "bad": one.bad, "stays": one.stays, "reason": one.reason}
            for one in space.unmovable
        ],
        "notes": list(space.notes),
        "components": dict(space.components),
        "packages": _packages(space.packages) if space.packages else None,
    }


def space_from_document(document: Mapping[str, Any], *, index: PackageSource | None = None) -> Lattice:
    """The space that ``space_document`` wrote; ``index`` resolves what lies between the ends.

    Raises:
        EnvbisectError: the document is of another schema, or not whole.
    """
    _check_schema(document)
    try:
        axes = tuple(_read_axis(axis) for axis in document["axes"])
        folder = Path(document["folder"])
        packages = document["packages"]
        return Lattice(
            axes=axes,
            unmovable=tuple(Unmovable(**one) for one in document["unmovable"]),
            notes=tuple(document["notes"]),
            components=document["components"],
            folder=folder,
            packages=_read_packages(packages, axes, folder) if packages else None,
            index=index,
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise EnvbisectError(f"the space of this session cannot be read: {problem}", "start a new session") from problem


def realised_document(outcome: Realised | Infeasible) -> dict[str, Any]:
    """One realisation, whole: reading it needs no space."""
    if isinstance(outcome, Infeasible):
        return {
            "schema": SCHEMA,
            "asked": list(outcome.asked),
            "reason": outcome.reason,
            "build": outcome.build,
            "pin": outcome.pin,
        }
    stack = outcome.stack
    return {
        "schema": SCHEMA,
        "asked": list(outcome.asked),
        "point": list(outcome.point),
        "components": dict(stack.components),
        "closure": _closure(stack.closure) if stack.closure else None,
        "folder": str(stack.folder),
        "riders": [{"key": one.key, "good": one.good, "bad": one.bad} for one in outcome.riders],
    }


def realised_from_document(document: Mapping[str, Any]) -> Realised | Infeasible:
    """What ``realised_document`` wrote.

    Raises:
        EnvbisectError: the document is of another schema, or not whole.
    """
    _check_schema(document)
    try:
        asked = tuple(document["asked"])
        if "reason" in document:
            return Infeasible(asked, document["reason"], document["build"], document.get("pin", ""))
        closure = _read_closure(document["closure"]) if document["closure"] else None
        return Realised(
            asked=asked,
            point=tuple(document["point"]),
            stack=Stack(document["components"], closure, Path(document["folder"])),
            riders=tuple(Rider(**one) for one in document["riders"]),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise EnvbisectError(f"a realisation cannot be read: {problem}", "start a new session") from problem


def _check_schema(document: Mapping[str, Any]) -> None:
    if document.get("schema") != SCHEMA:
        raise EnvbisectError(
            f"schema {document.get('schema')!r} of a session's space is not known here", "use the version that wrote it"
        )


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "key": axis.key,
        "source": axis.source.value,
        "steps": [{"value": step.value, "date": step.date, "note": step.note} for step in axis.steps],
        "off_ladder": list(axis.off_ladder),
    }


def _read_axis(document: Mapping[str, Any]) -> Axis:
    steps = tuple(Step(**step) for step in document["steps"])
    return Axis(document["key"], steps, StepSource(document["source"]), tuple(document["off_ladder"]))


def _packages(packages: PackageLattice) -> dict[str, Any]:
    facts = packages.facts
    return {
        "moved": list(facts.plan.moved),
        "rooted": list(facts.plan.rooted),
        "derived": _pins(facts.plan.derived),
        "fixed": _pins(facts.plan.fixed),
        "good": _closure(facts.good),
        "bad": _closure(facts.bad),
        "needs": [
            [name, version, list(needs.requires_dist), needs.requires_python]
            for (name, version), needs in sorted(facts.needs.items())
        ],
        "overrides": list(facts.overrides),
        "lenient": facts.lenient,
        "exclude_newer": facts.exclude_newer,
        "python_axis": packages.python_axis,
        "pythons": list(packages.pythons),
    }


def _read_packages(document: Mapping[str, Any], axes: Sequence[Axis], folder: Path) -> PackageLattice:
    facts = Facts(
        plan=PackagePlan(
            moved=tuple(document["moved"]),
            rooted=tuple(document["rooted"]),
            derived=tuple(_read_pin(pin) for pin in document["derived"]),
            fixed=tuple(_read_pin(pin) for pin in document["fixed"]),
        ),
        good=_read_closure(document["good"]),
        bad=_read_closure(document["bad"]),
        needs={(name, version): Needs(tuple(lines), python) for name, version, lines, python in document["needs"]},
        overrides=tuple(document["overrides"]),
        lenient=bool(document["lenient"]),
        exclude_newer=document["exclude_newer"],
    )
    sizes = tuple(axis.size for axis in axes)
    pythons = tuple(document["pythons"])
    return PackageLattice(facts, sizes, package_axes_of(axes), document["python_axis"], pythons, folder)


def _closure(closure: Closure) -> dict[str, Any]:
    return {"python": closure.python, "exclude_newer": closure.exclude_newer, "pins": _pins(closure.pins)}


def _read_closure(document: Mapping[str, Any]) -> Closure:
    return Closure.of(document["python"], (_read_pin(pin) for pin in document["pins"]), document["exclude_newer"])


def _pins(pins: Iterable[Pin]) -> list[dict[str, Any]]:
    return [_pin(pin) for pin in pins]


def _pin(pin: Pin) -> dict[str, Any]:
    if pin.git is None:
        return {"name": pin.name, "version": pin.version}
    git = {"url": pin.git.url, "rev": pin.git.rev, "patches": [str(patch) for patch in pin.git.patches]}
    return {"name": pin.name, "version": pin.version, "git": git}


def _read_pin(document: Mapping[str, Any]) -> Pin:
    git = document.get("git")
    source = GitSource(git["url"], git["rev"], tuple(Path(patch) for patch in git["patches"])) if git else None
    return Pin(document["name"], document["version"], source)

"""From two manifests to their space: closures, deltas, axes, and what metadata says about the points between."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from envbisect.errors import EnvbisectError, EnvironmentFailure
from envbisect.keys.spec import Mover
from envbisect.manifest.stack import ABSENT, Value
from envbisect.space.closures import completed, packages_of, resolve_end, versions_of
from envbisect.space.deltas import PACKAGES, PYTHON_VERSION, Delta, Differences, deltas, pin_value
from envbisect.space.index import PackageSource
from envbisect.space.lattice import Lattice
from envbisect.space.model import Axis, Unmovable
from envbisect.space.packages import Facts, PackageLattice
from envbisect.space.plan import End, plan_packages
from envbisect.space.requirements import PackageAxis, exact_ties
from envbisect.space.sources import Scene, propose

if TYPE_CHECKING:
    from envbisect.manifest import Manifest

NAMED: Final = 6
"""How many packages a note names."""
NO_MACHINE: Final[Mapping[str, Value]] = {}


def build_space(
    good: Manifest,
    bad: Manifest,
    *,
    movers: frozenset[Mover],
    moment: str,
    index: PackageSource | None = None,
    machine: Mapping[str, Value] = NO_MACHINE,
    default_python: str = f"{sys.version_info.major}.{sys.version_info.minor}",
) -> Lattice:
    """The product lattice from ``good`` to ``bad``.

    Args:
        movers: what the chosen runtime can move; other deltas stay as the machine has them and are listed as unmovable.
        moment: when the run starts, RFC 3339: what floats resolves as of then, unless a manifest says otherwise.
        index: where packages come from; needed when the runtime moves packages and a manifest names some.
        machine: what this machine has, by key, for deltas that stay; of others nobody knows where they stay.
        default_python: the Python of a manifest that names packages but no version.

    Raises:
        UsageError: an end cannot be installed, a revision or a version does not exist.
        EnvironmentFailure: the index or an interpreter is missing.
    """
    build = _Build(good, bad, movers, moment, index, machine, default_python)
    return build.lattice()


@dataclass(frozen=True)
class _Build:
    good: Manifest
    bad: Manifest
    movers: frozenset[Mover]
    moment: str
    index: PackageSource | None
    machine: Mapping[str, Value]
    default_python: str

    def lattice(self) -> Lattice:
        written = deltas(self.good, self.bad)
        stays = tuple(self._unmovable(delta) for delta in written.deltas if delta.mover not in self.movers)
        fixed = {unmovable.key: unmovable.stays for unmovable in stays if unmovable.stays is not None}
        ends = self._ends(fixed)
        movable = [delta for delta in written.deltas if delta.mover in self.movers]
        if ends is not None:
            movable = self._with_closures(movable, ends)
        components = self._common(written, fixed)
        axes, notes = self._axes(movable, ends, components)
        packages = None
        if ends is not None and self.index is not None:
            packages = self._packages(axes, ends, self.index)
        return Lattice(
            axes=axes,
            unmovable=stays,
            notes=tuple(
                dict.fromkeys(
                    (
                        *self._difference_notes(written),
                        *self._end_notes(ends),
                        *notes,
                        *_package_notes(packages),
                    )
                )
            ),
            components=components,
            folder=self.good.folder,
            packages=packages,
            index=self.index if packages else None,
        )

    def _unmovable(self, delta: Delta) -> Unmovable:
        if delta.mover is Mover.NOBODY:
            reason = "nobody can move it by software"
        else:
            reason = f"this runtime does not move {delta.mover}"
        return Unmovable(delta.key, delta.good, delta.bad, self.machine.get(delta.key), reason)

    def _ends(self, stays: Mapping[str, Value]) -> tuple[End, End] | None:
        """Both closures; None if no manifest names packages or the runtime takes the interpreter as it is."""
        named = any(packages_of(manifest.components()) for manifest in (self.good, self.bad))
        if not named or Mover.PACKAGES not in self.movers:
            return None
        if self.index is None:
            raise EnvironmentFailure("packages are to be moved, but no package index is given", "use --backend local")
        common = self._common_moment()
        ends = []
        for manifest, other in ((self.good, self.bad), (self.bad, self.good)):
            _refuse_image(manifest)
            known = other if manifest.is_unknown(PYTHON_VERSION) else manifest
            python = self._python(stays.get(PYTHON_VERSION, known.components().get(PYTHON_VERSION)))
            if self.index.find_python(python) is None:
                raise EnvironmentFailure(
                    f"{manifest.name} wants Python {python}, which this machine does not have",
                    f"install it (uv python install {python}) or pin another version",
                )
            moment = manifest.python.exclude_newer or self.moment
            ends.append(resolve_end(manifest, self.index, python=python, moment=moment).as_of(common))
        return completed(self.good, ends[0], ends[1]), completed(self.bad, ends[1], ends[0])

    def _with_closures(self, written: Iterable[Delta], ends: tuple[End, End]) -> list[Delta]:
        plan = plan_packages(*ends)
        before, after = ({pin.name: pin_value(pin) for pin in end.closure.pins} for end in ends)
        moved = [
            Delta(PACKAGES + name, before.get(name, ABSENT), after.get(name, ABSENT))
            for name in (*plan.moved, *plan.rooted)
        ]
        others = [delta for delta in written if not delta.key.startswith(PACKAGES)]
        return sorted((*others, *moved), key=lambda delta: delta.key)

    def _axes(
        self, movable: Sequence[Delta], ends: tuple[End, End] | None, components: Mapping[str, Value]
    ) -> tuple[tuple[Axis, ...], tuple[str, ...]]:
        declared = {**self.bad.axes, **self.good.axes}
        scene = Scene(
            components=components,
            folder=self.good.folder,
            declared=declared,
            index=self.index,
            pythons=(),
            exclude_newer=self._common_moment(),
        )
        pythons = tuple(dict.fromkeys(end.closure.python for end in ends)) if ends else ()
        axes: list[Axis] = []
        notes: list[str] = []
        # Python first: a package's steps are what can be installed on one of its steps.
        for delta in sorted(movable, key=lambda delta: delta.key != PYTHON_VERSION):
            proposal = propose(delta, scene.on(pythons))
            if delta.key == PYTHON_VERSION:
                pythons = tuple(self._python(step.value) for step in proposal.axis.steps)
            axes.append(proposal.axis)
            notes += proposal.notes
        return tuple(sorted(axes, key=lambda axis: axis.key)), tuple(notes)

    def _packages(self, axes: tuple[Axis, ...], ends: tuple[End, End], index: PackageSource) -> PackageLattice:
        python_axis = next((place for place, axis in enumerate(axes) if axis.key == PYTHON_VERSION), None)
        pythons: tuple[str, ...] = (ends[0].closure.python,)
        if python_axis is not None:
            pythons = tuple(self._python(step.value) for step in axes[python_axis].steps)
        package_axes = package_axes_of(axes)
        plan = plan_packages(*ends)
        releases = {
            (axis.name, version) for axis in package_axes for step in axis.steps if (version := axis.version(step))
        }
        releases |= {(pin.name, pin.version) for pin in (*plan.fixed, *plan.derived)}
        facts = Facts(
            plan=plan,
            good=ends[0].closure,
            bad=ends[1].closure,
            needs=index.needs(sorted(pair for pair in releases if pair[1]), python=pythons[-1]),
            overrides=tuple(dict.fromkeys((*self.good.python.overrides, *self.bad.python.overrides))),
            lenient=any(end.complete for end in ends),
            exclude_newer=self._common_moment(),
        )
        sizes = tuple(axis.size for axis in axes)
        return PackageLattice(facts, sizes, package_axes, python_axis, pythons, self.good.folder)

    def _common(self, written: Differences, stays: Mapping[str, Value]) -> dict[str, Value]:
        """What every stack has: equal components, unmovable ones that are known here, unknown ones as one end says."""
        before, after = self.good.components(), self.bad.components()
        left_out = {delta.key for delta in (*written.deltas, *written.derived)}
        common: dict[str, Value] = {}
        for key in sorted(before.keys() | after.keys()):
            if key in left_out or key.startswith(PACKAGES):
                continue
            value = before.get(key, after.get(key))
            if value is not ABSENT:
                common[key] = value
        common |= {key: value for key, value in stays.items() if not key.startswith(PACKAGES)}
        return common

    def _difference_notes(self, written: Differences) -> list[str]:
        known = {**self.bad.components(), **self.good.components()}
        notes = [
            f"{key} is unknown at one end: it is {known[key]!r} everywhere, and no suspect"
            if Delta(key, known[key], known[key]).mover in self.movers
            else f"{key} is unknown at one end: it is as this machine has it, and no suspect"
            for key in written.unknown
        ]
        notes += [
            f"{delta.key} differs ({delta.good} → {delta.bad}): it follows from other components and is no axis"
            for delta in written.derived
        ]
        return notes

    def _end_notes(self, ends: tuple[End, End] | None) -> list[str]:
        if ends is None:
            return []
        manifests = (self.good, self.bad)
        notes = [note for end in ends for note in end.notes]
        if all(manifest.python.version is None for manifest in manifests):
            notes.append(f"no manifest pins Python: it is {ends[0].closure.python}")
        if not all(
            manifest.python.exclude_newer or end.complete for manifest, end in zip(manifests, ends, strict=True)
        ):
            notes.append(f"what floats resolves as of {self.moment}; python.exclude_newer pins that")
        return notes

    def _python(self, value: Value) -> str:
        return self.default_python if value is ABSENT else str(value)

    def _common_moment(self) -> str:
        """The later of the ends' moments: whatever either end may have, the points between may have."""
        moments = [manifest.python.exclude_newer or self.moment for manifest in (self.good, self.bad)]
        return max(moments, key=_instant)


def package_axes_of(axes: Sequence[Axis]) -> tuple[PackageAxis, ...]:
    """The axes of packages, with their positions among all axes."""
    return tuple(
        PackageAxis(place, axis.key.removeprefix(PACKAGES), tuple(step.value for step in axis.steps))
        for place, axis in enumerate(axes)
        if axis.key.startswith(PACKAGES)
    )


def _package_notes(packages: PackageLattice | None) -> list[str]:
    if packages is None:
        return []
    tables = [packages.demands(step) for step in range(len(packages.pythons))]
    notes = [
        f"bundle: exact requirements tie {', '.join(bundle)} together; they move together"
        for bundle in exact_ties(tables, packages.axes)
    ]
    derived = versions_of(packages.facts.plan.derived)
    if derived:
        named = ", ".join(f"{name} {version or '(Git)'}" for name, version in list(derived.items())[:NAMED])
        named += f" and {len(derived) - NAMED} more" if len(derived) > NAMED else ""
        notes.append(f"no axes, they come along where something requires them: {named}")
    if packages.facts.lenient:
        notes.append(
            "an end is complete: where its metadata contradicts itself, points between are assembled unresolved"
        )
    return notes


def _refuse_image(manifest: Manifest) -> None:
    from envbisect.manifest import PackageHome

    if manifest.python.source is PackageHome.IMAGE:
        raise EnvbisectError(
            f'{manifest.name}: python.source = "image" needs a backend for images, which this version does not have',
            'use source = "venv"',
        )


def _instant(moment: str) -> datetime:
    instant = datetime.fromisoformat(moment)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)

"""What the metadata of every step demands of every other step: the table of pairs, known before anything is built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from envbisect.manifest.stack import ABSENT, Value
from envbisect.space.index import Needs
from envbisect.space.snap import Feasibility

if TYPE_CHECKING:
    from packaging.requirements import Requirement

NeedsTable: TypeAlias = Mapping[tuple[str, str], Needs]
"""(canonical name, version) to metadata; unknown metadata is missing, and nothing is assumed of it."""

LATEST_MICRO: Final = 99
"""The micro release assumed for a Python that is only named by its minor version: interpreters are well patched."""


@dataclass(frozen=True, slots=True)
class PackageAxis:
    """An axis of a package: ``position`` in the space, and the version of every step (None: absent, or from Git)."""

    position: int
    name: str
    values: tuple[Value, ...]

    @property
    def steps(self) -> range:
        """All steps."""
        return range(len(self.values))

    def version(self, step: int) -> str | None:
        """The published version of a step, None if there is none."""
        value = self.values[step]
        return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Demand:
    """One requirement of one release, already known to apply to this Python. ``specifier`` is empty for "any"."""

    name: str
    specifier: str
    extras: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether only one version will do."""
        return self.specifier.startswith("==") and "*" not in self.specifier and "," not in self.specifier


@dataclass(frozen=True)
class Demands:
    """The metadata table for one Python version.

    ``ignored`` are names whose requirements are overridden: no metadata about them counts.
    """

    needs: NeedsTable
    python: str
    ignored: frozenset[str] = frozenset()
    _read: dict[tuple[str, str], tuple[Demand, ...]] = field(default_factory=dict, repr=False, compare=False)

    def of(self, name: str, version: str | None) -> tuple[Demand, ...]:
        """What a release demands; nothing if its metadata is unknown."""
        if version is None:
            return ()
        key = (name, version)
        if key not in self._read:
            needs = self.needs.get(key)
            lines = needs.requires_dist if needs else ()
            self._read[key] = tuple(
                demand for demand in applicable(lines, self.python) if demand.name not in self.ignored
            )
        return self._read[key]

    def runs(self, name: str, version: str | None) -> bool:
        """Whether Requires-Python admits this Python; true if it is unknown."""
        needs = self.needs.get((name, version)) if version is not None else None
        return not needs or not needs.requires_python or allows(needs.requires_python, full_python(self.python))


def feasibility(
    demands: Demands,
    sizes: Sequence[int],
    axes: Sequence[PackageAxis],
    fixed: Mapping[str, Value],
    *,
    good_end: bool = True,
    bad_end: bool = True,
) -> Feasibility:
    """Everything that metadata rules out between steps of ``axes`` and beside ``fixed`` packages, for one Python.

    What an end of the space itself violates (an environment that ignores metadata) is not held against the points
    between: such a rule is dropped. ``good_end`` and ``bad_end`` say which ends have this Python.
    """
    by_name = {axis.name: axis for axis in axes}
    rules: dict[tuple[int, str], list[bool]] = {}  # (axis, who rules) to steps
    pairs: dict[tuple[int, int], list[list[bool]]] = {}
    for axis in axes:
        rules[axis.position, "python"] = [demands.runs(axis.name, axis.version(step)) for step in axis.steps]
        for step in axis.steps:
            for demand in demands.of(axis.name, axis.version(step)):
                if demand.name in by_name and demand.name != axis.name:
                    _rule_out(pairs, axis, step, by_name[demand.name], demand)
                elif demand.name in fixed and not satisfies(fixed[demand.name], demand):
                    rules.setdefault((axis.position, demand.name), [True] * len(axis.values))[step] = False
    for name, value in fixed.items():
        for demand in demands.of(name, value if isinstance(value, str) else None):
            target = by_name.get(demand.name)
            if target is not None:
                row = rules.setdefault((target.position, f"{name} demands"), [True] * len(target.values))
                for step in target.steps:
                    row[step] &= satisfies(target.values[step], demand)
    alone: dict[int, tuple[bool, ...]] = {}
    for (position, _), row in sorted(rules.items()):
        if all(row) or (good_end and not row[0]) or (bad_end and not row[-1]):
            continue
        before = alone.get(position, (True,) * len(row))
        alone[position] = tuple(a and b for a, b in zip(before, row, strict=True))
    kept = {
        pair: tuple(tuple(row) for row in table)
        for pair, table in sorted(pairs.items())
        if (table[0][0] or not good_end) and (table[-1][-1] or not bad_end)
    }
    return Feasibility(tuple(sizes), alone, kept)


def exact_ties(demands: Iterable[Demands], axes: Sequence[PackageAxis]) -> tuple[tuple[str, ...], ...]:
    """Bundles: names that exact requirements tie together at one step at least, each group sorted."""
    names = {axis.name for axis in axes}
    group = {name: name for name in names}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    for table in demands:
        for axis in axes:
            for step in axis.steps:
                for demand in table.of(axis.name, axis.version(step)):
                    if demand.exact and demand.name in names:
                        group[root(demand.name)] = root(axis.name)
    bundles: dict[str, list[str]] = {}
    for name in sorted(names):
        bundles.setdefault(root(name), []).append(name)
    return tuple(sorted(tuple(bundle) for bundle in bundles.values() if len(bundle) > 1))


def parents_in(demands: Demands, versions: Mapping[str, str | None]) -> dict[str, tuple[str, ...]]:
    """For every package of an environment, which others of it ask for it by their metadata."""
    parents: dict[str, list[str]] = {name: [] for name in versions}
    for name, version in sorted(versions.items()):
        for demand in demands.of(name, version):
            if demand.name in parents and demand.name != name and name not in parents[demand.name]:
                parents[demand.name].append(name)
    return {name: tuple(found) for name, found in parents.items()}


def satisfies(value: Value, demand: Demand) -> bool:
    """Whether a package at ``value`` meets a demand: an absent one never does, one from Git always does."""
    if value is ABSENT:
        return False
    return not isinstance(value, str) or allows(demand.specifier, value)


@lru_cache(maxsize=200_000)
def allows(specifier: str, version: str) -> bool:
    """PEP 440 containment, pre-releases included: a pin may be one. What cannot be read rules nothing out."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version

    if not specifier:
        return True
    try:
        return SpecifierSet(specifier).contains(Version(version), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return True


def full_python(python: str) -> str:
    """A complete version for markers and Requires-Python: "3.11" becomes "3.11.99"."""
    return python if python.count(".") >= 2 else f"{python}.{LATEST_MICRO}"


def applicable(lines: Iterable[str], python: str) -> Iterator[Demand]:
    """The requirements whose markers hold on this platform under ``python``, extras left aside."""
    from packaging.utils import canonicalize_name

    environment = _environment(python)
    for line in lines:
        requirement = _parse(line)
        if requirement is None or not _holds(requirement, environment):
            continue
        name = str(canonicalize_name(requirement.name))
        yield Demand(name, str(requirement.specifier), tuple(sorted(requirement.extras)))


@lru_cache(maxsize=100_000)
def _parse(line: str) -> Requirement | None:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(line)
    except InvalidRequirement:  # old metadata holds requirements that no tool reads; they rule nothing out
        return None


def _holds(requirement: Requirement, environment: dict[str, str]) -> bool:
    from packaging.markers import UndefinedComparison, UndefinedEnvironmentName

    if requirement.marker is None:
        return True
    try:
        return requirement.marker.evaluate(environment)
    except (UndefinedComparison, UndefinedEnvironmentName):
        return False


def _environment(python: str) -> dict[str, str]:
    minor = ".".join(python.split(".")[:2])
    return {"python_version": minor, "python_full_version": full_python(python), "extra": ""}


def _rule_out(
    pairs: dict[tuple[int, int], list[list[bool]]], axis: PackageAxis, step: int, target: PackageAxis, demand: Demand
) -> None:
    allowed = [satisfies(value, demand) for value in target.values]
    if all(allowed):
        return
    first, second = sorted((axis, target), key=lambda one: one.position)
    table = pairs.setdefault(
        (first.position, second.position), [[True] * len(second.values) for _ in range(len(first.values))]
    )
    for other, fits in enumerate(allowed):
        if not fits and axis is first:
            table[step][other] = False
        elif not fits:
            table[other][step] = False

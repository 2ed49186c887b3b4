"""The packages of a space: from a point to the closure that it realises to, snapped where metadata rules it out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from envbisect.errors import UsageError
from envbisect.manifest.stack import ABSENT, Closure, Pin, Value
from envbisect.space.closures import git_source, requirement, restored, versions_of
from envbisect.space.deltas import PACKAGES, pin_value, same_version
from envbisect.space.index import PackageSource, Question, RequirementsConflict, SourceBuildFailed
from envbisect.space.model import Configuration, Infeasible, Rider
from envbisect.space.plan import PackagePlan
from envbisect.space.requirements import Demands, NeedsTable, PackageAxis, feasibility, satisfies
from envbisect.space.snap import Feasibility, nearest

Resolved: TypeAlias = Closure | RequirementsConflict | SourceBuildFailed
MAX_TRIES: Final = 8
"""How many points the resolver is asked about before a configuration is called infeasible."""


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known of the packages of a run before it begins; plain data, kept in the session.

    Attributes:
        plan: which packages move, and how.
        good: the closure of the good end. ``bad``: that of the bad end.
        needs: metadata of every release that may be met.
        overrides: requirements that win against a package's own pins, as the manifests have them.
        lenient: an end is an environment taken as it is (``complete``), whose metadata may contradict itself.
        exclude_newer: the common moment of all resolutions between the ends.
    """

    plan: PackagePlan
    good: Closure
    bad: Closure
    needs: NeedsTable
    overrides: tuple[str, ...]
    lenient: bool
    exclude_newer: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A point that has a closure."""

    point: Configuration
    closure: Closure


@dataclass(frozen=True)
class PackageLattice:
    """The package axes of a space.

    Attributes:
        sizes: top steps of all axes of the space, not of packages only.
        axes: the axes of packages.
        python_axis: the position of ``python.version``, None if Python does not move.
        pythons: the Python of every step of that axis, or the only one.
        folder: what relative paths of Git pins mean.
    """

    facts: Facts
    sizes: tuple[int, ...]
    axes: tuple[PackageAxis, ...]
    python_axis: int | None
    pythons: tuple[str, ...]
    folder: Path
    _tables: dict[int, Feasibility] = field(default_factory=dict, repr=False, compare=False)
    _resolved: dict[Configuration, Resolved] = field(default_factory=dict, repr=False, compare=False)
    _unbuildable: dict[tuple[str, str], SourceBuildFailed] = field(default_factory=dict, repr=False, compare=False)

    @property
    def movable(self) -> frozenset[int]:
        """The axes that snapping may move: packages, never variables or Python."""
        return frozenset(axis.position for axis in self.axes)

    def settle(self, asked: Configuration, held: frozenset[int], index: PackageSource) -> Settled | Infeasible:
        """The nearest point to ``asked`` that metadata and the resolver admit, with its closure."""
        rejected: dict[Configuration, frozenset[int]] = {}
        first: RequirementsConflict | None = None
        points = nearest(
            asked, self.table(self._python_step(asked)), held=held, movable=self.movable, rejected=rejected
        )
        for point in points:
            outcome = self._resolve(point, index)
            if isinstance(outcome, Closure):
                return Settled(point, outcome)
            if isinstance(outcome, SourceBuildFailed):
                return Infeasible(asked, _shortened(outcome.reason), build=True, pin=outcome.pin)
            if self.facts.lenient:  # nothing is resolved in an environment that is taken as it is
                return Settled(point, self._assembled(point))
            first = first or outcome
            named = frozenset(axis.position for axis in self.axes if axis.name in outcome.packages)
            rejected[point] = named or self.movable
            if len(rejected) >= MAX_TRIES:
                break
        return Infeasible(asked, _shortened(first.reason) if first else self._violated(asked))

    def possible(self, point: Configuration) -> bool:
        """Whether metadata admits a point as it is; the resolver may know better."""
        return not self.table(self._python_step(point)).violation(point)

    def snap(self, asked: Configuration, held: frozenset[int]) -> Configuration | None:
        """The nearest point that metadata admits, without asking the resolver; None if there is none."""
        table = self.table(self._python_step(asked))
        return next(nearest(asked, table, held=held, movable=self.movable), None)

    def pin(self, point: Configuration, axis: PackageAxis) -> Pin | None:
        """The distribution that an axis asks for at a point; None if it is absent there."""
        return as_pin(axis.name, axis.values[point[axis.position]], self.folder)

    def riders(self, point: Configuration, closure: Closure) -> tuple[Rider, ...]:
        """Packages of ``closure`` that differ from the good end and are not what an axis asks for."""
        asked = {axis.name: self.pin(point, axis) for axis in self.axes}
        before = {pin.name: pin for pin in self.facts.good.pins}
        now = {pin.name: pin for pin in closure.pins}
        found = []
        for name in sorted(before.keys() | now.keys()):
            expected = asked[name] if name in asked else before.get(name)
            if not _same(expected, now.get(name)):
                found.append(Rider(PACKAGES + name, _value(before.get(name)), _value(now.get(name))))
        return tuple(found)

    def table(self, python_step: int) -> Feasibility:
        """What metadata rules out under one Python."""
        if python_step not in self._tables:
            self._tables[python_step] = feasibility(
                self.demands(python_step),
                self.sizes,
                self.axes,
                {pin.name: pin_value(pin) for pin in self.facts.plan.fixed},
                good_end=python_step == 0,
                bad_end=python_step == len(self.pythons) - 1,
            )
        return self._tables[python_step]

    def demands(self, python_step: int) -> Demands:
        """The metadata as it applies to one Python."""
        return Demands(self.facts.needs, self.pythons[python_step], frozenset(self._overridden()))

    def question(self, point: Configuration, *, constrain: bool = True) -> Question:
        """What the resolver is asked at a point: every axis and every equal pin, exactly; derived ones as constraints.

        A derived package whose version at its end is ruled out by what stands at ``point`` floats.
        """
        pins = [pin for axis in self.axes if (pin := self.pin(point, axis)) is not None]
        pins += self.facts.plan.fixed
        demands = self.demands(self._python_step(point))
        derived = self.facts.plan.derived if constrain else ()
        wanted = [demand for name, version in versions_of(pins).items() for demand in demands.of(name, version)]
        return Question(
            python=demands.python,
            requirements=tuple(sorted(pin.requirement() for pin in pins)),
            constraints=tuple(
                pin.requirement()
                for pin in derived
                if all(satisfies(pin_value(pin), demand) for demand in wanted if demand.name == pin.name)
            ),
            overrides=self._overrides(pins),
            exclude_newer=self.facts.exclude_newer,
        )

    def _resolve(
        self, point: Configuration, index: PackageSource
    ) -> Closure | RequirementsConflict | SourceBuildFailed:
        key = self._projection(point)
        if key not in self._resolved:
            self._resolved[key] = self._fixed_end(key) or self._ask(point, index)
        return self._resolved[key]

    def _ask(self, point: Configuration, index: PackageSource) -> Resolved:
        python = self.pythons[self._python_step(point)]
        question = self.question(point)
        for text in question.requirements:  # one failed source build rules out every point that needs it
            if (text, python) in self._unbuildable:
                return self._unbuildable[text, python]
        pins = [*self.facts.plan.fixed, *self.facts.plan.derived]
        pins += [pin for axis in self.axes if (pin := self.pin(point, axis)) is not None]
        from_git = {pin.name: pin for pin in pins if pin.git is not None}
        try:
            try:
                answer = index.resolve(question)
            except (RequirementsConflict, UsageError):
                if not question.constraints:
                    raise
                answer = index.resolve(self.question(point, constrain=False))
        except RequirementsConflict as conflict:
            return conflict
        except UsageError as problem:  # a requirement that nothing published meets: fatal at an end, a hole between
            return RequirementsConflict(problem.message)
        except SourceBuildFailed as failure:
            if failure.pin:
                self._unbuildable[failure.pin, python] = failure
            return failure
        return restored(answer.closure, from_git)

    def _assembled(self, point: Configuration) -> Closure:
        """The closure of a point without resolution: what stands there, and the derived packages that it requires."""
        pins = {pin.name: pin for axis in self.axes if (pin := self.pin(point, axis)) is not None}
        pins |= {pin.name: pin for pin in self.facts.plan.fixed}
        demands = self.demands(self._python_step(point))
        derived = {pin.name: pin for pin in self.facts.plan.derived}
        frontier = list(pins.values())
        while frontier:
            pin = frontier.pop()
            for demand in demands.of(pin.name, pin.version or None):
                required = derived.get(demand.name)
                if required is not None and required.name not in pins:
                    pins[required.name] = required
                    frontier.append(required)
        return Closure.of(demands.python, pins.values(), self.facts.exclude_newer)

    def _fixed_end(self, projection: Configuration) -> Closure | None:
        """The ends are what they were resolved to, whatever the resolver would say today."""
        if not any(projection):
            return self.facts.good
        python_top = len(self.pythons) - 1
        tops = tuple(self.sizes[axis.position] for axis in self.axes)
        return self.facts.bad if projection == (python_top, *tops) else None

    def _projection(self, point: Configuration) -> Configuration:
        """The Python step and the steps of packages: all that a closure depends on."""
        return (self._python_step(point), *(point[axis.position] for axis in self.axes))

    def _python_step(self, point: Configuration) -> int:
        return 0 if self.python_axis is None else point[self.python_axis]

    def _overridden(self) -> list[str]:
        return [_name_of(text) for text in self.facts.overrides]

    def _overrides(self, pins: list[Pin]) -> tuple[str, ...]:
        """The overrides at a point: an overridden package that is pinned there is what its pin says."""
        pinned = {pin.name: pin.requirement() for pin in pins}
        texts = (pinned.get(_name_of(text), text) for text in self.facts.overrides)
        return tuple(dict.fromkeys(texts))

    def _violated(self, asked: Configuration) -> str:
        table = self.table(self._python_step(asked))
        names = [self._described(asked, axis) for axis in table.violation(asked)]
        return f"{' and '.join(names) or 'these packages'} cannot be had together, and nothing near them can"

    def _described(self, point: Configuration, position: int) -> str:
        axis = next(axis for axis in self.axes if axis.position == position)
        pin = self.pin(point, axis)
        return f"no {axis.name}" if pin is None else pin.requirement()


def as_pin(name: str, value: Value, folder: Path) -> Pin | None:
    """The pin that a step of a package axis means."""
    if value is ABSENT:
        return None
    source = git_source(value, folder)
    return Pin(name, "", source) if source is not None else Pin(name, str(value))


def _same(one: Pin | None, other: Pin | None) -> bool:
    if one is None or other is None:
        return one is other
    if one.git is not None or other.git is not None:
        return one.git == other.git
    return same_version(one.version, other.version)


def _value(pin: Pin | None) -> Value:
    return ABSENT if pin is None else pin_value(pin)


def _name_of(requirement_text: str) -> str:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    return str(canonicalize_name(Requirement(requirement_text).name))


def _shortened(reason: str, limit: int = 600) -> str:
    text = " ".join(reason.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


__all__ = ["MAX_TRIES", "Facts", "PackageLattice", "Settled", "as_pin", "requirement"]

"""The product lattice between two manifests, as the session sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from envbisect.errors import UsageError
from envbisect.manifest.stack import ABSENT, Closure, Pin, Stack, Value
from envbisect.space.deltas import PACKAGES, PYTHON_VERSION
from envbisect.space.index import PackageSource
from envbisect.space.model import Axis, Configuration, Infeasible, Realised, Unmovable
from envbisect.space.packages import PackageLattice, as_pin


@dataclass(frozen=True)
class Lattice:
    """A ``Space``. Everything but ``index`` is plain data (``envbisect.space.document`` writes and reads it).

    Attributes:
        components: what every stack of the space has, whatever the point: equal components and unmovable ones.
        packages: None when the interpreter is taken as it is.
        index: needed where ``packages`` is.
    """

    axes: tuple[Axis, ...]
    unmovable: tuple[Unmovable, ...]
    notes: tuple[str, ...]
    components: Mapping[str, Value]
    folder: Path
    packages: PackageLattice | None
    index: PackageSource | None
    _realised: dict[Configuration, Realised | Infeasible] = field(default_factory=dict, repr=False, compare=False)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Top step of each axis, as the search wants them."""
        return tuple(axis.size for axis in self.axes)

    def realise(self, asked: Configuration) -> Realised | Infeasible:
        """Make a stack of a configuration; the same question always has the same answer.

        Where it must be snapped, what the search has most likely just moved stays: the axes off the good end or
        those off the bad end, whichever are fewer; their companions move.

        Raises:
            UsageError: ``asked`` is no point of this space.
            EnvironmentFailure: the index cannot be reached.
        """
        self._check(asked)
        if asked not in self._realised:
            self._realised[asked] = self._realise(asked)
        return self._realised[asked]

    def possible(self, point: Configuration) -> bool:
        """Whether metadata admits a configuration as it is: cheap, asks no resolver."""
        return self.packages is None or self.packages.possible(point)

    def snap(self, asked: Configuration) -> Configuration | None:
        """Where ``realise`` would go by metadata alone: cheap, and pure."""
        if self.packages is None:
            return asked
        return self.packages.snap(asked, fewer_moved(asked, self.sizes))

    def remember(self, outcome: Realised | Infeasible) -> None:
        """Take a realisation from an earlier process of the same session as the answer to its question."""
        self._check(outcome.asked)
        self._realised[outcome.asked] = outcome

    def exact(self, base: Configuration, changes: Mapping[str, Value]) -> Stack:
        """The stack of ``base`` with single components exchanged (None removes one); nothing is resolved.

        Raises:
            UsageError: ``base`` has no stack, or packages are named where the interpreter is taken as it is.
        """
        realised = self.realise(base)
        if isinstance(realised, Infeasible):
            raise UsageError(
                f"there is no stack to change: {realised.reason}", "start from a configuration that has one"
            )
        components = {key: value for key, value in realised.stack.components.items() if key not in changes}
        closure = realised.stack.closure
        pins = {pin.name: pin for pin in closure.pins} if closure else {}
        for key, value in changes.items():
            if not key.startswith(PACKAGES):
                components |= {} if value is ABSENT else {key: value}
                continue
            name = key.removeprefix(PACKAGES)
            pin = as_pin(name, value, self.folder)
            pins.pop(name, None)
            pins |= {} if pin is None else {name: pin}
        return Stack(components, _repinned(closure, pins, changes), self.folder)

    def _realise(self, asked: Configuration) -> Realised | Infeasible:
        if self.packages is None:
            return Realised(asked, asked, Stack(self._components(asked), self._bare(asked), self.folder))
        if self.index is None:
            raise UsageError("this space has no package index", "give one to build_space or from_document")
        settled = self.packages.settle(asked, fewer_moved(asked, self.sizes), self.index)
        if isinstance(settled, Infeasible):
            return settled
        stack = Stack(self._components(settled.point), settled.closure, self.folder)
        return Realised(asked, settled.point, stack, self.packages.riders(settled.point, settled.closure))

    def _components(self, point: Configuration) -> dict[str, Value]:
        components = dict(self.components)
        for axis, step in zip(self.axes, point, strict=True):
            value = axis.steps[step].value
            if value is not ABSENT and not axis.key.startswith(PACKAGES):
                components[axis.key] = value
        return components

    def _bare(self, point: Configuration) -> Closure | None:
        """An environment without packages, if only the Python version moves; otherwise the interpreter as it is."""
        for axis, step in zip(self.axes, point, strict=True):
            if axis.key == PYTHON_VERSION:
                return Closure.of(str(axis.steps[step].value), ())
        return None

    def _check(self, point: Configuration) -> None:
        if len(point) != len(self.axes) or any(
            not 0 <= step <= top for step, top in zip(point, self.sizes, strict=True)
        ):
            raise UsageError(f"{point} is no configuration of this space", f"its top is {self.sizes}")


def fewer_moved(asked: Configuration, sizes: tuple[int, ...]) -> frozenset[int]:
    """The axes off the good end or those off the bad end, whichever are fewer; none if equally many are."""
    raised = frozenset(axis for axis, step in enumerate(asked) if step > 0)
    lowered = frozenset(axis for axis, step in enumerate(asked) if step < sizes[axis])
    if len(raised) == len(lowered):
        return frozenset()
    return min(raised, lowered, key=len)


def _repinned(closure: Closure | None, pins: Mapping[str, Pin], changes: Mapping[str, Value]) -> Closure | None:
    if closure is None:
        named = [key for key in changes if key.startswith(PACKAGES)]
        if named:
            raise UsageError(f"{named[0]} cannot be exchanged: the interpreter is taken as it is", "use --backend venv")
        return None
    return Closure.of(closure.python, pins.values(), closure.exclude_newer)

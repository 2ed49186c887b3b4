"""What differs between two manifests: pure, without an index, a repository or a clock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from envbisect.keys import spec_for
from envbisect.keys.spec import Mover
from envbisect.manifest.stack import ABSENT, Closure, Pin, Value

PACKAGES: Final = "python.packages."
PYTHON_VERSION: Final = "python.version"


class Components(Protocol):
    """What this module needs of a manifest."""

    def components(self) -> Mapping[str, Value]: ...

    def is_unknown(self, key: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Delta:
    """A component whose pin differs; ``None`` is absent."""

    key: str
    good: Value
    bad: Value

    @property
    def mover(self) -> Mover:
        """Who can move this key; nobody, if the registry does not know it."""
        spec = spec_for(self.key)
        return spec.mover if spec else Mover.NOBODY

    @property
    def derived(self) -> bool:
        """True for a fact that follows from other components (``cuda.cudnn`` from a wheel)."""
        spec = spec_for(self.key)
        return bool(spec and spec.derived)


@dataclass(frozen=True, slots=True)
class Differences:
    """What two manifests say differently.

    Attributes:
        deltas: what may become an axis, by key.
        derived: differing facts that follow from other components: never an axis.
        unknown: keys that one manifest pins and the other knows nothing of: never a delta either.
    """

    deltas: tuple[Delta, ...]
    derived: tuple[Delta, ...]
    unknown: tuple[str, ...]


def deltas(good: Components, bad: Components, *, closures: tuple[Closure, Closure] | None = None) -> Differences:
    """Compare two manifests, and their full closures where these are given instead of the packages that they name.

    Absent on one side is a value; unknown is not, and makes no delta.
    """
    before, after = good.components(), bad.components()
    if closures is not None:
        before, after = _with_closure(before, closures[0]), _with_closure(after, closures[1])
    changed: list[Delta] = []
    unknown: list[str] = []
    for key in sorted(before.keys() | after.keys()):
        delta = Delta(key, before.get(key, ABSENT), after.get(key, ABSENT))
        if same(key, delta.good, delta.bad):
            continue
        if good.is_unknown(key) or bad.is_unknown(key):
            unknown.append(key)
            continue
        changed.append(delta)
    return Differences(
        deltas=tuple(delta for delta in changed if not delta.derived),
        derived=tuple(delta for delta in changed if delta.derived),
        unknown=tuple(unknown),
    )


def same(key: str, one: Value, other: Value) -> bool:
    """Whether two values of ``key`` are one. Types count (``true`` is not 1); versions are compared as PEP 440 says."""
    if key.startswith(PACKAGES) and isinstance(one, str) and isinstance(other, str):
        return same_version(one, other)
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def same_version(one: str, other: str) -> bool:
    """Whether two version strings mean one version ("2.1" is "2.1.0"); what is no version is compared as text."""
    if one == other:
        return True
    from packaging.version import InvalidVersion, Version

    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return False


def pin_value(pin: Pin) -> Value:
    """A pin as a component: its version, or the Git source as a table."""
    if pin.git is None:
        return pin.version
    table: dict[str, Value] = {"git": pin.git.url, "rev": pin.git.rev}
    if pin.git.patches:
        table["patches"] = [str(patch) for patch in pin.git.patches]
    return table


def _with_closure(components: Mapping[str, Value], closure: Closure) -> dict[str, Value]:
    result = {key: value for key, value in components.items() if not key.startswith(PACKAGES)}
    result.update({PACKAGES + pin.name: pin_value(pin) for pin in closure.pins})
    return result

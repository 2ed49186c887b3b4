"""How the packages of two closures become axes, fixed pins and derived packages. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from envbisect.manifest.stack import Closure, GitSource, Pin
from envbisect.space.deltas import same_version


@dataclass(frozen=True, slots=True)
class End:
    """One end, resolved. ``complete`` closures were taken as they are, whatever their metadata says."""

    closure: Closure
    parents: Mapping[str, tuple[str, ...]]
    complete: bool = False

    def as_of(self, exclude_newer: str) -> End:
        """The same end, to be built with the build dependencies of another moment."""
        return replace(self, closure=replace(self.closure, exclude_newer=exclude_newer))


@dataclass(frozen=True, slots=True)
class PackagePlan:
    """What each package of the two closures is.

    Attributes:
        moved: in both closures, with different pins: an axis of versions each.
        rooted: in one closure only, and nothing there requires it: an axis of presence each.
        derived: in one closure only, because something there requires it: no axis. It comes along where it is
            required, at this version if that is possible.
        fixed: the same in both closures.
    """

    moved: tuple[str, ...]
    rooted: tuple[str, ...]
    derived: tuple[Pin, ...]
    fixed: tuple[Pin, ...]


def plan_packages(good: End, bad: End) -> PackagePlan:
    """Sort the packages of both closures; every list is in the order of names."""
    before = {pin.name: pin for pin in good.closure.pins}
    after = {pin.name: pin for pin in bad.closure.pins}
    moved, rooted, derived, fixed = [], [], [], []
    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name), after.get(name)
        if one is not None and other is not None:
            if same_pin(one, other):
                fixed.append(one)
            else:
                moved.append(name)
            continue
        present, end = (one, good) if one is not None else (other, bad)
        if present is None:
            continue
        if _requires(end, name):
            derived.append(present)
        else:
            rooted.append(name)
    return PackagePlan(tuple(moved), tuple(rooted), tuple(derived), tuple(fixed))


def same_pin(one: Pin, other: Pin) -> bool:
    """Whether two pins install the same distribution."""
    if one.git is not None or other.git is not None:
        return one.git == other.git
    return same_version(one.version, other.version)


def git_of(pins: Iterable[Pin]) -> dict[str, GitSource]:
    """The Git sources among pins, by name."""
    return {pin.name: pin.git for pin in pins if pin.git is not None}


def _requires(end: End, name: str) -> bool:
    """Whether another distribution of ``end`` asks for ``name``, directly or over a cycle that starts elsewhere."""
    reached: set[str] = set()
    frontier = [name]
    while frontier:
        for parent in end.parents.get(frontier.pop(), ()):
            if parent not in reached and parent != name:
                reached.add(parent)
                frontier.append(parent)
    return bool(reached)

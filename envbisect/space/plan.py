"""How the packages of two closures become axes, fixed pins and derived packages. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace

from envbisect.manifest.stack import Closure, GitSource, Pin
from envbisect.space.deltas import same_version


@dataclass(frozen=True, slots=True)
class End:
    """One end, resolved. ``complete`` closures were taken as they are, whatever their metadata says.

    ``parents`` says for every package which others ask for it; ``notes`` is what the resolver warned of.
    """

    closure: Closure
    parents: Mapping[str, tuple[str, ...]]
    complete: bool = False
    notes: tuple[str, ...] = ()

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
    shared = sorted(before.keys() & after.keys())
    only_good, only_bad = before.keys() - after.keys(), after.keys() - before.keys()
    rooted = _roots(good, only_good) | _roots(bad, only_bad)
    return PackagePlan(
        moved=tuple(name for name in shared if not same_pin(before[name], after[name])),
        rooted=tuple(sorted(rooted)),
        derived=tuple((before | after)[name] for name in sorted((only_good | only_bad) - rooted)),
        fixed=tuple(before[name] for name in shared if same_pin(before[name], after[name])),
    )


def same_pin(one: Pin, other: Pin) -> bool:
    """Whether two pins install the same distribution."""
    if one.git is not None or other.git is not None:
        return one.git == other.git
    return same_version(one.version, other.version)


def git_of(pins: Iterable[Pin]) -> dict[str, GitSource]:
    """The Git sources among pins, by name."""
    return {pin.name: pin.git for pin in pins if pin.git is not None}


def _roots(end: End, only_here: Set[str]) -> set[str]:
    """Of the packages that only one end has, those that nothing brings along; of a cycle by itself the first name."""
    children: dict[str, set[str]] = {}
    for name in only_here:
        for parent in end.parents.get(name, ()):
            children.setdefault(parent, set()).add(name)

    def brought_by(parents: Iterable[str]) -> set[str]:
        found: set[str] = set()
        frontier = list(parents)
        while frontier:
            new = children.get(frontier.pop(), set()) - found
            found |= new
            frontier += new
        return found

    explained = brought_by(pin.name for pin in end.closure.pins if pin.name not in only_here)
    roots: set[str] = set()
    by_parents = sorted(only_here, key=lambda name: (bool(set(end.parents.get(name, ())) - {name}), name))
    for name in by_parents:
        if name not in explained:
            roots.add(name)
            explained |= brought_by([name]) | {name}
    return roots

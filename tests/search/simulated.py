"""A hidden truth to search in: minimal failing points, hidden rates and steps that cannot be built."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

from envbisect.search import Cause, Configuration, Outcome, Result, Search


def under(low: Configuration, high: Configuration) -> bool:
    return all(a <= b for a, b in zip(low, high, strict=True))


@dataclass
class Truth:
    """``points`` are the minimal failing points; ``p`` and ``q`` how often failing and passing configurations fail."""

    sizes: tuple[int, ...]
    points: tuple[Configuration, ...]
    p: float = 1.0
    q: float = 0.0
    unbuildable: frozenset[Configuration] = frozenset()
    silent: frozenset[Configuration] = frozenset()
    cause: Cause = Cause.OTHER_FAILURE  # why the silent ones say nothing
    seed: int = 0
    generator: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.generator = random.Random(self.seed)

    def fails(self, point: Configuration) -> bool:
        return any(under(h, point) for h in self.points)

    def answer(self, point: Configuration) -> tuple[Outcome, Cause | None]:
        if point in self.unbuildable:
            return Outcome.UNRESOLVED, Cause.UNBUILDABLE
        if point in self.silent:
            return Outcome.UNRESOLVED, self.cause
        rate = self.p if self.fails(point) else self.q
        return (Outcome.BAD if self.generator.random() < rate else Outcome.GOOD), None


@dataclass(frozen=True)
class Run:
    """How a search went: its questions in order, and its answer."""

    asked: tuple[Configuration, ...]
    result: Result


def search(truth: Truth, engine: Search, *, ends: int = 2, limit: int = 500, k: int = 1) -> Run:
    """Drive ``engine`` to its end (or the limit)."""
    top, zero = truth.sizes, (0,) * len(truth.sizes)
    for _ in range(ends):
        for end in (zero, top):
            engine.tell(end, *truth.answer(end))
    asked: list[Configuration] = []
    while len(asked) < limit and (batch := engine.ask(k)):
        for point in batch:
            asked.append(point)
            engine.tell(point, *truth.answer(point))
    return Run(tuple(asked), engine.result())


def random_point(sizes: Sequence[int], order: int, generator: random.Random) -> Configuration:
    """A minimal point of ``order`` axes, uniform over axes and steps."""
    steps = [0] * len(sizes)
    for axis in generator.sample(range(len(sizes)), order):
        steps[axis] = generator.randint(1, sizes[axis])
    return tuple(steps)


def smallest_set(sizes: Configuration, point: Configuration, holes: frozenset[Configuration]) -> set[Configuration]:
    """All minimal points that answer every testable configuration like the true one."""
    every = list(product(*(range(size + 1) for size in sizes)))
    testable = [x for x in every if x not in holes]
    return {h for h in every if any(h) and all(under(h, x) == under(point, x) for x in testable)}


def slabs(sizes: Configuration, generator: random.Random, share: float) -> frozenset[Configuration]:
    """Everything with one of some whole steps, never an end."""
    dead = {(i, s) for i, m in enumerate(sizes) for s in range(1, m) if generator.random() < share}
    every = product(*(range(size + 1) for size in sizes))
    return frozenset(x for x in every if any((i, s) in dead for i, s in enumerate(x)))


def antichain(points: Iterable[Configuration]) -> tuple[Configuration, ...]:
    """The minimal ones of the points."""
    every = set(points)
    return tuple(sorted(x for x in every if not any(y != x and under(y, x) for y in every)))


def points_of(sizes: Sequence[int]) -> list[Configuration]:
    """Every configuration of a small lattice."""
    return list(product(*(range(size + 1) for size in sizes)))


def monotone_functions(sizes: Configuration) -> list[tuple[Configuration, ...]]:
    """The minimal points of every monotone failure of a small lattice that leaves good passing and bad failing."""
    points = [x for x in points_of(sizes) if any(x)]
    found: list[tuple[Configuration, ...]] = []

    def extend(start: int, chosen: tuple[Configuration, ...]) -> None:
        if chosen:
            found.append(chosen)
        for number in range(start, len(points)):
            point = points[number]
            if not any(under(point, other) or under(other, point) for other in chosen):
                extend(number + 1, (*chosen, point))

    extend(0, ())
    return found


def hole_pattern(sizes: Configuration, kind: str, generator: random.Random) -> frozenset[Configuration]:
    """What cannot be tested, never an end: single ``points``, whole ``steps``, or ``pairs`` of steps together."""
    between = [x for x in points_of(sizes) if any(x) and x != sizes]
    match kind:
        case "points":
            share = generator.choice([0.1, 0.25, 0.5])
            return frozenset(x for x in between if generator.random() < share)
        case "steps":
            return slabs(sizes, generator, 0.4)
        case "pairs":
            levels = [(axis, step) for axis, size in enumerate(sizes) for step in range(size + 1)]
            pairs = [generator.sample(levels, 2) for _ in range(generator.randint(1, 3))]
            dead = [(one, other) for one, other in pairs if one[0] != other[0]]
            return frozenset(
                x for x in between if any(x[one[0]] == one[1] and x[other[0]] == other[1] for one, other in dead)
            )
        case _:
            raise ValueError(kind)


def smallest_sets(
    sizes: Configuration, truth: Iterable[Configuration], holes: frozenset[Configuration]
) -> list[set[Configuration]]:
    """By brute force, the sets of suspects that all answers together leave; every one of them is as good an answer.

    * If one minimal point explains what every testable configuration answers, it is one set: all such points.
    * Otherwise there are several, and each lowest testable configuration that fails gives a set: what is at or below
      it, but not at or below anything testable that passes. Whatever the truth is behind the holes, every one of
      these sets holds a minimal point of it, and nothing testable excludes any of its members.
    """
    every = points_of(sizes)
    points = tuple(truth)
    fails = {x: any(under(h, x) for h in points) for x in every if x not in holes}
    candidates = [h for h in every if any(h)]
    if alone := {h for h in candidates if all(under(h, x) == bad for x, bad in fails.items())}:
        return [alone]
    passing = [x for x, bad in fails.items() if not bad]
    possible = [h for h in candidates if not any(under(h, x) for x in passing)]
    return [{h for h in possible if under(h, low)} for low in antichain(x for x, bad in fails.items() if bad)]

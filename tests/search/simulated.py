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

"""How long the search thinks about one probe, by the number of hypotheses."""

from __future__ import annotations

import hashlib
import math
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from searching.measurements import COMMON, ENGINE
from searching.ours import opened, outcome
from searching.worlds import Point, Row, World

TARGETS: Final = (10_000, 100_000, 1_000_000)
LIMITS_MS: Final = {10_000: 8.0, 1_000_000: 150.0}
PROBES: Final = 5  # the median of so many is taken
LATE: Final = 25  # probes before the late ones
SEEDS: Final = {10_000: 5, 100_000: 3, 1_000_000: 1}  # searches, fewer where each takes long

KINDS: Final[dict[str, Callable[[int], Point]]] = {
    "ladders of 8": lambda count: (7,) * count,
    "flags": lambda count: (1,) * count,
    "as many of both": lambda count: (7,) * (count // 2) + (1,) * (count - count // 2),
}


@dataclass(frozen=True, slots=True)
class Thinking:
    """One lattice: CPU milliseconds of an update and the choice that follows, early and late in a search."""

    kind: str
    target: int
    axes: int
    hypotheses: int
    opening_ms: float
    early_ms: float
    late_ms: float


def hypotheses(sizes: Point) -> int:
    """Culprits of one axis and of two."""
    total = sum(sizes)
    return total + (total * total - sum(size * size for size in sizes)) // 2


def largest(kind: str, target: int) -> Point:
    """The largest lattice of a kind with fewer hypotheses than ``target``."""
    shape, low, high = KINDS[kind], 2, 2 * target
    while high - low > 1:
        middle = (low + high) // 2
        total = sum(shape(middle))
        fits = total * total < 4 * target and hypotheses(shape(middle)) < target
        low, high = (middle, high) if fits else (low, middle)
    return shape(low)


def timed(kind: str, target: int, probes: int = PROBES, late: int = LATE) -> Thinking:
    """Medians over some probes, the middle of a few seeds."""
    sizes = largest(kind, target)
    row = Row(f"speed {kind} {target}", "", sizes, 2, p=0.5, q=0.02)
    each = [list(_milliseconds(row, seed, late + probes)) for seed in range(SEEDS.get(target, 1))]
    return Thinking(
        kind,
        target,
        len(sizes),
        hypotheses(sizes),
        opening_ms=round(statistics.median(times[0] for times in each), 2),
        early_ms=round(statistics.median(statistics.median(times[1 : 1 + probes]) for times in each), 3),
        late_ms=round(statistics.median(statistics.median(times[-probes:]) for times in each), 3),
    )


def _milliseconds(row: Row, seed: int, probes: int) -> Iterator[float]:
    """Of the first question with all that it sets up, then of every answer with the question that follows."""
    world = World(row, seed)
    begun = time.process_time()
    search = opened(row, world)
    batch = search.ask(1)
    yield 1000 * (time.process_time() - begun)
    for _ in range(probes):
        if not batch:
            return
        said = outcome(world.fails(batch[0]))
        begun = time.process_time()
        search.tell(batch[0], said)
        batch = search.ask(1)
        yield 1000 * (time.process_time() - begun)


def exponent(points: list[Thinking]) -> float:
    """Slope of log milliseconds over log hypotheses, least squares, late probes."""
    x = [math.log(point.hypotheses) for point in points]
    y = [math.log(point.late_ms) for point in points]
    return statistics.linear_regression(x, y).slope


def digest() -> str:
    """Changes with everything that the times depend on."""
    out = hashlib.sha256()
    for path in (*COMMON, Path(__file__), *ENGINE):
        out.update(path.read_bytes())
    return out.hexdigest()[:16]


def measure() -> list[dict[str, Any]]:
    """Every kind at every size, for the store."""
    return [asdict(timed(kind, target)) for kind in KINDS for target in TARGETS]

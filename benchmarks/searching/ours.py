"""envbisect's own search on a row: one probe after the other, in rounds, and with workers that come free by chance."""

from __future__ import annotations

import heapq
import random
import time
from collections.abc import Callable
from typing import Any, Final

from envbisect.search import Outcome, Search, Status
from searching.worlds import BUILD_RUNS, CONFIDENCE, Found, Point, Row, World

WORKERS: Final = 4
DURATIONS: Final = (0.5, 1.5)  # shortest and longest run of the test with several workers, evenly drawn; mean 1

Play = Callable[[Search, World], float]
"""Asks until it is decided or the row's patience is over; the rounds that it took."""


def outcome(failed: bool) -> Outcome:
    """What a run says."""
    return Outcome.BAD if failed else Outcome.GOOD


def opened(row: Row, world: World) -> Search:
    """A search that was told the runs of both ends, and nothing else but what the row says."""
    told: dict[str, Any] = {"rates": (row.p, row.q)} if row.told else {"deterministic": row.ends.deterministic}
    if row.priced:
        told["costs"] = (BUILD_RUNS, 1.0)
    search = Search(row.sizes, CONFIDENCE, **told)
    for _ in range(row.ends.runs):
        for end in (row.top, row.zero):
            search.tell(end, outcome(world.fails_uncounted(end)))
    return search


def searched(row: Row, seed: int, play: Play) -> Found:
    """One search from the ends to its answer."""
    world = World(row, seed)
    search = opened(row, world)
    begun = time.process_time()
    rounds = play(search, world)
    result = search.result()
    thought_s = time.process_time() - begun
    answer = result.culprit if result.status is Status.CULPRIT else None
    return world.found(result.status.value, answer, thought_s, rounds)


def alone(search: Search, world: World) -> float:
    """One probe after the other."""
    while world.runs < world.row.patience and (batch := search.ask(1)):
        search.tell(batch[0], outcome(world.fails(batch[0])))
    return world.runs


def in_rounds(search: Search, world: World) -> float:
    """A round asks for as many probes as there are workers, and waits for all of them."""
    rounds = 0
    while world.runs < world.row.patience and (batch := search.ask(WORKERS)):
        rounds += 1
        for point in batch:
            search.tell(point, outcome(world.fails(point)))
    return rounds


def whenever_free(search: Search, world: World) -> float:
    """A worker that comes free gets the next probe at once, while the others run on; ends at the deciding answer.

    The rounds are mean durations of a run. Who runs how long is drawn from the world's truth, so that the same seed
    gives the same figures.
    """
    clock = random.Random(f"durations {world.culprits}")
    now, started = 0.0, 0
    running: list[tuple[float, int, Point, bool]] = []  # when it ends, its number, where, what it will say
    while world.runs < world.row.patience:
        while len(running) < WORKERS and (batch := search.ask(1, running=[point for _, _, point, _ in running])):
            ends = now + clock.uniform(*DURATIONS)
            heapq.heappush(running, (ends, started, batch[0], world.fails(batch[0])))
            started += 1
        if not running:
            break
        now, _, point, failed = heapq.heappop(running)
        search.tell(point, outcome(failed))
        if search.result().status is not Status.BUDGET:
            break
    return now

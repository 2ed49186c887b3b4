"""Plays measurements in a few processes and stores each as it is finished."""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Final

from searching.measurements import Figures, Measurement
from searching.store import Store
from searching.worlds import Found

CHUNK: Final = 20  # searches of a task at least: starting one costs up to a second
TASKS: Final = 8  # of a measurement, so that every process has some until its end

Say = Callable[[str], None]


def chunks(seeds: range) -> list[range]:
    """The seeds in tasks."""
    size = max(CHUNK, math.ceil(len(seeds) / TASKS))
    return [seeds[start : start + size] for start in range(0, len(seeds), size)]


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool whose waiting tasks are dropped when something goes wrong, or at Ctrl-C."""
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def play_all(measurements: Sequence[Measurement], store: Store, searches: int, jobs: int, say: Say) -> None:
    """Play what is not stored yet; raises what a player raises, with all that was finished before it stored."""
    missing = [each for each in measurements if not store.is_fresh(each, searches)]
    if kept := len(measurements) - len(missing):
        say(f"{kept} measurements are stored already")
    # Of the sources as the processes load them: who edits them meanwhile has all this measured again.
    digests = {each.name: each.digest() for each in missing}
    begun = time.perf_counter()
    with _pool(jobs) as pool:
        tasks: list[tuple[Measurement, list[Future[list[Found]]]]] = [
            (each, [pool.submit(each.play, each.row, seeds) for seeds in chunks(each.seeds(searches))])
            for each in missing
        ]
        for number, (measurement, futures) in enumerate(tasks, start=1):
            figures = Figures.of([found for future in futures for found in future.result()])
            store.keep(measurement, figures, digests[measurement.name])
            say(
                f"[{number}/{len(tasks)}] {measurement.name}: {figures.runs_mean:.1f} runs, {figures.builds_mean:.1f} "
                f"builds, right {figures.right}/{figures.answered}, answered {figures.answered}/{figures.searches} "
                f"({time.perf_counter() - begun:.0f} s)"
            )

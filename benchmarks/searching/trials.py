"""Searches of random worlds, each with more and more confidence, and a file that keeps what is finished."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import random
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from envbisect.search import Cause, Outcome, Result, Search, Status
from searching.measurements import COMMON, ENGINE, HERE
from searching.randomworlds import RandomWorld, draw
from searching.worlds import PATIENCE, Point

CONFIDENCES: Final = (0.9, 0.95, 0.99)
END_RUNS: Final = 10  # of each end, told first and not counted
NOISE: Final = 0x5BD1E995  # sets the generator of the runs apart from the world's
SOURCES: Final = (*ENGINE, *COMMON, HERE / "randomworlds.py", HERE / "trials.py")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a search stood when it had nothing left to ask at one confidence, or when its probes were spent.

    Attributes:
        status: in the search's own word.
        right: its culprit is a true minimal point, or one of its suspects is; False without either.
        suspects: how many it named.
        probes: so far, those at lower confidences included, those of the ends not.
    """

    status: str
    right: bool
    suspects: int
    probes: int


@dataclass(frozen=True, slots=True)
class Trial:
    """The search of one seed; an ending for each of ``CONFIDENCES``."""

    seed: int
    endings: tuple[Ending, ...]


def play(seed: int) -> Trial:
    """Search one world: to the first confidence, and from there on to each higher one."""
    world, noise = draw(seed), random.Random(seed ^ NOISE)
    told = [(end, run(world, end, noise)) for _ in range(END_RUNS) for end in (world.sizes, (0,) * len(world.sizes))]
    uncounted, endings = len(told), []
    for confidence in CONFIDENCES:
        search = Search(world.sizes, confidence)
        for point, outcome in told:
            tell(search, point, outcome)
        while len(told) - uncounted < PATIENCE and (batch := search.ask(1)):
            told.append((batch[0], run(world, batch[0], noise)))
            tell(search, *told[-1])
        result = search.result()
        status, probes = result.status.value, len(told) - uncounted
        endings.append(Ending(status, is_right(result, world.points), len(result.suspects), probes))
    return Trial(seed, tuple(endings))


def run(world: RandomWorld, point: Point, noise: random.Random) -> Outcome:
    """What one run says; nothing where the configuration does not build."""
    if not world.builds(point):
        return Outcome.UNRESOLVED
    return Outcome.BAD if noise.random() < world.rate(point) else Outcome.GOOD


def tell(search: Search, point: Point, outcome: Outcome) -> None:
    """Tell one run; whatever says nothing here did not build."""
    search.tell(point, outcome, Cause.UNBUILDABLE if outcome is Outcome.UNRESOLVED else None)


def is_right(result: Result, points: Sequence[Point]) -> bool:
    """Whether what is named is true, or holds a true one."""
    if result.status is Status.CULPRIT:
        return result.culprit in points
    return result.status is Status.SUSPECTS and any(point in result.suspects for point in points)


def play_all(seeds: Iterable[int], jobs: int) -> Iterator[Trial]:
    """The trials as they are finished; in this process and in order with one job."""
    if jobs == 1:
        yield from map(play, seeds)
        return
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
    try:
        for future in as_completed([pool.submit(play, seed) for seed in seeds]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def digest() -> str:
    """Changes with every source that an ending depends on."""
    sources = hashlib.sha256()
    for path in SOURCES:
        sources.update(path.read_bytes())
    return sources.hexdigest()[:16]


class Finished:
    """The finished trials of the sources with one digest: a line each, in a file of that name."""

    def __init__(self, folder: Path, sources: str) -> None:
        self.path = folder / f"calibration-{sources}.jsonl"

    def trials(self) -> dict[int, Trial]:
        """What is finished, by seed. A line that was cut when its writer was killed is none."""
        if not self.path.is_file():
            return {}
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return {trial.seed: trial for line in lines if (trial := _read(line)) is not None}

    def keep(self, trial: Trial) -> None:
        """Store a trial at once."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # In one write, so that a second run beside this one does not tear it; after a line break, because the line
        # before may be one that was cut.
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps(asdict(trial), separators=(',', ':'))}\n")


def _read(line: str) -> Trial | None:
    try:
        document = json.loads(line)
    except json.JSONDecodeError:
        return None
    return Trial(document["seed"], tuple(Ending(**each) for each in document["endings"]))

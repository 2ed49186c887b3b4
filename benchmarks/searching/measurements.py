"""Everything that is measured: who plays on which row, how many searches, and the figures that they come to."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from searching import ours, rows
from searching.bisection import VOTES, Votes, emulated
from searching.gitrun import real
from searching.quickxplain import explained
from searching.tools import Tools
from searching.worlds import BUILD_RUNS, Found, Row

Play = Callable[[Row, Sequence[int]], list[Found]]

REAL_GIT: Final = 5  # searches of a real git bisect: each takes a third of a second and more
REAL_VOTES: Final = VOTES[:3]
FEW_NULLS: Final = 20  # searches of git_bayesect where it finds nothing until it is stopped

HERE: Final = Path(__file__).parent
ENGINE: Final = tuple(sorted((HERE.parents[1] / "envbisect" / "search").glob("*.py")))
COMMON: Final = (HERE / "worlds.py",)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One player on one row.

    Attributes:
        player: its name in the tables.
        family: what it belongs to on the command line: envbisect, workers, git, bayesect, picire, quickxplain.
        row: what it plays on.
        play: plays some seeds.
        sources: files that its figures depend on.
        most: searches at most, however many are asked for.
        tools: needs what is installed from the index.
    """

    player: str
    family: str
    row: Row
    play: Play
    sources: tuple[Path, ...]
    most: int | None = None
    tools: bool = False

    @property
    def name(self) -> str:
        """Its name in the store."""
        return f"{self.player} / {self.row.key}"

    def seeds(self, searches: int) -> range:
        """What it plays when so many searches are asked for."""
        return range(searches if self.most is None else min(searches, self.most))

    def digest(self) -> str:
        """Changes with the row and with every source that the figures depend on."""
        digest = hashlib.sha256(repr(self.row).encode())
        for path in self.sources:
            digest.update(path.read_bytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Figures:
    """What some searches came to; means over all of them, ``right`` and ``answered`` are counts."""

    searches: int
    runs_mean: float
    runs_error: float
    runs_p95: int
    builds_mean: float
    cost_mean: float
    rounds_mean: float
    answered: int
    right: int
    thought_s: float
    statuses: dict[str, int]

    @classmethod
    def of(cls, found: Sequence[Found]) -> Figures:
        """The figures of at least one search."""
        count = len(found)
        runs = sorted(each.runs for each in found)
        mean = sum(runs) / count
        spread = math.sqrt(sum((each - mean) ** 2 for each in runs) / max(1, count - 1))
        return cls(
            searches=count,
            runs_mean=round(mean, 3),
            runs_error=round(spread / math.sqrt(count), 3),
            runs_p95=runs[math.ceil(0.95 * count) - 1],
            builds_mean=round(sum(each.builds for each in found) / count, 3),
            cost_mean=round(sum(each.runs + BUILD_RUNS * each.builds for each in found) / count, 3),
            rounds_mean=round(sum(each.rounds for each in found) / count, 3),
            answered=sum(each.answered for each in found),
            right=sum(each.answered and each.right for each in found),
            thought_s=round(sum(each.thought_s for each in found) / count, 5),
            statuses=dict(sorted(Counter(each.status for each in found).items())),
        )


def play_ours(play: ours.Play, row: Row, seeds: Sequence[int]) -> list[Found]:
    """envbisect's searches."""
    return [ours.searched(row, seed, play) for seed in seeds]


def play_emulated(votes: Votes, row: Row, seeds: Sequence[int]) -> list[Found]:
    """git bisect's, emulated."""
    return [emulated(row, seed, votes) for seed in seeds]


def play_real(votes: Votes, row: Row, seeds: Sequence[int]) -> list[Found]:
    """git bisect's."""
    return real(row, seeds, votes)


def play_explained(repeats: int, row: Row, seeds: Sequence[int]) -> list[Found]:
    """QuickXplain's."""
    return [explained(row, seed, repeats) for seed in seeds]


def play_tool(tools: Tools, worker: str, more: dict[str, Any], row: Row, seeds: Sequence[int]) -> list[Found]:
    """Those of a tool in its own environment."""
    return tools.play(worker, row, seeds, **more)


ALONE: Final = "envbisect"
ROUNDS: Final = f"envbisect, rounds of {ours.WORKERS}"
FREE: Final = f"envbisect, {ours.WORKERS} workers"
BAYESECT: Final = "git_bayesect"
PICIRE: Final = "picire"
PICIRE_TRUSTING: Final = "picire, nothing tested again"
BAYESECT_TOLD: Final = "git_bayesect, ends told"


def git_name(votes: Votes, *, really: bool) -> str:
    """Git's name in the tables."""
    return f"git bisect run, {votes.name}" if really else f"git bisect, {votes.name} (emulated)"


def repeated(tool: str, repeats: int) -> str:
    """The name of a tool whose verdicts are made of several runs."""
    return tool if repeats == 1 else f"{tool}, {repeats} runs a verdict"


def combination_players(row: Row) -> tuple[str, ...]:
    """Who else plays on a combination."""
    tools = ("QuickXplain", PICIRE, PICIRE_TRUSTING)
    return tuple(repeated(tool, repeats) for tool in tools for repeats in repeats_of(row))


def repeats_of(row: Row) -> tuple[int, ...]:
    """Runs a verdict for tools that take every verdict for true: one, and so many that a failure is seldom missed."""
    if row.deterministic:
        return (1,)
    return (1, 8) if row.p < 0.8 else (1, 3)


def everything(tools: Tools) -> Iterator[Measurement]:
    """All that is measured, in the order in which it is."""
    source = (*COMMON, HERE / "ours.py", *ENGINE)
    for row in (*rows.MAIN, *rows.SHORT, *rows.NULLS, *rows.EFFECTS):
        yield Measurement(ALONE, "envbisect", row, partial(play_ours, ours.alone), source)
    for player, play in ((ROUNDS, ours.in_rounds), (FREE, ours.whenever_free)):
        for row in (rows.HIDDEN[1], rows.MIXED_NOISY[0]):
            yield Measurement(player, "workers", row, partial(play_ours, play), source)
    yield from _chains(tools)
    yield from _combinations(tools)


def _chains(tools: Tools) -> Iterator[Measurement]:
    emulation, script = (*COMMON, HERE / "bisection.py"), (*COMMON, HERE / "bisection.py", HERE / "gitrun.py")
    worker = (*COMMON, HERE.parent / "workers" / "bayesect.py")
    ends = {BAYESECT: 0, BAYESECT_TOLD: rows.STEPS_SURE.ends.runs}
    for row in rows.CHAINS:
        for votes in VOTES:
            name = git_name(votes, really=False)
            yield Measurement(name, "git", row, partial(play_emulated, votes), emulation)
        for votes in REAL_VOTES:
            name = git_name(votes, really=True)
            yield Measurement(name, "git", row, partial(play_real, votes), script, REAL_GIT)
        for name, told in ends.items():
            play = partial(play_tool, tools, "bayesect", {"told_ends": told})
            yield Measurement(name, "bayesect", row, play, worker, tools=True)
    for row in rows.LONG_NULLS:
        for name, told in ends.items():
            play = partial(play_tool, tools, "bayesect", {"told_ends": told})
            yield Measurement(name, "bayesect", row, play, worker, FEW_NULLS, tools=True)


def _combinations(tools: Tools) -> Iterator[Measurement]:
    explaining = (*COMMON, HERE / "quickxplain.py")
    for row in rows.COMBINATIONS:
        for repeats in repeats_of(row):
            name = repeated("QuickXplain", repeats)
            yield Measurement(name, "quickxplain", row, partial(play_explained, repeats), explaining)
            sources = (*explaining, HERE.parent / "workers" / "ddmin.py")
            for tool, trusting in ((PICIRE, False), (PICIRE_TRUSTING, True)):
                play = partial(play_tool, tools, "ddmin", {"repeats": repeats, "trusting": trusting})
                yield Measurement(repeated(tool, repeats), "picire", row, play, sources, tools=True)

"""``git bisect run`` on a straight history, emulated: the commits it takes and the verdicts it believes."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from searching.worlds import Found, Row, culprits


@dataclass(frozen=True, slots=True)
class Votes:
    """How a test script makes one verdict of several runs: bad if ``needed`` of ``runs`` fail."""

    name: str
    runs: int
    needed: int

    def verdict(self, fails: Callable[[int], bool]) -> tuple[bool, int]:
        """(bad, runs that it took); ``fails`` runs the test for the i-th time. It stops as soon as it is clear."""
        bad = 0
        for run in range(self.runs):
            bad += fails(run)
            if bad >= self.needed:
                return True, run + 1
            if run + 1 - bad > self.runs - self.needed:
                return False, run + 1
        return False, self.runs


SINGLE: Final = Votes("single run", 1, 1)
VOTES: Final = (
    SINGLE,
    Votes("best of 3", 3, 2),
    Votes("best of 5", 5, 3),
    Votes("any of 3", 3, 1),
    Votes("any of 5", 5, 1),
)


def fails(row: Row, seed: int, first_bad: int, step: int, run: int) -> bool:
    """What the test says at this commit for the i-th time: by place, so that a real script can say the same."""
    rate = row.p if step >= first_bad else row.q
    return random.Random(f"{seed} {step} {run}").random() < rate


def bisect(steps: int, is_bad: Callable[[int], bool]) -> int:
    """The commit that git calls the first bad one, where commit 0 is good and commit ``steps`` bad."""
    good, bad = 0, steps
    while bad - good > 1:
        width = bad - good
        middle = good + (2 if width == 3 else width // 2)  # of three, git 2.39 takes the second (tested)
        if is_bad(middle):
            bad = middle
        else:
            good = middle
    return bad


def emulated(row: Row, seed: int, votes: Votes) -> Found:
    """One ``git bisect run`` on a ladder."""
    ((first_bad,),) = culprits(row, seed)
    runs = builds = 0

    def is_bad(step: int) -> bool:
        nonlocal runs, builds
        verdict, took = votes.verdict(lambda run: fails(row, seed, first_bad, step, run))
        runs, builds = runs + took, builds + 1
        return verdict

    begun = time.process_time()
    named = bisect(row.sizes[0], is_bad)
    thought_s = time.process_time() - begun
    return Found(runs, builds, "first bad", answered=True, right=named == first_bad, rounds=runs, thought_s=thought_s)

"""Whether an end answers otherwise now than it did: then the machine changed on the way, and not the axes.

The answers of each end are kept in their order. What was told before the search asked for anything is one block: it
may have come as sums. From there on every place may be the change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from envbisect.search.evidence import Evidence
from envbisect.search.labels import Labels, RateGrid, at_least
from envbisect.search.words import Configuration, Drift

LEVEL: Final = 0.01
AGAIN: Final = 5  # runs of the good end, at most, that tell drift from a test that is not monotone
AGREEING: Final = 3  # … of which so many are enough if they say what they said before
SURPRISES: Final = 2  # answers that nobody foresaw; a single one is a flake
LONGEST: Final = 60  # answers of one end that are looked at, the latest


def fisher(bad: int, total_bad: int, before: int, total: int) -> float:
    """Fisher's exact test, two-sided: how often a random order of the answers splits at most as probably as this."""
    rest = total - before
    every = range(max(0, total_bad - rest), min(before, total_bad) + 1)
    whole = math.comb(total, total_bad)
    each = {number: math.comb(before, number) * math.comb(rest, total_bad - number) / whole for number in every}
    own = each[bad] * (1 + 1e-9)
    return min(1.0, sum(chance for chance in each.values() if chance <= own))


def change_point(answers: Sequence[bool], earliest: int) -> tuple[int, float] | None:
    """The split that separates bad from good best, and how often a random order has one as good (exact).

    ``earliest`` is the first place at which the change may lie. The second value counts the orders of the same answers
    that reach the same level at any split: so it is corrected for having chosen the split. None without a split.
    """
    total, total_bad = len(answers), sum(answers)
    splits = range(max(earliest, 1), total)
    if not splits or total_bad in (0, total):
        return None
    table = {
        (split, bad): fisher(bad, total_bad, split, total)
        for split in splits
        for bad in range(max(0, total_bad - total + split), min(split, total_bad) + 1)
    }
    sums = {split: sum(answers[:split]) for split in splits}
    best = min(splits, key=lambda split: (table[split, sums[split]], split))
    level = table[best, sums[best]] * (1 + 1e-9)
    if level > LEVEL:
        return best, level  # no correction makes it smaller
    # Orders that never reach the level, counted by their bad answers so far.
    quiet = {0: 1}
    for place in range(1, total + 1):
        grown: dict[int, int] = {}
        for bad, ways in quiet.items():
            for more in (0, 1):
                if bad + more <= total_bad and table.get((place, bad + more), 1.0) > level:
                    grown[bad + more] = grown.get(bad + more, 0) + ways
        quiet = grown
    return best, 1 - quiet.get(total_bad, 0) / math.comb(total, total_bad)


@dataclass(slots=True)
class EndRuns:
    """The answers of one end in their order; True is bad. ``known`` of them were told before anything was asked."""

    known: int = 0
    answers: list[bool] = field(default_factory=list)
    times: list[int] = field(default_factory=list)  # how many answers of any configuration came before

    def split(self, place: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """(good, bad) before and after a place."""
        before, after = self.answers[:place], self.answers[place:]
        return (len(before) - sum(before), sum(before)), (len(after) - sum(after), sum(after))


def drift_of(end: Configuration, runs: EndRuns, evidence: Evidence, grid: RateGrid) -> tuple[Drift, int] | None:
    """The drift that one end shows, and the place of the change in its answers; None if there is none.

    Two tests, each at half the level: the exact one over all places; and, because two answers before the change can
    never convince it, the chance of what came after the block that was known before, with the rates learned from that
    block and from everything that is no end. Both are looked at after every answer, which costs a few levels more.
    """
    if len(runs.answers) - runs.known < 1 or len(set(runs.answers)) < 2:
        return None
    skipped = max(0, len(runs.answers) - LONGEST)
    found = change_point(runs.answers[skipped:], max(runs.known - skipped, 1))
    if found is None:
        return None
    place, chance = found[0] + skipped, found[1]
    if (known := runs.known) and (rest := len(runs.answers) - known):
        chance = min(chance, _unforeseen(end, runs.split(known), rest, evidence, grid))
    before, after = runs.split(place)
    looks = min(len(runs.answers) - runs.known, AGAIN)
    drift = Drift(end, before, after, min(1.0, 2 * looks * chance))
    return (drift, place) if drift.probability < LEVEL else None


def _unforeseen(
    end: Configuration,
    split: tuple[tuple[int, int], tuple[int, int]],
    rest: int,
    evidence: Evidence,
    grid: RateGrid,
) -> float:
    """The chance that the good end fails, or the bad end passes, so often later on."""
    before, after = split
    if min(after[1] if end == evidence.lattice.zero else after[0], rest) < SURPRISES:
        return 1.0
    labels = Labels(grid, evidence, {end: before})
    weight = labels.without(())
    if end == evidence.lattice.zero:
        return float((weight * at_least(after[1], rest, grid.q)).sum())
    return float((weight * at_least(after[0], rest, 1 - grid.p)).sum())

"""The rows of the benchmark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from searching.bounds import bound
from searching.worlds import FEW, FLAGS, MIXED, STEPS, Row

Rates = tuple[float, float]

NOISY: Final[tuple[Rates, ...]] = ((0.5, 0.0), (0.3, 0.0), (0.5, 0.02), (0.9, 0.1))
PRICED: Final[tuple[Rates, ...]] = NOISY[1:]
NULL_RATES: Final = (0.02, 0.1, 0.3, 0.5)
REAL_EFFECTS: Final[tuple[Rates, ...]] = ((0.35, 0.0), (0.5, 0.1), (0.6, 0.25), (0.95, 0.6))
NULL_PATIENCE: Final = 100
BAYESECT_PATIENCE: Final = 600  # probes after which it is given up where nothing is to be found


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a row shall reach: mean probes, how many times the bound, or the share of git_bayesect's cost."""

    probes: float | None = None
    times_bound: float | None = None
    of_bayesect: float | None = None

    def most_probes(self, row: Row) -> float | None:
        """The mean number of probes that the row may take."""
        if self.probes is not None:
            return self.probes
        least = bound(row)
        return None if self.times_bound is None or least is None else self.times_bound * least


def rates_key(p: float, q: float) -> str:
    """p and q in a key."""
    return f"{p:g}-{q:g}"


def rates_title(p: float, q: float) -> str:
    """p and q in a table."""
    return f"p = {p:g}, q = {q:g}"


def _sets(*sets: str) -> Row:
    title = " or ".join(f"{{{','.join(members)}}}" for members in sets)
    return Row(f"flags-{'-'.join(sets)}", f"14 flags, {title}", FLAGS, sets=sets)


def _steps(p: float, q: float, *, told: bool = False, priced: bool = False) -> Row:
    kind = "told" if told else "priced" if priced else "hidden"
    what = {"told": ", rates told", "priced": ", a build costs 10 runs", "hidden": ""}[kind]
    key, title = f"steps-{kind}-{rates_key(p, q)}", f"1 024 steps, {rates_title(p, q)}{what}"
    return Row(key, title, STEPS, 1, p=p, q=q, told=told, priced=priced)


def _mixed_pair(p: float, q: float) -> Row:
    key, title = f"mixed-2-{rates_key(p, q)}", f"6 ladders of 8 and 14 flags, two axes, {rates_title(p, q)}"
    return Row(key, title, MIXED, 2, p=p, q=q)


STEPS_SURE: Final = Row("steps", "1 024 steps", STEPS, 1)
MIXED_SURE: Final = (
    Row("mixed-1", "6 ladders of 8 and 14 flags, one axis", MIXED, 1),
    Row("mixed-2", "6 ladders of 8 and 14 flags, two axes", MIXED, 2),
)
FLAGS_SURE: Final = (
    Row("flags-1", "14 flags, {A}", FLAGS, 1),
    Row("flags-2", "14 flags, {A,B}", FLAGS, 2),
)
SETS: Final = (_sets("A", "B"), _sets("AB", "AC"), _sets("AB", "CD"), _sets("ABC"))
TOLD: Final = tuple(_steps(*rates, told=True) for rates in NOISY)
HIDDEN: Final = tuple(_steps(*rates) for rates in NOISY)
MIXED_NOISY: Final = tuple(_mixed_pair(*rates) for rates in NOISY[2:])
COSTS: Final = tuple(_steps(*rates, priced=True) for rates in PRICED)

MAIN: Final[dict[Row, Wanted]] = {
    STEPS_SURE: Wanted(11.5),
    FLAGS_SURE[0]: Wanted(6.2),
    FLAGS_SURE[1]: Wanted(9.0),
    MIXED_SURE[0]: Wanted(8.5),
    MIXED_SURE[1]: Wanted(14.0),
    SETS[0]: Wanted(9.0),
    SETS[1]: Wanted(12.0),
    SETS[2]: Wanted(13.0),
    SETS[3]: Wanted(18.0),
    **{row: Wanted(times_bound=1.15) for row in TOLD},
    **{row: Wanted(times_bound=1.6) for row in HIDDEN},
    **{row: Wanted(times_bound=1.7) for row in MIXED_NOISY},
    **dict(zip(COSTS, (Wanted(of_bayesect=0.45), Wanted(of_bayesect=0.45), Wanted(of_bayesect=0.75)), strict=True)),
}
"""Every row with ten runs of each end, and what it shall reach."""

CHAINS: Final = (STEPS_SURE, *HIDDEN)
COMBINATIONS: Final = (*FLAGS_SURE, *SETS, *MIXED_SURE, *MIXED_NOISY)

PAIR_NOISY: Final = Row("flags-2-0.8-0.02", "14 flags, {A,B}, p = 0.8, q = 0.02", FLAGS, 2, p=0.8, q=0.02)
SHORT: Final = tuple(
    replace(row, key=f"{row.key}-few", ends=FEW)
    for row in (STEPS_SURE, *FLAGS_SURE, *SETS, *MIXED_SURE, PAIR_NOISY, *HIDDEN)
)
"""Rows of a run as it begins: two runs of each end."""

NULLS: Final = tuple(
    Row(f"none-{rate:g}{suffix}", f"1 024 steps, both ends fail at {rate:g}", STEPS, p=rate, q=rate, **more)
    for suffix, more in (("", {"patience": NULL_PATIENCE}), ("-few", {"patience": NULL_PATIENCE, "ends": FEW}))
    for rate in NULL_RATES
)
"""Nothing is to be found."""

LONG_NULLS: Final = tuple(
    replace(row, key=f"{row.key}-long", patience=BAYESECT_PATIENCE) for row in NULLS if row.ends is not FEW
)
"""The same for a tool that never says so."""

EFFECTS: Final = tuple(
    replace(_steps(*rates), key=f"effect-{rates_key(*rates)}{suffix}", ends=ends)
    for suffix, ends in (("", HIDDEN[0].ends), ("-few", FEW))
    for rates in REAL_EFFECTS
)
"""Something is, though p - q is as small as the search's ``min_effect``."""

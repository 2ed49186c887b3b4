"""The table of our own rows, with what each shall reach."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from searching import rows
from searching.cells import NOTHING, Line, Look, cost_of, runs_of, share, times_bound
from searching.measurements import ALONE, BAYESECT, Figures
from searching.rows import Wanted
from searching.worlds import CONFIDENCE, Row

COLUMNS: Final = "row | probes | wanted | × bound | 95 % within | builds | cost | right | answered | ms a search | met"
ANSWERED: Final = 0.98


def lines(look: Look) -> Iterator[Line]:
    """Our rows."""
    for row, wanted in rows.MAIN.items():
        figures = look.figures(ALONE, row)
        if figures is None:
            continue
        theirs = look.figures(BAYESECT, rows.HIDDEN[rows.NOISY.index((row.p, row.q))]) if row.priced else None
        met = {True: "yes", False: "**no**", None: NOTHING}[is_met(row, wanted, figures, theirs)]
        yield (
            row.title + look.mark(ALONE, row),
            runs_of(figures),
            wanted_of(row, wanted),
            times_bound(row, figures),
            str(figures.runs_p95),
            f"{figures.builds_mean:.1f}",
            cost_of(figures, theirs) if row.priced else NOTHING,
            share(figures.right, figures.answered),
            share(figures.answered, figures.searches),
            f"{1000 * figures.thought_s:.0f}",
            met,
        )


def is_met(row: Row, wanted: Wanted, figures: Figures, theirs: Figures | None) -> bool | None:
    """Whether a row reaches what it shall; None where what it is compared with was not measured."""
    needed = figures.answered if row.deterministic else CONFIDENCE * figures.answered - chance(figures.answered)
    sound = figures.right >= needed and figures.answered >= ANSWERED * figures.searches
    if wanted.of_bayesect is not None:
        return None if theirs is None else sound and figures.cost_mean <= wanted.of_bayesect * theirs.cost_mean
    most = wanted.most_probes(row)
    return None if most is None else sound and figures.runs_mean <= most


def chance(answered: int) -> float:
    """How many right answers fewer than 95 % still are 95 %, one-sided at 5 %."""
    return 1.65 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) * answered)


def wanted_of(row: Row, wanted: Wanted) -> str:
    """What a row shall reach, in words."""
    if wanted.of_bayesect is not None:
        return f"cost ≤ {wanted.of_bayesect:g} × git_bayesect's"
    most = wanted.most_probes(row)
    return NOTHING if most is None else f"≤ {most:.1f}"

"""The tables beside other tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from searching import rows
from searching.bisection import VOTES
from searching.cells import Line, Look, grid, runs_of, share, times_bound
from searching.measurements import ALONE, BAYESECT, BAYESECT_TOLD, combination_players, git_name
from searching.worlds import Row

COLUMNS: Final = "tool | searches | runs | × bound | 95 % within | builds | cost | right | answered | ms a search"


def tables(look: Look) -> Iterator[str]:
    """A table for every test on the ladder, then for every combination."""
    for row in rows.CHAINS:
        told = next((each for each in rows.TOLD if (each.p, each.q) == (row.p, row.q)), None)
        priced = next((each for each in rows.COSTS if (each.p, each.q) == (row.p, row.q)), None)
        players = [
            ("envbisect", ALONE, row),
            ("envbisect, rates told", ALONE, told),
            ("envbisect, prices told", ALONE, priced),
        ]
        players += [(name, name, row) for name in (BAYESECT, BAYESECT_TOLD)]
        players += [(git_name(v, really=r), git_name(v, really=r), row) for r in (True, False) for v in VOTES]
        yield f"\n### 1 024 steps, {rows.rates_title(row.p, row.q)}\n\n"
        yield grid(COLUMNS, lines(look, players))
    for row in rows.COMBINATIONS:
        names = combination_players(row)
        yield f"\n### {row.title}\n\n"
        yield grid(COLUMNS, lines(look, [("envbisect", ALONE, row), *((name, name, row) for name in names)]))


def lines(look: Look, players: Sequence[tuple[str, str, Row | None]]) -> Iterator[Line]:
    """(name in the table, player, row) as lines; what was not measured is left out."""
    for name, player, row in players:
        figures = look.figures(player, row) if row is not None else None
        if row is None or figures is None:
            continue
        yield (
            name + look.mark(player, row),
            str(figures.searches),
            runs_of(figures),
            times_bound(row, figures),
            str(figures.runs_p95),
            f"{figures.builds_mean:.1f}",
            f"{figures.cost_mean:.0f}",
            share(figures.right, figures.answered),
            share(figures.answered, figures.searches),
            f"{1000 * figures.thought_s:.1f}",
        )

"""What all tables share: how figures are looked up and written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from searching.bounds import bound
from searching.measurements import Figures, Measurement
from searching.store import Store
from searching.worlds import Row

NOTHING: Final = "–"
STALE: Final = " †"

Line: TypeAlias = Sequence[str]


class Look:
    """Looks figures up for tables and plot."""

    def __init__(self, measurements: Sequence[Measurement], store: Store) -> None:
        self._by_name = {each.name: each for each in measurements}
        self._store = store

    def figures(self, player: str, row: Row) -> Figures | None:
        """What a player came to on a row."""
        measurement = self._by_name.get(f"{player} / {row.key}")
        return self._store.figures(measurement) if measurement is not None else None

    def mark(self, player: str, row: Row) -> str:
        """A sign behind what was measured with other sources than those of now."""
        measurement = self._by_name.get(f"{player} / {row.key}")
        return STALE if measurement is not None and self._store.is_stale(measurement) else ""


def grid(header: str, lines: Iterable[Line]) -> str:
    """A table in Markdown."""
    columns = header.count("|") + 1
    body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"| {header} |\n{'|---' * columns}|\n{body}"


def cost_of(figures: Figures, theirs: Figures | None) -> str:
    """A cost, and its share of git_bayesect's."""
    if theirs is None:
        return f"{figures.cost_mean:.0f}"
    return f"{figures.cost_mean:.0f} ({figures.cost_mean / theirs.cost_mean:.2f} ×)"


def runs_of(figures: Figures) -> str:
    """Mean runs with their standard error."""
    return f"{figures.runs_mean:.1f} ± {figures.runs_error:.1f}"


def times_bound(row: Row, figures: Figures) -> str:
    """Mean runs over the bound."""
    least = bound(row)
    return NOTHING if least is None else f"{figures.runs_mean / least:.2f}"


def share(part: int, whole: int) -> str:
    """A count of a count, and its share."""
    return f"{part}/{whole}" if part == whole or not whole else f"{part}/{whole} ({part / whole:.3f})"

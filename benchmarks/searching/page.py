"""The page of tables, made of the stored figures alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from searching import beside, goals, special, words
from searching.cells import NOTHING, Look, grid
from searching.measurements import Measurement
from searching.store import Store

VERSIONS: Final = {"git": "git", "bayesect": "git-bayesect", "picire": "picire"}


def page(measurements: Sequence[Measurement], store: Store, searches: int, figure: str | None) -> str:
    """The whole page; ``figure`` is the file name of the plot beside it."""
    look, versions = Look(measurements, store), store.versions
    compared = {name: versions.get(key, NOTHING) for name, key in VERSIONS.items()}
    machine = {name: versions.get(name, NOTHING) for name in ("cores", "python")}
    plot = [] if figure is None else [f"\n![Runs and costs beside the bound and other tools]({figure})\n"]
    parts = [
        words.HEADER.format(searches=searches),
        grid(goals.COLUMNS, goals.lines(look)),
        *plot,
        words.SIDE.format(**compared),
        *beside.tables(look),
        words.NULLS,
        grid(special.NULL_COLUMNS, special.null_lines(look)),
        words.WORKING,
        grid(special.WORKER_COLUMNS, special.worker_lines(look)),
        words.SPEED,
        grid(special.SPEED_COLUMNS, special.speed_lines(store.thinking)),
        special.exponents(store.thinking),
        words.SHORT,
        grid(special.SHORT_COLUMNS, special.short_lines(look)),
        words.FOOT.format(searches=searches, **machine),
    ]
    return "".join(parts)

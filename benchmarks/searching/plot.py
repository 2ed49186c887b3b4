"""A plot of the figures: runs beside the bound, and what they cost where a build costs ten runs."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from searching import rows
from searching.bisection import VOTES
from searching.bounds import bound
from searching.cells import Look
from searching.goals import chance
from searching.measurements import ALONE, BAYESECT, Figures, Measurement, git_name, repeated, repeats_of
from searching.store import Store
from searching.worlds import CONFIDENCE, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = "#010203"  # stands for the reader's own text colour in what matplotlib writes
SETTINGS: Final = {
    "svg.hashsalt": "envbisect",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
}
SIZE_INCHES: Final = (9.6, 5.0)
STYLE: Final = "<style>svg { color: #1f2328 } @media (prefers-color-scheme: dark) { svg { color: #e6edf3 } }</style>"


@dataclass(frozen=True, slots=True)
class Series:
    """A player's colour and marker, the same in both panels; the colours differ in lightness as well."""

    name: str
    colour: str
    marker: str


OURS: Final = Series("envbisect", "#1f77d0", "o")
TOLD: Final = Series("envbisect, rates told", "#6bb5f0", "D")
PRICED: Final = Series("envbisect, prices told", "#1f77d0", "o")
THEIRS: Final = Series("git_bayesect", "#e07b00", "s")
GIT: Final = Series("git bisect, best of 5", "#8a8f98", "^")
EXPLAIN: Final = Series("QuickXplain, several runs a verdict", "#3d9950", "v")


def available() -> bool:
    """Whether matplotlib is here."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(path: Path, measurements: Sequence[Measurement], store: Store) -> None:
    """Write the plot; the same figures give the same bytes."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    look, text = Look(measurements, store), io.StringIO()
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=SIZE_INCHES, layout="constrained")
        FigureCanvasSVG(figure)
        panels(figure, look)
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    path.write_text(_themed(text.getvalue()), encoding="utf-8")


def panels(figure: Figure, look: Look) -> None:
    """Both panels, with one legend below."""
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    _runs(left, look)
    _costs(right, look)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)


def _themed(svg: str) -> str:
    """Text and axes in the colour of the reader's theme."""
    head, tag, rest = svg.partition("<defs>")
    return head + STYLE + tag + rest.replace(INK, "currentColor")


def _label(row: Row) -> str:
    space = "pair on 6 ladders + 14 flags" if row.order == 2 else "1 024 steps"
    return f"{space}\n{rows.rates_title(row.p, row.q)}"


def _trusted(figures: Figures) -> bool:
    return figures.right >= CONFIDENCE * figures.searches - chance(figures.searches)


def _runs(axes: Axes, look: Look) -> None:
    """One line for every noisy row: the bound, and everybody's mean."""
    told = {(row.p, row.q): row for row in rows.TOLD}
    shown = [*rows.HIDDEN, *rows.MIXED_NOISY]
    best = git_name(VOTES[2], really=False)
    for height, row in enumerate(reversed(shown)):
        least = bound(row)
        axes.plot([least, least], [height - 0.38, height + 0.38], color=INK, label="bound" if not height else None)
        players = [(OURS, ALONE, row), (THEIRS, BAYESECT, row), (GIT, best, row)]
        if row.order == 1:
            players.append((TOLD, ALONE, told[row.p, row.q]))
        players.append((EXPLAIN, repeated("QuickXplain", repeats_of(row)[-1]), row))
        for series, player, where in players:
            if (figures := look.figures(player, where)) is not None:
                _dot(axes, series, figures.runs_mean, height, trusted=_trusted(figures))
    axes.set_yticks(range(len(shown)), [_label(row) for row in reversed(shown)])
    axes.set_xlabel("runs of the test (mean of a search)")
    axes.set_xlim(left=0)
    axes.set_title("Runs to an answer", loc="left", color=INK)
    _legend(axes)


def _dot(axes: Axes, series: Series, x: float, y: float, *, trusted: bool) -> None:
    """Filled where 95 % of all searches got the right answer, less what chance does; hollow where not."""
    face = series.colour if trusted else "none"
    axes.plot([x], [y], series.marker, color=series.colour, markerfacecolor=face, markersize=7, linestyle="none")


def _legend(axes: Axes) -> None:
    for series in (OURS, TOLD, THEIRS, GIT, EXPLAIN):
        axes.plot([], [], series.marker, color=series.colour, label=series.name, linestyle="none")
    axes.plot([], [], "o", color=INK, markerfacecolor="none", label="hollow: right in less than 95 %", linestyle="none")


def _costs(axes: Axes, look: Look) -> None:
    """Bars for every row with prices."""
    hidden = {(row.p, row.q): row for row in rows.HIDDEN}
    best = git_name(VOTES[2], really=False)
    for number, row in enumerate(rows.COSTS):
        plain = hidden[row.p, row.q]
        bars = ((PRICED, ALONE, row), (THEIRS, BAYESECT, plain), (GIT, best, plain))
        for offset, (series, player, where) in enumerate(bars):
            if (figures := look.figures(player, where)) is None:
                continue
            left, face = number + 0.27 * (offset - 1), series.colour if _trusted(figures) else "none"
            axes.bar(left, figures.cost_mean, 0.25, color=face, edgecolor=series.colour, linewidth=1.2)
            axes.annotate(f"{figures.cost_mean:.0f}", (left, figures.cost_mean), ha="center", va="bottom", fontsize=8)
    axes.set_xticks(range(len(rows.COSTS)), [rows.rates_title(row.p, row.q).replace(", ", "\n") for row in rows.COSTS])
    axes.set_xlabel("rates (envbisect is told the prices)")
    axes.set_ylabel("cost (runs of the test; a build costs 10)")
    axes.set_title("Cost to an answer, 1 024 steps", loc="left", color=INK)

"""The tables of what has no culprit, of several workers, of thinking, and of a run's beginning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from searching import rows, speed
from searching.cells import NOTHING, Line, Look, runs_of, share, times_bound
from searching.measurements import ALONE, BAYESECT, BAYESECT_TOLD, FREE, ROUNDS, Figures
from searching.ours import WORKERS
from searching.worlds import Row

NULL_COLUMNS: Final = "row | ends told | found by | searches | blames | says so | otherwise | runs | wanted"
WORKER_COLUMNS: Final = "row | how | probes | rounds | fewer by | wanted | right | answered"
SPEED_COLUMNS: Final = "space | axes | hypotheses | first question, ms | early, ms a probe | late, ms a probe | wanted"
SAYS_SO: Final = "not-reproduced"
CULPRIT: Final = "culprit"
CONFIDENT: Final = "confident"  # git_bayesect's
LEAST_GAIN: Final = 2.2  # how many times fewer rounds four workers shall take on the first of the rows
SHORT_COLUMNS: Final = "row | probes | × bound | 95 % within | builds | right | answered | ms a search"


def null_lines(look: Look) -> Iterator[Line]:
    """Where nothing is to be found, and where something is that hardly shows."""
    for group, wanted in ((rows.NULLS, "says so ≥ 95 %, blames 0"), (rows.EFFECTS, "says so ≤ 5 %")):
        for row in group:
            if (figures := look.figures(ALONE, row)) is not None:
                yield null_line(row, ALONE + look.mark(ALONE, row), figures, wanted)
    for row in rows.LONG_NULLS:
        for player in (BAYESECT, BAYESECT_TOLD):
            if (figures := look.figures(player, row)) is not None:
                yield null_line(row, player + look.mark(player, row), figures, NOTHING)


def null_line(row: Row, player: str, figures: Figures, wanted: str) -> Line:
    """How often it is said that nothing is to be found, and how often something is blamed all the same."""
    says_so = figures.statuses.get(SAYS_SO, 0)
    blames = figures.answered - figures.right
    others = {word: n for word, n in figures.statuses.items() if word not in (SAYS_SO, CULPRIT, CONFIDENT)}
    otherwise = ", ".join(f"{n} {word}" for word, n in others.items()) or NOTHING
    counts = (str(figures.searches), share(blames, figures.searches), share(says_so, figures.searches), otherwise)
    ends = NOTHING if player.startswith(BAYESECT) and not player.startswith(BAYESECT_TOLD) else str(row.ends)
    return (row.title, ends, player, *counts, runs_of(figures), wanted)


def worker_lines(look: Look) -> Iterator[Line]:
    """Several probes at a time."""
    for row in (rows.HIDDEN[1], rows.MIXED_NOISY[0]):
        alone = look.figures(ALONE, row)
        for player in (ALONE, ROUNDS, FREE):
            figures = look.figures(player, row)
            if alone is None or figures is None:
                continue
            how = {ALONE: "one at a time", ROUNDS: f"rounds of {WORKERS}", FREE: f"{WORKERS} workers, random durations"}
            yield (
                row.title + look.mark(player, row),
                how[player],
                runs_of(figures),
                f"{figures.rounds_mean:.1f}",
                NOTHING if player == ALONE else f"{alone.rounds_mean / figures.rounds_mean:.2f} ×",
                f"≥ {LEAST_GAIN:g} ×" if player != ALONE and row is rows.HIDDEN[1] else NOTHING,
                share(figures.right, figures.answered),
                share(figures.answered, figures.searches),
            )


def speed_lines(points: Sequence[speed.Thinking]) -> Iterator[Line]:
    """Milliseconds by size."""
    for point in points:
        limit = speed.LIMITS_MS.get(point.target)
        yield (
            point.kind,
            str(point.axes),
            f"{point.hypotheses:,}".replace(",", " "),
            f"{point.opening_ms:.0f}",
            f"{point.early_ms:.1f}",
            f"{point.late_ms:.1f}",
            NOTHING if limit is None else f"≤ {limit:.0f} ms",
        )


def exponents(points: Sequence[speed.Thinking]) -> str:
    """The fitted exponents in a sentence."""
    words = []
    for kind in speed.KINDS:
        of_kind = [point for point in points if point.kind == kind]
        if len(of_kind) > 1:
            words.append(f"{speed.exponent(of_kind):.2f} for {kind}")
    return f"\nLate, they grow with the hypotheses to the power of\n{', '.join(words)}.\n" if words else ""


def short_lines(look: Look) -> Iterator[Line]:
    """Rows with two runs of each end."""
    for row in rows.SHORT:
        if (figures := look.figures(ALONE, row)) is None:
            continue
        yield (
            row.title + look.mark(ALONE, row),
            runs_of(figures),
            times_bound(row, figures),
            str(figures.runs_p95),
            f"{figures.builds_mean:.1f}",
            share(figures.right, figures.answered),
            share(figures.answered, figures.searches),
            f"{1000 * figures.thought_s:.0f}",
        )

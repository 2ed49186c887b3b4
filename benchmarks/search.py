"""What the search needs on lattices with known culprits, beside the tools that people take instead.

Run: ``python benchmarks/search.py [SEARCHES] [--out docs/search.md]``. The tables are printed. With ``--out`` they are
stored, with the raw figures (``.json``) and a plot (``.svg``, which needs the extra ``bench``) beside them: an
interrupted run goes on from there, and what the sources changed under is measured again. ``--rows`` takes names with
wildcards (``steps*``, ``git_bayesect / *``, ``speed``). git_bayesect and picire are installed from the package index,
as pip is configured, into an environment of their own; ``--without bayesect,picire`` does without.
The exit code is 1 if a deterministic test got a wrong answer, 3 if something that was needed failed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: threads of its own would fight for the processes' cores

from searching import gitrun, plot, speed
from searching.measurements import Measurement, everything
from searching.page import page
from searching.running import play_all
from searching.store import Store, StoreError
from searching.tools import ToolError, Tools, default_folder

SEARCHES: Final = 40
SPEED: Final = "speed"


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("searches", nargs="?", type=int, default=SEARCHES, help=f"searches of each row ({SEARCHES})")
    parser.add_argument("--out", type=Path, help="file to store the tables in; .json and .svg go beside it")
    parser.add_argument("--rows", default="*", help="measure only these (commas, * and ?); '' writes the page anew")
    parser.add_argument("--without", default="", help="families to leave out: git, bayesect, picire, quickxplain, …")
    parser.add_argument("--tools", type=Path, default=default_folder(), help="where git_bayesect and picire are kept")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes at a time")
    options = parser.parse_args(arguments)
    if options.searches < 1 or options.jobs < 1:
        parser.error("SEARCHES and --jobs are at least 1")
    if options.out is not None and not plot.available():
        parser.error("--out draws a plot, and matplotlib is not here: install it with pip install -e '.[bench]'")
    return options


def chosen(measurements: Sequence[Measurement], rows: str, without: str) -> list[Measurement]:
    """What the command line names, by key of the row or by name."""
    patterns, families = [each.strip() for each in rows.split(",")], {each.strip() for each in without.split(",")}
    return [
        each
        for each in measurements
        if each.family not in families
        and any(fnmatchcase(each.row.key, pattern) or fnmatchcase(each.name, pattern) for pattern in patterns)
    ]


def say(line: str) -> None:
    """Progress; the tables alone go to stdout."""
    print(line, file=sys.stderr, flush=True)


def measure(options: argparse.Namespace, store: Store) -> list[Measurement]:
    """Measure what is missing; everything there is."""
    tools = Tools(options.tools)
    measurements = list(everything(tools))
    selected = chosen(measurements, options.rows, options.without)
    timing = any(fnmatchcase(SPEED, pattern.strip()) for pattern in options.rows.split(","))
    if options.rows and not selected and not timing:
        raise StoreError(
            f"--rows {options.rows} names no row; take for example steps, flags-2, mixed-*, none-0.3, speed"
        )
    store.prune([each.name for each in measurements])
    if timing and not store.is_thinking_fresh():
        say("timing the search, alone on the machine")
        digest = speed.digest()  # before: whoever edits the sources meanwhile has them timed again
        store.keep_thinking(speed.measure(), digest)
    if any(each.family == "git" for each in selected):
        store.keep_versions({"git": gitrun.version()})
    if any(each.tools and not store.is_fresh(each, options.searches) for each in selected):
        tools.install()
        store.keep_versions(tools.versions())
    play_all(selected, store, options.searches, options.jobs, say)
    return measurements


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, store."""
    options = options_of(arguments)
    try:
        store = Store(options.out.with_suffix(".json") if options.out is not None else None)
        measurements = measure(options, store)
    except (StoreError, ToolError) as fault:
        say(f"benchmarks/search.py: {fault}")
        return 3
    figure = options.out.with_suffix(".svg") if options.out is not None else None
    text = page(measurements, store, options.searches, figure.name if figure is not None else None)
    print(text, end="")
    if figure is not None:
        options.out.write_text(text, encoding="utf-8")
        plot.draw(figure, measurements, store)
    sure = [each for each in measurements if each.family == "envbisect" and each.row.deterministic]
    wrong = [each for each in sure if (found := store.figures(each)) is not None and found.right < found.searches]
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())

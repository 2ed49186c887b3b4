"""How often the search's answers are right, over random searches, at the confidences that were asked for.

Run: ``python benchmarks/calibration.py [SEARCHES] [--first-seed N] [--jobs 2] [--out docs/calibration.md]``. The tables
are printed. With ``--out`` they are stored, with the counts (``.json``) beside them. A search takes about a second of
CPU, some take a minute. Finished searches are kept in a folder of their own (``--cache``) by the sources that they
depend on: an interrupted run goes on from there, and more searches take only those that are missing.
The exit code is 1 if what is wanted is missed beyond chance, 3 if a file cannot be written.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: threads of its own would fight for the processes' cores

import numpy
from searching.calibrated import missed, tallies
from searching.calibrationpage import DEFAULT_FIRST_SEED, Record, page
from searching.tools import default_folder
from searching.trials import Finished, Trial, digest, play_all

SEARCHES: Final = 200
REPORTS: Final = 20  # lines of progress


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("searches", nargs="?", type=int, default=SEARCHES, help=f"random searches ({SEARCHES})")
    parser.add_argument(
        "--first-seed", type=int, default=DEFAULT_FIRST_SEED, help="seed of the first one; the rest follow"
    )
    parser.add_argument("--out", type=Path, help="file to store the tables in; .json goes beside it")
    parser.add_argument("--cache", type=Path, default=default_folder(), help="folder that keeps finished searches")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes at a time")
    options = parser.parse_args(arguments)
    if options.searches < 1 or options.jobs < 1 or options.first_seed < 0:
        parser.error("SEARCHES and --jobs are at least 1, --first-seed is at least 0")
    return options


def say(line: str) -> None:
    """Progress; the tables alone go to stdout."""
    print(line, file=sys.stderr, flush=True)


def measure(seeds: Sequence[int], finished: Finished, jobs: int) -> list[Trial]:
    """The trials of these seeds; those that are missing are played."""
    known = finished.trials()
    missing = [seed for seed in seeds if seed not in known]
    if len(missing) < len(seeds):
        say(f"{len(seeds) - len(missing)} searches are stored already in {finished.path}")
    begun = time.perf_counter()
    for number, trial in enumerate(play_all(missing, jobs), start=1):
        finished.keep(trial)
        known[trial.seed] = trial
        if number * REPORTS // len(missing) != (number - 1) * REPORTS // len(missing):
            say(f"[{number}/{len(missing)}] searches ({time.perf_counter() - begun:.0f} s)")
    return [known[seed] for seed in seeds]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, store."""
    options = options_of(arguments)
    sources = digest()  # of now, as the processes load them: what is edited meanwhile is measured by the next run
    seeds = range(options.first_seed, options.first_seed + options.searches)
    try:
        trials = measure(seeds, Finished(options.cache, sources), options.jobs)
        counted = tuple(tallies(trials))
        record = Record(options.first_seed, len(seeds), sources, platform.python_version(), numpy.__version__, counted)
        text = page(record)
        print(text, end="")
        if options.out is not None:
            options.out.write_text(text, encoding="utf-8")
            stored = json.dumps(record.document(), indent=1, ensure_ascii=False) + "\n"
            options.out.with_suffix(".json").write_text(stored, encoding="utf-8")
    except OSError as fault:
        say(f"benchmarks/calibration.py: {fault}; name another place with --cache or --out")
        return 3
    failures = missed(counted)
    for tally, goal in failures:
        share = f"{goal.share.part} of {goal.share.whole}"
        say(f"missed at {tally.confidence}: {goal.title} in {share}, wanted {goal.wanted}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())

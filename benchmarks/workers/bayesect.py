"""Drives git_bayesect's own ``Bisector`` on ladders: one JSON document on stdin, one on stdout.

Runs in the environment where git-bayesect is installed, with ``benchmarks`` on PYTHONPATH. The loop is that of
``git bayesect run``: select, test, record, until one commit has the confidence.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict

import numpy as np
from git_bayesect import Bisector
from searching.worlds import Found, Row, World


def search(row: Row, seed: int, confidence: float, told_ends: int) -> Found:
    """One search. Its index 0 is the newest commit; the last one, the good end, is among its candidates too."""
    world, (steps,) = World(row, seed), row.sizes
    bisector = Bisector(np.ones(steps + 1))
    for _ in range(told_ends):
        for end in (row.top, row.zero):
            bisector.record(steps - end[0], world.fails_uncounted(end))
    begun, status = time.process_time(), "budget"
    while world.runs < row.patience:
        index = int(bisector.select())
        bisector.record(index, world.fails((steps - index,)))
        if float(bisector.distribution.max()) >= confidence:
            status = "confident"
            break
    named = (steps - int(bisector.distribution.argmax()),)
    thought_s = time.process_time() - begun
    return world.found(status, named if status == "confident" else None, thought_s)


def main() -> None:
    """Answer one question."""
    question = json.load(sys.stdin)
    fields = question["row"]
    row = Row(**{**fields, "sizes": tuple(fields["sizes"]), "sets": tuple(fields["sets"])})
    found = [search(row, seed, question["confidence"], question["told_ends"]) for seed in question["seeds"]]
    json.dump({"found": [asdict(each) for each in found]}, sys.stdout)


if __name__ == "__main__":
    main()

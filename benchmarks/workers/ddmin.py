"""Drives picire's own ``DD`` on axes: one JSON document on stdin, one on stdout.

Runs in the environment where picire is installed, with ``benchmarks`` on PYTHONPATH. As it ships, each round tests the
failing set again, which is a run, and ends with an AssertionError if that passes; "trusting" answers these from memory.
The ladders that are left are bisected. A verdict is bad at the first failure of so many repeats.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict

import picire
from searching.quickxplain import lowered, raised, remembered
from searching.worlds import Found, Point, Row, World


def search(row: Row, seed: int, repeats: int, *, trusting: bool) -> Found:
    """One search; it answers nothing where picire gives up."""
    world = World(row, seed)

    def test(chosen: list[int], identity: tuple[str, ...]) -> picire.Outcome:
        if trusting and "assert" in identity:
            return picire.Outcome.FAIL
        point = raised(row.top, chosen)
        failed = any(world.fails(point) for _ in range(repeats))
        return picire.Outcome.FAIL if failed else picire.Outcome.PASS

    begun, named, status = time.process_time(), None, "minimal"
    try:
        axes: list[int] = picire.DD(test)(list(range(len(row.sizes))))
    except AssertionError:
        status = "assertion"
    else:
        named = _steps(world, axes, repeats)
    return world.found(status, named, time.process_time() - begun)


def _steps(world: World, axes: list[int], repeats: int) -> Point:
    return lowered(remembered(world, repeats), world.row.top, axes)


def main() -> None:
    """Answer one question."""
    question = json.load(sys.stdin)
    fields = question["row"]
    row = Row(**{**fields, "sizes": tuple(fields["sizes"]), "sets": tuple(fields["sets"])})
    found = [search(row, seed, question["repeats"], trusting=question["trusting"]) for seed in question["seeds"]]
    json.dump({"found": [asdict(each) for each in found]}, sys.stdout)


if __name__ == "__main__":
    main()

"""What the search needs on lattices with known culprits, beside a real ``git bisect run``.

Every row draws culprits from a seed, tells a search the runs of both ends and counts what it asks until it answers.
Run: ``python benchmarks/search.py [SEARCHES] [--out docs/search.md]``; the table is printed, and stored with ``--out``.
The exit code is 1 if a deterministic test got a wrong answer.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from envbisect.search import Configuration, Outcome, Search, Status
from envbisect.search.words import below

SEARCHES: Final = 40
LIMIT: Final = 400  # questions after which a search is given up

LADDER: Final = (1024,)
FLAGS: Final = (1,) * 14
MIXED: Final = (7,) * 6 + (1,) * 14

Draw = Callable[[random.Random], tuple[Configuration, ...]]


@dataclass(frozen=True, slots=True)
class Row:
    """A lattice, how its minimal failing points are drawn, and how often failing and passing configurations fail."""

    name: str
    sizes: Configuration
    draw: Draw
    p: float = 1.0
    q: float = 0.0


@dataclass(frozen=True, slots=True)
class Ends:
    """How often each end ran before, and the prior weight of a deterministic test that goes with it."""

    runs: int
    deterministic: float

    def __str__(self) -> str:
        return f"{self.runs} + {self.runs}"


ENDS: Final = (Ends(2, 0.6), Ends(10, 0.2))


@dataclass(frozen=True, slots=True)
class Found:
    """One search: its questions, whether it named a culprit, a true one, and the seconds it thought."""

    asked: int
    answered: bool
    right: bool
    thought_s: float


def one_of(sizes: Configuration, order: int) -> Draw:
    """A single minimal point of ``order`` axes, at random steps."""

    def draw(generator: random.Random) -> tuple[Configuration, ...]:
        steps = [0] * len(sizes)
        for axis in generator.sample(range(len(sizes)), order):
            steps[axis] = generator.randint(1, sizes[axis])
        return (tuple(steps),)

    return draw


def sets_of_flags(*sets: str) -> Draw:
    """Minimal points over the flags by letter: ``"AB", "AC"`` fails with A and B, or with A and C."""
    letters = sorted(set("".join(sets)))

    def draw(generator: random.Random) -> tuple[Configuration, ...]:
        flag = dict(zip(letters, generator.sample(range(len(FLAGS)), len(letters)), strict=True))
        return tuple(tuple(int(i in {flag[a] for a in members}) for i in range(len(FLAGS))) for members in sets)

    return draw


ROWS: Final = (
    Row("14 flags, {A}", FLAGS, sets_of_flags("A")),
    Row("14 flags, {A,B}", FLAGS, sets_of_flags("AB")),
    Row("14 flags, {A} or {B}", FLAGS, sets_of_flags("A", "B")),
    Row("14 flags, {A,B} or {A,C}", FLAGS, sets_of_flags("AB", "AC")),
    Row("14 flags, {A,B} or {C,D}", FLAGS, sets_of_flags("AB", "CD")),
    Row("14 flags, {A,B,C}", FLAGS, sets_of_flags("ABC")),
    Row("1 024 steps", LADDER, one_of(LADDER, 1)),
    Row("6 ladders of 7, 14 flags, one axis", MIXED, one_of(MIXED, 1)),
    Row("6 ladders of 7, 14 flags, two axes", MIXED, one_of(MIXED, 2)),
    Row("14 flags, {A,B}, p = .8, q = .02", FLAGS, sets_of_flags("AB"), 0.8, 0.02),
    Row("1 024 steps, p = .5", LADDER, one_of(LADDER, 1), 0.5),
    Row("1 024 steps, p = .9, q = .1", LADDER, one_of(LADDER, 1), 0.9, 0.1),
)


def search(row: Row, ends: Ends, seed: int) -> Found:
    """Search one hidden culprit; p and q stay hidden too."""
    generator = random.Random(seed)
    culprits = row.draw(generator)

    def run(point: Configuration) -> Outcome:
        rate = row.p if any(below(culprit, point) for culprit in culprits) else row.q
        return Outcome.BAD if generator.random() < rate else Outcome.GOOD

    engine = Search(row.sizes, deterministic=ends.deterministic)
    for _ in range(ends.runs):
        for end in (engine.lattice.zero, engine.lattice.top):
            engine.tell(end, run(end))
    asked, begun = 0, time.perf_counter()
    while asked < LIMIT and (batch := engine.ask(1)):
        asked += 1
        engine.tell(batch[0], run(batch[0]))
    result = engine.result()
    thought_s = time.perf_counter() - begun
    return Found(asked, result.status is Status.CULPRIT, result.culprit in culprits, thought_s)


def line(row: Row, ends: Ends, searches: int) -> tuple[str, bool]:
    """A line of the table, and whether a deterministic test got nothing but right answers."""
    found = [search(row, ends, seed) for seed in range(searches)]
    counts = sorted(each.asked for each in found)
    answered = sum(each.answered for each in found)
    right = sum(each.answered and each.right for each in found)
    mean, p95 = sum(counts) / searches, counts[math.ceil(0.95 * searches) - 1]
    think_ms = 1000 * sum(each.thought_s for each in found) / max(1, sum(counts))
    cells = [row.name, str(ends), f"{mean:.1f}", str(p95), f"{right}/{answered}", f"{answered}/{searches}"]
    return f"| {' | '.join(cells)} | {think_ms:.1f} |", row.p < 1 or row.q > 0 or right == searches


def git_bisect(steps: int, first_bad: int) -> tuple[int, float]:
    """(tests, seconds) of a real ``git bisect run`` over ``steps`` commits, the last of which is bad.

    The repository is generated and thrown away. The test reads one file of the commit, as cheap as a test can be.
    """
    quiet = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str, told: str = "") -> str:
        command = ["git", *arguments]
        done = subprocess.run(command, cwd=folder, env=quiet, check=True, capture_output=True, text=True, input=told)
        return done.stdout.strip()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "repository")
        folder.mkdir()
        git("init", "--quiet", "--initial-branch=main")
        git("fast-import", "--quiet", told=_history(steps))
        git("reset", "--hard", "--quiet", "main")
        log = Path(name, "tests.log")
        test = f'echo x >> "{log}"; test "$(cat step)" -lt {first_bad}'
        begun = time.perf_counter()
        git("bisect", "start", "main", f"main~{steps}")
        git("bisect", "run", "sh", "-c", test)
        seconds = time.perf_counter() - begun
        if git("rev-parse", "refs/bisect/bad") != git("rev-parse", f"main~{steps - first_bad}"):
            raise RuntimeError("git bisect found another commit than the first bad one")
        return len(log.read_text().split()), seconds


def _history(steps: int) -> str:
    """A fast-import stream: commit n holds the number n in the file ``step``."""
    commits = []
    for step in range(steps + 1):
        who, content = f"committer nobody <nobody@localhost> {1_000_000_000 + step} +0000", str(step)
        commits.append(f"commit refs/heads/main\n{who}\ndata 0\n")
        commits.append(f"M 644 inline step\ndata {len(content)}\n{content}\n")
    return "\n".join(commits)


HEADER: Final = """\
<!-- Generated by `python benchmarks/search.py {searches} --out docs/search.md`. Do not edit. -->

# What the search needs

Each line is {searches} searches with seeded culprits; several sets are several minimal failing combinations, and any
of them is a right answer. Before the search each end ran as often as the second column says; those runs are not
counted. The prior weight of a deterministic test is .6 with 2 + 2 runs and .2 with 10 + 10. `p` and `q` are how often
failing and passing configurations fail: 1 and 0 unless the line says otherwise, and never told to the search. The
confidence asked for is .95. Milliseconds are those of thinking, without any test.

| culprits | ends | probes, mean | 95 % need at most | right | answered | ms a probe |
|---|---|---|---|---|---|---|
"""

GIT: Final = """
## Beside git bisect

A real `git bisect run` and the search, on {steps} steps after the good one, the first bad one number {first_bad};
the tests cost nothing:

| search | tests | seconds |
|---|---|---|
| {version} | {tests} | {seconds:.2f} |
| envbisect, ends 2 + 2 | {asked} | {thought_s:.2f} |
| envbisect, ends 10 + 10 | {asked_more} | {thought_more_s:.2f} |

What is asked beyond bisection is evidence: git bisect believes every answer, and a single wrong one sends it to another
commit.

Reproduce with:

    python benchmarks/search.py {searches}
"""


def beside_git(searches: int, first_bad: int = 333) -> str:
    """The comparison for one first bad step of the ladder."""
    row = Row("", LADDER, lambda _: ((first_bad,),))
    few, many = (search(row, ends, 0) for ends in ENDS)
    if shutil.which("git") is None:
        return "\n`git` is not here, so it was not compared.\n"
    tests, seconds = git_bisect(LADDER[0], first_bad)
    version = subprocess.run(["git", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    return GIT.format(
        version=version,
        steps=LADDER[0],
        first_bad=first_bad,
        tests=tests,
        seconds=seconds,
        asked=few.asked,
        asked_more=many.asked,
        thought_s=few.thought_s,
        thought_more_s=many.thought_s,
        searches=searches,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; store it where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("searches", nargs="?", type=int, default=SEARCHES, help="searches of each line")
    parser.add_argument("--out", type=Path, help="file to store the table in")
    options = parser.parse_args(arguments)
    parts, fine = [HEADER.format(searches=options.searches)], True
    print(parts[0], end="")
    for row in ROWS:
        for ends in ENDS:
            text, right = line(row, ends, options.searches)
            parts.append(text + "\n")
            print(text, flush=True)
            fine = fine and right
    parts.append(beside_git(options.searches))
    print(parts[-1], end="")
    if options.out is not None:
        options.out.write_text("".join(parts), encoding="utf-8")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())

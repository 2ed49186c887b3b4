"""What a whole run needs, beyond its search: endpoints, verification, reversals. Nothing is executed: runs are drawn.

Every line draws culprits from a seed, drives the campaign that ``envbisect run`` drives, answers its asks from hidden
rates, and counts what was asked for what. Run: ``python benchmarks/campaign.py [RUNS] [--out docs/campaign.md]``; the
table is printed, and stored with ``--out``. The exit code is 1 if a deterministic test got a wrong answer.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from envbisect.burnin.result import FailureKind
from envbisect.burnin.symptoms import Observation, Signature, SymptomObservation, SymptomState
from envbisect.search import Status
from envbisect.search.words import below
from envbisect.session.ask import Ask, Purpose, Ran, Reply
from envbisect.session.campaign import Answer, Campaign, CampaignPlan
from envbisect.session.endpoints import EndpointPolicy
from envbisect.session.finding import Finding
from envbisect.space.model import Axis, Configuration, Step, StepSource

RUNS: Final = 100
LIMIT: Final = 600  # probes after which a campaign is given up

SIGNATURE: Final = Signature(kind=FailureKind.EXCEPTION, type="ValueError", function="train", exit_code=1)
PASSED: Final = Observation((SymptomObservation("command", SymptomState.PASS, None, "ok"),))
FAILED: Final = Observation((SymptomObservation("command", SymptomState.FAIL, SIGNATURE, "failed"),))
VERIFYING: Final = (Purpose.NEIGHBOUR, Purpose.REVERSAL, Purpose.NAMING)

LADDER: Final = (1024,)
FLAGS: Final = (1,) * 14

Fails = Callable[[Configuration], float]
"""How often a configuration fails."""


@dataclass(frozen=True, slots=True)
class Row:
    """A lattice, its minimal failing points by letter (a ladder has one), and how often failing and passing ones fail.

    ``known`` runs of each end are told beforehand, as by ``--known``.
    """

    name: str
    sets: tuple[str, ...]
    p: float = 1.0
    q: float = 0.0
    known: int = 0
    find_all: bool = False

    @property
    def sizes(self) -> Configuration:
        return FLAGS if self.sets else LADDER

    def draw(self, generator: random.Random) -> tuple[Configuration, ...]:
        """Minimal failing points."""
        if not self.sets:
            return ((generator.randint(1, LADDER[0]),),)
        letters = sorted(set("".join(self.sets)))
        flag = dict(zip(letters, generator.sample(range(len(FLAGS)), len(letters)), strict=True))
        return tuple(tuple(int(i in {flag[a] for a in one}) for i in range(len(FLAGS))) for one in self.sets)


@dataclass
class Simulated:
    """One campaign with drawn runs; ``spent`` counts its probes by purpose."""

    sizes: Configuration
    fails: Callable[[Configuration, int], float]  # how often a configuration fails, at this probe of the campaign
    generator: random.Random
    spent: dict[Purpose, int] = field(default_factory=lambda: dict.fromkeys(Purpose, 0))

    @property
    def axes(self) -> tuple[Axis, ...]:
        return tuple(
            Axis(f"env.A{n}", tuple(Step(str(step)) for step in range(size + 1)), StepSource.DECLARED)
            for n, size in enumerate(self.sizes)
        )

    def run(self, **options: object) -> tuple[Campaign, Answer]:
        """To the answer, or to ``undecided`` after LIMIT probes."""
        policy = EndpointPolicy(any_failure=False, metrics={}, confidence=0.95)
        given: dict[str, object] = {"axes": self.axes, "confidence": 0.95, "seed": 0, "policy": policy, **options}
        campaign = Campaign(CampaignPlan(**given))  # type: ignore[arg-type]
        asking = campaign.run()
        try:
            ask = next(asking)
            while sum(self.spent.values()) < LIMIT:
                ask = asking.send(self._reply(ask))
        except StopIteration as stop:
            return campaign, stop.value
        return campaign, Answer(Status.UNDECIDED, ())

    def _reply(self, ask: Ask) -> Reply:
        point = ask.configuration
        failed = self.generator.random() < self.fails(point, sum(self.spent.values()))
        self.spent[ask.purpose] += 1
        components = {axis.key: axis.steps[step].value for axis, step in zip(self.axes, point, strict=True)}
        return Ran(point, FAILED if failed else PASSED, components, (), 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Ended:
    """What one campaign spent, and whether it named culprits, all of them true."""

    ends: int
    search: int
    verification: int
    answered: bool
    right: bool
    complete: bool


def culprit_of(sizes: Sequence[int], finding: Finding) -> Configuration:
    """A finding's changes as a configuration; the axes are named by their number."""
    steps = [0] * len(sizes)
    for change in finding.changes:
        steps[int(change.key.removeprefix("env.A"))] = int(str(change.first_bad))
    return tuple(steps)


def campaign(row: Row, seed: int, confidence: float = 0.95) -> Ended:
    """One run from a seed; the rates stay hidden."""
    generator = random.Random(seed)
    culprits = row.draw(generator)

    def fails(point: Configuration, _: int) -> float:
        return row.p if any(below(culprit, point) for culprit in culprits) else row.q

    known: dict[str, object] = {}
    if row.known:
        bad, good = (sum(generator.random() >= rate for _ in range(row.known)) for rate in (row.p, row.q))
        known = {"known_bad": (bad, row.known), "known_good": (good, row.known)}
    world = Simulated(row.sizes, fails, generator)
    _, answer = world.run(confidence=confidence, find_all=row.find_all, **known)
    findings = answer.reports[0].findings if answer.reports else ()
    named = [culprit_of(row.sizes, finding) for finding in findings if finding.status is Status.CULPRIT]
    right = bool(named) and all(point in culprits for point in named)
    if row.find_all:
        right = right and set(named) == set(culprits)
    verification = sum(world.spent[purpose] for purpose in VERIFYING)
    complete = any(finding.complete for finding in findings)
    return Ended(world.spent[Purpose.ENDPOINT], world.spent[Purpose.SEARCH], verification, bool(named), right, complete)


ROWS: Final = (
    Row("14 flags, {A}", ("A",)),
    Row("14 flags, {A,B}", ("AB",)),
    Row("1 024 steps", ()),
    Row("14 flags, {A} or {B}", ("A", "B")),
    Row("14 flags, {A,B} or {A,C}", ("AB", "AC")),
    Row("14 flags, {A} or {B}, `--all`", ("A", "B"), find_all=True),
    Row("14 flags, {A,B} or {A,C}, `--all`", ("AB", "AC"), find_all=True),
    Row("14 flags, {A,B} or {C,D}, `--all`", ("AB", "CD"), find_all=True),
    Row("14 flags, {A} or {B} or {C}, `--all`", ("A", "B", "C"), find_all=True),
    Row("14 flags, {A}, p = .5", ("A",), 0.5),
    Row("14 flags, {A,B}, p = .5", ("AB",), 0.5),
    Row("1 024 steps, p = .5", (), 0.5),
    Row("14 flags, {A}, p = .8", ("A",), 0.8),
    Row("14 flags, {A,B}, p = .8", ("AB",), 0.8),
    Row("1 024 steps, p = .8", (), 0.8),
)
KNOWN: Final = (0, 10)


def line(row: Row, runs: int) -> tuple[str, bool]:
    """A line of the table, and whether a deterministic test got nothing but right answers."""
    ended = [campaign(row, seed) for seed in range(runs)]

    def mean(counted: Callable[[Ended], int]) -> str:
        return f"{sum(counted(each) for each in ended) / runs:.1f}"

    answered, right = sum(each.answered for each in ended), sum(each.right for each in ended)
    cells = [
        row.name,
        "2 + 2" if not row.known else f"2 + 2, {row.known} + {row.known} known",
        mean(lambda each: each.search),
        mean(lambda each: each.verification),
        mean(lambda each: each.search + each.verification),
        mean(lambda each: each.ends),
        f"{right}/{answered}",
        f"{answered}/{runs}",
        f"{sum(each.complete for each in ended)}/{runs}",
    ]
    return f"| {' | '.join(cells)} |", row.p < 1 or row.q > 0 or right == runs


HEADER: Final = """\
<!-- Generated by `python benchmarks/campaign.py {runs} --out docs/campaign.md`. Do not edit. -->

# What a whole run needs

Each line is {runs} runs of `envbisect run` with seeded culprits, their tests drawn, not executed. Several sets are
several minimal failing combinations; any of them is a right answer, all of them with `--all`. *Search* leads to the
decision; *verification* executes what it implied: the configurations right below the culprit, the bad stack with each
change undone, and repeats where the runs so far do not show that the test never flakes. *Ends* are runs of both ends,
those included that a flaky test needs and those that ask whether the machine is still what it was. Ten clean runs of
each end, known from elsewhere (`--known`), spare the repeats. `p` is how often a failing configuration fails, 1 unless
the line says otherwise, and never told. The confidence asked for is .95.

| culprits | ends | search | verification | both | runs of ends | right | answered | no other left |
|---|---|---|---|---|---|---|---|---|
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; store it where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="?", type=int, default=RUNS, help="runs of each line")
    parser.add_argument("--out", type=Path, help="file to store the table in")
    options = parser.parse_args(arguments)
    parts, fine = [HEADER.format(runs=options.runs)], True
    print(parts[0], end="")
    for row in ROWS:
        for known in KNOWN:
            text, right = line(replace(row, known=known), options.runs)
            parts.append(text + "\n")
            print(text, flush=True)
            fine = fine and right
    if options.out is not None:
        options.out.write_text("".join(parts), encoding="utf-8")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())

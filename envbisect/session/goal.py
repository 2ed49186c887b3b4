"""What a search is after: one symptom below one top, and how its points translate. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from envbisect.manifest.stack import Value
from envbisect.search import Costs, Search
from envbisect.session.ask import NotBuilt, NotFeasible, Ran
from envbisect.session.history import Counts, Entry, History
from envbisect.session.oracle import Symptom
from envbisect.space.model import Axis, Configuration

DETERMINISTIC: Final = 0.6
"""Prior that a test of a run is deterministic. Two runs of each end have shown most of what flakes."""


def never() -> bool:
    """No budget is ever spent."""
    return False


def everywhere(_: Configuration) -> bool:
    """Every configuration is feasible as far as metadata knows."""
    return True


@dataclass(frozen=True, slots=True)
class Goal:
    """A symptom to be explained below ``top``; the search sees only the axes that ``top`` moves.

    ``feasible`` is what metadata says of a whole configuration, before anything is built; ``known`` are runs of the
    ends from elsewhere (``--known``), which count like those made here; ``spent`` says whether a budget is.
    """

    symptom: Symptom
    axes: tuple[Axis, ...]
    top: Configuration
    confidence: float
    seed: int
    feasible: Callable[[Configuration], bool] = everywhere
    spent: Callable[[], bool] = never
    known: Mapping[Configuration, Counts] = field(default_factory=dict)

    @property
    def moving(self) -> tuple[int, ...]:
        """Indices of the axes that the search sees."""
        return tuple(i for i, step in enumerate(self.top) if step)

    def project(self, point: Configuration) -> Configuration | None:
        """A lattice point as the search sees it, None if it is not below ``top``."""
        if any(step > limit for step, limit in zip(point, self.top, strict=True)):
            return None
        return tuple(point[i] for i in self.moving)

    def lift(self, point: Configuration) -> Configuration:
        """A point of the search as a configuration of the whole lattice."""
        whole = [0] * len(self.axes)
        for i, step in zip(self.moving, point, strict=True):
            whole[i] = step
        return tuple(whole)

    def values(self, point: Configuration) -> dict[str, Value]:
        """A configuration by key, for people and documents."""
        return {axis.key: axis.steps[step].value for axis, step in zip(self.axes, point, strict=True)}

    def new_search(self, entries: Iterable[Entry]) -> Search:
        """A search over the sublattice, with costs as measured so far."""
        return Search(
            sizes=[self.top[i] for i in self.moving],
            confidence=self.confidence,
            seed=self.seed,
            deterministic=DETERMINISTIC,
            infeasible=lambda point: not self.feasible(self.lift(point)),
            costs=_costs(self, entries),
        )


def tell(search: Search, goal: Goal, entry: Entry) -> None:
    """Tell a search what an entry says, if it lies in its sublattice."""
    asked = goal.project(entry.ask.configuration)
    if isinstance(entry.reply, NotFeasible):
        if asked is not None:
            search.mark_infeasible(asked)
        return
    point, verdict = goal.project(entry.point), entry.verdict(goal.symptom)
    if point is not None and verdict is not None:
        search.tell(point, verdict.outcome, verdict.cause)
    if entry.point != entry.ask.configuration and asked is not None:
        search.mark_infeasible(asked)


def weighed(goal: Goal, history: History, point: Configuration) -> Counts:
    """Outcomes of a configuration, those known from elsewhere included: what rates are judged by."""
    found, known = history.counts(goal.symptom, point), goal.known.get(point)
    if known is None:
        return found
    return Counts(found.good + known.good, found.bad + known.bad, found.unresolved)


def weighed_points(goal: Goal, history: History) -> list[Configuration]:
    """The configurations with an outcome or a known one, in order."""
    return sorted({entry.point for entry in history.lattice()} | goal.known.keys())


def known_unbuildable(goal: Goal, history: History, point: Configuration) -> bool:
    """Whether a configuration holds a pin that failed to build before, under the same Python."""
    values = goal.values(point)
    for entry in history.lattice():
        if isinstance(entry.reply, NotBuilt) and entry.reply.blamed:
            same_python = goal.values(entry.point).get("python.version") == values.get("python.version")
            pins = (pin.partition("==") for pin in entry.reply.blamed)
            if same_python and any(values.get(f"python.packages.{name}") == version for name, _, version in pins):
                return True
    return False


def _costs(goal: Goal, entries: Iterable[Entry]) -> Costs | None:
    """Seconds a run and a build take, measured at the endpoints and rounded so that noise does not steer the search."""
    runs = [entry.reply for entry in entries if isinstance(entry.reply, Ran)]
    build_s = max((run.build_s for run in runs), default=0.0)
    run_s = min((run.run_s for run in runs), default=0.0)
    built = [n for n, i in enumerate(goal.moving) if goal.axes[i].key.startswith(("python.", "code."))]
    if not built or run_s <= 0 or build_s <= 0:
        return None
    ratio = 2.0 ** round(math.log2(max(build_s / run_s, 1 / 8)))
    return Costs(run_s=1.0, groups=[(tuple(built), ratio)])

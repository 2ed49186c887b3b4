"""What was told: counts for every configuration, and what can be tested at all.

Three kinds of holes are kept apart:

* *infeasible* points do not exist (requirements contradict each other): no evidence, never a hypothesis, skipped when a
  lower neighbour is looked for;
* *unbuildable* points exist but cannot be made, told once by the executor;
* *unresolved* points answered three times with something else than good or bad.

The last two hide the truth: a boundary behind them gives suspects instead of a culprit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, assert_never

import numpy as np
from numpy.typing import NDArray

from envbisect.search.lattice import Lattice
from envbisect.search.words import Cause, Configuration, Outcome, below

Floats = NDArray[np.float64]

HOLE_AFTER: Final = 3  # unresolved answers of one configuration before it is left alone
GIVE_UP_AFTER: Final = 6  # … and before it is not even asked when nothing else is left
DEAD_AFTER: Final = 2  # unbuildable configurations that blame the same step alone
SMALL: Final = 64  # points of a lattice so small that every single one may be tried


@dataclass(slots=True)
class Tally:
    """The runs of one configuration."""

    good: int = 0
    bad: int = 0
    unresolved: int = 0
    unbuildable: bool = False

    @property
    def told(self) -> bool:
        return bool(self.good or self.bad)


class Evidence:
    """Everything told so far, and the chance that a configuration can be tested."""

    def __init__(
        self, lattice: Lattice, infeasible: Iterable[Configuration] | Callable[[Configuration], bool] = ()
    ) -> None:
        self.lattice = lattice
        self.tallies: dict[Configuration, Tally] = {}
        self.good = 0
        self.bad = 0
        self.predicate: Callable[[Configuration], bool] | None = infeasible if callable(infeasible) else None
        self.infeasible: set[Configuration] = set() if callable(infeasible) else {tuple(x) for x in infeasible}
        self._proven = np.zeros(lattice.levels, dtype=np.bool_)  # steps seen in something that was built
        self._proven[lattice.offset] = True
        self._proven[self._levels_of(lattice.top)] = True
        self._blame = np.zeros(lattice.levels, dtype=np.int32)  # unbuildable configurations that leave only this step
        self._cache: tuple[NDArray[np.int32], Floats] | None = None
        self._feasible: dict[Configuration, bool] = {}
        self.last_chance = False  # holes of unresolved answers may be asked again

    def tally(self, configuration: Configuration) -> Tally:
        """The counts of a configuration, zeros if it never ran."""
        return self.tallies.get(configuration, Tally())

    def tell(self, configuration: Configuration, outcome: Outcome, cause: Cause | None, count: int = 1) -> None:
        """Take ``count`` equal answers."""
        tally = self.tallies.setdefault(configuration, Tally())
        self._cache = None
        match outcome:
            case Outcome.GOOD:
                tally.good += count
                self.good += count
            case Outcome.BAD:
                tally.bad += count
                self.bad += count
            case Outcome.UNRESOLVED:
                if cause is Cause.UNBUILDABLE:
                    tally.unbuildable = True
                else:
                    tally.unresolved += count
            case _:
                assert_never(outcome)
        if outcome is not Outcome.UNRESOLVED or cause is Cause.OTHER_FAILURE:
            tally.unbuildable = False
            self._proven[self._levels_of(configuration)] = True
        self._assign_blame()

    def mark_infeasible(self, configuration: Configuration) -> None:
        """The configuration does not exist: it is never asked (again) and is no evidence."""
        self.infeasible.add(configuration)
        self._cache = None

    def exists(self, configuration: Configuration) -> bool:
        """Whether the configuration is feasible as far as is known."""
        if configuration in self.infeasible:
            return False
        if self.predicate is None:
            return True
        if configuration not in self._feasible:
            self._feasible[configuration] = not self.predicate(configuration)
            if not self._feasible[configuration]:
                self.infeasible.add(configuration)
                self._cache = None
        return self._feasible[configuration]

    def chance(self, configuration: Configuration) -> float:
        """How probable a good or bad answer is, 0 for what must not be asked."""
        if not self.exists(configuration):
            return 0.0
        special = self._special(configuration)
        if special is not None:
            return special
        return float(np.prod(self._step_chance()[self._levels_of(configuration)]))

    def any_doubt(self) -> bool:
        """Whether anything at all may turn out not to be testable."""
        if self.infeasible or self.predicate is not None:
            return True
        return any(tally.unresolved or tally.unbuildable for tally in self.tallies.values())

    def hidden(self) -> bool:
        """Whether a hole may hide the truth: something unbuildable or left unresolved."""
        return any(self.hole(tally) for tally in self.tallies.values())

    def soft_holes(self) -> bool:
        """Whether unresolved configurations were left alone that may be asked again when nothing else is left."""
        return any(
            not t.told and not t.unbuildable and HOLE_AFTER <= t.unresolved < GIVE_UP_AFTER
            for t in self.tallies.values()
        )

    def move_chances(self, configuration: Configuration) -> Floats:
        """For every level (axis, step): the chance of the configuration with that axis moved to that step."""
        lattice = self.lattice
        steps = self._step_chance()
        own = self._levels_of(configuration)
        here = steps[own]
        zeros = int((here == 0).sum())
        whole = float(np.prod(here[here > 0]))
        if zeros == 0:
            without = whole / here
        elif zeros == 1:
            without = np.where(here == 0, whole, 0.0)
        else:
            without = np.zeros(lattice.dimensions)
        out = np.asarray(without[lattice.axis_of] * steps, dtype=np.float64)
        points, chances = self._specials()
        if len(points):
            differs = points != np.asarray(configuration, dtype=np.int32)
            for row in np.flatnonzero(differs.sum(axis=1) <= 1).tolist():
                axes = np.flatnonzero(differs[row])
                for axis in axes.tolist() if len(axes) else range(lattice.dimensions):
                    out[lattice.offset[axis] + points[row, axis]] = chances[row]
        return out

    def dead_steps(self) -> NDArray[np.bool_]:
        """For every level: whether every configuration with this step is taken for unbuildable."""
        return np.asarray(self._step_chance() == 0, dtype=np.bool_)

    def pass_above(self, configuration: Configuration, culprit: Configuration) -> Configuration | None:
        """The lowest configuration at or above this one, but not at or above the culprit, that was seen passing."""
        found = [
            point
            for point, tally in self.tallies.items()
            if tally.good and below(configuration, point) and not below(culprit, point)
        ]
        return min(found, key=lambda point: (point != configuration, sum(point), point), default=None)

    def _levels_of(self, configuration: Configuration) -> NDArray[np.int64]:
        return np.asarray(self.lattice.offset + np.asarray(configuration, dtype=np.int64), dtype=np.int64)

    def hole(self, tally: Tally) -> bool:
        """Whether these runs say that the configuration cannot be tested (for now)."""
        if tally.told:
            return False
        return tally.unbuildable or tally.unresolved >= (GIVE_UP_AFTER if self.last_chance else HOLE_AFTER)

    def _special(self, configuration: Configuration) -> float | None:
        tally = self.tallies.get(configuration)
        if tally is None:
            return None
        if self.hole(tally):
            return 0.0
        # An answer of its own says that the point can be tested, whatever its steps are suspected of.
        return 1.0 if tally.told else 0.4**tally.unresolved if tally.unresolved else None

    def _specials(self) -> tuple[NDArray[np.int32], Floats]:
        if self._cache is None:
            special = {point: self._special(point) for point in self.tallies}
            chances = {point: chance for point, chance in special.items() if chance is not None}
            chances.update(dict.fromkeys(self.infeasible, 0.0))
            shape = (len(chances), self.lattice.dimensions)
            points = np.array(list(chances), dtype=np.int32).reshape(shape)
            self._cache = points, np.array(list(chances.values()), dtype=np.float64)
        return self._cache

    def _assign_blame(self) -> None:
        if not any(tally.unbuildable for tally in self.tallies.values()):
            return
        self._blame[:] = 0
        for point, tally in self.tallies.items():
            if tally.unbuildable:
                levels = self._levels_of(point)
                unproven = levels[~self._proven[levels]]
                if len(unproven) == 1:
                    self._blame[unproven[0]] += 1

    def _step_chance(self) -> Floats:
        chance = np.where(self._proven, 1.0, 0.3 ** np.minimum(self._blame, 8))
        if self.lattice.points > SMALL:
            chance[(self._blame >= DEAD_AFTER) & ~self._proven] = 0.0
        return chance

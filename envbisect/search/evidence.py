"""What was told: counts for every configuration, and what can be tested at all.

Three kinds of holes are kept apart:

* *infeasible* points do not exist (requirements contradict each other): no evidence, never a hypothesis, skipped when a
  lower neighbour is looked for;
* *unbuildable* points exist but cannot be made, told once by the executor;
* *unresolved* points answered three times with something else than good or bad, or hold what that is blamed on
  (``silence``). When nothing else is left to ask they get a few last chances.

The last two hide the truth: a boundary behind them gives suspects instead of a culprit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, assert_never

import numpy as np
from numpy.typing import NDArray

from envbisect.search.lattice import Lattice
from envbisect.search.silence import Silence, explain_silence
from envbisect.search.unbuildable import BLAMED, SMALL, Unbuildable
from envbisect.search.words import Cause, Configuration, Outcome, below

Floats = NDArray[np.float64]

HOLE_AFTER: Final = 3  # unresolved answers of one configuration before it is left alone
GIVE_UP_AFTER: Final = 6  # … and before it is not even asked when nothing else is left
LAST_CHANCES: Final = 4  # unresolved answers altogether when nothing else is left
WASTED: Final = 3  # repeats without an answer after which no silent configuration is repeated, unless one ever answered
REPEAT: Final = 0.4  # chance that a first repeat answers, as two repeats seen would say
HOPELESS: Final = 0.05  # chance of an answer below which nothing is asked only to tell suspects apart
SILENT_AFTER: Final = 2  # configurations whose silence makes a guess about others; one more in a small lattice


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
        self._building = Unbuildable(lattice)
        self._cache: tuple[bool, NDArray[np.int32], Floats] | None = None
        self._feasible: dict[Configuration, bool] = {}
        self.last_chance = False  # holes of unresolved answers may be asked again, a few times
        self._chances_left = LAST_CHANCES
        self._silence: Silence | None = None
        self._steps: tuple[bool, Floats] | None = None
        self._disagreed = False  # some configuration both passed and failed
        self._wasted = 0  # repeats of a silent configuration that said nothing either
        self._recovered = 0  # silent configurations that answered later

    def tally(self, configuration: Configuration) -> Tally:
        """The counts of a configuration, zeros if it never ran."""
        return self.tallies.get(configuration, Tally())

    def tell(self, configuration: Configuration, outcome: Outcome, cause: Cause | None, count: int = 1) -> None:
        """Take ``count`` equal answers."""
        tally = self.tallies.setdefault(configuration, Tally())
        self._cache = self._silence = self._steps = None
        self._learn_repeats(tally, outcome, cause, count)
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
        self._disagreed |= tally.good > 0 and tally.bad > 0
        if outcome is not Outcome.UNRESOLVED or cause is Cause.OTHER_FAILURE:
            tally.unbuildable = False
            self._building.built(configuration)
        elif tally.unbuildable:
            self._building.failed(configuration)

    def _learn_repeats(self, tally: Tally, outcome: Outcome, cause: Cause | None, count: int) -> None:
        """Whether asking a silent configuration again is worth it, and how many last chances are left."""
        if outcome is Outcome.UNRESOLVED:
            if not tally.told and cause is not Cause.UNBUILDABLE:
                self._wasted += count if tally.unresolved else count - 1
            if self.last_chance:
                self._chances_left -= count
                self.last_chance = self._chances_left > 0
            return
        self._recovered += tally.unresolved > 0 and not tally.told
        self.last_chance = False  # there is something new to go on with

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
        if not self.last_chance and self.silence().covers(configuration):
            return 0.0
        levels = self._levels_of(configuration)
        return float(np.prod(self._step_chance()[levels])) * self._building.pairs().of(levels)

    def chances(self, points: NDArray[np.int32]) -> Floats:
        """``chance`` of many configurations, shape (count, dimensions), at once."""
        out = self._step_chance()[self.lattice.offset + points].prod(axis=1)
        pairs = self._building.pairs()
        axes, steps = self.lattice.axis_of, self.lattice.step_of
        for first, second, chance in zip(
            pairs.first.tolist(), pairs.second.tolist(), pairs.chance.tolist(), strict=True
        ):
            out[(points[:, axes[first]] == steps[first]) & (points[:, axes[second]] == steps[second])] *= chance
        if not self.last_chance:
            for patch in self.silence().patches:
                out[((points >= patch.low) & (points <= patch.high)).all(axis=1)] = 0.0
        known, chances = self._specials()
        if len(known) or self.predicate is not None:
            special = {tuple(x): chance for x, chance in zip(known.tolist(), chances.tolist(), strict=True)}
            for row, point in enumerate(map(tuple, points.tolist())):
                if not self.exists(point):
                    out[row] = 0.0
                elif point in special:
                    out[row] = special[point]
        return np.asarray(out, dtype=np.float64)

    def testable(self, points: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which configurations may still answer; in all but the smallest lattices not those that hardly will,
        unless they get a last chance."""
        least = HOPELESS if self.lattice.points > SMALL and not self.last_chance else 0.0
        return np.asarray(self.chances(points) > least, dtype=np.bool_)

    def steady(self) -> bool:
        """Whether no configuration ever disagreed with itself."""
        return not self._disagreed

    def askable(self, points: NDArray[np.int32], *, guess: bool) -> NDArray[np.bool_]:
        """Which of the points never answered and may be asked; without ``guess`` only own runs speak against one."""
        told = np.array([self.tally(tuple(x)).told for x in points.tolist()], dtype=np.bool_)
        if guess:
            return np.asarray(~told & self.testable(points), dtype=np.bool_)
        keep = [self.exists(tuple(x)) and not self._spent(self.tally(tuple(x))) for x in points.tolist()]
        return ~told & np.array(keep, dtype=np.bool_)

    def any_doubt(self) -> bool:
        """Whether anything at all may turn out not to be testable."""
        if self.infeasible or self.predicate is not None:
            return True
        return any(tally.unresolved or tally.unbuildable for tally in self.tallies.values())

    def hidden(self) -> bool:
        """Whether a hole may hide the truth: something unbuildable or left unresolved."""
        return any(self.hole(point) for point in self.tallies)

    def soft_holes(self) -> bool:
        """Whether configurations are left alone that may be asked (again) now that nothing else is left."""
        if self.last_chance or self._chances_left <= 0:
            return False
        return any(
            self._silent(tally) and tally.unresolved < GIVE_UP_AFTER and self.hole(point)
            for point, tally in self.tallies.items()
        )

    def silence(self) -> Silence:
        """What the configurations without an answer are blamed on."""
        if self._silence is None:
            self._silence = explain_silence(
                self.lattice,
                [point for point, tally in self.tallies.items() if self._silent(tally)],
                [point for point, tally in self.tallies.items() if tally.told],
                SILENT_AFTER + (self.lattice.points <= SMALL),
            )
        return self._silence

    @staticmethod
    def _silent(tally: Tally) -> bool:
        return bool(tally.unresolved) and not tally.told and not tally.unbuildable

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
        out *= self._building.pairs().of_moves(own, lattice)
        if not self.last_chance:
            for patch in self.silence().patches:
                away = patch.outside(configuration)
                for axis in away if away else range(lattice.dimensions):
                    start = int(lattice.offset[axis])
                    if len(away) < 2:
                        out[start + patch.low[axis] : start + patch.high[axis] + 1] = 0.0
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

    def hole(self, configuration: Configuration) -> bool:
        """Whether its own runs, and what they are blamed on, say that it cannot be tested (for now)."""
        tally = self.tally(configuration)
        if tally.told or not (tally.unresolved or tally.unbuildable):
            return False
        if self._spent(tally):
            return True
        if self.last_chance:
            return False
        silence = self.silence()
        return bool(silence.dead[self._levels_of(configuration)].any()) or silence.covers(configuration)

    def _spent(self, tally: Tally) -> bool:
        """Whether the runs of a configuration that never answered are enough not to ask it (for now)."""
        if tally.unbuildable or self.last_chance:
            return tally.unbuildable or tally.unresolved >= GIVE_UP_AFTER
        return tally.unresolved >= (HOLE_AFTER if self._recovered or self._wasted < WASTED else 1)

    def _special(self, configuration: Configuration) -> float | None:
        tally = self.tallies.get(configuration)
        if tally is None:
            return None
        if self.hole(configuration):
            return 0.0
        # An answer of its own says that the point can be tested, whatever its steps are suspected of.
        if tally.told:
            return 1.0
        repeats = self._recovered + self._wasted
        answers = (self._recovered + 2 * REPEAT) / (repeats + 2)
        # Where silence was seen to pass, the first silence of a configuration says little about it.
        return answers ** max(1, tally.unresolved - (self._recovered > 0)) if tally.unresolved else None

    def _specials(self) -> tuple[NDArray[np.int32], Floats]:
        if self._cache is None or self._cache[0] is not self.last_chance:
            special = {point: self._special(point) for point in self.tallies}
            chances = {point: chance for point, chance in special.items() if chance is not None}
            chances.update(dict.fromkeys(self.infeasible, 0.0))
            shape = (len(chances), self.lattice.dimensions)
            points = np.array(list(chances), dtype=np.int32).reshape(shape)
            self._cache = self.last_chance, points, np.array(list(chances.values()), dtype=np.float64)
        return self._cache[1:]

    def _step_chance(self) -> Floats:
        if self._steps is None or self._steps[0] is not self.last_chance:
            self._steps = self.last_chance, self._judge_steps()
        return self._steps[1]

    def _judge_steps(self) -> Floats:
        silence = self.silence()
        chance = self._building.steps() * BLAMED ** np.minimum(silence.blame, 8)
        if not self.last_chance:
            chance[silence.dead] = 0.0
        return np.asarray(chance, dtype=np.float64)

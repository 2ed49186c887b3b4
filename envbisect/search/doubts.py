"""Whether the evidence can be trusted at all: is the test monotone, and is the machine still the one it was?

A steady test in which something fails although a configuration with all its changes and more passes is a warning. Both
are run again before anything is concluded, then the ends: what only flakes will soon disagree with itself, a machine
that drifted shows it at the good end, and what is left is a test that is not monotone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from envbisect.search.descent import Descent, descend
from envbisect.search.drift import AGAIN, AGREEING, EndRuns, drift_of
from envbisect.search.evidence import Evidence, Tally
from envbisect.search.labels import Labels, RateGrid
from envbisect.search.lattice import Lattice
from envbisect.search.monotony import Order, contradictions
from envbisect.search.words import Cause, Configuration, Contradiction, Drift, Outcome

STREAK: Final = 5  # equal answers at the end of a search that make a change of the machine worth one more run
MOST: Final = 6  # runs of each side of a pair, and of each end, that are asked for to judge it
SURE: Final = 0.99  # told rates from which a test is taken for deterministic


Told = tuple[Configuration, Outcome, Cause | None, int]
"""One call of ``tell``."""


class Doubts:
    """Watches what is told, in its order; asks for nothing as long as everything fits."""

    def __init__(
        self, lattice: Lattice, evidence: Evidence, confidence: float, told: tuple[float, float] | None
    ) -> None:
        self.lattice, self.evidence, self.confidence = lattice, evidence, confidence
        self._grid = RateGrid(told)
        self._order = Order(evidence)
        self._may_be_steady = told is None or (told[0] >= SURE and told[1] <= 1 - SURE)
        self._log: list[Told] = []
        self._ends = {lattice.top: EndRuns(), lattice.zero: EndRuns()}
        self._asking = False
        self._known = 0  # entries of the log that were told before
        self._alarm: tuple[Configuration, int] | None = None  # the end to run again, and its answers when doubt arose
        self._looked: tuple[Configuration, bool, Tally] | None = None  # the last look, what it should say, runs before
        self._changed: int | None = None  # answers of the search before the change
        self._descent: Descent | None = None
        self.contradictions: tuple[Contradiction, ...] = ()
        self.drift: Drift | None = None

    # ------------------------------------------------------------------ watching

    def asked(self) -> None:
        """The search asks its first question: what was told so far was known before, in no order."""
        if not self._asking:
            self._asking = True
            self._known = len(self._log)

    def told(self, point: Configuration, outcome: Outcome, cause: Cause | None, count: int) -> None:
        """Look at new answers; the evidence has them already."""
        self._descent = None
        self._log.append((point, outcome, cause, count))
        if outcome is Outcome.UNRESOLVED:
            return
        bad = outcome is Outcome.BAD
        if (runs := self._ends.get(point)) is not None:
            runs.answers += [bad] * count
            runs.times += [len(self._log)] * count
            if self._asking:
                self._look_for_drift()
            else:
                runs.known = len(runs.answers)
        else:
            self._order.add(point)
        self.contradictions = contradictions(self.evidence, self._order, self._grid, self.confidence)
        if self._alarm is None:
            self._alarm = self._first_doubt(point, bad)

    def _first_doubt(self, point: Configuration, bad: bool) -> tuple[Configuration, int] | None:
        """The end that must be run again, with the number of answers that it gave before."""
        zero, top = self.lattice.zero, self.lattice.top
        if self._looked is not None and point == self._looked[0] and bad is not self._looked[1]:
            end = zero if bad else top
            return end, len(self._ends[end].answers) - (point == end)
        if self.contradictions or (self._steady and self._order.against()):
            return zero, len(self._ends[zero].answers)
        return None

    def _look_for_drift(self) -> None:
        self.drift = self._changed = None
        for end, runs in self._ends.items():
            found = drift_of(end, runs, self.evidence, self._grid)
            if found is not None and (self.drift is None or found[0].probability < self.drift.probability):
                self.drift, self._changed = found[0], runs.times[found[1] - 1]

    @property
    def _steady(self) -> bool:
        return self._may_be_steady and self.evidence.steady()

    @property
    def any(self) -> bool:
        """Whether the evidence fits no monotone test on one machine."""
        return bool(self.contradictions) or self.drift is not None

    # ------------------------------------------------------------------ asking

    def wanted(self) -> tuple[Configuration, ...]:
        """What must run again before anything is concluded."""
        if self._alarm is None or self.drift is not None or self.lattice.zero == self.lattice.top:
            return ()
        pair = self._order.against() if self._steady and not self.contradictions else []
        if pair and (again := self._least_run(pair[0])) is not None:
            return (again,)
        end, since = self._alarm
        late = self._ends[end].answers[since:]
        changed = (end == self.lattice.zero) in late
        enough = AGAIN if changed else AGREEING if self.contradictions else 1
        return (end,) if len(late) < enough else ()

    def _least_run(self, pair: tuple[Configuration, Configuration]) -> Configuration | None:
        """Of the pair and the ends the one that ran least; None if each ran often enough."""
        lower, upper = pair
        order = (upper, lower, self.lattice.zero, self.lattice.top)
        runs = {x: (tally := self.evidence.tally(x)).good + tally.bad + tally.unresolved for x in order}
        least = min(order, key=lambda x: runs[x])
        return least if runs[least] < MOST else None

    def last_look(self, culprit: Configuration) -> Configuration | None:
        """One run before a culprit is named that rests on what came before a long streak of equal answers.

        Such a streak is rare where every question halves what is left, and is what a changed machine looks like: then
        the good end fails too, or the culprit passes.
        """
        if self._looked is not None:
            point, _, before = self._looked
            return point if self.evidence.tally(point) == before else None
        if self._alarm is not None or not self._asking:
            return None
        streak, last = 0, None
        for _, outcome, _, count in reversed(self._log[self._known :]):
            if outcome is not Outcome.UNRESOLVED:
                last = last or outcome
                if outcome is not last:
                    break
                streak += count
        if streak < (STREAK if self._steady else 2 * STREAK):
            return None
        return self.lattice.zero if last is Outcome.BAD else culprit

    def looks(self, point: Configuration) -> None:
        """The last look is asked for: its answer will be compared with what was said before."""
        tally = self.evidence.tally(point)
        self._looked = point, tally.bad > 0, replace(tally)

    def descent(self) -> Descent | None:
        """How a test that is not monotone is searched; None as long as it is taken for monotone."""
        if not self.contradictions:
            return None
        if self._descent is None:
            self._descent = descend(self.evidence, Labels(self._grid, self.evidence), self.confidence)
        return self._descent

    def before_change(self) -> Sequence[Told]:
        """What was told before the drift; up to the last run of the end that still answered as before."""
        return self._log[: self._changed]

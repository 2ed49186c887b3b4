"""Everything observed so far, once, for all symptoms. Pure."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from envbisect.burnin.symptoms import Observation
from envbisect.search import Outcome
from envbisect.session.ask import Ask, NotBuilt, NotFeasible, Purpose, Ran, Reply
from envbisect.session.oracle import UNBUILDABLE, Symptom, Verdict
from envbisect.space.model import Configuration

Probing: TypeAlias = Generator[Ask, Reply, "Entry"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One answered ask."""

    ask: Ask
    reply: Reply

    @property
    def exact(self) -> bool:
        """Whether single packages were exchanged without resolution: no point of the lattice."""
        return bool(self.ask.changes)

    @property
    def point(self) -> Configuration:
        """The lattice point that was tested; the asked one if nothing could be."""
        return self.ask.configuration if isinstance(self.reply, NotFeasible) else self.reply.point

    @property
    def observation(self) -> Observation | None:
        return self.reply.observation if isinstance(self.reply, Ran) else None

    def verdict(self, symptom: Symptom) -> Verdict | None:
        """What this entry says about a symptom; None if nothing was tested (contradicting requirements)."""
        match self.reply:
            case Ran():
                return symptom.judge(self.reply.observation)
            case NotBuilt():
                return UNBUILDABLE
            case NotFeasible():
                return None


@dataclass
class Counts:
    """Outcomes of one configuration for one symptom."""

    good: int = 0
    bad: int = 0
    unresolved: int = 0

    def add(self, outcome: Outcome) -> None:
        match outcome:
            case Outcome.GOOD:
                self.good += 1
            case Outcome.BAD:
                self.bad += 1
            case Outcome.UNRESOLVED:
                self.unresolved += 1


@dataclass
class History:
    """The observations of a campaign, in order. ``probe`` is the only way to add one."""

    entries: list[Entry] = field(default_factory=list)

    def probe(self, ask: Ask) -> Probing:
        """Ask, wait for the reply, remember it."""
        reply = yield ask
        entry = Entry(ask, reply)
        self.entries.append(entry)
        return entry

    def probes(self) -> int:
        """Probes run so far: contradictions that were known from metadata cost none."""
        return sum(not isinstance(entry.reply, NotFeasible) for entry in self.entries)

    def counts(self, symptom: Symptom, point: Configuration) -> Counts:
        """Outcomes at a lattice point."""
        found = Counts()
        for entry in self.lattice():
            if entry.point == point and (verdict := entry.verdict(symptom)) is not None:
                found.add(verdict.outcome)
        return found

    def lattice(self) -> Iterator[Entry]:
        """The entries that are points of the lattice."""
        return (entry for entry in self.entries if not entry.exact)

    def observations(self, point: Configuration) -> list[Observation]:
        """All observations at a lattice point."""
        return [e.observation for e in self.lattice() if e.point == point and e.observation is not None]

    def ran(self, point: Configuration) -> Ran | None:
        """A run at a lattice point, the last one, or None."""
        for entry in reversed(self.entries):
            if not entry.exact and isinstance(entry.reply, Ran) and entry.reply.point == point:
                return entry.reply
        return None

    def purpose(self, *purposes: Purpose) -> int:
        """Probes run for these purposes."""
        return sum(e.ask.purpose in purposes and not isinstance(e.reply, NotFeasible) for e in self.entries)

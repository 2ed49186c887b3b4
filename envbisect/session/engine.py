"""Drive a campaign: replay what the journal holds, then run what is asked, each observation durable before the next."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

from envbisect.burnin.symptoms import SymptomState
from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.search import Outcome
from envbisect.session.ask import Ask, NotBuilt, NotFeasible, Purpose, Ran, Reply
from envbisect.session.campaign import Answer, Campaign
from envbisect.session.codec import ask_data, ask_of, reply_data, reply_of
from envbisect.session.events import Note, Phase, PhaseChanged, ProbeFinished, ProbeStarted, Subscriber
from envbisect.session.history import Entry
from envbisect.session.journal import Journal, RecordType
from envbisect.session.oracle import failed
from envbisect.session.store import SessionFolder
from envbisect.space.model import Axis

PHASES: Final = {
    Purpose.ENDPOINT: Phase.ENDPOINTS,
    Purpose.SEARCH: Phase.SEARCH,
    Purpose.NEIGHBOUR: Phase.VERIFICATION,
    Purpose.REVERSAL: Phase.VERIFICATION,
    Purpose.NAMING: Phase.NAMING,
}


class Answering(Protocol):
    """Whoever answers asks: the executor, or a simulated world."""

    @property
    def built(self) -> int:
        """Environments made so far."""
        ...

    @property
    def space(self) -> HasAxes: ...

    def answer(self, ask: Ask, number: int, folder: Path) -> Reply: ...


class HasAxes(Protocol):
    """As much of a space as is needed to name a configuration."""

    @property
    def axes(self) -> tuple[Axis, ...]: ...


def _now() -> datetime:
    return datetime.now(UTC)


def _key(ask: Ask) -> tuple[object, ...]:
    """What makes two asks the same experiment."""
    return (ask.configuration, tuple(sorted((key, str(value)) for key, value in ask.changes.items())))


@dataclass
class Engine:
    """One process's work on one session.

    Attributes:
        clock: monotonic seconds; given so that tests need no waiting.
        now: the time of day, for the same reason.
        max_hours: budget over all processes that worked on the session.
        until: when to stop.
        carried: how many of the observations are told before anything is asked, because the options changed after
            them; those after them are replayed in order.
        numbers: the probe's number of each entry of the campaign's history.
    """

    campaign: Campaign
    executor: Answering
    journal: Journal
    folder: SessionFolder
    notify: Subscriber
    max_hours: float | None = None
    until: datetime | None = None
    carried: int = 0
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = _now
    earlier_s: float = 0.0
    recorded: dict[tuple[object, ...], deque[tuple[int, Reply]]] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)
    _phase: Phase = Phase.PLANNING
    _started_s: float = field(default=0.0, init=False)

    def run(self) -> Answer:
        """To the answer.

        Raises:
                EnvironmentFailure: the machine or the network failed for good.
            KeyboardInterrupt: Ctrl-C; everything observed so far is in the journal.
        """
        self._started_s = self.clock()
        self._recall()
        generator = self.campaign.run()
        try:
            ask = next(generator)
            while True:
                ask = generator.send(self._answer(ask))
        except StopIteration as stop:
            answer: Answer = stop.value
            return answer

    def total_s(self) -> float:
        """Seconds spent on the session, by all its processes."""
        return self.earlier_s + self.clock() - self._started_s

    def built(self) -> int:
        """Environments made by all processes."""
        return sum(bool(record.data.get("built")) for record in self.journal.of(RecordType.FINISHED))

    def _recall(self) -> None:
        """Take what the journal holds: told at once, or kept for whatever asks for its configuration.

        A kept ask is answered by the first unused observation of its configuration, whatever it was run for.
        """
        observed = self.journal.observed()
        for record in self.journal.of(RecordType.FINISHED):
            self.earlier_s = record.data["elapsed_s"]
        for place, record in enumerate(observed):
            if len(record.data["ask"]["configuration"]) != len(self.executor.space.axes):
                raise UsageError(
                    f"{self.folder.path}: record {record.seq} of the journal belongs to another space",
                    "restore the session folder from a backup, or start anew with another --session",
                )
            ask, reply, number = ask_of(record.data["ask"]), reply_of(record.data["reply"]), record.data["number"]
            if place < self.carried:
                self.campaign.history.entries.append(Entry(ask, reply))
                self.numbers.append(number)
            else:
                self.recorded.setdefault(_key(ask), deque()).append((number, reply))
        self._check_budget_unless_recorded()

    def _answer(self, ask: Ask) -> Reply:
        key = _key(ask)
        if key not in self.recorded:
            number, reply = self._probe(ask)
        else:
            number, reply = self.recorded[key].popleft()
            if not self.recorded[key]:
                del self.recorded[key]
            self._check_budget_unless_recorded()
        self.numbers.append(number)
        return reply

    def _check_budget_unless_recorded(self) -> None:
        """What was observed counts, however late it is: a budget ends new probes only."""
        if not self.recorded:
            self._check_budget()

    def _probe(self, ask: Ask) -> tuple[int, Reply]:
        number = sum(1 for _ in self.journal.of(RecordType.FINISHED)) + 1
        phase = PHASES[ask.purpose]
        if phase is not self._phase:
            self._phase = phase
            self.notify(PhaseChanged(phase))
        axes = self.executor.space.axes
        changes = {a.key: a.steps[s].value for a, s in zip(axes, ask.configuration, strict=True) if s}
        self.notify(ProbeStarted(number, phase, {**changes, **ask.changes}, len(axes), ask.expected_left))
        if not (self.folder.path / "session.json").exists():
            raise EnvironmentFailure(
                f"{self.folder.path}: the session folder was moved or removed while it was in use",
                "put it back, then resume it where it is",
            )
        self.journal.append(RecordType.STARTED, {"number": number, "ask": ask_data(ask)})
        built = self.executor.built
        reply = self.executor.answer(ask, number, self.folder.probe_folder(number))
        data = {
            "number": number,
            "ask": ask_data(ask),
            "reply": reply_data(reply),
            "built": self.executor.built > built,
            "elapsed_s": round(self.total_s(), 3),
        }
        record = self.journal.append(RecordType.FINISHED, data)
        heard = reply_of(record.data["reply"])
        self.notify(self._finished(number, phase, heard))
        self._check_budget()
        return number, heard

    def _check_budget(self) -> None:
        """Tell the campaign when the time is up; probes it counts itself."""
        if self.campaign.out_of:
            return
        if self.max_hours is not None and self.total_s() > self.max_hours * 3600:
            self.campaign.out_of = "--max-hours"
            self.notify(Note(f"--max-hours {self.max_hours:g} is spent"))
        elif self.until is not None and self.now() >= self.until:
            self.campaign.out_of = "--until"
            self.notify(Note(f"--until {self.until.astimezone():%H:%M} has come"))

    def _finished(self, number: int, phase: Phase, reply: Reply) -> ProbeFinished:
        match reply:
            case NotBuilt(reason=reason):
                return ProbeFinished(number, phase, Outcome.UNRESOLVED.value, "unbuildable", reason, 0.0)
            case NotFeasible(reason=reason):
                return ProbeFinished(number, phase, Outcome.UNRESOLVED.value, "not feasible", reason, 0.0)
            case Ran():
                return self._ran(number, phase, reply)

    def _ran(self, number: int, phase: Phase, reply: Ran) -> ProbeFinished:
        observation = reply.observation
        details = {seen.id: seen.detail for seen in observation.symptoms}
        worst = next((seen.detail for seen in observation.symptoms if seen.signature is not None), "")
        symptoms = self.campaign.symptoms
        if not symptoms:
            told = any(seen.state is SymptomState.PASS for seen in observation.symptoms)
            outcome = "fail" if failed(observation) else "pass" if told else "cannot-tell"
            detail = worst or "; ".join(observation.faults) or next(iter(details.values()), "")
            return ProbeFinished(number, phase, outcome, "", detail, reply.run_s)
        verdict = symptoms[0].judge(observation)
        cause = verdict.cause.value if verdict.cause else ""
        detail = details.get(symptoms[0].check, "") or worst or "; ".join(observation.faults)
        return ProbeFinished(number, phase, verdict.outcome.value, cause, detail, reply.run_s)

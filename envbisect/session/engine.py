"""Drive a campaign: replay what the journal holds, then run what is asked, each observation durable before the next."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from envbisect.burnin.symptoms import SymptomState
from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.search import Outcome
from envbisect.session.ask import Ask, NotBuilt, NotFeasible, Purpose, Ran, Reply
from envbisect.session.campaign import Answer, Campaign
from envbisect.session.codec import ask_data, ask_of, reply_data, reply_of
from envbisect.session.events import Note, Phase, PhaseChanged, ProbeFinished, ProbeStarted, Subscriber
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


def _key(ask: Ask) -> tuple[object, ...]:
    """What makes two asks the same experiment."""
    return (ask.configuration, tuple(sorted((key, str(value)) for key, value in ask.changes.items())))


@dataclass
class Engine:
    """One process's work on one session.

    Attributes:
        clock: monotonic seconds; given so that tests need no waiting.
        max_hours: budget over all processes that worked on the session.
    """

    campaign: Campaign
    executor: Answering
    journal: Journal
    folder: SessionFolder
    notify: Subscriber
    max_hours: float | None = None
    clock: Callable[[], float] = time.monotonic
    earlier_s: float = 0.0
    recorded: dict[tuple[object, ...], deque[Reply]] = field(default_factory=dict)
    _phase: Phase = Phase.PLANNING
    _started_s: float = field(default=0.0, init=False)

    def run(self) -> Answer:
        """To the answer.

        Raises:
                EnvironmentFailure: the machine or the network failed for good.
            KeyboardInterrupt: Ctrl-C; everything observed so far is in the journal.
        """
        self._started_s = self.clock()
        generator = self.campaign.run()
        try:
            ask = self._replay(generator)
            while True:
                earlier = self.recorded.get(_key(ask))
                ask = generator.send(earlier.popleft() if earlier else self._probe(ask))
        except StopIteration as stop:
            answer: Answer = stop.value
            return answer

    def total_s(self) -> float:
        """Seconds spent on the session, by all its processes."""
        return self.earlier_s + self.clock() - self._started_s

    def built(self) -> int:
        """Environments made by all processes."""
        return sum(bool(record.data.get("built")) for record in self.journal.of(RecordType.FINISHED))

    def _replay(self, generator: Generator[Ask, Reply, Answer]) -> Ask:
        """Feed the journal's observations; the first ask that it has no answer to.

        An ask is answered by the first unused observation of its configuration, whatever it was run for: with other
        options (more confidence, a larger budget) the same runs come up in another order, and stay as true.
        """
        recorded: dict[tuple[object, ...], deque[Reply]] = {}
        for record in self.journal.of(RecordType.FINISHED):
            self.earlier_s = record.data["elapsed_s"]
            if len(record.data["ask"]["configuration"]) != len(self.executor.space.axes):
                raise UsageError(
                    f"{self.folder.path}: record {record.seq} of the journal belongs to another space",
                    "restore the session folder from a backup, or start anew with another --session",
                )
            recorded.setdefault(_key(ask_of(record.data["ask"])), deque()).append(reply_of(record.data["reply"]))
        self.recorded = recorded
        ask = next(generator)
        while recorded.get(_key(ask)):
            ask = generator.send(recorded[_key(ask)].popleft())
        return ask

    def _probe(self, ask: Ask) -> Reply:
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
        return heard

    def _check_budget(self) -> None:
        if self.max_hours is not None and self.total_s() > self.max_hours * 3600 and not self.campaign.out_of_time:
            self.campaign.out_of_time = True
            self.notify(Note(f"--max-hours {self.max_hours:g} is spent"))

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

"""Live progress on stderr: one updating line on a terminal, one line a probe elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, assert_never

from envbisect.report.console import console_for
from envbisect.report.values import count, duration, one_line, pins
from envbisect.session.events import (
    BuildFinished,
    BuildStarted,
    Decided,
    Event,
    Note,
    Phase,
    PhaseChanged,
    ProbeFinished,
    ProbeStarted,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from envbisect.manifest.stack import Value

MOST_CHANGES: Final = 4
"""Changes that are spelled out in the status of a terminal; beyond, only their number is."""

OUTCOME_STYLE: Final[Mapping[str, str]] = {
    "good": "green",
    "pass": "green",
    "bad": "red",
    "fail": "red",
    "unresolved": "yellow",
    "cannot-tell": "yellow",
}


@contextmanager
def progress(*, quiet: bool) -> Iterator[Lines | None]:
    """A subscriber that shows a run on stderr.

    ``quiet`` (``--json``) gives none unless stderr is a terminal: who reads JSON reads no progress lines.
    """
    terminal = sys.stderr.isatty()
    if quiet and not terminal:
        yield None
        return
    console = console_for(sys.stderr)
    if not terminal:
        yield Lines(console)
        return
    with console.status("reading the manifests") as status:
        yield Lines(console, status)


@dataclass
class Lines:
    """A subscriber that prints a line for whatever ended, and keeps the status line at what goes on.

    Without ``status`` (no terminal) only the lines are printed. ``said`` are the notes that were printed.
    """

    console: Console
    status: Status | None = None
    said: set[str] = field(default_factory=set)
    _bad: Mapping[str, Value] = field(default_factory=dict)
    _started: dict[int, ProbeStarted] = field(default_factory=dict)
    _built: dict[int, BuildFinished] = field(default_factory=dict)
    _seconds: list[float] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        match event:
            case PhaseChanged(phase=Phase.PLANNING | Phase.DONE):
                # No line: an error that ends the planning stays the only one.
                self._now(event.detail or event.phase.value)
            case PhaseChanged():
                self.console.print(f"{event.phase.value}: {event.detail}" if event.detail else event.phase.value)
                self._now(event.phase.value)
            case Note():
                self.said.add(event.text)
                self.console.print(f"note: {one_line(event.text)}", style="dim")
            case ProbeStarted():
                self._started[event.number] = event
                if event.phase is Phase.ENDPOINTS and event.changes:
                    self._bad = event.changes
                self._now(f"probe {event.number} ({event.phase.value}): {self._where(event)}{self._left(event)}")
            case BuildStarted():
                self._now(f"probe {event.number}: building the environment")
            case BuildFinished():
                self._built[event.number] = event
                self._now(f"probe {event.number}: running the test")
            case ProbeFinished():
                self._finish(event)
            case Decided():
                self._now("writing the result")
            case _:
                assert_never(event)

    def _finish(self, event: ProbeFinished) -> None:
        from rich.text import Text

        started = self._started.pop(event.number, None)
        built = self._built.pop(event.number, None)
        build_s = built.build_s if built and not built.reused else 0.0
        self._seconds.append(build_s + event.run_s)
        line = Text(f"{event.number:>4}  ")
        line.append(f"{event.outcome:<11}", style=OUTCOME_STYLE.get(event.outcome, ""))
        line.append(f"  {changes(started, self._bad) if started else ''}")
        times = duration(event.run_s) + (f" + {duration(build_s)} build" if build_s else "")
        reason = ": ".join(filter(None, (event.cause, one_line(event.detail))))
        line.append(f"  [{times}]{'  ' + reason if reason else ''}", style="dim")
        self.console.print(line)

    def _where(self, event: ProbeStarted) -> str:
        """What goes on, short enough for one row of a terminal."""
        told = changes(event, self._bad)
        short = len(event.changes) <= MOST_CHANGES or "=" not in told
        return told if short else f"{len(event.changes)} of {event.axes} changes"

    def _left(self, event: ProbeStarted) -> str:
        """How many probes and how much time are expected to be left, from the mean of those that ended."""
        if event.expected_left is None:
            return ""
        left = max(1, round(event.expected_left))
        text = f", about {count(left, 'probe')} left"
        if self._seconds:
            text += f" ({duration(left * sum(self._seconds) / len(self._seconds))})"
        return text

    def _now(self, text: str) -> None:
        if self.status is not None:
            from rich.text import Text

            self.status.update(Text(text))


def changes(event: ProbeStarted, bad: Mapping[str, Value]) -> str:
    """What a probe changes, so that two different ones never read alike: its pins, or what it leaves of the bad stack.

    ``bad`` are the changes of the bad end, empty while they are not known.
    """
    if not event.changes:
        return "the good stack"
    if event.changes == bad:
        return "the bad stack"
    left_out = [key for key in bad if key not in event.changes]
    other = {key: value for key, value in event.changes.items() if key not in bad or bad[key] != value}
    if not bad or len(left_out) + len(other) >= len(event.changes):
        return pins(event.changes)
    told = [f"all but {' '.join(left_out)}"] if left_out else ["the bad stack"]
    told += [f"with {pins(other)}"] if other else []
    return ", ".join(told)

"""Progress as lines: what ended, how it ended, and what is left."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest

from envbisect.report.console import console_for
from envbisect.report.live import Lines, progress
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
    ignore,
)
from tests.report.printing import printed

RUN: Sequence[Event] = (
    PhaseChanged(Phase.PLANNING, "reading both manifests"),
    PhaseChanged(Phase.ENDPOINTS, "both ends twice"),
    ProbeStarted(1, Phase.ENDPOINTS, {}, axes=8),
    BuildStarted(1),
    BuildFinished(1, build_s=1.5, reused=False),
    ProbeFinished(1, Phase.ENDPOINTS, "pass", "", "", run_s=2.0),
    ProbeStarted(2, Phase.SEARCH, {"torch.threads": 2}, axes=8, expected_left=3.2),
    BuildFinished(2, build_s=1.5, reused=True),
    ProbeFinished(2, Phase.SEARCH, "unresolved", "other-failure", "OSError:\n busy", run_s=0.2),
    ProbeStarted(3, Phase.SEARCH, {f"env.V{n}": "1" for n in range(5)}, axes=8),
    ProbeFinished(3, Phase.SEARCH, "bad", "", "ValueError", run_s=75),
    Note("the index [has] no dates"),
    Decided("culprit"),
    PhaseChanged(Phase.DONE),
)


def test_every_probe_is_one_line() -> None:
    def render(console) -> None:  # type: ignore[no-untyped-def]
        lines = Lines(console)
        for event in RUN:
            lines(event)

    assert [" ".join(line.split()) for line in printed(render).splitlines()] == [
        "endpoints: both ends twice",
        "1 pass the good stack [2.0 s + 1.5 s build]",
        "2 unresolved torch.threads=2 [0.2 s] other-failure: OSError: busy",
        "3 bad 5 of 8 changes [1 min 15 s] ValueError",
        "note: the index [has] no dates",
    ]


def test_a_terminal_sees_what_goes_on_and_what_is_left() -> None:
    console = console_for(io.StringIO())
    status = console.status("")
    seen: list[str] = []
    lines = Lines(console, status)
    for event in RUN:
        lines(event)
        seen.append(str(status.status))
    assert seen[0] == "reading both manifests"
    assert "probe 1: building the environment" in seen
    assert "probe 2 (search): torch.threads=2, about 3 probes left (10 s)" in seen
    assert seen[-1] == "done"


def test_json_without_a_terminal_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=True) as subscriber:
        assert subscriber is ignore
    assert capsys.readouterr() == ("", "")


def test_progress_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=False) as subscriber:
        for event in RUN:
            subscriber(event)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "other-failure" in captured.err

"""Progress as lines: what ended, how it ended, and what is left."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import product

import pytest

from envbisect.report.console import console_for
from envbisect.report.live import Lines, changes, progress
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
        "3 bad env.V0=1 env.V1=1 env.V2=1 env.V3=1 env.V4=1 [1 min 15 s] ValueError",
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
    assert "probe 3 (search): 5 of 8 changes" in seen
    assert lines.said == {"the index [has] no dates"}
    assert seen[-1] == "done"


def test_json_without_a_terminal_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=True) as lines:
        assert lines is None
    assert capsys.readouterr() == ("", "")


def test_progress_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=False) as lines:
        assert lines is not None
        for event in RUN:
            lines(event)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "other-failure" in captured.err


BAD = {"env.A": "1", "env.B": "1", "env.C": "1", "env.D": "4"}


@pytest.mark.parametrize(
    ("moved", "told"),
    [
        ({}, "the good stack"),
        (BAD, "the bad stack"),
        ({"env.A": "1"}, "env.A=1"),
        ({"env.A": "1", "env.B": "1", "env.C": "1"}, "all but env.D"),
        ({**BAD, "env.D": "3"}, "the bad stack, with env.D=3"),
        ({"env.B": "1", "env.C": "1", "env.D": "3"}, "all but env.A, with env.D=3"),
        ({**BAD, "python.packages.six": None}, "the bad stack, with python.packages.six=(not set)"),
    ],
)
def test_where_most_moved_what_did_not_is_named(moved: dict[str, str], told: str) -> None:
    assert changes(ProbeStarted(1, Phase.SEARCH, moved, axes=4), BAD) == told


def test_two_points_never_read_alike() -> None:
    points = [
        {key: value for key, value in zip(BAD, steps, strict=True) if value != "0"}
        for steps in product("01", "01", "01", "01234")
    ]
    for bad in (BAD, {}):
        told = {changes(ProbeStarted(1, Phase.SEARCH, point, axes=4), bad) for point in points}
        assert len(told) == len(points) == 40


def test_the_bad_end_is_learned_from_its_own_run() -> None:
    def render(console) -> None:  # type: ignore[no-untyped-def]
        lines = Lines(console)
        for number, moved in enumerate((BAD, {**BAD, "env.A": "0"}), start=1):
            lines(ProbeStarted(number, Phase.ENDPOINTS if number == 1 else Phase.SEARCH, moved, axes=4))
            lines(ProbeFinished(number, Phase.SEARCH, "cannot-tell", "", "", run_s=1))

    assert [" ".join(line.split()) for line in printed(render).splitlines()] == [
        "1 cannot-tell the bad stack [1.0 s]",
        "2 cannot-tell the bad stack, with env.A=0 [1.0 s]",
    ]

"""Killed at any journal record, a session goes on to the same answer and repeats at most the probe in flight."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.search import Status
from envbisect.session.ask import Ask, Reply
from envbisect.session.campaign import Answer, Campaign
from envbisect.session.engine import Engine
from envbisect.session.events import Event, Phase, PhaseChanged, ProbeFinished, ignore
from envbisect.session.journal import Journal, RecordType, read
from envbisect.session.store import SessionFolder
from tests.session.worlds import World, flaky, monotone, steady


class Killed(BaseException):
    """What SIGKILL is to this process: nothing may clean up after it."""


@dataclass
class Answering:
    """A world as the engine's executor; dies before its ``deadly``-th answer."""

    space: World
    deadly: int | None = None
    built: int = 0
    answered: int = 0

    def answer(self, ask: Ask, number: int, folder: Path) -> Reply:
        assert folder.is_dir()
        if self.answered == self.deadly:
            raise Killed
        self.answered += 1
        return self.space.reply(ask)


@contextmanager
def engine(path: Path, world: World, deadly: int | None = None, notify: object = ignore) -> Iterator[Engine]:
    folder = SessionFolder.open(path) if (path / "session.json").exists() else SessionFolder.create(path)
    folder.write("session.json", {"schema": 1})
    journal = Journal(path / "journal.jsonl")
    try:
        yield Engine(Campaign(world.plan()), Answering(world, deadly), journal, folder, notify)  # type: ignore[arg-type]
    finally:
        journal.close()
        folder.close()


def world(seed: int = 3) -> World:
    return World((5, 1, 1, 3), flaky(monotone((3, 0, 1, 0)), 0.9, 0.0, seed))


def settled(path: Path, seed: int = 3) -> tuple[Answer, list[bytes]]:
    with engine(path, world(seed)) as whole:
        answer = whole.run()
    return answer, (path / "journal.jsonl").read_bytes().splitlines(keepends=True)


def test_cut_after_every_record_and_inside_it_the_answer_is_the_same(tmp_path: Path) -> None:
    def steady_world() -> World:
        return World((5, 1, 1, 3), steady(monotone((3, 0, 1, 0))))

    with engine(tmp_path / "whole", steady_world()) as whole:
        answer = whole.run()
    lines = (tmp_path / "whole" / "journal.jsonl").read_bytes().splitlines(keepends=True)
    assert answer.status is Status.CULPRIT
    total = sum(b'"probe-finished"' in line for line in lines)
    for kept in range(len(lines)):
        for torn in (b"", lines[kept][: len(lines[kept]) // 2]):
            path = tmp_path / "again"
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(tmp_path / "whole", path)
            (path / "journal.jsonl").write_bytes(b"".join(lines[:kept]) + torn)
            again = steady_world()
            with engine(path, again) as resumed:
                assert resumed.run() == answer
            finished = sum(b'"probe-finished"' in line for line in lines[:kept])
            assert len(again.asks) == total - finished
            records = Journal(path / "journal.jsonl")
            assert sum(1 for _ in records.of(RecordType.FINISHED)) == total
            records.close()


@pytest.mark.parametrize("deadly", [0, 1, 4, 9])
def test_dying_in_a_probe_loses_that_probe_alone(tmp_path: Path, deadly: int) -> None:
    path = tmp_path / "s"
    with pytest.raises(Killed), engine(path, world(), deadly) as first:
        first.run()
    second = world()
    with engine(path, second) as again:
        answer = again.run()
    assert answer.status is Status.CULPRIT
    numbers = [r.data["number"] for r in read(path / "journal.jsonl") if r.type is RecordType.FINISHED]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(second.asks) == len(numbers) - deadly


def test_a_journal_of_another_space_is_refused(tmp_path: Path) -> None:
    settled(tmp_path / "s")
    with engine(tmp_path / "s", World((1, 1), steady(monotone((1, 0))))) as other, pytest.raises(UsageError) as caught:
        other.run()
    assert "another space" in caught.value.message


def test_with_more_confidence_a_finished_session_goes_on_from_what_it_has(tmp_path: Path) -> None:
    with engine(tmp_path / "s", world()) as first:
        answer = first.run()
    more = world()
    with engine(tmp_path / "s", more) as second:
        second.campaign = Campaign(more.plan(confidence=0.99999))
        surer = second.run()
    assert answer.status is surer.status is Status.CULPRIT
    assert surer.reports[0].findings[0].confidence >= 0.99999 > answer.reports[0].findings[0].confidence
    assert 0 < len(more.asks) < len(second.campaign.history.entries)


def test_a_larger_budget_goes_on_from_what_was_spent(tmp_path: Path) -> None:
    with engine(tmp_path / "s", world()) as first:
        first.campaign = Campaign(replace(first.campaign.plan, max_probes=8))
        assert first.run().status is Status.BUDGET
    more = world()
    with engine(tmp_path / "s", more) as second:
        assert second.run().status is Status.CULPRIT
    assert len(more.asks) == len(second.campaign.history.entries) - 8


def test_a_folder_that_vanishes_stops_the_run(tmp_path: Path) -> None:
    with engine(tmp_path / "s", world()) as running:
        (tmp_path / "s" / "session.json").unlink()
        with pytest.raises(EnvironmentFailure, match="moved or removed"):
            running.run()


def test_probes_are_numbered_and_phases_told_in_order(tmp_path: Path) -> None:
    events: list[Event] = []
    with engine(tmp_path / "s", world(), notify=events.append) as whole:
        whole.run()
    phases = [event.phase for event in events if isinstance(event, PhaseChanged)]
    assert phases[:2] == [Phase.ENDPOINTS, Phase.SEARCH]
    numbers = [event.number for event in events if isinstance(event, ProbeFinished)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {e.outcome for e in events if isinstance(e, ProbeFinished) and e.phase is Phase.ENDPOINTS} == {
        "pass",
        "fail",
    }


def test_hours_are_counted_over_all_processes(tmp_path: Path) -> None:
    seconds = iter(range(0, 100_000, 400))
    with engine(tmp_path / "s", World((1024,), steady(monotone((700,))))) as slow:
        slow.clock = lambda: float(next(seconds))
        slow.max_hours = 1.0
        answer = slow.run()
    assert answer.status is Status.BUDGET


def test_at_the_moment_given_it_ends_and_what_is_recorded_still_counts(tmp_path: Path) -> None:
    begun = datetime(2026, 11, 3, 22, 0, tzinfo=UTC)
    moments = iter(begun + timedelta(minutes=5 * n) for n in range(1000))
    with engine(tmp_path / "s", World((1024,), steady(monotone((700,))))) as late:
        late.now, late.until = (lambda: next(moments)), begun + timedelta(minutes=40)
        answer = late.run()
        spent = len(late.campaign.history.entries)
    assert answer.status is Status.BUDGET
    assert "--until" in answer.reason
    assert 7 <= spent <= 9
    again = World((1024,), steady(monotone((700,))))
    with engine(tmp_path / "s", again) as resumed:
        resumed.now, resumed.until = (lambda: begun + timedelta(days=1)), begun + timedelta(minutes=40)
        assert resumed.run() == answer
    assert again.asks == []


def test_what_is_carried_over_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    answer, _ = settled(tmp_path / "s")
    kept = sum(r.type is RecordType.FINISHED for r in read(tmp_path / "s" / "journal.jsonl"))
    less = world()
    with engine(tmp_path / "s", less) as second:
        second.campaign, second.carried = Campaign(less.plan(confidence=0.9)), kept
        assert second.run().status is Status.CULPRIT
        assert second.numbers == list(range(1, kept + 1))
    assert less.asks == []
    more = world(5)
    with engine(tmp_path / "s", more) as third:
        third.campaign, third.carried = Campaign(more.plan(confidence=0.9999)), kept
        surer = third.run()
    assert surer.reports[0].findings[0].confidence >= 0.9999 > answer.reports[0].findings[0].confidence
    asked = len(more.asks)
    assert asked > 0
    replayed = world(5)
    with engine(tmp_path / "s", replayed) as fourth:
        fourth.campaign, fourth.carried = Campaign(replayed.plan(confidence=0.9999)), kept
        assert fourth.run() == surer
    assert replayed.asks == []


def test_what_is_forgotten_counts_no_more(tmp_path: Path) -> None:
    settled(tmp_path / "s")
    journal = Journal(tmp_path / "s" / "journal.jsonl")
    journal.append(RecordType.FORGOTTEN, {"since": 6})
    assert [record.data["number"] for record in journal.observed()] == [1, 2, 3, 4, 5]
    journal.close()
    again = world()
    with engine(tmp_path / "s", again) as second:
        assert second.run().status is Status.CULPRIT
        assert len(again.asks) == len(second.campaign.history.entries) - 5

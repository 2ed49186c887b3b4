"""Which failure was first: the rules, without processes."""

from __future__ import annotations

import random
from typing import Any

import pytest

from envbisect.payload.document import ExceptionFacts, FailureKind, RankFacts
from envbisect.payload.primary import detail_of, primary_failure, ranks_of, still_running


def _exception(name: str) -> ExceptionFacts:
    return {"type": name, "frames": ["__main__:f"], "message": "", "text": "7 is odd"}


def _process(pid: int, *, rank: int | None = None, raised: str = "", at: float = 0.0, **more: Any) -> dict[str, Any]:
    exception = _exception(raised) if raised else None
    record: dict[str, Any] = {"pid": pid, "rank": rank, "started": 0.0, "failures": [], "exception": exception}
    record["ended"] = None
    return {**record, "failed_at": at if raised else None, **more}


def _wrapper(rank: int, exit_code: int, ended: float, pid: int = 0) -> dict[str, Any]:
    return {"rank": rank, "pid": pid, "exit_code": exit_code, "started": 0.0, "ended": ended, "last_line": ""}


def test_the_own_exception_of_the_test_comes_first() -> None:
    processes = [_process(10, raised="ValueError", at=5.0), _process(11, raised="OSError", at=1.0)]
    assert primary_failure(1, 10, processes, [])["type"] == "ValueError"


@pytest.mark.parametrize("launcher", ["CalledProcessError", "ChildFailedError", "ProcessRaisedException"])
def test_a_launchers_exception_gives_way_to_what_it_reports(launcher: str) -> None:
    processes = [_process(10, raised=launcher, at=5.0), _process(11, raised="OSError", at=1.0)]
    assert primary_failure(1, 10, processes, [])["type"] == "OSError"
    assert primary_failure(1, 10, processes[:1], [])["type"] == launcher


def test_of_several_children_of_a_shell_the_last_failure_ended_it() -> None:
    processes = [_process(11, raised="KeyError", at=1.0), _process(12, raised="OSError", at=2.0)]
    assert primary_failure(1, 10, processes, [])["type"] == "OSError"


def test_the_earliest_rank_is_primary_whatever_the_order_of_the_records() -> None:
    processes = [
        _process(20, rank=0, raised="ConnectionError", at=4.0),
        _process(21, rank=1, raised="KeyError", at=3.0),
        _process(22, rank=2, raised="ConnectionError", at=4.5),
    ]
    wrapped = [_wrapper(rank, 1, 6.0, pid=20 + rank) for rank in range(3)]
    generator = random.Random(3)
    for _ in range(10):
        generator.shuffle(processes)
        generator.shuffle(wrapped)
        failure = primary_failure(1, 10, processes, ranks_of(processes, wrapped))
        assert (failure["type"], failure["rank"]) == ("KeyError", 1)


def test_a_death_that_is_noticed_just_after_the_peers_complained_is_still_first() -> None:
    processes = [_process(20, rank=0, raised="ConnectionError", at=3.0)]
    wrapped = [_wrapper(0, 1, 3.4, pid=20), _wrapper(1, -11, 3.1, pid=21)]
    failure = primary_failure(1, 10, processes, ranks_of(processes, wrapped))
    assert (failure["kind"], failure["signal"], failure["rank"]) == (FailureKind.SIGNAL, "SIGSEGV", 1)


def test_a_watchdogs_abort_after_another_ranks_exception_is_not() -> None:
    processes = [_process(20, rank=0, raised="KeyError", at=3.0)]
    wrapped = [_wrapper(0, 1, 3.4, pid=20), _wrapper(1, -6, 3.1, pid=21)]
    assert primary_failure(1, 10, processes, ranks_of(processes, wrapped))["type"] == "KeyError"


def test_ranks_that_the_launcher_ended_are_not_primary() -> None:
    wrapped = [_wrapper(0, -15, 1.0), _wrapper(1, 3, 2.0), _wrapper(2, -15, 3.0)]
    failure = primary_failure(1, 10, [], ranks_of([], wrapped))
    assert (failure["kind"], failure["exit_code"], failure["rank"]) == (FailureKind.EXIT, 3, 1)


def test_a_handled_exception_of_a_helper_is_not_its_ranks() -> None:
    processes = [_process(30, rank=0, raised="OSError", at=1.0), _process(20, rank=0, raised="KeyError", at=2.0)]
    (rank,) = ranks_of(processes, [_wrapper(0, 1, 3.0, pid=20)])
    assert rank["exception"] == _exception("KeyError")


def test_a_rank_that_passed_has_no_failure_whatever_its_children_did() -> None:
    (rank,) = ranks_of([_process(30, rank=0, raised="OSError", at=1.0)], [_wrapper(0, 0, 3.0, pid=20)])
    assert (rank["exception"], rank["failed_at"]) == (None, None)


def test_how_torchrun_says_that_ranks_ended() -> None:
    failures = [{"rank": 1, "exit_code": -11, "ended": 3.0}, {"rank": 0, "exit_code": -15, "ended": 3.0}]
    processes = [_process(10, raised="ChildFailedError", at=4.0, failures=failures)]
    ranks: list[RankFacts] = ranks_of(processes, [])
    assert [(rank["rank"], rank["signal"]) for rank in ranks] == [(0, "SIGTERM"), (1, "SIGSEGV")]
    assert primary_failure(1, 10, processes, ranks)["signal"] == "SIGSEGV"


def test_the_detail_names_the_rank_and_has_the_exceptions_own_words() -> None:
    processes = [
        _process(10, raised="ChildFailedError", at=9.0),
        _process(20, rank=0, raised="ConnectionError", at=4.0),
        _process(21, rank=1, raised="KeyError", at=3.0),
    ]
    wrapped = [_wrapper(rank, 1, 6.0, pid=20 + rank) for rank in range(2)]
    assert detail_of(primary_failure(1, 10, processes, ranks_of(processes, wrapped))) == "rank 1: KeyError: 7 is odd"
    died = ranks_of([], [_wrapper(0, -15, 1.0), _wrapper(1, -11, 2.0)])
    assert detail_of(primary_failure(1, 10, [], died)) == "rank 1 ended by SIGSEGV"
    alone = [_process(10, raised="ValueError", at=1.0)]
    assert detail_of(primary_failure(1, 10, alone, [])) == "ValueError: 7 is odd"


def test_a_rank_that_was_ended_with_the_test_was_still_running() -> None:
    wrapped = [_wrapper(0, 0, 3.0), _wrapper(1, -15, 10.1), {**_wrapper(2, 0, 0.0), "exit_code": None, "ended": None}]
    assert still_running([], wrapped, killed_at=10.0) == ([1, 2], 3)


def test_of_ranks_that_nobody_wrapped_the_first_process_tells() -> None:
    processes = [
        _process(30, rank=1, started=2.0, ended=4.0),
        _process(20, rank=0, started=1.0, ended=3.0),
        _process(21, rank=1, started=1.0),
        _process(31, rank=0, started=2.0),
        _process(10, started=0.0),
    ]
    assert still_running(processes, [], killed_at=10.0) == ([1], 2)

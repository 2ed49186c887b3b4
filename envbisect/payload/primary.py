"""Which failure was first: from how the processes of a test ended to the one failure that is its signature.

Launchers hide it: torchrun, ``torch.multiprocessing.spawn`` and ``subprocess.run(check=True)`` raise something of
their own, and ranks that lost a peer fail after it. So the earliest failure of a rank counts, unless the test's own
process has an exception that is no launcher's.
"""

from __future__ import annotations

import signal
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .document import ExceptionFacts, Failure, FailureKind, RankFacts, make_failure
from .failure import signal_name

Record = Dict[str, Any]

LAUNCHERS = frozenset({"ChildFailedError", "ProcessRaisedException", "ProcessExitedException", "CalledProcessError"})
"""Exceptions that only say that another process failed."""

NOTICE_S = 0.25
"""What it may take to notice that a process has died."""

CANNOT_TELL = 125
"""Exit code by which a test says that it does not know."""


def ranks_of(processes: Sequence[Record], wrapped: Sequence[Record]) -> List[RankFacts]:
    """How every rank ended: from the wrappers if the burn-in started the ranks, else from what the processes left.

    ``processes`` are the hook's records, ``wrapped`` those of :mod:`.rank`.
    """
    ends: Dict[int, Record] = {}
    for launcher in processes:
        for failure in launcher["failures"]:
            ends[failure["rank"]] = failure
    for wrapper in wrapped:
        ends[wrapper["rank"]] = wrapper
    numbers = sorted(set(ends) | {record["rank"] for record in processes if record["rank"] is not None})
    return [_rank(number, ends.get(number, {}), processes) for number in numbers]


def _rank(number: int, end: Record, processes: Sequence[Record]) -> RankFacts:
    own = [record for record in processes if record["rank"] == number]
    failed = sorted((record for record in own if record["exception"]), key=lambda record: float(record["failed_at"]))
    # the rank's own process before a helper that it started, whose exception it may have handled
    failed.sort(key=lambda record: record["pid"] != end.get("pid"))
    exit_code = end.get("exit_code")
    passed = exit_code == 0
    exception: Optional[ExceptionFacts] = failed[0]["exception"] if failed and not passed else None
    failed_at = failed[0]["failed_at"] if exception else end.get("ended") if exit_code else None
    started = min(
        [record["started"] for record in own] + ([end["started"]] if end.get("started") else []), default=None
    )
    return {
        "rank": number,
        "exit_code": exit_code,
        "signal": signal_name(exit_code),
        "exception": exception,
        "started": started,
        "failed_at": failed_at,
    }


def primary_failure(exit_code: int, pid: int, processes: Sequence[Record], ranks: Sequence[RankFacts]) -> Failure:
    """The failure of a test whose own process ``pid`` ended with ``exit_code`` (negative for a signal, not 0)."""
    own = next((record for record in processes if record["pid"] == pid), None)
    exception: Optional[ExceptionFacts] = own["exception"] if own else None
    if exception is not None and exception["type"] not in LAUNCHERS:
        return make_failure(FailureKind.EXCEPTION, exception=exception, exit_code=exit_code)
    first = _first(ranks)
    if first is not None:
        return _of_rank(first)
    below = [record for record in processes if record["exception"] and record["exception"]["type"] not in LAUNCHERS]
    if below and (own is None or exception is not None):
        # not a rank and not the test's own process: of several children the last one ended the test
        last = max(below, key=lambda record: float(record["failed_at"]))
        return make_failure(FailureKind.EXCEPTION, exception=last["exception"], exit_code=exit_code)
    if exception is not None:
        return make_failure(FailureKind.EXCEPTION, exception=exception, exit_code=exit_code)
    name = signal_name(exit_code)
    if name is not None:
        return make_failure(FailureKind.SIGNAL, "ended by %s" % name, exit_code=exit_code, signal=name)
    return make_failure(FailureKind.EXIT, "exit code %d" % exit_code, exit_code=exit_code)


def _first(ranks: Sequence[RankFacts]) -> Optional[RankFacts]:
    failed = [rank for rank in ranks if rank["failed_at"] is not None]
    # a launcher ends the other ranks by SIGTERM when one has failed
    primary = [rank for rank in failed if rank["signal"] != signal.SIGTERM.name or rank["exception"]]
    return min(primary or failed, key=failed_since, default=None)


def failed_since(rank: RankFacts) -> float:
    """When a failed rank began to fail, comparable between ranks.

    An exception is dated when it is raised. A death is dated when somebody notices it, and by then peers may have
    raised because of it; so it is dated a little back. Not SIGABRT, by which NCCL's watchdog ends a rank that waits.
    """
    failed_at = rank["failed_at"] or 0.0
    noticed_late = rank["exception"] is None and rank["signal"] != signal.SIGABRT.name
    return failed_at - NOTICE_S if noticed_late else failed_at


def detail_of(failure: Failure) -> str:
    """A failure in one line for people: which rank, and its exception in its own words."""
    if failure["type"] is None:
        return failure["text"]
    said = ": ".join(filter(None, (failure["type"], failure["text"])))
    return said if failure["rank"] is None else "rank %d: %s" % (failure["rank"], said)


def still_running(processes: Sequence[Record], wrapped: Sequence[Record], killed_at: float) -> Tuple[List[int], int]:
    """The ranks that had not ended when a test was killed at ``killed_at``, and how many ranks there were.

    A rank's own process is the first one that carries its number; one that is killed says nothing any more.
    """
    ends: Dict[int, Optional[float]] = {}
    for record in sorted(processes, key=lambda record: float(record["started"])):
        if record["rank"] is not None:
            ends.setdefault(record["rank"], record["ended"])
    ends.update((record["rank"], record["ended"]) for record in wrapped)
    running = [rank for rank, ended in sorted(ends.items()) if ended is None or ended >= killed_at]
    return running, len(ends)


def _of_rank(rank: RankFacts) -> Failure:
    number, code = rank["rank"], rank["exit_code"]
    if rank["exception"] is not None:
        return make_failure(FailureKind.EXCEPTION, exception=rank["exception"], exit_code=code, rank=number)
    if rank["signal"] is not None:
        text = "rank %d ended by %s" % (number, rank["signal"])
        return make_failure(FailureKind.SIGNAL, text, exit_code=code, signal=rank["signal"], rank=number)
    return make_failure(FailureKind.EXIT, "rank %d: exit code %s" % (number, code), exit_code=code, rank=number)

"""Processes for collective checks: started before anything else runs, given one order, watched until they end.

A fork right after ``import torch`` costs milliseconds where a fresh interpreter costs an import; later it is not safe,
because an OpenMP pool or a CUDA context does not survive it. So the ranks are forked first and wait on a pipe.
"""

from __future__ import annotations

import importlib
import json
import os
import selectors
import signal
import time
import warnings
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from .document import ExceptionFacts, RankFacts
from .failure import describe_exception, signal_name
from .flags import apply_flags

Report = Callable[..., None]
"""``report(event, **facts)``: tell the parent what this rank is doing."""


class Rank:
    """One started process, as its parent sees it.

    Attributes:
        events: what it reported, in order; each has ``event`` and ``time`` (seconds since the epoch).
        exit_code: negative for a signal, None while it runs.
        killed: the deadline passed and the parent killed it.
        stopped: it was not even running then (states T and D of proc(5)): a stopped process, or one in the kernel.
    """

    def __init__(self, rank: int, pid: int, control: int, reports: int) -> None:
        self.rank = rank
        self.pid = pid
        self.control = control
        self.reports = reports
        self.events: List[Dict[str, Any]] = []
        self.exit_code: Optional[int] = None
        self.killed = False
        self.stopped = False
        self.ended: Optional[float] = None
        self.buffer = b""

    def exception(self) -> Optional[ExceptionFacts]:
        """The exception that ended it, if one did."""
        facts: Optional[ExceptionFacts] = next(
            (event["exception"] for event in self.events if event["event"] == "exception"), None
        )
        return facts

    def facts(self) -> RankFacts:
        """For the result document. A rank that the parent killed has no exit of its own."""
        failed = next((event["time"] for event in self.events if event["event"] in ("exception", "wrong")), None)
        if failed is None and self.exit_code and not self.killed:
            failed = self.ended
        return {
            "rank": self.rank,
            "exit_code": None if self.killed else self.exit_code,
            "signal": None if self.killed else signal_name(self.exit_code),
            "exception": self.exception(),
            "started": self.events[0]["time"] if self.events else None,
            "failed_at": failed,
        }


class Order(NamedTuple):
    """What a rank shall do: ``function`` of ``module`` (relative to this package), with JSON ``arguments``."""

    module: str
    function: str
    arguments: Dict[str, Any]


class RankPool:
    """``world`` waiting processes. Always ``close`` it: it kills what is still there."""

    def __init__(self, torch: Any, world: int, flags: Dict[str, Any]) -> None:
        self.world = world
        self._ranks: List[Rank] = []
        for rank in range(world):
            self._ranks.append(_fork(torch, rank, flags, self._ranks))

    def run(self, order: Order, ready: str, ready_s: float, rest_s: float, until: float) -> List[Rank]:
        """Give every rank ``order`` and wait until all have ended.

        They have ``ready_s`` until each has reported the event ``ready``, and ``rest_s`` from then on, and never
        longer than the moment ``until`` of ``time.monotonic()``; who is late is killed. A pool runs one order.
        """
        text = json.dumps(order._asdict()).encode() + b"\n"
        for rank in self._ranks:
            try:
                os.write(rank.control, text)
            except BrokenPipeError:  # it is dead already: its exit code says why
                pass
        self._collect(ready, ready_s, rest_s, until)
        return self._ranks

    def close(self) -> None:
        """End and reap every rank that is still there."""
        for rank in self._ranks:
            _end(rank)

    def _collect(self, ready: str, ready_s: float, rest_s: float, until: float) -> None:
        with selectors.DefaultSelector() as selector:
            for rank in self._ranks:
                selector.register(rank.reports, selectors.EVENT_READ, rank)
            deadline, waiting = min(until, time.monotonic() + ready_s), True
            while selector.get_map() and time.monotonic() < deadline:
                for key, _ in selector.select(max(0.0, deadline - time.monotonic())):
                    if not _read(key.data):
                        selector.unregister(key.fd)
                if waiting and all(any(event["event"] == ready for event in rank.events) for rank in self._ranks):
                    deadline, waiting = min(until, time.monotonic() + rest_s), False
            for key in list(selector.get_map().values()):
                key.data.killed = True
                key.data.stopped = _state(key.data.pid) in ("T", "D")
        for rank in self._ranks:
            _end(rank)


def serve(torch: Any, rank: int, control: int, reports: int, flags: Dict[str, Any]) -> int:
    """What a rank does: wait for its order, carry it out, report. Returns its exit code."""

    def report(event: str, **facts: Any) -> None:
        document = dict(facts, event=event, time=time.time())
        os.write(reports, json.dumps(document).encode() + b"\n")

    with os.fdopen(control, "rb") as stream:
        line = stream.readline()
    if not line:  # the parent needs no ranks any more
        return 0
    order = Order(**json.loads(line.decode()))
    try:
        apply_flags(torch, flags)
        module = importlib.import_module("." + order.module, __package__)
        getattr(module, order.function)(torch, rank, order.arguments, report)
    except Exception as error:
        report("exception", exception=describe_exception(error))
        return 1
    return 0


def _fork(torch: Any, rank: int, flags: Dict[str, Any], earlier: List[Rank]) -> Rank:
    control_read, control_write = os.pipe()
    reports_read, reports_write = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns when there are threads: numpy's BLAS has some, stops them for a fork, and is not used here
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid:
        os.close(control_read)
        os.close(reports_write)
        return Rank(rank, pid, control_write, reports_read)
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for descriptor in [control_write, reports_read] + [
            d for other in earlier for d in (other.control, other.reports)
        ]:
            os.close(descriptor)
        code = serve(torch, rank, control_read, reports_write, flags)
    finally:
        os._exit(code)  # nothing of the parent's may run here: neither its exit handlers nor its result writer


def _read(rank: Rank) -> bool:
    """Take what the rank has written; False at the end of its pipe."""
    chunk = os.read(rank.reports, 65536)
    rank.buffer += chunk
    *lines, rank.buffer = rank.buffer.split(b"\n")
    rank.events.extend(json.loads(line.decode()) for line in lines)
    if not chunk:
        rank.ended = time.time()
    return bool(chunk)


def _state(pid: int) -> str:
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as stream:
            return stream.read().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _end(rank: Rank) -> None:
    if rank.exit_code is not None:
        return
    os.close(rank.control)
    if rank.killed or rank.ended is None:
        os.kill(rank.pid, signal.SIGKILL)
    os.close(rank.reports)
    _, status = os.waitpid(rank.pid, 0)
    rank.exit_code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

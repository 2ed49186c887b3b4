"""``ladder.allreduce``: a rank-unique pattern summed over all ranks, checked by every rank in every round.

In round k rank r contributes ``1 + k mod 100`` at the places i with ``i mod world == r`` and zero elsewhere. In the
sum a zero is a contribution that was dropped, twice the value one that came twice, an earlier value a stale buffer;
the place names the rank. The values are exact in bfloat16 at any world size. A dense sum goes beside it, and buffers
are reused, because a fresh buffer every round hides staleness.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import timedelta
from typing import Any, Dict, List, Optional

from ..document import CheckResult, FailureKind, Status, make_failure, make_result
from ..failure import told
from ..primary import failed_since
from ..ranks import Order, Rank, Report
from .context import Context

INITIALISATION_S = 60.0
"""Initialisation has a longer deadline of its own: NCCL has been seen to need 40 s."""

ROUNDS_S = 30.0
"""Rounds that work take milliseconds."""

ROUNDS = 3
_ELEMENTS = (1, 65_536)  # a multiple of the world size is made of each


def run_allreduce(context: Context) -> CheckResult:
    """Start the collective in the waiting ranks and judge what they report."""
    pool = context.ranks
    if pool is None:
        return make_result("ladder.allreduce", Status.CANNOT_TELL, "no rank could be started")
    nccl = context.device.type == "cuda" and context.torch.cuda.device_count() >= pool.world
    rounds = max(ROUNDS, context.rounds)
    folder = tempfile.mkdtemp(prefix="envbisect-ranks-")
    arguments = {
        "backend": "nccl" if nccl else "gloo",
        "store": os.path.join(folder, "store"),
        "world": pool.world,
        "rounds": rounds,
    }
    try:
        order = Order("checks.allreduce", "participate", arguments)
        ranks = pool.run(order, "ready", INITIALISATION_S, ROUNDS_S, context.deadline)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    result = judge(ranks, "%s, %d ranks, %d rounds" % (arguments["backend"], pool.world, rounds))
    result["rounds"] = rounds
    result["ranks"] = [rank.facts() for rank in ranks]
    return result


def participate(torch: Any, rank: int, arguments: Dict[str, Any], report: Report) -> None:
    """One rank's part. Reports ``start``, ``ready``, then ``enter`` and ``done`` or ``wrong`` each round, ``end``."""
    world, backend = arguments["world"], arguments["backend"]
    report("start")
    if backend == "gloo":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # a host name need not resolve in a container
    device = torch.device("cuda", rank) if backend == "nccl" else torch.device("cpu")
    if backend == "nccl":
        torch.cuda.set_device(device)
    distributed = torch.distributed
    distributed.init_process_group(
        backend,
        init_method="file://" + arguments["store"],
        rank=rank,
        world_size=world,
        timeout=timedelta(seconds=600),  # the parent's deadline comes first and knows who is missing
    )
    patterns = [torch.zeros(elements * world, device=device) for elements in _ELEMENTS]
    dense = torch.zeros(1024, device=device)
    distributed.barrier()
    report("ready")
    for number in range(arguments["rounds"]):
        report("enter", round=number)
        value = 1 + number % 100
        for pattern in patterns:
            pattern.zero_()
            pattern[rank::world] = value
            distributed.all_reduce(pattern)
        dense.fill_(rank + 1 + number)
        distributed.all_reduce(dense)
        wrong = [fault for pattern in patterns for fault in faults_in(pattern, world, value)]
        expected = 1024 * sum(source + 1 + number for source in range(world))
        if not wrong and float(dense.double().sum().item()) != expected:
            wrong = [{"source": None, "what": "the dense sum is wrong"}]
        report("wrong" if wrong else "done", round=number, wrong=wrong)  # and go on: another rank may see no fault
    distributed.barrier()
    distributed.destroy_process_group()
    report("end")


def faults_in(pattern: Any, world: int, value: int) -> List[Dict[str, Any]]:
    """Whose contribution is not there as it should be; empty if the sum equals the closed form."""
    if float(pattern.double().sum().item()) == pattern.numel() * value and bool((pattern == value).all().item()):
        return []
    faults = []
    for source in range(world):
        wrong = [got for got in pattern[source::world].tolist() if got != value]
        if wrong:
            what = "missing" if wrong[0] == 0 else "there twice" if wrong[0] == 2 * value else "wrong"
            what = "stale" if 0 < wrong[0] < value else what
            faults.append({"source": source, "what": what})
    return faults


def judge(ranks: List[Rank], where: str) -> CheckResult:
    """Wrong values first, then the earliest rank that failed, then who is missing."""
    for rank in sorted(ranks, key=lambda rank: rank.rank):
        for event in rank.events:
            if event["event"] == "wrong":
                return _wrong(rank.rank, event, where)
    failed = [rank for rank in ranks if rank.facts()["failed_at"] is not None]
    if failed:
        return _failed(min(failed, key=lambda rank: failed_since(rank.facts())), where)
    late = [rank for rank in ranks if rank.killed]
    if late:
        return _hang(ranks, where)
    return make_result("ladder.allreduce", Status.PASS, "%s: every sum equals the closed form" % where)


def _wrong(rank: int, event: Dict[str, Any], where: str) -> CheckResult:
    fault = event["wrong"][0]
    named = "the contribution of rank %s is %s" % (fault["source"], fault["what"])
    what = named if fault["source"] is not None else fault["what"]
    detail = "%s: in round %d rank %d sees that %s" % (where, event["round"] + 1, rank, what)
    failure = make_failure(FailureKind.VALUE, "all-reduce differs from the closed form", rank=fault["source"])
    return make_result("ladder.allreduce", Status.FAIL, detail, failure=failure)


def _failed(rank: Rank, where: str) -> CheckResult:
    facts = rank.facts()
    exception = facts["exception"]
    if exception is not None:
        failure = make_failure(FailureKind.EXCEPTION, exception=exception, exit_code=facts["exit_code"], rank=rank.rank)
        detail = "%s: rank %d raised %s" % (where, rank.rank, told(exception))
        return make_result("ladder.allreduce", Status.ERROR, detail, failure=failure)
    kind = FailureKind.SIGNAL if facts["signal"] else FailureKind.EXIT
    failure = make_failure(kind, exit_code=facts["exit_code"], signal=facts["signal"], rank=rank.rank)
    detail = "%s: rank %d ended with %s" % (where, rank.rank, facts["signal"] or "exit code %s" % facts["exit_code"])
    return make_result("ladder.allreduce", Status.ERROR, detail, failure=failure)


def _hang(ranks: List[Rank], where: str) -> CheckResult:
    furthest = max(len(rank.events) for rank in ranks)
    stopped = [rank.rank for rank in ranks if rank.stopped]
    missing = stopped or [rank.rank for rank in ranks if len(rank.events) < furthest]
    first: Optional[int] = missing[0] if missing else None
    who = "missing: rank " + ", ".join(map(str, missing)) if missing else "all ranks are at the same place"
    last = max(ranks, key=lambda rank: len(rank.events)).events
    at = (
        "%(event)s" % last[-1] + (" of round %d" % (last[-1]["round"] + 1) if "round" in last[-1] else "")
        if last
        else "start"
    )
    detail = "%s: hangs after %s; %s" % (where, at, who)
    failure = make_failure(FailureKind.HANG, "all-reduce hangs", rank=first)
    return make_result("ladder.allreduce", Status.HANG, detail, failure=failure)

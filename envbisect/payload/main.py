"""Read a request, run what it asks for, keep the result document truthful meanwhile."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from types import FrameType
from typing import Any, Dict, List, Optional, Sequence, Set

from . import rank
from .checks.command import run_command
from .checks.context import Check, Context
from .document import CheckResult, FailureKind, FaultKind, ResultWriter, Status, make_failure, make_result
from .failure import describe_exception, told
from .flags import apply_flags
from .ranks import RankPool
from .registry import expand, family_of

HUNG = 124
"""Exit code after the watchdog found a check that does not end."""


def main(arguments: Sequence[str]) -> int:
    """``REQUEST.json RESULT.json``. Exit code 0 if everything was tried, whatever came of it.

    ``--rank`` and ``--ranks N`` are what the payload calls itself with: see :mod:`.rank`.
    """
    if arguments[:1] == ["--rank"]:
        return rank.main()
    if arguments[:1] == ["--ranks"]:
        return rank.launch(int(arguments[1]))
    if len(arguments) != 2:
        sys.stderr.write("usage: envbisect_entry.py REQUEST.json RESULT.json\n")
        return 2
    with open(arguments[0], encoding="utf-8") as stream:
        request: Dict[str, Any] = json.load(stream)
    writer = ResultWriter(arguments[1], request["probe"])
    _report_interruption(writer)
    if request["checks"]:
        watchdog = _watch(writer, request["timeout_s"])
        run_checks(request, writer)
        watchdog.cancel()
    if request["command"] is not None:
        writer.begin("command")
        writer.finish(run_command(request, writer))
    writer.complete()
    return 0


def run_checks(request: Dict[str, Any], writer: ResultWriter) -> None:
    """Every built-in check that the request names, in the registry's order."""
    # a step that can name what hangs does so before the watchdog, which cannot
    deadline = time.monotonic() + 0.8 * request["timeout_s"]
    known: List[Check] = []
    for name in request["checks"]:
        try:
            known += expand([name])
        except KeyError:
            writer.fault(FaultKind.REQUEST, "no check is called %s" % name)
    checks = expand({check.id for check in known})
    os.environ.update(request["launch"]["per_rank_env"])  # this process is a rank, and its forks are the others
    try:
        torch: Any = importlib.import_module("torch")
    except Exception as error:  # a broken stack fails here in any way, and that is what is to be found out
        _without_torch(checks, error, writer)
        return
    pool = _start_ranks(torch, checks, request, writer)
    try:
        writer.environment(str(torch.__version__), [])
        for setting in apply_flags(torch, request["torch"]):
            writer.flag(setting.name, setting.asked, setting.read_back)
            if setting.fault:
                writer.fault(FaultKind.FLAG, setting.fault)
        device = _device(torch, request["options"])
        writer.environment(str(torch.__version__), _devices(torch, device))
        context = Context(torch, device, request["rounds"], deadline, request["torch"], pool)
        _run_all(checks, context, writer)
    finally:
        if pool is not None:
            pool.close()


def _run_all(checks: Sequence[Check], context: Context, writer: ResultWriter) -> None:
    stopped: Set[str] = set()
    for check in checks:
        if family_of(check.id) in stopped:
            writer.skip(make_result(check.id, Status.SKIPPED, "an earlier step failed"))
            continue
        writer.begin(check.id)
        result = _run(check, context)
        writer.finish(result)
        if check.gates and result["status"] is not Status.PASS:
            stopped.add(family_of(check.id))


def _run(check: Check, context: Context) -> CheckResult:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PYTHONWARNINGS=error in [env] is meant for the user's program
            return check.run(context)
    except Exception as error:  # whatever torch raises is the check's outcome
        facts = describe_exception(error)
        failure = make_failure(FailureKind.EXCEPTION, exception=facts)
        result = make_result(check.id, Status.ERROR, told(facts), failure=failure)
        result["output_tail"] = traceback.format_exc()[-4000:]
        return result


def _without_torch(checks: Sequence[Check], error: Exception, writer: ResultWriter) -> None:
    facts = describe_exception(error)
    absent = isinstance(error, ModuleNotFoundError) and error.name == "torch"
    for check in checks:
        if absent:
            result = make_result(check.id, Status.CANNOT_TELL, "torch is not installed")
        else:
            failure = make_failure(FailureKind.EXCEPTION, exception=facts)
            result = make_result(check.id, Status.ERROR, "import torch: %s" % told(facts), failure=failure)
        writer.skip(result)


def _start_ranks(
    torch: Any, checks: Sequence[Check], request: Dict[str, Any], writer: ResultWriter
) -> Optional[RankPool]:
    """Before flags are set and before any operation: see :mod:`.ranks`."""
    if not any(check.needs_ranks for check in checks):
        return None
    if not torch.distributed.is_available():
        writer.fault(FaultKind.REQUEST, "this torch is built without torch.distributed")
        return None
    launch = request["launch"]
    world = launch["nproc_per_node"] if launch["nproc_per_node"] > 1 else max(2, _gpus(torch))
    return RankPool(torch, world, request["torch"])


def _gpus(torch: Any) -> int:
    """How many GPUs this process may use, without a CUDA call that a fork would not survive. At most 8."""
    if not torch.version.cuda:
        return 0
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    present = len([name for name in os.listdir("/dev") if name.startswith("nvidia") and name[6:].isdigit()])
    return min(8, present if visible is None else len([part for part in visible.split(",") if part.strip()]))


def _device(torch: Any, options: Dict[str, Any]) -> Any:
    asked = options.get("device")
    if asked is not None:
        return torch.device(asked)
    return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")


def _devices(torch: Any, device: Any) -> List[str]:
    if device.type != "cuda":
        return [str(device)]
    return [str(torch.cuda.get_device_name(index)) for index in range(torch.cuda.device_count())]


def _watch(writer: ResultWriter, timeout_s: float) -> threading.Timer:
    """After ``timeout_s`` the check in flight hangs: say where its thread is, and leave.

    A check that holds the interpreter's lock for ever is beyond this; then the runtime's own deadline ends the process
    and the document still names the check in flight.
    """
    main_thread = threading.main_thread().ident

    def hang() -> None:
        check = writer.in_flight
        if check is None:
            return
        frame = sys._current_frames().get(main_thread or 0)
        failure = make_failure(FailureKind.HANG, "no end within the timeout")
        result = make_result(check, Status.HANG, "no end within %g s" % timeout_s, failure=failure)
        result["output_tail"] = "".join(traceback.format_stack(frame))[-4000:] if frame else ""
        writer.abandon(result)
        os._exit(HUNG)

    timer = threading.Timer(timeout_s, hang)
    timer.daemon = True
    timer.start()
    return timer


def _report_interruption(writer: ResultWriter) -> None:
    """SIGTERM is the runtime's word that time is up: as an exception it lets children be ended on the way out."""

    def interrupted(number: int, _frame: Optional[FrameType]) -> None:
        writer.fault(FaultKind.INTERRUPTED, "the payload was told to end (%s)" % signal.Signals(number).name)
        writer.write()
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, interrupted)

"""``command``: the user's own test. Exit code 0 passes, 125 cannot tell, any other end is a failure with its facts."""

from __future__ import annotations

import glob
import importlib.util
import json
import os
import re
import shutil
import socket
import sys
import tempfile
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from ..document import CheckResult, FailureKind, FaultKind, ResultWriter, Status, make_failure, make_result
from ..failure import first_line
from ..metrics import collect
from ..output import Ended, Watch, tail_before_launcher
from ..primary import CANNOT_TELL, detail_of, primary_failure, ranks_of, still_running
from ..rank import PLAN
from ..start import NotStarted, not_started

SETUP_TIMEOUT_S = 1800.0
"""The setup is outside the clock; it may download something large. ``options.setup_timeout_s`` says otherwise."""

LOG = "command.log"

NAMED = 4
"""Numbers of a test that its one line spells out."""


def run_command(request: Dict[str, Any], writer: ResultWriter) -> CheckResult:
    """Run the setup, then the test, and say how it ended."""
    folder = tempfile.mkdtemp(prefix="envbisect-reports-")
    try:
        environ = _environ(request, folder)
        if request["setup"]:
            fault = _set_up(request, environ, writer.folder)
            if fault:
                writer.fault(FaultKind.SETUP, fault)
                return make_result("command", Status.CANNOT_TELL, fault)
        return _Test(request, writer, folder, environ).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _environ(request: Dict[str, Any], folder: str) -> Dict[str, str]:
    """The process environment of the test: this one, the hook, and what a test may want to know."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    environ = dict(os.environ)
    before = environ.get("PYTHONPATH")
    environ["PYTHONPATH"] = os.path.join(package, "site") + (os.pathsep + before if before else "")
    environ["ENVBISECT_PROBE"] = str(request["probe"])
    environ["ENVBISECT_CONFIGURATION"] = json.dumps(request["configuration"], sort_keys=True)
    environ["ENVBISECT_METRICS"] = os.path.join(folder, "metrics.jsonl")
    environ["ENVBISECT_REPORT_DIR"] = folder
    hook = {"torch": request["torch"], "dataloader": request["dataloader"]}
    with open(os.path.join(folder, "hook.json"), "w", encoding="utf-8") as stream:
        json.dump(hook, stream)
    return environ


def _with_interpreter(command: List[str]) -> List[str]:
    """``python`` in a manifest means the interpreter of the environment under test."""
    return [sys.executable] + command[1:] if command[0] in ("python", "python3") else list(command)


def _set_up(request: Dict[str, Any], environ: Dict[str, str], folder: str) -> str:
    """Run the setup; returns why it failed, or an empty string."""
    timeout_s = float(request["options"].get("setup_timeout_s", SETUP_TIMEOUT_S))
    with open(os.path.join(folder, "setup.log"), "wb") as log:
        try:
            ended = Watch(timeout_s=timeout_s).run(_with_interpreter(request["setup"]), environ, log)
        except OSError as error:
            return "setup could not be started: %s" % error
    if ended.timed_out:
        return "setup did not end within %g s" % timeout_s
    if ended.exit_code:
        return "setup ended with exit code %d: %s" % (ended.exit_code, ended.tail[-500:])
    return ""


class _Test:
    """One run of the test, from its command line to its result."""

    def __init__(self, request: Dict[str, Any], writer: ResultWriter, folder: str, environ: Dict[str, str]) -> None:
        self._request = request
        self._writer = writer
        self._folder = folder
        self._environ = environ
        self._metrics = environ["ENVBISECT_METRICS"]

    def run(self) -> CheckResult:
        request = self._request
        classify = request["classify"]
        try:
            patterns = [re.compile(classify[name]) if classify[name] else None for name in ("bad_if", "unresolved_if")]
        except re.error as error:
            self._writer.fault(FaultKind.CLASSIFY, "not a regular expression: %s" % error)
            return make_result("command", Status.CANNOT_TELL, "[burnin.classify] cannot be read: %s" % error)
        watch = Watch(
            timeout_s=request["timeout_s"],
            stall_s=request["stall_s"],
            stop_at=patterns[0],
            note=patterns[1],
            progress=self._progress,
            token="ENVBISECT_REPORT_DIR=" + self._folder,
        )
        command = self._launch(_with_interpreter(request["command"]))
        with open(os.path.join(self._writer.folder, LOG), "wb") as log:
            try:
                ended = watch.run(command, self._environ, log)
            except OSError as error:
                return _never_began(not_started(command[0], self._environ, error))
        return self._result(ended)

    def _result(self, ended: Ended) -> CheckResult:
        processes, wrapped = self._read("process-*.json"), self._read("rank-[0-9]*.json")
        result = self._judge(ended, processes, wrapped)
        result["rounds"] = 1
        result["output_tail"] = ended.tail
        if result["failure"] is not None and result["failure"]["rank"] is not None:
            before = tail_before_launcher(os.path.join(self._writer.folder, LOG))
            if before is not None:
                result["output_tail"] = before
        result["log"] = LOG
        lines: List[Tuple[Optional[int], str]] = [(rank["rank"], rank.get("last_line", "")) for rank in wrapped]
        reported = collect(self._metrics, lines or [(None, ended.last_line)], self._aggregates())
        result["metrics"], result["samples"] = reported.values, reported.samples
        if result["status"] is Status.PASS and reported.values:
            result["detail"] = numbers(reported.values, first=list(self._request["metrics"]))
        for fault in reported.faults:
            self._writer.fault(FaultKind.METRICS, fault)
        self._say_what_the_hook_did(processes)
        return result

    def _judge(self, ended: Ended, processes: List[Dict[str, Any]], wrapped: List[Dict[str, Any]]) -> CheckResult:
        ranks = ranks_of(processes, wrapped)
        never_began = [record["not_started"] for record in wrapped if record.get("not_started")]
        if never_began:
            result = _never_began(NotStarted(*never_began[0]))
        elif ended.pattern is not None:
            pattern = self._request["classify"]["bad_if"]
            failure = make_failure(FailureKind.PATTERN, "output matches bad_if", pattern=pattern)
            said = "the output says: %s" % first_line(ended.pattern)
            result = make_result("command", Status.FAIL, said, failure=failure)
        elif ended.unresolved is not None:
            said = "unresolved_if matches: %s" % first_line(ended.unresolved)
            result = make_result("command", Status.CANNOT_TELL, said)
        elif ended.timed_out or ended.stalled:
            failure = make_failure(FailureKind.HANG, "stalled" if ended.stalled else "timed out")
            what = self._hang(ended, processes, wrapped)
            result = make_result("command", Status.HANG, what, failure=failure)
        elif ended.exit_code == CANNOT_TELL or any(rank["exit_code"] == CANNOT_TELL for rank in ranks):
            result = make_result("command", Status.CANNOT_TELL, "exit code 125: the test cannot tell")
        elif ended.exit_code == 0:
            result = make_result("command", Status.PASS, "exit code 0")
        else:
            failure = primary_failure(ended.exit_code, ended.pid, processes, ranks)
            result = make_result("command", Status.FAIL, detail_of(failure), failure=failure)
        result["ranks"] = ranks
        return result

    def _hang(self, ended: Ended, processes: List[Dict[str, Any]], wrapped: List[Dict[str, Any]]) -> str:
        """What was waited for, and which ranks had not ended then."""
        request = self._request
        what = "no end within %g s" % request["timeout_s"]
        if ended.stalled:
            what = "no output and no metrics for %g s" % request["stall_s"]
        running, count = still_running(processes, wrapped, ended.at)
        if count < 2 or not running:
            return what
        if len(running) == count:
            return "%s; all %d ranks were still running" % (what, count)
        return "%s; still running: rank %s of %d" % (what, ", ".join(map(str, running)), count)

    # --- ranks ----------------------------------------------------------------------------------------------------

    def _launch(self, command: List[str]) -> List[str]:
        """One process is the command itself; several are started by torchrun, or by ours where there is no torch."""
        launch = self._request["launch"]
        count = launch["nproc_per_node"]
        if count == 1:
            self._environ.update(launch["per_rank_env"])
            return command
        with open(os.path.join(self._folder, PLAN), "w", encoding="utf-8") as stream:
            json.dump({"command": command, "environ": launch["per_rank_env"]}, stream)
        entry = os.path.join(os.path.dirname(_package()), "envbisect_entry.py")
        if _has_torchrun():
            torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=%d" % count]
            return [*torchrun, entry, "--rank"]
        self._environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(_free_port()), WORLD_SIZE=str(count))
        return [sys.executable, entry, "--ranks", str(count)]

    # --- what the test left behind --------------------------------------------------------------------------------

    def _progress(self) -> object:
        """Changes when a metrics file does: the other sign of life besides output."""
        files = sorted(glob.glob(glob.escape(self._metrics) + "*"))
        return [(file, os.stat(file).st_size, os.stat(file).st_mtime_ns) for file in files]

    def _read(self, pattern: str) -> List[Dict[str, Any]]:
        records = []
        for path in sorted(glob.glob(os.path.join(glob.escape(self._folder), pattern))):
            with open(path, encoding="utf-8") as stream:
                records.append(json.load(stream))
        return records

    def _aggregates(self) -> Dict[str, str]:
        return {name: metric["aggregate"] for name, metric in self._request["metrics"].items()}

    def _say_what_the_hook_did(self, processes: List[Dict[str, Any]]) -> None:
        """Flags as they were read back in the test's processes, and what was asked for without an effect."""
        writer, request = self._writer, self._request
        with_torch = [record for record in processes if record["torch"]]
        if with_torch:
            writer.environment(with_torch[0]["torch"], [])
        said: Set[str] = set()
        for setting in (setting for record in with_torch for setting in record["flags"]):
            if setting["fault"] or setting["name"] not in said:
                writer.flag(setting["name"], setting["asked"], setting["read_back"])
            if setting["fault"] and setting["fault"] not in said:
                writer.fault(FaultKind.FLAG, setting["fault"])
            said.update((setting["name"], setting["fault"]))
        for fault in sorted({fault for record in processes for fault in record["faults"]}):
            writer.fault(FaultKind.HOOK, fault)
        if request["torch"] and not with_torch:
            writer.fault(FaultKind.HOOK, "[torch] had no effect: no Python process of the test imported torch")
        if request["dataloader"] and not any(record["dataloaders"] for record in processes):
            writer.fault(FaultKind.HOOK, "[dataloader] had no effect: the test made no DataLoader")


def _never_began(end: NotStarted) -> CheckResult:
    failure = make_failure(FailureKind.EXIT, "could not be started", exit_code=end.exit_code)
    result = make_result("command", Status.FAIL, first_line(end.reason), failure=failure)
    result["output_tail"] = end.shown
    return result


def numbers(values: Dict[str, float], first: Sequence[str]) -> str:
    """A test's numbers in one line, those that the manifest declares ``first``: ``p99_ms 25.4, loss 2``."""
    names = [name for name in first if name in values]
    names += [name for name in values if name not in names]
    more = len(names) - NAMED
    return ", ".join("%s %g" % (name, values[name]) for name in names[:NAMED]) + (
        " and %d more" % more if more > 0 else ""
    )


def _package() -> str:
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _has_torchrun() -> bool:
    """Whether ``torch.distributed.run`` can be started, without importing torch."""
    spec = importlib.util.find_spec("torch")
    folders = list(spec.submodule_search_locations or []) if spec else []
    return any(os.path.exists(os.path.join(folder, "distributed", "run.py")) for folder in folders)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port

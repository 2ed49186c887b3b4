"""One rank of a user's test: start it, wait for it, say how it ended before the launcher hides it.

torchrun turns a rank's exit code 125 or SIGSEGV into its own exit code 1, and lines of several ranks run into each
other. So the launcher starts this, which starts the test, passes its standard output on line by line, and leaves
``rank-N.json`` in ``$ENVBISECT_REPORT_DIR``.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from types import FrameType
from typing import Any, Dict, Optional

from .hook.record import FOLDER, METRICS
from .start import not_started

PLAN = "rank-plan.json"
"""In the report folder: ``{"command": […], "environ": {…}}``, the same for every rank."""


def main() -> int:
    """Run the command of the plan as the rank that the launcher's environment names. Returns its exit code."""
    folder, rank = os.environ[FOLDER], int(os.environ["RANK"])
    with open(os.path.join(folder, PLAN), encoding="utf-8") as stream:
        plan: Dict[str, Any] = json.load(stream)
    environ = dict(os.environ, **plan["environ"])
    if METRICS in environ and not environ[METRICS].endswith(".rank%d" % rank):
        environ[METRICS] += ".rank%d" % rank
    facts: Dict[str, Any] = {"rank": rank, "pid": None, "exit_code": None, "started": time.time(), "ended": None}
    try:
        process = subprocess.Popen(plan["command"], env=environ, stdout=subprocess.PIPE)
    except OSError as error:
        end = not_started(plan["command"][0], environ, error)
        os.write(2, ("envbisect: %s\n" % end.reason).encode())
        facts.update(exit_code=end.exit_code, ended=time.time(), last_line="", not_started=list(end))
        _write(folder, rank, facts)
        return end.exit_code
    facts["pid"] = process.pid
    _write(folder, rank, facts)
    _forward(process)
    facts["last_line"] = _pass_on(process)
    facts["exit_code"], facts["ended"] = process.wait(), time.time()
    _write(folder, rank, facts)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def launch(count: int) -> int:
    """Start ``count`` ranks where there is no torchrun; the first that fails ends the others. Returns its exit code."""
    entry = sys.argv[0]
    ranks = [
        subprocess.Popen([sys.executable, entry, "--rank"], env=dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank)))
        for rank in range(count)
    ]
    failed = 0
    while any(rank.poll() is None for rank in ranks):
        time.sleep(0.02)
        codes = [rank.poll() for rank in ranks]
        if not failed and any(codes):
            failed = next(code for code in codes if code)
            for rank in ranks:
                if rank.poll() is None:
                    rank.terminate()
    return failed or next((rank.returncode for rank in ranks if rank.returncode), 0)


def _forward(process: "subprocess.Popen[bytes]") -> None:
    """The launcher ends this process when another rank failed: the test itself is meant."""

    def forward(number: int, _frame: Optional[FrameType]) -> None:
        if process.poll() is None:
            process.send_signal(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, forward)


def _pass_on(process: "subprocess.Popen[bytes]") -> str:
    last = b""
    stdout = process.stdout
    if stdout is None:
        return ""
    for line in stdout:
        os.write(1, line)
        if line.strip():
            last = line
    return last.decode("utf-8", "replace").strip()[-65536:]


def _write(folder: str, rank: int, facts: Dict[str, Any]) -> None:
    path = os.path.join(folder, "rank-%d.json" % rank)
    with open(path + ".tmp", "w", encoding="utf-8") as stream:
        json.dump(facts, stream)
    os.replace(path + ".tmp", path)

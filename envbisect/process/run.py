"""Run a command with a deadline, and leave nothing behind.

The command runs under a supervisor process of its own (see ``supervisor``), which sees every descendant, escaped or
not. Whatever ends the controller ends the command too: Ctrl-C, SIGTERM, SIGKILL.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from envbisect.errors import EnvironmentFailure

if TYPE_CHECKING:
    import subprocess

    from envbisect.process.supervisor import Reply, Spec

GRACE_S: Final = 2.0
LOG_BYTES: Final = 16 << 20
TOKEN: Final = "ENVBISECT_TOKEN"
_SUPERVISOR_MARGIN_S: Final = 40.0


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended. ``exit_code`` is negative for a signal, as in subprocess.

    ``seconds`` last from the start to the end of the command itself, clean-up excluded. ``stalled`` means that it was
    ended after ``stall_s`` without output, ``truncated`` that the middle of its output was left out.
    """

    exit_code: int
    timed_out: bool
    seconds: float
    stalled: bool = False
    truncated: bool = False


def run_group(
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    cwd: Path,
    stdout: Path,
    stderr: Path,
    deadline_s: float | None,
    stall_s: float | None = None,
    grace_s: float = GRACE_S,
    log_bytes: int = LOG_BYTES,
    scratch: Path | None = None,
) -> Finished:
    """Run ``command`` to its end or to the deadline; every process that it started is dead afterwards.

    The command is looked up on ``environ``'s PATH, has ``environ`` (and a token variable) as its environment, an
    empty standard input, default signal dispositions and a session of its own. At the deadline, or after ``stall_s``
    without output, all its processes get SIGTERM, ``grace_s`` later SIGKILL. Each stream keeps at most ``log_bytes``:
    the first and the last half. Equal ``stdout`` and ``stderr`` share one file, in order. ``scratch`` is a folder of
    the caller that is removed for it if the caller is killed meanwhile.

    Raises:
        OSError: the command could not be started.
        EnvironmentFailure: a process cannot be killed, a log cannot be written, or the supervisor was killed.
        KeyboardInterrupt: Ctrl-C came; the group was killed first.
    """
    import secrets

    token = secrets.token_hex(8)
    spec: Spec = {
        "command": [os.fspath(part) for part in command],
        "environ": {**environ, TOKEN: token},
        "cwd": str(cwd),
        "stdout": str(stdout.absolute()),
        "stderr": str(stderr.absolute()),
        "deadline_s": deadline_s,
        "stall_s": stall_s,
        "grace_s": grace_s,
        "log_bytes": log_bytes,
        "scratch": "" if scratch is None else str(scratch.absolute()),
    }
    reply = _supervise(spec, token)
    if reply["spawn_error"]:
        number, file = reply["spawn_error"]
        raise OSError(number, os.strerror(number), file)
    if reply["survivors"]:
        pids = ", ".join(str(pid) for pid in reply["survivors"])
        raise EnvironmentFailure(
            f"processes of {command[0]} cannot be killed: {pids}",
            "A driver or a file system hangs (see their state with ps); this machine needs attention, often a reboot.",
        )
    if reply["log_error"]:
        raise EnvironmentFailure(f"output cannot be written to {stdout.parent}: {reply['log_error']}", "Make room.")
    return Finished(reply["exit_code"], reply["timed_out"], reply["seconds"], reply["stalled"], reply["truncated"])


def _supervise(spec: Spec, token: str) -> Reply:
    import json
    import subprocess
    import sys

    script = Path(__file__).with_name("supervisor.py")
    supervisor = subprocess.Popen(
        [sys.executable, "-I", "-S", str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # a terminal's Ctrl-C is for the controller, which then decides
        bufsize=0,
    )
    answer = b""
    try:
        limit_s = None if spec["deadline_s"] is None else spec["deadline_s"] + spec["grace_s"] + _SUPERVISOR_MARGIN_S
        answer = _exchange(supervisor, json.dumps(spec).encode() + b"\n", limit_s)
    finally:
        clean = _end(supervisor, spec["grace_s"])
        if not clean or not answer:
            sweep(token)
        complaint = _close(supervisor)
    if not answer:
        reason = complaint.strip().splitlines()[-1] if complaint.strip() else f"exit code {supervisor.returncode}"
        raise EnvironmentFailure(
            f"the supervisor of {spec['command'][0]} ended early: {reason}",
            "Does the command kill its parent or every Python process? It must end only what it started.",
        )
    reply: Reply = json.loads(answer)
    return reply


def _exchange(supervisor: subprocess.Popen[bytes], order: bytes, limit_s: float | None) -> bytes:
    """Give the order, wait for the answer; empty if the supervisor died or does not answer within ``limit_s``."""
    import select

    if supervisor.stdin is None or supervisor.stdout is None:
        return b""
    with contextlib.suppress(BrokenPipeError):
        view = memoryview(order)
        while view:
            view = view[supervisor.stdin.write(view) or 0 :]
    source = supervisor.stdout.fileno()
    poll = select.poll()
    poll.register(source, select.POLLIN)
    answer = b""
    while poll.poll(None if limit_s is None else limit_s * 1000):
        chunk = os.read(source, 1 << 16)
        if not chunk:
            return answer
        answer += chunk
    return b""


def _end(supervisor: subprocess.Popen[bytes], grace_s: float) -> bool:
    """Close the supervisor's hold and wait until it has ended everything; False if it had to be killed.

    Another Ctrl-C meanwhile asks it to hurry, and does not leave anything running.
    """
    import subprocess

    if supervisor.stdin is not None:
        supervisor.stdin.close()
    limit = time.monotonic() + grace_s + _SUPERVISOR_MARGIN_S
    while True:
        try:
            return supervisor.wait(max(0.0, limit - time.monotonic())) == 0
        except KeyboardInterrupt:
            supervisor.send_signal(signal.SIGTERM)
        except subprocess.TimeoutExpired:
            supervisor.kill()
            supervisor.wait()
            return False


def _close(supervisor: subprocess.Popen[bytes]) -> str:
    complaint = b""
    for stream in (supervisor.stderr, supervisor.stdout):
        if stream is not None:
            complaint = complaint or stream.read(1 << 16)
            stream.close()
    return complaint.decode(errors="replace")


def sweep(token: str) -> int:
    """Kill every process whose environment holds ``token``: the way out when a supervisor was killed. How many died."""
    needle = f"{TOKEN}={token}".encode()
    killed: set[int] = set()
    for _ in range(100):
        found = [pid for pid in _pids_with(needle) if pid != os.getpid()]
        if not found:
            break
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed.update(found)
        time.sleep(0.01)
    return len(killed)


def _pids_with(needle: bytes) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it ended, or belongs to somebody else
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found

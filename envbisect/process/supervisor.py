"""A stand-alone parent for one command: it sees every descendant, and none outlives it.

It runs as ``python -I -S supervisor.py`` with a JSON line on its standard input and answers with a JSON line on its
standard output. Standard library only; it never imports envbisect.

Why a process of its own, and not a process group: a daemon leaves its group and session with one ``setsid()``. This
process is a *child subreaper* (prctl(2)), so an orphan below it becomes its child, whatever the orphan did. Having no
child left therefore means exactly that nothing survives. Its standard input is the controller's hold on it: end of
file, also because the controller was killed with SIGKILL, ends the command.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import select
import signal
import stat
import sys
import time
from types import FrameType
from typing import Final, TypedDict

PR_SET_NAME: Final = 15
PR_SET_CHILD_SUBREAPER: Final = 36
CHUNK_BYTES: Final = 1 << 16
UNKILLABLE_S: Final = 20.0  # after SIGKILL; longer means state D: a driver or a file system hangs


class Spec(TypedDict):
    """What the controller asks for; times in seconds, paths as text.

    ``scratch`` is a folder that goes when the controller does, empty for none.
    """

    command: list[str]
    environ: dict[str, str]
    cwd: str
    stdout: str
    stderr: str
    deadline_s: float | None
    stall_s: float | None
    grace_s: float
    log_bytes: int
    scratch: str


class Reply(TypedDict):
    """How it ended. ``spawn_error`` is (errno, file) if the command could not be started."""

    exit_code: int
    timed_out: bool
    stalled: bool
    seconds: float
    truncated: bool
    spawn_error: tuple[int, str] | None
    log_error: str
    survivors: list[int]


class Log:
    """One bounded file: the first half of ``limit`` bytes as they come, and at the end the last half."""

    def __init__(self, path: str, limit: int) -> None:
        self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        self.room = limit // 2
        self.tail = bytearray()
        self.tail_limit = limit // 2
        self.dropped = 0
        self.error = ""

    def write(self, data: bytes) -> None:
        head, rest = data[: self.room], data[self.room :]
        self.room -= len(head)
        self._put(head)
        self.tail += rest
        if len(self.tail) > 2 * self.tail_limit:
            self._trim()

    def close(self) -> None:
        self._trim()
        if self.dropped:
            self._put(b"\n[envbisect: output truncated, %d bytes left out here]\n" % self.dropped)
        self._put(bytes(self.tail))
        os.close(self.fd)

    def _trim(self) -> None:
        surplus = len(self.tail) - self.tail_limit
        if surplus > 0:
            self.dropped += surplus
            del self.tail[:surplus]

    def _put(self, data: bytes) -> None:
        while data and not self.error:
            try:
                data = data[os.write(self.fd, data) :]
            except OSError as error:  # a full disk must not stop the draining of the pipe
                self.error = error.strerror or str(error)


class Supervisor:
    """Runs one command; see the module's docstring."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.stop = False  # the controller went away or asked to stop
        self.orphaned = False  # it went away
        self.hurry = False  # it asked twice: no grace
        self.status: int | None = None
        self.ended = 0.0
        self.main_pid = 0
        self.last_output = 0.0
        self.pipes: dict[int, Log] = {}
        self.logs: list[Log] = []

    def run(self) -> Reply:
        self.logs = [Log(self.spec["stdout"], self.spec["log_bytes"])]
        if self.spec["stderr"] != self.spec["stdout"]:
            self.logs.append(Log(self.spec["stderr"], self.spec["log_bytes"]))
        readers, writers = zip(*(os.pipe() for _ in self.logs), strict=True)
        for reader, log in zip(readers, self.logs, strict=True):
            os.set_blocking(reader, False)
            self.pipes[reader] = log
        wake = self._listen()
        started = self.last_output = time.monotonic()
        self.main_pid, spawn_error = spawn(self.spec, writers[0], writers[-1])
        for writer in writers:
            os.close(writer)
        timed_out = stalled = False
        if spawn_error is None:
            timed_out, stalled = self._watch(started, wake)
        survivors = self._end_all(wake)
        self._drain()
        for log in self.logs:
            log.close()
        if self.spec["scratch"] and self.left_alone():
            remove_tree(self.spec["scratch"])
        return {
            "exit_code": os.waitstatus_to_exitcode(self.status) if self.status is not None else -signal.SIGKILL,
            "timed_out": timed_out,
            "stalled": stalled,
            "seconds": (self.ended or time.monotonic()) - started,
            "truncated": any(log.dropped for log in self.logs),
            "spawn_error": spawn_error,
            "log_error": next((log.error for log in self.logs if log.error), ""),
            "survivors": survivors,
        }

    def left_alone(self) -> bool:
        """Whether the controller is gone: only then its folder is ours to remove."""
        if not self.orphaned:
            poll = select.poll()
            poll.register(0, select.POLLIN)
            self.orphaned = bool(poll.poll(0)) and not os.read(0, 512)
        return self.orphaned

    def _listen(self) -> int:
        """Signals wake the poll; returns the pipe that says so."""
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._asked_to_stop)
        return reader

    def _asked_to_stop(self, _number: int, _frame: FrameType | None) -> None:
        self.hurry = self.stop
        self.stop = True

    def _watch(self, started: float, wake: int) -> tuple[bool, bool]:
        """Until the command ends, or has to be ended: (timed out, stalled)."""
        deadline_s, stall_s = self.spec["deadline_s"], self.spec["stall_s"]
        while self.status is None and not self.stop:
            now = time.monotonic()
            left = [] if deadline_s is None else [started + deadline_s - now]
            if left and left[0] <= 0:
                return True, False
            if stall_s is not None:
                left.append(self.last_output + stall_s - now)
                if left[-1] <= 0:
                    return False, True
            self._turn(wake, min(left) if left else None)
        return False, False

    def _turn(self, wake: int, timeout_s: float | None) -> None:
        """Wait for one event and take what is there: output, ended children, the controller's end of file."""
        poll = select.poll()
        for fd in (wake, *self.pipes, *(() if self.stop else (0,))):
            poll.register(fd, select.POLLIN)
        events = poll.poll(None if timeout_s is None else max(0, int(timeout_s * 1000) + 1))
        for fd, _event in events:
            if fd == wake:
                os.read(wake, 512)
            elif fd == 0:
                self.orphaned = not os.read(0, 512)
                self.stop = self.stop or self.orphaned
            else:
                self._read(fd)
        self._reap()

    def _read(self, fd: int) -> bool:
        try:
            data = os.read(fd, CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not data:
            del self.pipes[fd]
            os.close(fd)
            return False
        self.last_output = time.monotonic()
        self.pipes[fd].write(data)
        return True

    def _reap(self) -> bool:
        """Take every ended child; False if no child is left at all."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            if pid == self.main_pid:
                self.status, self.ended = status, time.monotonic()

    def _end_all(self, wake: int) -> list[int]:
        """SIGTERM, grace, SIGKILL, to every descendant; returns those that do not die even so."""
        if not self._reap():
            return []
        send(descendants(), signal.SIGTERM)
        limit = time.monotonic() + self.spec["grace_s"]
        while not self.hurry and (left := limit - time.monotonic()) > 0:
            self._turn(wake, min(left, 0.05))
            if not self._reap():
                return []
        limit = time.monotonic() + UNKILLABLE_S
        while self._reap() and time.monotonic() < limit:
            self._freeze()
            send(descendants(), signal.SIGKILL)
            self._turn(wake, 0.01)
        return descendants()

    def _freeze(self) -> None:
        """Stop everything first, so that nothing forks faster than it is killed."""
        frozen: set[int] = set()
        for _ in range(50):
            found = set(descendants())
            if found <= frozen:
                return
            send(sorted(found - frozen), signal.SIGSTOP)
            frozen |= found

    def _drain(self) -> None:
        """What is left in the pipes. End of file is not awaited: a foreign process may hold a descriptor."""
        for fd in list(self.pipes):
            budget = 1 << 10
            while budget and self._read(fd):
                budget -= 1


def spawn(spec: Spec, stdout: int, stderr: int) -> tuple[int, tuple[int, str] | None]:
    """Start the command in a session of its own: its pid, and (errno, file) if it could not be started."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            # An ignored SIGINT or SIGHUP (nohup, a shell's "&") would be a hidden input of the test.
            for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            null = os.open(os.devnull, os.O_RDONLY)
            for source, target in ((null, 0), (stdout, 1), (stderr, 2)):
                os.dup2(source, target)
            os.chdir(spec["cwd"])
            os.execvpe(spec["command"][0], spec["command"], spec["environ"])
        except OSError as error:
            file = error.filename or spec["command"][0]
            os.write(writer, json.dumps([error.errno or errno.EIO, os.fsdecode(file)]).encode())
        finally:
            os._exit(127)
    os.close(writer)
    with os.fdopen(reader, "rb") as failure:
        text = failure.read()
    if not text:
        return pid, None
    number, file = json.loads(text)
    return pid, (number, file)


def descendants() -> list[int]:
    """Pids of everything below this process that is not a zombie. Processes come and go while it looks."""
    parents: dict[int, int] = {}
    zombies = set()
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib would double the start-up time
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                fields = file.read().rpartition(b")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(name)] = int(fields[1])
        if fields[0] in b"ZX":
            zombies.add(int(name))
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found, todo = [], [os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return [pid for pid in found if pid not in zombies]


def send(pids: list[int], number: signal.Signals) -> None:
    """Signal each; one that has just ended, or belongs to somebody else, is passed over."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def remove_tree(folder: str | os.PathLike[str]) -> None:
    """Remove a folder, also where a test took its own right to write away; what even so stays is left in peace."""
    import shutil

    for root, _folders, _files in os.walk(folder):
        try:
            os.chmod(root, stat.S_IRWXU)  # noqa: PTH101 - pathlib would double the start-up time
        except OSError:
            continue
    shutil.rmtree(folder, ignore_errors=True)


def read_line(fd: int) -> bytes:
    """Up to the newline, and not a byte more: what follows on ``fd`` is its end of file."""
    data = bytearray()
    while not data.endswith(b"\n"):
        chunk = os.read(fd, CHUNK_BYTES)
        if not chunk:
            break
        data += chunk
    return bytes(data)


def main() -> int:
    line = read_line(0)
    if not line:
        return 0  # interrupted before the order was given
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
    libc.prctl(PR_SET_NAME, b"envbisect-super", 0, 0, 0)  # "pkill python" in a test must not hit this process
    os.write(1, json.dumps(Supervisor(json.loads(line)).run()).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())

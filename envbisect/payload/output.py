"""Run one command in a session of its own, watch its output while it runs, and leave none of it behind."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from typing import IO, Any, Callable, Dict, NamedTuple, Optional, Pattern, Sequence

LOG_BYTES = 8 * 1024 * 1024
"""Cap of a log file: a flood is cut in the middle of nowhere, and the file says so."""

TAIL_BYTES = 8192
TAIL_LINES = 30
_LINE_BYTES = 65536
_LAUNCHER = re.compile(r"^[EW]\d{4} .*\btorch/distributed/elastic/multiprocessing/api\.py", re.MULTILINE)
_GRACE_S = 2.0
_DRAIN_S = 0.5


class Ended(NamedTuple):
    """How a command ended. ``exit_code`` is negative for a signal; ``at`` is when it was seen, in epoch seconds.

    ``timed_out`` and ``stalled``: it was killed for that; ``pattern``: it was killed because ``stop_at`` matched.
    ``unresolved`` is the text that ``note`` matched first.
    """

    pid: int
    exit_code: int
    seconds: float
    at: float
    timed_out: bool
    stalled: bool
    pattern: Optional[str]
    unresolved: Optional[str]
    last_line: str
    tail: str


class Stream:
    """One of the two output streams, cut into lines as it comes. A carriage return ends a line: progress bars."""

    def __init__(self, watch: Callable[[str], None]) -> None:
        self._watch = watch
        self._rest = b""
        self.last_line = ""

    def feed(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).replace(b"\r", b"\n").split(b"\n")
        if len(self._rest) > _LINE_BYTES:
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            self._line(line)

    def close(self) -> None:
        self._line(self._rest)
        self._rest = b""

    def _line(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        if text.strip():
            self.last_line = text
            self._watch(text)


class Log:
    """A capped log file and the last bytes of everything, for the result."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._written = 0
        self._tail = b""

    def write(self, chunk: bytes) -> None:
        self._tail = (self._tail + chunk)[-TAIL_BYTES:]
        if self._written > LOG_BYTES:
            return
        self._file.write(chunk[: LOG_BYTES - self._written])
        self._written += len(chunk)
        if self._written > LOG_BYTES:
            self._file.write(b"\n[envbisect: the output went on and is cut here]\n")

    def tail(self) -> str:
        """The last lines of both streams together."""
        return "\n".join(self._tail.decode("utf-8", "replace").splitlines()[-TAIL_LINES:])


def tail_before_launcher(path: str) -> Optional[str]:
    """The last lines of a log up to where torchrun begins to tell that a rank has failed; ``None`` if it does not.

    What it tells after that fills the tail by itself, and the rank's own last words stand before it: none, and the
    tail is empty, where the rank ended without a word.
    """
    with open(path, encoding="utf-8", errors="replace") as stream:
        text = stream.read(LOG_BYTES)
    launcher = _LAUNCHER.search(text)
    return "\n".join(text[: launcher.start()].splitlines()[-TAIL_LINES:]) if launcher else None


class Watch:
    """Runs a command once.

    ``progress`` is asked for something that changes when the command makes silent progress. ``token`` is a
    ``NAME=value`` of its environment that nothing else has: whatever carries it is killed in the end, also when it
    left the process group, as torchrun's ranks and daemons do.
    """

    def __init__(
        self,
        *,
        timeout_s: float,
        stall_s: Optional[float] = None,
        stop_at: Optional[Pattern[str]] = None,
        note: Optional[Pattern[str]] = None,
        progress: Callable[[], Any] = lambda: None,
        token: str = "",
    ) -> None:
        self._timeout_s = timeout_s
        self._stall_s = stall_s
        self._stop_at = stop_at
        self._note = note
        self._progress = progress
        self._token = token
        self._matched: Optional[str] = None
        self._noted: Optional[str] = None

    def run(self, command: Sequence[str], environ: Dict[str, str], log: IO[bytes]) -> Ended:
        """Run ``command`` to its end, its deadline, its stall or its stop pattern; its whole group is dead then.

        Raises:
            OSError: it could not be started.
        """
        begun = time.monotonic()
        process = subprocess.Popen(
            list(command),
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        out, err, copy = Stream(self._line), Stream(self._line), Log(log)
        try:
            timed_out, stalled = self._pump(process, {process.stdout: out, process.stderr: err}, copy, begun)
        finally:
            at = time.time()
            kill_group(process)
            if self._token:
                kill_by_token(self._token)
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
        out.close()
        err.close()
        return Ended(
            pid=process.pid,
            exit_code=process.returncode,
            seconds=time.monotonic() - begun,
            at=at,
            timed_out=timed_out,
            stalled=stalled,
            pattern=self._matched,
            unresolved=self._noted,
            last_line=out.last_line,
            tail=copy.tail(),
        )

    def _pump(self, process: Any, streams: Dict[Any, Stream], log: Log, begun: float) -> "tuple[bool, bool]":
        deadline = begun + self._timeout_s
        heard, progress = begun, self._progress()
        ended: Optional[float] = None
        with selectors.DefaultSelector() as selector:
            for pipe, stream in streams.items():
                selector.register(pipe, selectors.EVENT_READ, stream)
            while True:
                for key, _ in selector.select(0.05):
                    chunk = os.read(key.fd, 65536)
                    if not chunk:
                        selector.unregister(key.fileobj)
                        continue
                    heard = time.monotonic()
                    log.write(chunk)
                    key.data.feed(chunk)
                now = time.monotonic()
                if self._matched is not None:
                    return False, False
                if process.poll() is not None:
                    ended = ended or now
                    # a daemon that it left behind may hold the pipes open: it is not waited for
                    if not selector.get_map() or now - ended > _DRAIN_S:
                        return False, False
                    continue
                if now > deadline:
                    return True, False
                if self._stall_s is not None and now - heard > self._stall_s:
                    latest = self._progress()
                    if latest == progress:
                        return False, True
                    heard, progress = now, latest
                if not selector.get_map():
                    time.sleep(0.02)

    def _line(self, text: str) -> None:
        if self._stop_at is not None and self._matched is None and self._stop_at.search(text):
            self._matched = text
        if self._note is not None and self._noted is None and self._note.search(text):
            self._noted = text


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """End the process and everything in its group: first kindly, then not."""
    if process.poll() is None:
        _signal(process.pid, signal.SIGTERM)
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            pass
    _signal(process.pid, signal.SIGKILL)
    process.wait()


def kill_by_token(token: str) -> None:
    """Kill every process whose environment holds ``token``, until there is none (it may fork meanwhile)."""
    for _ in range(5):
        pids = [pid for pid in os.listdir("/proc") if pid.isdigit() and _carries(int(pid), token.encode())]
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass


def _carries(pid: int, token: bytes) -> bool:
    if pid == os.getpid():
        return False
    try:
        with open("/proc/%d/environ" % pid, "rb") as stream:
            return token in stream.read().split(b"\0")
    except OSError:  # it ended, or is somebody else's
        return False


def _signal(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass

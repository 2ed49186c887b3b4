"""Real processes, as badly behaved as tests under bisection are."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from envbisect.errors import EnvironmentFailure
from envbisect.process.run import Finished, run_group, sweep


def alive(marker: str) -> list[int]:
    """Pids of the processes whose command line or environment holds ``marker``."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if marker.encode() in text:
                found.append(int(entry.name))
    return found


def await_true(condition: Callable[[], object], limit_s: float = 10.0) -> bool:
    limit = time.monotonic() + limit_s
    while time.monotonic() < limit:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


class Bench:
    """Runs Python programs under ``run_group``; every process carries ``marker`` in its environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.marker = f"bench-{secrets.token_hex(6)}"
        self.stdout, self.stderr = folder / "stdout.log", folder / "stderr.log"

    def run(self, program: str, **options: object) -> Finished:
        return self.start([sys.executable, "-c", textwrap.dedent(program)], **options)

    def start(self, command: list[str], **options: object) -> Finished:
        settings: dict[str, object] = {
            "environ": {**os.environ, "MARKER": self.marker},
            "cwd": self.folder,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "deadline_s": 20.0,
            "grace_s": 0.3,
            **options,
        }
        return run_group(command, **settings)  # type: ignore[arg-type]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_the_end_and_both_streams_are_reported(bench: Bench) -> None:
    finished = bench.run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    assert (finished.exit_code, finished.timed_out, finished.stalled, finished.truncated) == (7, False, False, False)
    assert bench.stdout.read_text() == "out\n"
    assert bench.stderr.read_text() == "err\n"
    assert 0 < finished.seconds < 10


def test_one_file_for_both_streams_keeps_their_order(bench: Bench) -> None:
    bench.start(["sh", "-c", "echo 1; echo 2 >&2; echo 3"], stderr=bench.stdout)
    assert bench.stdout.read_text() == "1\n2\n3\n"


def test_death_by_a_signal_is_negative(bench: Bench) -> None:
    assert bench.run("import os; os.kill(os.getpid(), 11)").exit_code == -signal.SIGSEGV


def test_environment_is_exactly_what_was_given(bench: Bench) -> None:
    bench.start(["env"], environ={"PATH": os.environ["PATH"], "ODD": "a=b\nc \udcff"})
    lines = bench.stdout.read_bytes().split(b"\n")
    assert {line.split(b"=")[0] for line in lines if b"=" in line} == {b"PATH", b"ODD", b"ENVBISECT_TOKEN"}
    assert b"c \xff" in lines


def test_a_command_that_does_not_exist_is_an_oserror_that_names_it(bench: Bench) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        bench.start(["no-such-program"])
    with pytest.raises(FileNotFoundError, match="no-such-folder"):
        bench.start(["true"], cwd=bench.folder / "no-such-folder")


def test_standard_input_is_empty(bench: Bench) -> None:
    assert bench.run("import sys; sys.exit(len(sys.stdin.read()))").exit_code == 0


def test_ignored_signals_are_not_inherited(bench: Bench) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        bench.run("import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)")
    finally:
        signal.signal(signal.SIGINT, before)
    assert bench.stdout.read_text() == "True\n"


def test_deadline_ends_a_program_that_ignores_sigterm(bench: Bench) -> None:
    finished = bench.run(
        """
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("armed", flush=True)
        time.sleep(60)
        """,
        deadline_s=2.5,
    )
    assert finished.timed_out
    assert finished.exit_code == -signal.SIGKILL
    assert finished.seconds < 15
    assert bench.stdout.read_text() == "armed\n"
    assert alive(bench.marker) == []


def test_deadline_lets_a_program_say_goodbye(bench: Bench) -> None:
    finished = bench.run(
        """
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: (print("saved", flush=True), sys.exit(3)))
        time.sleep(60)
        """,
        deadline_s=2.5,
        grace_s=5.0,
    )
    assert (finished.timed_out, finished.exit_code) == (True, 3)
    assert bench.stdout.read_text() == "saved\n"


def test_a_daemon_with_a_clean_environment_does_not_survive(bench: Bench) -> None:
    finished = bench.start(
        [
            "sh",
            "-c",
            f"(setsid env -i sh -c 'trap \"\" TERM HUP; while :; do sleep 0.1; done' {bench.marker} &) ; exit 0",
        ]
    )
    assert finished.exit_code == 0
    assert not finished.timed_out
    assert alive(bench.marker) == []


def test_a_double_fork_that_keeps_the_streams_open_does_not_block(bench: Bench) -> None:
    finished = bench.run(
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(60)
            os._exit(0)
        print("done")
        """
    )
    assert (finished.exit_code, finished.timed_out) == (0, False)
    assert bench.stdout.read_text() == "done\n"
    assert alive(bench.marker) == []


def test_processes_that_fork_all_the_time_are_outrun(bench: Bench) -> None:
    finished = bench.run(
        """
        import os, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for _ in range(8):
            if os.fork() == 0:
                break
        while True:  # each of nine replaces itself by a child in a new session, again and again
            if os.fork():
                os._exit(0)
            os.setsid()
            time.sleep(0.002)
        """,
        deadline_s=2.5,
    )
    assert finished.exit_code in {0, -signal.SIGKILL}
    assert alive(bench.marker) == []


def test_an_output_flood_is_bounded_and_keeps_its_end(bench: Bench) -> None:
    finished = bench.run(
        """
        import sys
        print("first line")
        for _ in range(400):
            sys.stdout.write("x" * 9999 + "\\n")
        print("last line")
        """,
        log_bytes=100_000,
    )
    text = bench.stdout.read_text()
    assert finished.truncated
    assert len(text) < 110_000
    assert text.startswith("first line\n")
    assert text.endswith("last line\n")
    assert "truncated" in text


def test_an_endless_flood_ends_at_the_deadline(bench: Bench) -> None:
    finished = bench.start(["yes"], deadline_s=1.0, log_bytes=10_000)
    assert finished.timed_out
    assert bench.stdout.stat().st_size < 12_000


def test_silence_is_a_stall(bench: Bench) -> None:
    program = "import time\nfor _ in range(8): print('.', flush=True); time.sleep(0.1)\ntime.sleep(60)"
    finished = bench.run(program, stall_s=2.0)
    assert finished.stalled
    assert not finished.timed_out
    assert 2.5 < finished.seconds < 15
    assert bench.stdout.read_text().count(".") == 8


def test_zombies_are_reaped_and_nothing_of_ours_remains(bench: Bench) -> None:
    bench.run("import os\nfor _ in range(20):\n    if os.fork() == 0: os._exit(0)")
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    assert alive(bench.marker) == []
    assert not children.exists() or children.read_text().split() == []


def test_a_test_that_kills_its_supervisor_is_said_and_cleaned_up(bench: Bench) -> None:
    with pytest.raises(EnvironmentFailure, match=r"supervisor of .* ended early"):
        bench.start(["sh", "-c", "sleep 60 & kill -9 $PPID; sleep 60"])
    assert alive(bench.marker) == []


def test_a_log_folder_that_is_full_is_an_environment_failure(bench: Bench) -> None:
    with pytest.raises(EnvironmentFailure, match="No space left"):
        bench.start(["echo", "hello"], stdout=Path("/dev/full"))


def test_sweep_kills_by_token_and_leaves_others_alone() -> None:
    token, other = secrets.token_hex(8), secrets.token_hex(8)
    ours, theirs = (subprocess.Popen(["sleep", "60"], env={**os.environ, "ENVBISECT_TOKEN": t}) for t in (token, other))
    try:
        assert await_true(lambda: len(alive(token)) == 1)
        assert sweep(token) == 1
        assert ours.wait() == -signal.SIGKILL
        assert theirs.poll() is None
    finally:
        theirs.kill()
        theirs.wait()


CONTROLLER = """
import os, sys
from pathlib import Path
from envbisect.process.run import run_group
out = Path(sys.argv[1])
program = (
    "import signal, time, subprocess; signal.signal(15, signal.SIG_IGN); subprocess.Popen(['setsid', 'sleep', '60']);"
    "print('up', flush=True); time.sleep(60)"
)
command = [sys.executable, "-c", program]
try:
    run_group(command, environ=os.environ, cwd=out.parent, stdout=out, stderr=out, deadline_s=60, grace_s=0.3)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(130)
"""


@pytest.mark.parametrize(
    ("number", "exit_code", "said"),
    [
        (signal.SIGINT, 130, "interrupted\n"),
        (signal.SIGTERM, -signal.SIGTERM, ""),
        (signal.SIGKILL, -signal.SIGKILL, ""),
    ],
)
def test_whatever_ends_the_controller_ends_the_command(
    bench: Bench, number: signal.Signals, exit_code: int, said: str
) -> None:
    controller = subprocess.Popen(
        [sys.executable, "-c", CONTROLLER, str(bench.stdout)],
        env={**os.environ, "MARKER": bench.marker},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert await_true(lambda: bench.stdout.exists() and bench.stdout.read_text() == "up\n")
    assert await_true(lambda: len(alive(bench.marker)) >= 4)  # controller, supervisor, command, daemon
    controller.send_signal(number)
    output, _ = controller.communicate(timeout=20)
    assert (controller.returncode, output) == (exit_code, said)
    if number is signal.SIGINT:  # the controller waited for them
        assert alive(bench.marker) == []
    assert await_true(lambda: not alive(bench.marker))


def test_an_impatient_second_ctrl_c_leaves_nothing_either(bench: Bench) -> None:
    controller = subprocess.Popen(
        [sys.executable, "-c", CONTROLLER.replace("grace_s=0.3", "grace_s=30"), str(bench.stdout)],
        env={**os.environ, "MARKER": bench.marker},
        stdout=subprocess.PIPE,
    )
    assert await_true(lambda: bench.stdout.exists() and bench.stdout.read_text() == "up\n")
    started = time.monotonic()
    for _ in range(3):
        controller.send_signal(signal.SIGINT)
        time.sleep(0.3)
    controller.communicate(timeout=20)
    assert time.monotonic() - started < 25
    assert alive(bench.marker) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_scratch_folder_of_a_killed_controller_goes(bench: Bench, number: signal.Signals) -> None:
    scratch = bench.stdout.parent / "scratch"
    (scratch / "locked").mkdir(parents=True)
    (scratch / "locked" / "file").write_text("x")
    (scratch / "locked").chmod(0o500)
    controller = subprocess.Popen(
        [
            sys.executable,
            "-c",
            CONTROLLER.replace("grace_s=0.3", "grace_s=0.3, scratch=out.parent / 'scratch'"),
            str(bench.stdout),
        ],
        env={**os.environ, "MARKER": bench.marker},
    )
    assert await_true(lambda: bench.stdout.exists() and bench.stdout.read_text() == "up\n")
    assert scratch.exists()
    controller.send_signal(number)
    controller.wait(20)
    assert await_true(lambda: not alive(bench.marker))
    assert await_true(lambda: not scratch.exists())


def test_the_scratch_folder_is_the_callers_as_long_as_it_lives(bench: Bench) -> None:
    scratch = bench.stdout.parent / "scratch"
    scratch.mkdir()
    run_group(
        [sys.executable, "-c", ""],
        environ=os.environ,
        cwd=scratch,
        stdout=bench.stdout,
        stderr=bench.stdout,
        deadline_s=20,
        scratch=scratch,
    )
    assert scratch.exists()

"""The user's own test: how its end, its output and its numbers become a result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from envbisect.burnin.result import CheckStatus, FailureKind
from tests.payload.conftest import Run, Script


@pytest.mark.parametrize(
    ("text", "status", "end"),
    [
        ("print('fine')", CheckStatus.PASS, None),
        ("raise SystemExit(125)", CheckStatus.CANNOT_TELL, None),
        ("raise SystemExit(3)", CheckStatus.FAIL, (FailureKind.EXIT, 3, None)),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
            CheckStatus.FAIL,
            (FailureKind.SIGNAL, -11, "SIGSEGV"),
        ),
        ("raise ValueError('no 12 of /tmp/x/y')", CheckStatus.FAIL, (FailureKind.EXCEPTION, 1, None)),
    ],
)
def test_the_end_of_the_test(
    run: Run,
    script: Script,
    text: str,
    status: CheckStatus,
    end: tuple[FailureKind, int, str | None] | None,
) -> None:
    check = run(command=script(text)).only()
    assert check.status is status
    failure = check.failure
    assert ((failure.kind, failure.exit_code, failure.signal) if failure else None) == end


def test_an_exception_is_known_by_type_and_raising_function(run: Run, script: Script) -> None:
    program = "def outer():\n    inner()\ndef inner():\n    raise KeyError('a 0x7f12 b 3')\nouter()\n"
    check = run(command=script(program)).only()
    failure = check.failure
    assert failure is not None
    assert (failure.type, failure.message) == ("KeyError", "'a <address> b N'")
    assert check.detail == "KeyError: 'a 0x7f12 b 3'"
    assert failure.frames == ("__main__:<module>", "__main__:outer", "__main__:inner")


def test_a_program_that_replaces_the_excepthook_is_still_understood(run: Run, script: Script) -> None:
    failure = run(command=script("import sys\nsys.excepthook = lambda *a: None\n1 / 0\n")).only().failure
    assert failure is not None
    assert failure.type == "ZeroDivisionError"


def test_a_shell_that_starts_python_shows_the_exception_below_it(run: Run, script: Script) -> None:
    script("import json; json.loads('{')")
    failure = run(command=["sh", "-c", f"{sys.executable} program.py; exit 7"]).only().failure
    assert failure is not None
    assert (failure.type, failure.frames[-1], failure.exit_code) == ("JSONDecodeError", "json.decoder:raw_decode", 7)


def test_a_failure_of_a_child_that_the_program_handled_is_not_the_signature(run: Run, script: Script) -> None:
    program = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', '1/0'])\nsys.exit(9)\n"
    failure = run(command=script(program)).only().failure
    assert failure is not None
    assert (failure.kind, failure.exit_code, failure.type) == (FailureKind.EXIT, 9, None)


def test_a_program_that_is_not_there_ends_like_in_a_shell(run: Run) -> None:
    check = run(command=["no-such-program-anywhere"], environ={"PATH": "/usr/bin:/bin"}).only()
    assert check.failure is not None
    assert check.failure.exit_code == 127
    assert check.detail == f"no-such-program-anywhere: not found in PATH of the environment of {sys.executable}"
    assert check.output_tail == "PATH=/usr/bin:/bin"


@pytest.mark.parametrize(
    ("mode", "text", "end"),
    [
        (None, "", (127, "not found in ")),
        (0o644, "#!/bin/sh\n", (126, "cannot be run: Permission denied")),
        (0o755, "#!/no/such/interpreter\n", (127, "the interpreter that its first line names is not there")),
    ],
)
def test_a_file_that_cannot_be_run_says_why(
    run: Run, tmp_path: Path, mode: int | None, text: str, end: tuple[int, str]
) -> None:
    if mode is not None:
        (tmp_path / "work" / "t.sh").write_text(text)
        (tmp_path / "work" / "t.sh").chmod(mode)
    check = run(command=["./t.sh"]).only()
    assert check.failure is not None
    assert check.failure.exit_code == end[0]
    assert check.detail.startswith(f"./t.sh: {end[1]}")


def test_a_timeout_is_a_hang_and_leaves_nothing_behind(run: Run, script: Script, tmp_path: Path) -> None:
    program = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'], start_new_session=True)\n"
        "open('pids', 'w').write('%d %d' % (os.getpid(), child.pid))\n"
        "time.sleep(300)\n"
    )
    check = run(command=script(program), timeout_s=1).only()
    assert check.status is CheckStatus.HANG
    assert check.failure is not None
    assert check.failure.kind is FailureKind.HANG
    for pid in (tmp_path / "work" / "pids").read_text().split():
        assert not alive(int(pid))


def alive(pid: int) -> bool:
    """Whether a process still runs; an orphan that nobody has reaped yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_silence_is_a_hang_but_a_growing_metrics_file_is_a_sign_of_life(run: Run, script: Script) -> None:
    silent = run(command=script("import time; time.sleep(60)"), stall_s=0.5).only()
    assert silent.status is CheckStatus.HANG
    assert silent.failure is not None
    assert silent.failure.message == "stalled"


def test_progress_in_the_metrics_file_is_no_stall(run: Run, script: Script) -> None:
    program = (
        "import os, time\n"
        "for i in range(12):\n"
        "    time.sleep(0.1)\n"
        "    with open(os.environ['ENVBISECT_METRICS'], 'a') as f: f.write('{\"step\": %d}\\n' % i)\n"
    )
    check = run(command=script(program), stall_s=0.6).only()
    assert check.status is CheckStatus.PASS
    assert check.metrics == {"step": 11.0}
    assert check.samples["step"] == tuple(float(i) for i in range(12))


def test_bad_if_ends_the_probe_at_once(run: Run, script: Script) -> None:
    begun = time.monotonic()
    program = "import time\nprint('loss is nan', flush=True)\ntime.sleep(60)\n"
    check = run(command=script(program), classify={"bad_if": "loss is n.n"}).only()
    assert time.monotonic() - begun < 20
    assert check.status is CheckStatus.FAIL
    assert check.failure is not None
    assert (check.failure.kind, check.failure.pattern) == (FailureKind.PATTERN, "loss is n.n")


def test_unresolved_if_wins_over_the_exit_code(run: Run, script: Script) -> None:
    program = "import sys\nsys.stderr.write('HTTP 429\\n')\nsys.exit(1)\n"
    check = run(command=script(program), classify={"unresolved_if": "429|Stale"}).only()
    assert check.status is CheckStatus.CANNOT_TELL
    assert "HTTP 429" in check.detail


def test_a_setup_that_fails_leaves_the_question_open(run: Run, script: Script) -> None:
    ran = run(command=script("print('never')"), setup=["python", "-c", "raise SystemExit('no data')"])
    assert ran.only().status is CheckStatus.CANNOT_TELL
    assert any(fault.startswith("setup: ") and "no data" in fault for fault in ran.faults())


def test_the_setup_is_outside_the_clock(run: Run, script: Script) -> None:
    setup = ["python", "-c", "import time; time.sleep(1.5); open('made', 'w')"]
    check = run(command=script("open('made')"), setup=setup, timeout_s=1).only()
    assert check.status is CheckStatus.PASS


def test_numbers_on_the_last_line_of_the_output(run: Run, script: Script) -> None:
    program = 'import sys\nprint(\'{"early": 1}\')\nprint(\'{"p99_ms": 2.5, "ok": true, "name": "x", "n": NaN}\')\n'
    check = run(command=script(program)).only()
    assert check.metrics == {"p99_ms": 2.5}
    assert check.detail == "p99_ms 2.5"


def test_of_many_numbers_the_declared_ones_are_told_first(run: Run, script: Script) -> None:
    program = "import json\nprint(json.dumps({name: 1.5 for name in 'abcdef'}))\n"
    check = run(command=script(program), metrics={"f": {}}).only()
    assert check.detail == "f 1.5, a 1.5, b 1.5, c 1.5 and 2 more"


def test_numbers_in_the_metrics_file_and_lines_that_are_none(run: Run, script: Script) -> None:
    program = (
        "import os\nopen(os.environ['ENVBISECT_METRICS'], 'w').write('{\"a\": 1}\\nwhat\\n{\"a\": 2, \"b\": 3}\\n')\n"
    )
    ran = run(command=script(program))
    assert ran.only().metrics == {"a": 2.0, "b": 3.0}
    assert ran.faults() == ["metrics: metrics.jsonl:2: not JSON"]


def test_what_the_test_sees(run: Run, script: Script, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import builtins\nbuiltins.customized = 'yes'\n")
    program = (
        "import builtins, json, os, sys\n"
        "print(json.dumps({'custom': builtins.customized, 'path': sys.path, 'argv': sys.argv, 'exe': sys.executable,\n"
        "    'site': sys.modules['sitecustomize'].__file__,\n"
        "    'env': {k: v for k, v in os.environ.items() if k.startswith('ENVBISECT_')}}))\n"
    )
    plain = "import json, sys; print(json.dumps(sys.path))"
    environ = {"PYTHONPATH": str(own)}
    ran = run(command=script(program), environ=environ, configuration={"env.A": "1", "torch.threads": 2})
    seen = json.loads((tmp_path / "command.log").read_text())
    without = subprocess.run(
        [sys.executable, "-c", plain], env={**os.environ, **environ}, capture_output=True, text=True, check=True
    )
    assert ran.only().status is CheckStatus.PASS
    assert seen["custom"] == "yes"
    assert seen["site"] == str(own / "sitecustomize.py")
    assert seen["path"][1:] == json.loads(without.stdout)[1:]
    assert seen["exe"] == sys.executable
    assert json.loads(seen["env"]["ENVBISECT_CONFIGURATION"]) == {"env.A": "1", "torch.threads": 2}
    assert seen["env"]["ENVBISECT_PROBE"] == "7"


def test_a_flood_of_output_neither_blocks_nor_fills_the_disk(run: Run, script: Script, tmp_path: Path) -> None:
    program = "import sys\nfor _ in range(400): sys.stdout.write('x' * 65536)\nprint()\nprint('{\"end\": 1}')\n"
    ran = run(command=script(program))
    assert ran.only().metrics == {"end": 1.0}
    assert (tmp_path / "command.log").stat().st_size < 9 * 1024 * 1024
    assert b"is cut here" in (tmp_path / "command.log").read_bytes()[-100:]

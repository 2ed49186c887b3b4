"""Signals from outside: before the answer they interrupt, and after it they change nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.console_script import SCRIPT, envbisect
from tests.cli.test_kill import processes_in
from tests.cli.test_run import write_case

ENDING = """
import os, sys, threading, time
from envbisect.cli import main as entry
code = entry.main(["diff", "good.toml", "bad.toml", "--json"])
open("told", "w").close()
time.sleep(1)  # the interpreter ends slowly
sys.exit(code)
"""


def wait_for(condition: Path | None, process: subprocess.Popen[str], folder: Path) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        if condition.exists() if condition else any("t.py" in line for line in processes_in(folder)):
            return
        time.sleep(0.02)
    pytest.fail("it never came so far")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_interrupts_and_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    write_case(tmp_path)
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    (tmp_path / "t.py").write_text("import time\ntime.sleep(600)\n")
    process = subprocess.Popen(
        [SCRIPT, "run", "good.toml", "bad.toml", "--session", "s", "--json"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(None, process, tmp_path)
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert json.loads(out)["status"] == "interrupted"
    assert list(scratch.iterdir()) == []
    assert processes_in(tmp_path) == []


@pytest.mark.slow
def test_what_the_caller_ignores_stays_ignored(tmp_path: Path) -> None:
    """``nohup envbisect run …`` goes on when the terminal goes."""
    write_case(tmp_path)
    (tmp_path / "t.py").write_text("import time\ntime.sleep(0.5)\n")
    code = "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, SCRIPT, "run", "good.toml", "bad.toml", "--max-probes", "4", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(None, process, tmp_path)
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(timeout=60)
    assert json.loads(out)["status"] != "interrupted"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_after_the_answer_does_not_take_its_exit_code(number: signal.Signals, tmp_path: Path) -> None:
    write_case(tmp_path)
    process = subprocess.Popen([sys.executable, "-c", ENDING], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    wait_for(tmp_path / "told", process, tmp_path)
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "deltas" in json.loads(out)


def test_a_signal_while_the_answer_is_printed_is_too_late_and_a_second_one_ends_it(tmp_path: Path) -> None:
    """The document is longer than a pipe holds, and nobody reads it."""
    pins = "".join(f'A{number} = "{{}}"\n' for number in range(2000))
    for name, value in (("good", "0"), ("bad", "1")):
        (tmp_path / f"{name}.toml").write_text("schema = 1\n[env]\n" + pins.replace("{}", value))
    whole = envbisect("diff", "good.toml", "bad.toml", "--json", cwd=tmp_path)
    for signals, code, told in ((1, 0, whole.out), (2, 130, None)):
        process = subprocess.Popen(
            [SCRIPT, "diff", "good.toml", "bad.toml", "--json"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        first = os.read(process.stdout.fileno(), 1).decode()
        time.sleep(0.3)
        for _ in range(signals):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
        rest, _ = process.communicate(timeout=30)
        assert process.returncode == code
        assert told is None or first + rest == told

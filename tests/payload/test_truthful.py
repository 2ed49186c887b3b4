"""The document at every moment: a crash, a kill and a hang leave one that says where they happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from envbisect.burnin.request import BurninRequest
from envbisect.burnin.result import BurninResult, CheckStatus, parse_result
from envbisect.burnin.symptoms import SymptomState, observe
from tests.payload.conftest import Run, needs_torch

pytestmark = [needs_torch, pytest.mark.torch]


@pytest.fixture
def planted(tmp_path: Path, entry: Path) -> dict[str, str]:
    """A torch whose ``cumsum`` does what ``$PLANT`` says."""
    folder = tmp_path / "plant"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(f"""
import os, signal, sys, time
sys.path.insert(0, {str(entry.parent)!r})
from envbisect_payload.hook.post_import import after_import
def plant(torch):
    torch.cumsum = lambda *arguments: eval(os.environ["PLANT"])
after_import({{"torch": plant}})
""")
    return {"PYTHONPATH": str(folder)}


def test_a_crash_names_the_check_in_flight_and_keeps_the_earlier_ones(run: Run, planted: dict[str, str]) -> None:
    environ = {**planted, "PLANT": "os.kill(os.getpid(), signal.SIGSEGV)"}
    ran = run(checks=["repeat.index_put", "repeat.cumsum", "repeat.sum"], torch={"threads": 1}, environ=environ)
    assert ran.exit_code == -signal.SIGSEGV
    assert (ran.result.complete, ran.result.in_flight) == (False, "repeat.cumsum")
    observation = observe(ran.result, exit_code=ran.exit_code, timed_out=False)
    assert observation.of("repeat.index_put").state is SymptomState.PASS
    crashed = observation.of("repeat.cumsum")
    assert crashed.state is SymptomState.FAIL
    assert crashed.signature is not None
    assert crashed.signature.signal == "SIGSEGV"
    assert observation.of("repeat.sum").state is SymptomState.ABSENT


@pytest.mark.slow
def test_a_check_that_hangs_says_where(run: Run, planted: dict[str, str]) -> None:
    environ = {**planted, "PLANT": "time.sleep(60)"}
    ran = run(checks=["repeat.cumsum"], environ=environ, timeout_s=4)
    check = ran.only()
    assert check.status is CheckStatus.HANG
    assert "PLANT" in check.output_tail or "sitecustomize" in check.output_tail
    assert not ran.result.complete
    assert observe(ran.result, exit_code=ran.exit_code, timed_out=False).of("repeat.cumsum").state is SymptomState.FAIL


def test_an_exception_in_a_check_does_not_stop_the_others(run: Run, planted: dict[str, str]) -> None:
    ran = run(checks=["repeat.cumsum", "repeat.sum"], environ={**planted, "PLANT": "{}['gone']"})
    assert [check.status for check in ran.result.checks] == [CheckStatus.ERROR, CheckStatus.PASS]
    failure = ran.result.checks[0].failure
    assert failure is not None
    assert failure.type == "KeyError"
    assert ran.result.complete


@pytest.mark.parametrize(
    ("number", "timed_out", "state"),
    [
        (signal.SIGTERM, False, SymptomState.CANNOT_TELL),
        (signal.SIGKILL, False, SymptomState.CANNOT_TELL),
        (signal.SIGKILL, True, SymptomState.FAIL),
    ],
)
def test_a_payload_that_is_ended_from_outside(
    entry: Path, tmp_path: Path, number: int, timed_out: bool, state: SymptomState
) -> None:
    command = [sys.executable, "-c", "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(300)"]
    request = BurninRequest(probe=1, command=tuple(command)).document()
    (tmp_path / "request.json").write_text(json.dumps(request))
    result = tmp_path / "result.json"
    with subprocess.Popen([sys.executable, entry, tmp_path / "request.json", result], cwd=tmp_path) as payload:
        deadline = time.monotonic() + 30
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        payload.send_signal(number)
        payload.wait(20)
    child = int((tmp_path / "pid").read_text())
    if number == signal.SIGTERM:
        assert not Path(f"/proc/{child}").exists()
    else:
        os.kill(child, signal.SIGKILL)  # a runtime does that
    document: BurninResult = parse_result(json.loads(result.read_text()))
    assert document.in_flight == "command"
    seen = observe(document, exit_code=payload.returncode, timed_out=timed_out).of("command")
    assert seen.state is state

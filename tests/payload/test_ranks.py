"""Tests of several ranks: what the launcher hides is seen, and the earliest primary failure is the signature."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from envbisect.burnin.result import CheckStatus, FailureKind
from tests.payload.conftest import Ran, Run, Script, needs_torch

PROGRAM = """
import json, os, signal, sys, time
rank, what = int(os.environ["RANK"]), sys.argv[1]
def boom():
    raise KeyError(rank)
if rank == 1:
    if what == "unknown": sys.exit(125)
    if what == "signal": os.kill(os.getpid(), signal.SIGSEGV)
    if what == "exit": sys.exit(3)
    if what == "exception": boom()
if what != "pass":
    time.sleep(0.7 if what == "exception" else 20)
    raise ConnectionError("closed by peer")
with open(os.environ["ENVBISECT_METRICS"], "a") as stream:
    stream.write(json.dumps({"p99_ms": 10.0 + rank}) + "\\n")
print(json.dumps({"loss": 2.0 * rank, "threads": int(os.environ["OMP_NUM_THREADS"])}))
"""

TORCHRUN = str(Path(sys.executable).parent / "torchrun")


def _start(launcher: str, run: Run, script: Script, what: str, **request: object) -> Ran:
    command = [*script(PROGRAM), what]
    if launcher == "ours":
        return run(command=command, launch={"nproc_per_node": 2, "per_rank_env": {"OMP_NUM_THREADS": "3"}}, **request)
    return run(command=[TORCHRUN, "--standalone", "--nproc_per_node=2", *command[1:], *request.pop("rest", [])])  # type: ignore[misc]


@pytest.fixture
def quiet_torchrun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torchrun finds the number of threads set, and does not begin the log by saying that it sets it."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@needs_torch
@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.usefixtures("quiet_torchrun")
@pytest.mark.parametrize("launcher", ["ours", "the user's torchrun"])
@pytest.mark.parametrize(
    ("what", "end"),
    [
        ("signal", (FailureKind.SIGNAL, "SIGSEGV", None)),
        ("exit", (FailureKind.EXIT, None, None)),
        ("exception", (FailureKind.EXCEPTION, None, "KeyError")),
    ],
)
def test_the_failure_of_a_rank_is_not_the_launchers(
    run: Run, script: Script, launcher: str, what: str, end: tuple[FailureKind, str | None, str | None]
) -> None:
    ran = _start(launcher, run, script, what)
    check = ran.only()
    assert check.status is CheckStatus.FAIL
    assert check.failure is not None
    assert (check.failure.kind, check.failure.signal, check.failure.type) == end
    assert check.failure.rank == 1
    if what == "exit":
        assert check.failure.exit_code == 3
    assert (
        check.detail
        == {
            "signal": "rank 1 ended by SIGSEGV",
            "exit": "rank 1: exit code 3",
            "exception": "rank 1: KeyError: 1",
        }[what]
    )
    assert {rank.rank for rank in check.ranks} == {0, 1}
    assert "ChildFailedError" not in check.output_tail
    assert "ChildFailedError" in (ran.folder / "command.log").read_text()
    assert ("KeyError: 1" in check.output_tail) == (what == "exception")


@needs_torch
@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["ours", "the user's torchrun"])
def test_a_rank_that_cannot_tell_makes_the_probe_unresolved(run: Run, script: Script, launcher: str) -> None:
    assert _start(launcher, run, script, "unknown").only().status is CheckStatus.CANNOT_TELL


@needs_torch
@pytest.mark.torch
@pytest.mark.slow
def test_ranks_that_pass_give_their_numbers_together(run: Run, script: Script) -> None:
    ran = _start("ours", run, script, "pass", metrics={"loss": {"aggregate": "rank0"}})
    check = ran.only()
    assert check.status is CheckStatus.PASS
    assert check.metrics == {"p99_ms": 11.0, "loss": 0.0, "threads": 3.0}
    assert [(rank.rank, rank.exit_code) for rank in check.ranks] == [(0, 0), (1, 0)]


@pytest.mark.parametrize(
    ("what", "status"), [("pass", CheckStatus.PASS), ("signal", CheckStatus.FAIL), ("unknown", CheckStatus.CANNOT_TELL)]
)
def test_without_torch_ranks_are_started_all_the_same(
    run: Run, script: Script, other_python: str, what: str, status: CheckStatus
) -> None:
    launch = {"nproc_per_node": 2, "per_rank_env": {"OMP_NUM_THREADS": "3"}}
    check = run(command=[*script(PROGRAM), what], launch=launch, python=other_python).only()
    assert check.status is status
    assert len(check.ranks) == 2


@needs_torch
@pytest.mark.torch
@pytest.mark.slow
def test_ranks_that_hang_are_ended_with_their_children(run: Run, script: Script) -> None:
    program = "import os, time\nopen('pid%s' % os.environ['RANK'], 'w').write(str(os.getpid()))\ntime.sleep(300)\n"
    ran = run(command=script(program), launch={"nproc_per_node": 2}, timeout_s=6)
    assert ran.only().status is CheckStatus.HANG
    assert ran.only().detail == "no end within 6 s; all 2 ranks were still running"
    for rank in (0, 1):
        pid = int((ran.folder / "work" / f"pid{rank}").read_text())
        assert not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split(")")[1]


def test_a_hang_names_the_rank_that_was_waited_for(run: Run, script: Script, other_python: str) -> None:
    program = "import os, time\ntime.sleep(300 * int(os.environ['RANK']))\n"
    check = run(command=script(program), launch={"nproc_per_node": 3}, timeout_s=2, python=other_python).only()
    assert check.status is CheckStatus.HANG
    assert check.detail == "no end within 2 s; still running: rank 1, 2 of 3"


def test_a_program_that_no_rank_can_start_is_named(run: Run, other_python: str) -> None:
    check = run(command=["./none"], launch={"nproc_per_node": 2}, python=other_python).only()
    assert check.status is CheckStatus.FAIL
    assert check.failure is not None
    assert check.failure.exit_code == 127
    assert check.detail.startswith("./none: not found in ")

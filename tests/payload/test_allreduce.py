"""The all-reduce check against planted faults, in real processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from envbisect.burnin.result import CheckResult, CheckStatus, FailureKind
from tests.payload.conftest import Run, needs_torch

pytestmark = [needs_torch, pytest.mark.torch]

Plant = Callable[[str], dict[str, str]]

CALLS_A_ROUND = 3


@pytest.fixture
def plant(tmp_path: Path, entry: Path) -> Plant:
    """Replace ``torch.distributed.all_reduce`` from a sitecustomize; ``call`` counts from 0, ``rank`` is known."""

    def write(body: str) -> dict[str, str]:
        folder = tmp_path / "plant"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(f"""
import os, signal, sys
sys.path.insert(0, {str(entry.parent)!r})
from envbisect_payload.hook.post_import import after_import
def plant(torch):
    distributed = torch.distributed
    original = distributed.all_reduce
    calls = [0]
    def all_reduce(tensor, *arguments, **options):
        rank, call = distributed.get_rank(), calls[0]
        calls[0] += 1
        {body}
        return original(tensor, *arguments, **options)
    distributed.all_reduce = all_reduce
after_import({{"torch": plant}})
""")
        return {"PYTHONPATH": str(folder)}

    return write


def _allreduce(run: Run, environ: dict[str, str], **request: object) -> CheckResult:
    return run(checks=["ladder.allreduce"], environ=environ, **request).only()


def test_two_ranks_agree_with_the_closed_form(run: Run) -> None:
    check = _allreduce(run, {})
    assert check.status is CheckStatus.PASS
    assert [(rank.rank, rank.exit_code, rank.failed_at) for rank in check.ranks] == [(0, 0, None), (1, 0, None)]
    assert check.rounds == 3


def test_rounds_and_ranks_are_those_asked_for(run: Run) -> None:
    check = _allreduce(run, {}, rounds=5, launch={"nproc_per_node": 3})
    assert (check.status, len(check.ranks), check.rounds) == (CheckStatus.PASS, 3, 5)


@pytest.mark.parametrize("round_", [0, 1, 2])
def test_a_contribution_dropped_in_any_one_round_is_seen_and_named(run: Run, plant: Plant, round_: int) -> None:
    environ = plant(f"if rank == 1 and call == {round_ * CALLS_A_ROUND + 1}: tensor.zero_()")
    check = _allreduce(run, environ)
    assert check.status is CheckStatus.FAIL
    assert check.failure is not None
    assert (check.failure.kind, check.failure.rank) == (FailureKind.VALUE, 1)
    assert f"in round {round_ + 1} rank 0 sees that the contribution of rank 1 is missing" in check.detail


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (f"if rank == 0 and call == {CALLS_A_ROUND + 1}: tensor.mul_(2)", "the contribution of rank 0 is there twice"),
        (f"if rank == 1 and call == {CALLS_A_ROUND + 1}: tensor.clamp_(max=1)", "the contribution of rank 1 is stale"),
        (f"if rank == 1 and call == {CALLS_A_ROUND + 2}: tensor.add_(1)", "the dense sum is wrong"),
    ],
)
def test_what_is_wrong_is_said(run: Run, plant: Plant, body: str, what: str) -> None:
    check = _allreduce(run, plant(body))
    assert check.status is CheckStatus.FAIL
    assert what in check.detail


def test_a_corrupted_receive_on_one_rank_alone_is_seen(run: Run, plant: Plant) -> None:
    body = "result = original(tensor, *arguments, **options); tensor[-1] += (rank == 1); return result"
    check = _allreduce(run, plant(body))
    assert check.status is CheckStatus.FAIL
    assert "rank 1 sees" in check.detail


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        f"if rank == 1 and call == {CALLS_A_ROUND}: os.kill(os.getpid(), signal.SIGSTOP)",
        f"result = original(tensor); (rank, call) == (1, {CALLS_A_ROUND - 1}) and signal.pause(); return result",
    ],
)
def test_a_rank_that_stops_is_a_hang_that_names_it(run: Run, plant: Plant, body: str) -> None:
    check = _allreduce(run, plant(body), timeout_s=8)
    assert check.status is CheckStatus.HANG
    assert check.failure is not None
    assert (check.failure.kind, check.failure.rank) == (FailureKind.HANG, 1), check.detail
    assert "missing: rank 1" in check.detail
    assert all(rank.exit_code is None for rank in check.ranks)


def test_a_rank_that_dies_is_primary_and_its_peers_are_not(run: Run, plant: Plant) -> None:
    environ = plant(f"if rank == 1 and call == {CALLS_A_ROUND}: os.kill(os.getpid(), signal.SIGSEGV)")
    check = _allreduce(run, environ)
    assert check.status is CheckStatus.ERROR
    assert check.failure is not None
    assert (check.failure.kind, check.failure.rank, check.failure.signal) == (FailureKind.SIGNAL, 1, "SIGSEGV")


def test_a_rank_that_raises_is_primary(run: Run, plant: Plant) -> None:
    check = _allreduce(run, plant(f"if rank == 1 and call == {CALLS_A_ROUND}: {{}}['absent']"))
    assert check.failure is not None
    assert (check.failure.kind, check.failure.rank, check.failure.type) == (FailureKind.EXCEPTION, 1, "KeyError")


def test_the_ladder_passes_and_skips_what_is_not_pinned(run: Run) -> None:
    ran = run(checks=["ladder"])
    statuses = {check.id: check.status for check in ran.result.checks}
    assert statuses.pop("ladder.compiled") is CheckStatus.SKIPPED
    assert set(statuses.values()) == {CheckStatus.PASS}
    assert ran.result.devices


def test_the_ladder_stops_at_the_first_step_that_fails(run: Run, tmp_path: Path, entry: Path) -> None:
    folder = tmp_path / "plant"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(f"""
import sys
sys.path.insert(0, {str(entry.parent)!r})
from envbisect_payload.hook.post_import import after_import
def plant(torch):
    relu = torch.relu
    torch.relu = lambda x: relu(x) + (x == x.max())
after_import({{"torch": plant}})
""")
    ran = run(checks=["ladder"], environ={"PYTHONPATH": str(folder)})
    statuses = {check.id: check.status for check in ran.result.checks}
    assert statuses["ladder.roundtrip"] is CheckStatus.PASS
    assert statuses["ladder.forward"] is CheckStatus.FAIL
    assert statuses["ladder.backward"] is CheckStatus.SKIPPED
    assert statuses["ladder.allreduce"] is CheckStatus.SKIPPED

"""The repeat checks on real torch: what differs is seen every time, what is pinned never differs."""

from __future__ import annotations

from typing import Any

import pytest

from envbisect.burnin.result import CheckStatus
from envbisect.payload.checks.context import Context
from envbisect.payload.checks.repeat import Operation, run_operation
from envbisect.payload.document import Status
from tests.payload.conftest import Run, needs_torch

pytestmark = [needs_torch, pytest.mark.torch]


@pytest.mark.parametrize(
    ("flags", "status"),
    [
        ({"threads": 2, "deterministic": False}, CheckStatus.FAIL),
        ({"threads": 1, "deterministic": False}, CheckStatus.PASS),
        ({"threads": 2, "deterministic": True}, CheckStatus.PASS),
    ],
)
def test_index_put_takes_both_changes_to_differ(run: Run, flags: dict[str, object], status: CheckStatus) -> None:
    ran = run(checks=["repeat.index_put"], torch=flags)
    assert ran.only().status is status
    assert {name: state.read_back for name, state in ran.result.flags.items()} == flags
    assert ran.faults() == []


def test_the_whole_family_runs(run: Run) -> None:
    ran = run(checks=["repeat"], torch={"threads": 2, "deterministic": True})
    statuses = {check.id: check.status for check in ran.result.checks}
    assert len(statuses) > 20
    assert statuses["repeat.index_put"] is CheckStatus.PASS
    assert CheckStatus.ERROR not in statuses.values()
    assert ran.result.complete
    assert ran.result.seconds < 30


def _context(rounds: int) -> Context:
    torch = pytest.importorskip("torch")
    return Context(torch, torch.device("cpu"), rounds, 10.0, {}, None)


@pytest.mark.parametrize("bad_run", [1, 5, 11])
def test_one_flipped_bit_in_one_run_is_enough(bad_run: int) -> None:
    def build(torch: Any, device: Any) -> Any:
        runs = iter(range(100))

        def once() -> tuple[Any, ...]:
            values = torch.ones(1000)
            if next(runs) == bad_run:
                values.view(torch.int32)[500] ^= 1
            return (values,)

        return once

    assert run_operation(Operation("planted", build, ""), _context(3))["status"] is Status.FAIL


def test_equal_nans_are_equal_and_signed_zeros_are_not() -> None:
    def nans(torch: Any, device: Any) -> Any:
        return lambda: (torch.full((3,), float("nan")),)

    def zeros(torch: Any, device: Any) -> Any:
        signs = iter([0.0, -0.0] * 50)
        return lambda: (torch.full((3,), next(signs)),)

    assert run_operation(Operation("nans", nans, ""), _context(3))["status"] is Status.PASS
    assert run_operation(Operation("zeros", zeros, ""), _context(3))["status"] is Status.FAIL


def test_a_refusal_is_told_from_a_difference() -> None:
    def build(torch: Any, device: Any) -> Any:
        def refuse() -> tuple[Any, ...]:
            raise RuntimeError("put_ does not have a deterministic implementation, but you set …")

        return refuse

    result = run_operation(Operation("refusing", build, ""), _context(3))
    assert (result["status"], result["failure"]) == (Status.REFUSED, None)


def test_another_runtime_error_is_not_taken_for_a_refusal() -> None:
    def build(torch: Any, device: Any) -> Any:
        return lambda: torch.ones(2) @ torch.ones(3)

    with pytest.raises(RuntimeError):
        run_operation(Operation("broken", build, ""), _context(3))

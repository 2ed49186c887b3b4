"""Requests: made from a manifest's burn-in and a stack, strict in what they accept."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from envbisect.burnin.request import MARGIN_S, BurninRequest, build_request, deadline_s
from envbisect.errors import UsageError
from envbisect.manifest.burnin import Aggregate, Burnin, Classify, Metric
from envbisect.manifest.stack import Stack, Value

BURNIN = Burnin(
    checks=("repeat.index_put",),
    command=("python", "t.py"),
    setup=("python", "s.py"),
    stall_s=5.0,
    timeout_s=20.0,
    classify=Classify(bad_if="nan", unresolved_if="429"),
    metrics={"loss": Metric(aggregate=Aggregate.RANK0)},
)


def _stack(components: dict[str, Value]) -> Stack:
    return Stack(components, None, Path("/nowhere"))


def test_everything_of_the_manifest_arrives() -> None:
    components: dict[str, Value] = {
        "env.NCCL_ALGO": "Ring",
        "torch.threads": 2,
        "torch.deterministic": None,
        "dataloader.pin_memory": False,
        "launch.nproc_per_node": 2,
        "launch.per_rank_env.OMP_NUM_THREADS": "8",
    }
    assert build_request(BURNIN, _stack(components), 7, {"torch.threads": 2}) == {
        "schema": 1,
        "probe": 7,
        "checks": ["repeat.index_put"],
        "command": ["python", "t.py"],
        "setup": ["python", "s.py"],
        "rounds": 3,
        "timeout_s": 20.0,
        "stall_s": 5.0,
        "torch": {"threads": 2},
        "dataloader": {"pin_memory": False},
        "launch": {"nproc_per_node": 2, "per_rank_env": {"OMP_NUM_THREADS": "8"}},
        "classify": {"bad_if": "nan", "unresolved_if": "429"},
        "metrics": {"loss": {"aggregate": "rank0"}},
        "configuration": {"torch.threads": 2},
        "options": {},
    }


def test_one_process_is_the_default() -> None:
    launch = build_request(BURNIN, _stack({}), 0, {})["launch"]
    assert launch == {"nproc_per_node": 1, "per_rank_env": {}}


def test_a_check_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        build_request(Burnin(checks=("repeat.index_putt",)), _stack({}), 0, {})
    assert caught.value.faults[0].nearest == "repeat.index_put"


@pytest.mark.parametrize("change", [{"probes": 1}, {"rounds": 0}, {"timeout_s": 0}, {"launch": {"nproc": 2}}])
def test_a_request_forbids_what_it_does_not_know(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        BurninRequest.model_validate({"probe": 1, **change})


def test_a_runtime_waits_longer_than_every_timeout_inside() -> None:
    assert deadline_s(Burnin(command=("t",), timeout_s=20.0)) == 20.0 + MARGIN_S
    assert deadline_s(BURNIN) > 2 * 20.0 + MARGIN_S

"""Torch flags: set, read back, and never silently without effect."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from envbisect.burnin.result import CheckStatus
from envbisect.burnin.symptoms import SymptomState, observe
from envbisect.keys import all_specs
from envbisect.keys.spec import Layer
from envbisect.payload.flags import FLAGS, apply_flags
from tests.payload.conftest import Run, needs_torch

EVERY_FLAG = {
    "deterministic": True,
    "deterministic_warn_only": True,
    "threads": 1,
    "interop_threads": 1,
    "float32_matmul_precision": "high",
    "allow_tf32": True,
    "cudnn_benchmark": True,
    "cudnn_deterministic": True,
    "flush_denormal": True,
    "mkldnn": False,
    "compile_backend": "eager",
}


def test_every_key_of_the_torch_table_is_a_flag() -> None:
    keys = {spec.name.removeprefix("torch.") for spec in all_specs() if spec.layer is Layer.TORCH}
    assert keys == set(FLAGS) == set(EVERY_FLAG)


@needs_torch
@pytest.mark.torch
def test_every_flag_reads_back_as_asked(run: Run) -> None:
    ran = run(checks=["ladder.forward"], torch=EVERY_FLAG)
    assert {name: state.read_back for name, state in ran.result.flags.items()} == EVERY_FLAG
    assert ran.faults() == []


@needs_torch
@pytest.mark.torch
@pytest.mark.parametrize("value", [True, False])
def test_tf32_and_matmul_precision_do_not_contradict_each_other(run: Run, value: bool) -> None:
    """The precision is matmul's own word; beside it ``allow_tf32`` means cuDNN."""
    ran = run(checks=["ladder.forward"], torch={"allow_tf32": value, "float32_matmul_precision": "highest"})
    assert ran.faults() == []


@needs_torch
@pytest.mark.torch
def test_a_flag_without_effect_leaves_everything_open(run: Run) -> None:
    ran = run(checks=["ladder.forward"], torch={"float32_matmul_precision": "sloppy"})
    assert ran.only().status is CheckStatus.PASS
    assert any(fault.startswith("flag: torch.float32_matmul_precision") for fault in ran.faults())
    seen = observe(ran.result, exit_code=0, timed_out=False).of("ladder.forward")
    assert seen.state is SymptomState.CANNOT_TELL
    assert "float32_matmul_precision" in seen.detail


def _old(**attributes: Any) -> Any:
    return SimpleNamespace(__version__="1.7.0", **attributes)


def test_an_old_name_serves_where_the_new_one_is_missing() -> None:
    state: list[bool] = []
    old = _old(set_deterministic=state.append, is_deterministic=lambda: state[-1])
    (setting,) = apply_flags(old, {"deterministic": True})
    assert (setting.read_back, setting.fault) == (True, "")


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"compile_backend": "eager"}, "torch 1.7.0 has no compile"),
        ({"float32_matmul_precision": "high"}, "torch 1.7.0 has no set_float32_matmul_precision"),
        ({"cudnn_benchmark": True}, "torch 1.7.0 has no torch.backends.cudnn.benchmark"),
        ({"deterministic_warn_only": True}, "torch 1.7.0 has no warn_only"),
        ({"nonsense": 1}, "torch.nonsense: no such flag"),
    ],
)
def test_what_this_torch_does_not_have_is_said(table: dict[str, Any], says: str) -> None:
    old = _old(backends=SimpleNamespace(), set_deterministic=lambda value: None, is_deterministic=lambda: False)
    (setting,) = apply_flags(old, table)
    assert says in setting.fault


def test_a_setter_that_does_nothing_is_found_out() -> None:
    deaf = _old(set_num_threads=lambda value: None, get_num_threads=lambda: 4)
    (setting,) = apply_flags(deaf, {"threads": 2})
    assert setting.fault == "torch.threads: asked for 2, torch 1.7.0 has 4"

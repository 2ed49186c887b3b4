"""Every key is complete, found by its name, and added by one entry."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import envbisect.keys
from envbisect.keys import KeySpec, Layer, Mover, Order, ValueType, all_specs, names_below, registry, spec_for

# The keys that the manifest format promises, written out on purpose: a key that vanishes breaks users' manifests.
PROMISED_TEXT = """
host.driver host.driver_module host.libcuda host.fabricmanager host.ofed host.kernel host.cgroup host.gpu
host.gpu_count host.os host.arch host.gpu.clocks host.gpu.power_limit_w host.gpu.persistence host.gpu.mig
host.cpu.governor host.irq.affinity host.numa.binding host.cmdline.pcie_aspm host.sysctl.kernel.perf_event_paranoid
host.modules.nvidia.NVreg_EnableGpuFirmware host.firmware.pcie_aspm
image.base image.shm_size image.ulimits.memlock image.apt.libnuma1 image.run.mounts image.run.ipc image.run.network
image.run.devices image.run.gpus image.run.cap_add image.run.user image.run.cpuset image.run.memory
cuda.build cuda.runtime cuda.toolkit cuda.cudnn cuda.nccl
python.version python.index python.exclude_newer python.overrides python.source python.complete python.packages.numpy
env.NCCL_ALGO env.OMP_NUM_THREADS env.PYTHONHASHSEED env.ANYTHING_ELSE
torch.deterministic torch.deterministic_warn_only torch.threads torch.interop_threads torch.float32_matmul_precision
torch.allow_tf32 torch.cudnn_benchmark torch.cudnn_deterministic torch.flush_denormal torch.mkldnn torch.compile_backend
dataloader.num_workers dataloader.pin_memory dataloader.prefetch_factor dataloader.start_method
dataloader.persistent_workers
code.repo code.rev code.dirty_patch inputs.data/val.bin launch.nproc_per_node launch.per_rank_env.OMP_NUM_THREADS
"""
PROMISED = PROMISED_TEXT.split()


@pytest.mark.parametrize("key", PROMISED)
def test_promised_key_has_a_specification_in_its_layer(key: str) -> None:
    spec = spec_for(key)

    assert spec is not None
    assert spec.layer == key.split(".", 1)[0]


@pytest.mark.parametrize("spec", all_specs(), ids=lambda spec: spec.name)
def test_every_key_is_complete(spec: KeySpec) -> None:
    assert isinstance(spec.type, ValueType)
    assert isinstance(spec.mover, Mover)
    assert isinstance(spec.order, Order)
    assert spec.name.startswith(spec.layer + ".")
    assert spec.doc.endswith("."), "a sentence"
    assert len(spec.doc) > 20
    assert "\n" not in spec.doc
    assert "|" not in spec.doc, "it would break the table in docs/keys.md"
    assert not (spec.derived and spec.setting)
    if spec.minimum is not None:
        assert spec.type in {ValueType.INTEGER, ValueType.NUMBER}
    if spec.choices:
        assert all(isinstance(choice, str) for choice in spec.choices) == (spec.type is ValueType.STRING)


def test_names_are_unique_and_every_layer_has_keys() -> None:
    names = [spec.name for spec in all_specs()]

    assert len(names) == len(set(names))
    assert {spec.layer for spec in all_specs()} == set(Layer)


def test_what_torch_and_the_loader_take_is_moved_by_them() -> None:
    for layer, mover in ((Layer.TORCH, Mover.TORCH), (Layer.DATALOADER, Mover.DATALOADER), (Layer.ENV, Mover.ENV)):
        assert {spec.mover for spec in all_specs() if spec.layer is layer} == {mover}


@pytest.mark.parametrize(
    "key", ["", ".", "env", "env.", "env.*", "host.sysctl", "torch.tourch", "nothing.here", "host.gpu.x"]
)
def test_what_is_no_key_has_no_specification(key: str) -> None:
    assert spec_for(key) is None


@given(st.sampled_from([spec for spec in all_specs() if spec.open]), st.text(min_size=1))
def test_open_tables_take_any_name_even_with_dots(spec: KeySpec, name: str) -> None:
    found = spec_for(f"{spec.table}.{name}")

    assert found is not None or name == "*"
    if found is not None:
        assert found.layer is spec.layer


def test_adding_a_key_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    added = replace(spec_for("torch.threads") or pytest.fail("no spec"), name="torch.brand_new")
    monkeypatch.setitem(registry._BY_NAME, added.name, added)
    monkeypatch.setattr(registry, "_SPECS", (*all_specs(), added))

    assert spec_for("torch.brand_new") is added
    assert "brand_new" in names_below("torch")


def test_names_below_the_root_are_the_layers() -> None:
    assert set(names_below("")) == set(Layer)
    assert "gpu" in names_below("host")
    assert "NCCL_ALGO" in names_below("env")
    assert "*" not in names_below("env")


def test_the_registry_needs_the_standard_library_only() -> None:
    heavy = {"pydantic", "numpy", "rich", "packaging"}
    script = f"import sys, envbisect.keys; print([m for m in sys.modules if m.split('.')[0] in {heavy}])"
    root = Path(envbisect.keys.__file__).parents[2]

    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root)

    assert out.stdout.strip() == "[]"

"""Keys of CUDA: different numbers that people mix up. What follows from packages is a fact, not an axis."""

from __future__ import annotations

from typing import Final

from envbisect.keys.spec import KeySpec, Layer, Mover, ValueType


def _derived(name: str, doc: str) -> KeySpec:
    return KeySpec(
        name=f"cuda.{name}", type=ValueType.STRING, layer=Layer.CUDA, mover=Mover.PACKAGES, doc=doc, derived=True
    )


SPECS: Final[tuple[KeySpec, ...]] = (
    _derived("build", "CUDA version that torch was built with (`torch.version.cuda`)."),
    _derived("runtime", "Version of the CUDA runtime library (cudart) that is loaded."),
    KeySpec(
        name="cuda.toolkit",
        type=ValueType.STRING,
        layer=Layer.CUDA,
        mover=Mover.IMAGE,
        doc="Version of `nvcc` on PATH; no toolkit need be there.",
    ),
    _derived("cudnn", "Version of cuDNN as loaded, whatever is pinned or installed beside it."),
    _derived("nccl", "Version of NCCL as loaded (`torch.cuda.nccl.version()`); LD_PRELOAD can exchange it."),
)

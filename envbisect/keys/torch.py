"""Flags of torch that are set by the payload before anything else, and read back."""

from __future__ import annotations

from typing import Final

from envbisect.keys.spec import KeySpec, Layer, Mover, ValueType


def _flag(
    name: str,
    doc: str,
    kind: ValueType = ValueType.BOOLEAN,
    choices: tuple[str, ...] = (),
    minimum: float | None = None,
) -> KeySpec:
    return KeySpec(
        name=f"torch.{name}",
        type=kind,
        layer=Layer.TORCH,
        mover=Mover.TORCH,
        doc=doc,
        choices=choices,
        minimum=minimum,
    )


SPECS: Final[tuple[KeySpec, ...]] = (
    _flag(
        "deterministic",
        "`torch.use_deterministic_algorithms`: operations without a deterministic implementation raise.",
    ),
    _flag("deterministic_warn_only", "With `deterministic`: such operations warn and run, instead of raising."),
    _flag(
        "threads",
        "`torch.set_num_threads`: threads of one operation; sums change with it.",
        ValueType.INTEGER,
        minimum=1,
    ),
    _flag(
        "interop_threads", "`torch.set_num_interop_threads`: operations run side by side.", ValueType.INTEGER, minimum=1
    ),
    _flag(
        "float32_matmul_precision",
        "`torch.set_float32_matmul_precision`: what float32 products may be computed in.",
        ValueType.STRING,
        ("highest", "high", "medium"),
    ),
    _flag("allow_tf32", "TF32 in matrix products and convolutions (`torch.backends.cuda.matmul`, `.cudnn`)."),
    _flag(
        "cudnn_benchmark", "`torch.backends.cudnn.benchmark`: the fastest algorithm by trial, not always the same one."
    ),
    _flag("cudnn_deterministic", "`torch.backends.cudnn.deterministic`: only deterministic convolutions."),
    _flag("flush_denormal", "`torch.set_flush_denormal`: denormal numbers become zero on the CPU."),
    _flag("mkldnn", "`torch.backends.mkldnn` (oneDNN): whether its kernels are used on the CPU."),
    _flag("compile_backend", "Backend of `torch.compile` for checks that compile.", ValueType.STRING),
)

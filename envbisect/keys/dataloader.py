"""Defaults of ``torch.utils.data.DataLoader``; what the program passes itself wins."""

from __future__ import annotations

from typing import Final

from envbisect.keys.spec import KeySpec, Layer, Mover, ValueType


def _default(
    name: str, doc: str, kind: ValueType, minimum: float | None = None, choices: tuple[str, ...] = ()
) -> KeySpec:
    return KeySpec(
        name=f"dataloader.{name}",
        type=kind,
        layer=Layer.DATALOADER,
        mover=Mover.DATALOADER,
        doc=doc,
        choices=choices,
        minimum=minimum,
    )


SPECS: Final[tuple[KeySpec, ...]] = (
    _default("num_workers", "Worker processes; 0 loads in the training process.", ValueType.INTEGER, 0),
    _default("pin_memory", "Whether batches are copied to page-locked memory first.", ValueType.BOOLEAN),
    _default("prefetch_factor", "Batches that each worker loads ahead; only with workers.", ValueType.INTEGER, 1),
    _default(
        "start_method",
        "How workers start: fork copies the threads' locks with the process, spawn and forkserver do not.",
        ValueType.STRING,
        choices=("fork", "spawn", "forkserver"),
    ),
    _default("persistent_workers", "Whether workers live on from epoch to epoch.", ValueType.BOOLEAN),
)

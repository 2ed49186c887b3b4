"""How a test is started: processes and their own environment."""

from __future__ import annotations

from typing import Final

from envbisect.keys.spec import KeySpec, Layer, Mover, ValueType

SPECS: Final[tuple[KeySpec, ...]] = (
    KeySpec(
        name="launch.nproc_per_node",
        type=ValueType.INTEGER,
        layer=Layer.LAUNCH,
        mover=Mover.LAUNCH,
        doc="Processes (ranks) on one machine, as torchrun's option of that name; 1 starts the test directly.",
        minimum=1,
    ),
    KeySpec(
        name="launch.per_rank_env.*",
        type=ValueType.STRING,
        layer=Layer.LAUNCH,
        mover=Mover.LAUNCH,
        doc="A variable set in every rank but not in the launcher, which sets some itself (OMP_NUM_THREADS).",
    ),
)

"""What the program reads: data, weights and configuration, by hash."""

from __future__ import annotations

from typing import Final

from envbisect.keys.spec import KeySpec, Layer, Mover, ValueType

SPECS: Final[tuple[KeySpec, ...]] = (
    KeySpec(
        name="inputs.*",
        type=ValueType.STRING,
        layer=Layer.INPUTS,
        mover=Mover.INPUTS,
        doc="Hash of a file that the test reads: `sha256:` and 64 hexadecimal digits.",
    ),
)

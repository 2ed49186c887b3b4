"""Keys of the interpreter and its packages, and the settings that say how packages are resolved."""

from __future__ import annotations

from typing import Final

from envbisect.keys.spec import KeySpec, Layer, Mover, Order, ValueType


def _setting(name: str, kind: ValueType, doc: str, choices: tuple[str, ...] = ()) -> KeySpec:
    return KeySpec(
        name=f"python.{name}",
        type=kind,
        layer=Layer.PYTHON,
        mover=Mover.PACKAGES,
        doc=doc,
        choices=choices,
        setting=True,
    )


SPECS: Final[tuple[KeySpec, ...]] = (
    KeySpec(
        name="python.version",
        type=ValueType.STRING,
        layer=Layer.PYTHON,
        mover=Mover.PYTHON,
        doc='Version of the interpreter, "3.11" or "3.11.7".',
        order=Order.RELEASES,
    ),
    _setting("index", ValueType.STRINGS, "URLs of package indexes; otherwise what pip and uv are configured with."),
    _setting("exclude_newer", ValueType.STRING, "RFC 3339 moment: what floats resolves as of this moment."),
    _setting("overrides", ValueType.STRINGS, "Requirements that win against a package's own pins."),
    _setting(
        "source",
        ValueType.STRING,
        "Where packages live: `venv` builds an environment, `image` keeps the image's own and overlays the deltas.",
        ("venv", "image"),
    ),
    _setting(
        "complete",
        ValueType.BOOLEAN,
        "Whether the list is the whole environment (pip freeze): installed as is, nothing resolved or added.",
    ),
    KeySpec(
        name="python.packages.*",
        type=ValueType.PACKAGE,
        layer=Layer.PYTHON,
        mover=Mover.PACKAGES,
        doc="A Python distribution: exact version, specifier, or `{ git = …, rev = …, patches = […] }`.",
        order=Order.RELEASES,
    ),
)

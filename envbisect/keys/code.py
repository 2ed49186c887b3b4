"""The user's own program, an axis by commits."""

from __future__ import annotations

from typing import Final

from envbisect.keys.spec import KeySpec, Layer, Mover, Order, ValueType


def _code(name: str, doc: str, order: Order = Order.FLAG) -> KeySpec:
    return KeySpec(name=f"code.{name}", type=ValueType.STRING, layer=Layer.CODE, mover=Mover.CODE, doc=doc, order=order)


SPECS: Final[tuple[KeySpec, ...]] = (
    _code("repo", "Git repository of the program: a folder or a URL."),
    _code("rev", "Commit, tag or branch of the program.", Order.COMMITS),
    _code("dirty_patch", "A patch for what is not committed yet, applied after the checkout."),
)

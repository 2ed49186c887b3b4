"""All keys in one place: a layer is one file with ``SPECS`` and one entry here; a key is one entry in its layer."""

from __future__ import annotations

from typing import Final

from envbisect.keys import code, cuda, dataloader, env, host, image, inputs, launch, python, torch
from envbisect.keys.spec import KeySpec

_SPECS: Final[tuple[KeySpec, ...]] = (
    *host.SPECS,
    *image.SPECS,
    *cuda.SPECS,
    *python.SPECS,
    *env.SPECS,
    *torch.SPECS,
    *dataloader.SPECS,
    *code.SPECS,
    *inputs.SPECS,
    *launch.SPECS,
)
_BY_NAME: Final[dict[str, KeySpec]] = {spec.name: spec for spec in _SPECS}


def all_specs() -> tuple[KeySpec, ...]:
    """Every key in the order of the layers, open tables (``env.*``) included."""
    return _SPECS


def spec_for(key: str) -> KeySpec | None:
    """The specification of a dotted key, None if there is no such key.

    A key of its own wins over the open table that it lies in (``env.NCCL_ALGO`` over ``env.*``); names in an open
    table may contain dots themselves (``host.sysctl.kernel.perf_event_paranoid``, ``inputs.data/val.bin``).
    """
    exact = _BY_NAME.get(key)
    if exact is not None:
        return None if exact.open else exact
    table = key
    while "." in table:
        table, _, _ = table.rpartition(".")
        spec = _BY_NAME.get(table + ".*")
        if spec is not None:
            return spec if len(key) > len(table) + 1 else None
    return None


def names_below(table: str) -> tuple[str, ...]:
    """The names that may stand in a table, one part each: ``names_below("host")`` has ``driver``, ``cmdline``, …

    The empty table is the whole manifest's components: the layers. Names of open tables that only a documentation
    entry knows (``env.NCCL_ALGO``) are included, ``*`` is not.
    """
    start = table + "." if table else ""
    below = (spec.name[len(start) :].split(".")[0] for spec in _SPECS if spec.name.startswith(start))
    return tuple(dict.fromkeys(name for name in below if name != "*"))

"""The table of all keys as Markdown: ``docs/keys.md`` is this text, and a test keeps it so."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Final

from envbisect.keys.registry import all_specs
from envbisect.keys.spec import KeySpec, Mover, Order

_HEAD: Final = """\
# Keys

Generated from the registry (`envbisect/keys/`) by `python -m envbisect.keys.document > docs/keys.md`; do not edit.

A key is written in the table of its layer: `torch.threads` is `threads` under `[torch]`. A `*` stands for any name;
a name with dots is written in quotes (`"kernel.perf_event_paranoid" = 2`). *Moved by* says what has to be able to
change a key for it to be searched: the runtime's environment variables, torch flags and so on. A key that nobody can
move is a requirement: a difference in it is reported, not searched. A *derived* key follows from others and is never
searched by itself; a *setting* steers how packages are resolved and is not compared.
"""

_STEPS: Final[dict[Order, str]] = {
    Order.FLAG: "two: good and bad",
    Order.RELEASES: "published versions",
    Order.COMMITS: "commits",
}


def render_markdown() -> str:
    """The whole document, one table for each layer."""
    parts = [_HEAD]
    for layer, specs in groupby(all_specs(), key=lambda spec: spec.layer):
        parts.append(f"\n## {layer}\n\n| key | type | moved by | steps | what it is |\n|---|---|---|---|---|\n")
        parts += [_row(spec) for spec in specs]
    return "".join(parts)


def _row(spec: KeySpec) -> str:
    return f"| `{spec.name}` | {_type(spec)} | {_mover(spec)} | {_steps(spec)} | {spec.doc} |\n"


def _type(spec: KeySpec) -> str:
    if spec.choices:
        return " or ".join(f"`{json.dumps(choice)}`" for choice in spec.choices)
    low = f", at least {spec.minimum:g}" if spec.minimum is not None else ""
    high = f", at most {spec.maximum:g}" if spec.maximum is not None else ""
    return f"{spec.type}{low}{high}"


def _mover(spec: KeySpec) -> str:
    if spec.setting:
        return "setting"
    if spec.derived:
        return "derived"
    return "nobody" if spec.mover is Mover.NOBODY else spec.mover.value


def _steps(spec: KeySpec) -> str:
    return "none" if spec.setting or spec.derived else _STEPS[spec.order]


if __name__ == "__main__":
    print(render_markdown(), end="")

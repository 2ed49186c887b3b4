"""``envbisect lint``: everything that is wrong with a manifest, at once, and what nothing here can move."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envbisect.cli import options
from envbisect.cli.reply import Reply
from envbisect.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from envbisect.manifest.stack import Value


def command(
    manifest: Annotated[Path, typer.Argument(metavar="MANIFEST", help="Manifest to check.", show_default=False)],
    json: options.Json = False,
    debug: options.Debug = False,
) -> Reply:
    """Check a manifest: every unknown key, wrong type and impossible value, each with its line; and unmovable keys."""
    from envbisect.burnin.catalogue import validate
    from envbisect.manifest import load

    _refuse_freeze(manifest)
    loaded = load(manifest)
    validate(loaded.burnin.checks)
    components = loaded.components()
    unmovable = list(_unmovable(components))
    document: dict[str, object] = {
        "schema": 1,
        "manifest": str(manifest),
        "name": loaded.name,
        "components": components,
        "faults": [],
        "unmovable": unmovable,
    }
    return Reply(document, lambda console: _render(str(manifest), len(components), unmovable, console))


def _refuse_freeze(path: Path) -> None:
    """A list of packages has nothing that could be checked without resolving it.

    Raises:
        UsageError: ``path`` is a freeze.
    """
    from envbisect.manifest.document import read_text
    from envbisect.manifest.freeze import looks_like_freeze

    if path.suffix != ".toml" and looks_like_freeze(read_text(path)):
        raise UsageError(f"lint takes manifests; {path} is a pip freeze", "run, plan and diff take it as it is")


def _unmovable(components: Mapping[str, Value]) -> list[dict[str, Value]]:
    """Pinned components that no runtime of this version moves: a delta there stays where the machine is."""
    from envbisect.backends.registry import RUNTIMES
    from envbisect.keys import spec_for

    moves = frozenset().union(*(spec.moves for spec in RUNTIMES))
    found: list[dict[str, Value]] = []
    for key, value in components.items():
        spec = spec_for(key)
        if spec is None or spec.mover not in moves:
            why = "it follows from other components" if spec and spec.derived else "no runtime of this version moves it"
            found.append({"key": key, "value": value, "reason": why})
    return found


def _render(manifest: str, pinned: int, unmovable: list[dict[str, Value]], console: Console) -> None:
    from envbisect.report.values import count, shown

    console.print(f"{manifest}: no faults, {count(pinned, 'component')} pinned")
    for entry in unmovable:
        console.print(f"cannot be moved: {entry['key']} = {shown(entry['value'])}: {entry['reason']}")

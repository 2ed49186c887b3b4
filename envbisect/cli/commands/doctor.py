"""``envbisect doctor``: what this machine can do."""

from __future__ import annotations

from envbisect.cli import options
from envbisect.cli.reply import Reply


def command(json: options.Json = False, debug: options.Debug = False) -> Reply:
    """Show what this machine can do: interpreters, uv, torch, GPU, Docker, disk, package index."""
    from envbisect.backends.doctor import examine
    from envbisect.report.doctor import render

    document = examine()
    return Reply(document, lambda console: render(document, console))

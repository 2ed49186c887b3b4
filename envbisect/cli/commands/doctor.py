"""``envbisect doctor``: what this machine can do."""

from __future__ import annotations

from envbisect.cli import options
from envbisect.cli.reply import Reply


def command(json: options.Json = False, debug: options.Debug = False) -> Reply:
    """Show what this machine can do: interpreters, uv, torch, GPU, Docker, disk, package index."""
    import os
    from pathlib import Path

    from envbisect.backends.doctor import examine_machine
    from envbisect.report.doctor import render

    facts = [
        {"subject": fact.subject, "state": fact.state.value, "detail": fact.detail, "hint": fact.hint}
        for fact in examine_machine(os.environ, Path.cwd())
    ]
    document: dict[str, object] = {"schema": 1, "facts": facts}
    return Reply(document, lambda console: render(document, console))

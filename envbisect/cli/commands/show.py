"""``envbisect show``: the answer of a session, again."""

from __future__ import annotations

from envbisect.cli import options
from envbisect.cli.reply import Reply


def command(folder: options.SessionFolder, json: options.Json = False, debug: options.Debug = False) -> Reply:
    """Print the answer of the session in DIR, as `run` did, with its exit code."""
    from envbisect.cli.located import located
    from envbisect.cli.sessions import answered
    from envbisect.session.api import show

    return answered(located(show(folder), folder))

"""From a session's result document to a reply, with live progress while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from envbisect.cli.reply import Invocation, Reply
from envbisect.errors import ExitCode
from envbisect.report.live import progress
from envbisect.report.text import render
from envbisect.session.events import Subscriber


def watched(invocation: Invocation, work: Callable[[Subscriber], Mapping[str, object]]) -> Reply:
    """Run ``work`` under a live display on stderr and answer with its result document."""
    with progress(quiet=invocation.json) as subscriber:
        document = work(subscriber)
    return answered(document)


def answered(document: Mapping[str, object]) -> Reply:
    return Reply(document, lambda console: render(document, console), exit_code(str(document["status"])))


def exit_code(status: str) -> ExitCode:
    """The exit code of a result document by its status (``docs/exit-codes.md``)."""
    match status:
        case "culprit":
            return ExitCode.DONE
        case "interrupted":
            return ExitCode.INTERRUPTED
        case _:
            return ExitCode.NO_CULPRIT

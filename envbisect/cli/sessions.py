"""From a session's result document to a reply, with live progress while it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping

from envbisect.cli.reply import Invocation, Reply
from envbisect.errors import ExitCode
from envbisect.report.console import same_place
from envbisect.report.live import progress
from envbisect.report.text import render
from envbisect.session.events import Subscriber, ignore


def watched(invocation: Invocation, work: Callable[[Subscriber], Mapping[str, object]]) -> Reply:
    """Run ``work`` under a live display on stderr and answer with its result document."""
    with progress(quiet=invocation.json) as lines:
        document = work(lines or ignore)
    said = lines.said if lines and same_place(sys.stdout, sys.stderr) else ()
    return answered(document, said)


def answered(document: Mapping[str, object], said: Collection[str] = ()) -> Reply:
    """A result document as a reply; ``said`` are notes that its reader has seen already."""
    return Reply(document, lambda console: render(document, console, said), exit_code(str(document["status"])))


def exit_code(status: str) -> ExitCode:
    """The exit code of a result document by its status (``docs/exit-codes.md``)."""
    match status:
        case "culprit":
            return ExitCode.DONE
        case "interrupted":
            return ExitCode.INTERRUPTED
        case _:
            return ExitCode.NO_CULPRIT

"""``envbisect resume``: go on with a session that was interrupted, or ask more of a finished one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from envbisect.cli import options
from envbisect.cli.reply import Invocation, Reply

if TYPE_CHECKING:
    from envbisect.session.events import Subscriber


def command(
    context: typer.Context,
    folder: options.SessionFolder,
    confidence: Annotated[
        float | None,
        typer.Option("--confidence", metavar="P", help="Ask for more than before.", show_default="as before"),
    ] = None,
    max_probes: Annotated[
        int | None,
        typer.Option("--max-probes", metavar="N", help="Stop after N probes in all.", show_default="as before"),
    ] = None,
    max_hours: Annotated[
        float | None,
        typer.Option("--max-hours", metavar="H", help="Stop after H hours in all.", show_default="as before"),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until", metavar="HH:MM", help="Stop at this time of day, when it comes next.", show_default="as before"
        ),
    ] = None,
    forget: Annotated[
        int | None,
        typer.Option(
            "--forget",
            metavar="N",
            help="Count nothing that was observed from probe N on: the machine had changed.",
            show_default="nothing",
        ),
    ] = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Reply:
    """Go on with the session in DIR; a finished one answers again at once.

    More confidence or a larger budget continues a finished one: what was observed counts, and is not run again.
    """
    from envbisect.cli.located import located
    from envbisect.cli.sessions import watched
    from envbisect.session.api import resume

    invocation: Invocation = context.obj
    stop_at = options.moment(until)

    def work(subscriber: Subscriber) -> Mapping[str, object]:
        document = resume(
            folder,
            confidence=confidence,
            max_probes=max_probes,
            max_hours=max_hours,
            until=stop_at,
            forget=forget,
            on_event=subscriber,
        )
        return located(document, folder)

    return watched(invocation, work)

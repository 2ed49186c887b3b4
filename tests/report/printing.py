"""What a report prints where no terminal is."""

from __future__ import annotations

import io
from collections.abc import Callable

from rich.console import Console

from envbisect.report.console import console_for


def printed(render: Callable[[Console], None]) -> str:
    stream = io.StringIO()
    render(console_for(stream))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())

"""What a report prints where no terminal is."""

from __future__ import annotations

import io
from collections.abc import Callable

from rich.console import Console

from envbisect.report.console import rendered


def printed(render: Callable[[Console], None]) -> str:
    return rendered(render, io.StringIO()).removesuffix("\n")

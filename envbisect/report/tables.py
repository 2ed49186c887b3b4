"""The one look of every table: aligned columns, no lines, nothing cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def plain_table(*headings: str, indent: int = 0) -> Table:
    """A table without lines; long cells fold on a narrow terminal and are never cut."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    if indent:
        table.add_column("", width=indent - 2)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table

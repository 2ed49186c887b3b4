"""The key table in the documentation is the registry's."""

from __future__ import annotations

from pathlib import Path

from envbisect.keys import all_specs
from envbisect.keys.document import render_markdown

DOCS = Path(__file__).parents[2] / "docs"


def test_the_committed_table_is_up_to_date() -> None:
    committed = (DOCS / "keys.md").read_text()

    assert committed == render_markdown(), "run: python -m envbisect.keys.document > docs/keys.md"


def test_every_key_is_a_row_with_as_many_cells_as_the_header() -> None:
    rows = [line for line in render_markdown().splitlines() if line.startswith("| `")]

    assert [row.split("`")[1] for row in rows] == [spec.name for spec in all_specs()]
    assert {row.count(" | ") for row in rows} == {4}

"""Generated pages say what the code says."""

from __future__ import annotations

from pathlib import Path

from envbisect.cli.app import COMMANDS
from envbisect.cli.document import render_markdown
from envbisect.errors import ExitCode

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_of_the_command_line_is_up_to_date() -> None:
    assert (DOCS / "cli.md").read_text() == render_markdown(), "run: python -m envbisect.cli.document > docs/cli.md"


def test_the_reference_names_every_command() -> None:
    page = render_markdown()
    assert all(f"## {module.__name__.rpartition('.')[2]}\n" in page for module in COMMANDS)


def test_every_exit_code_is_documented() -> None:
    page = (DOCS / "exit-codes.md").read_text()
    for code in ExitCode:
        assert f"\n| {code.value} |" in page

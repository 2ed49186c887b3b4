"""What the README promises is what runs."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMANDS = re.compile(r"^    (?:\$ )?(tools/\S+)", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("manifests/**/*.md"), *ROOT.glob("benchmarks/**/*.md")]
)


def test_the_two_commands_of_the_readme_exist() -> None:
    commands = set(COMMANDS.findall((ROOT / "README.md").read_text()))
    assert {"tools/quickstart", "tools/check"} <= commands
    for command in commands:
        assert os.access(ROOT / command, os.X_OK), command


def test_ci_runs_the_readmes_test_command_and_nothing_else() -> None:
    lines = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line and not line.startswith("#")]
    assert lines[-1] == "exec tools/check"
    assert lines[:-1] == ["set -euo pipefail", 'cd "$(dirname "${BASH_SOURCE[0]}")/.."']
    assert "tools/check" in COMMANDS.findall((ROOT / "README.md").read_text())


def test_check_runs_every_tool_once() -> None:
    steps = re.findall(r"^step (.+)$", (ROOT / "tools" / "check").read_text(), re.MULTILINE)
    assert [step.split()[0] for step in steps] == ["ruff", "ruff", "mypy", "lint-imports", "python", "pytest"]
    assert "--check" in steps[1]
    assert "--cov" in steps[-1]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_inside_the_repository_lead_somewhere(document: Path) -> None:
    for target in LINK.findall(document.read_text()):
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        place = (document.parent / path).resolve() if path else document
        assert place.exists(), f"{document.name}: {target}"
        if anchor:
            assert anchor in anchors(place), f"{document.name}: {target}"


def anchors(document: Path) -> set[str]:
    """The anchors of a Markdown file's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_anchors_are_made_as_on_github(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Exit codes\n## `run`: find it\n")
    assert anchors(page) == {"exit-codes", "run-find-it"}

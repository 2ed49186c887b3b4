"""The real regressions of ``manifests/``, by name, through the console script, against their written answers."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.console_script import envbisect

MANIFESTS = Path(__file__).parents[2] / "manifests"
CASES = sorted(path.parent for path in MANIFESTS.glob("regressions/*/expected.toml"))
EXIT_CODES = {"culprit": 0, "suspects": 1}


def test_there_are_regressions() -> None:
    assert len(CASES) >= 3


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_says_what_broke(case: Path) -> None:
    names = {path.name for path in case.iterdir() if path.is_file()}
    assert {"good.toml", "bad.toml", "test.py", "README.md", "expected.toml"} <= names
    assert "**Right answer.**" in (case / "README.md").read_text()


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_answer_is_right(case: Path, tmp_path: Path) -> None:
    expected = tomllib.loads((case / "expected.toml").read_text())
    ran = envbisect(
        "run", "good.toml", "bad.toml", "--session", str(tmp_path / "session"), "--json", cwd=case, timeout_s=900
    )
    document = ran.document
    assert document["status"] == expected["status"], ran.err
    assert ran.code == EXIT_CODES[expected["status"]]
    found = document["culprits"] if expected["status"] == "culprit" else document["suspects"]
    assert len(found) == 1
    assert found[0]["confidence"] >= 0.95
    assert named(found[0]["changes"], expected["changes"]) == named(expected["changes"], expected["changes"])


def named(changes: list[dict[str, Any]], like: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The changes by key, with the fields that the written answer has."""
    fields = sorted({field for change in like for field in change})
    return {change["key"]: {field: change.get(field) for field in fields} for change in changes}

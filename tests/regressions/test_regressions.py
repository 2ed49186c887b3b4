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
    assert len(CASES) >= 8


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_says_what_broke(case: Path) -> None:
    names = {path.name for path in case.iterdir() if path.is_file()}
    assert {"good.toml", "bad.toml", "test.py", "README.md", "expected.toml"} <= names
    assert "**Right answer.**" in (case / "README.md").read_text()


def needs(case: Path) -> pytest.MarkDecorator:
    """A torch that is not moved is that of the interpreter; everything else comes from the index."""
    good = tomllib.loads((case / "good.toml").read_text())
    return pytest.mark.torch if "torch" in good["python"]["packages"] else pytest.mark.network


@pytest.mark.slow
@pytest.mark.parametrize("case", [pytest.param(case, marks=needs(case), id=case.name) for case in CASES])
def test_the_answer_is_right(case: Path, tmp_path: Path) -> None:
    expected = tomllib.loads((case / "expected.toml").read_text())
    confidence = expected.get("confidence", 0.95)
    options = ["--session", str(tmp_path / "session"), "--confidence", str(confidence), "--json"]
    ran = envbisect("run", "good.toml", "bad.toml", *options, cwd=case, timeout_s=900)
    document = ran.document
    assert document["status"] == expected["status"], ran.err
    assert ran.code == EXIT_CODES[expected["status"]]
    found = document["culprits"] if expected["status"] == "culprit" else document["suspects"]
    assert len(found) == 1
    assert found[0]["confidence"] >= confidence
    assert named(found[0]["changes"], expected["changes"]) == named(expected["changes"], expected["changes"])


def test_the_table_of_the_documentation_has_every_case() -> None:
    table = (MANIFESTS.parent / "docs" / "regressions.md").read_text()
    for case in CASES:
        line = f"\n| [{case.name}](../manifests/regressions/{case.name}/README.md) |"
        assert table.count(line) == 1, f"run: python benchmarks/regressions.py {case.name} --out docs/regressions.md"


def named(changes: list[dict[str, Any]], like: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The changes by key, with the fields that the written answer has."""
    fields = sorted({field for change in like for field in change})
    return {change["key"]: {field: change.get(field) for field in fields} for change in changes}

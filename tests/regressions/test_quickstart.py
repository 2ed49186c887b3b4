"""The quickstart: two torch flags that do nothing alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.cli.console_script import envbisect

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
QUICKSTART = ROOT / "manifests" / "quickstart"


def test_seven_keys_and_more_differ(tmp_path: Path) -> None:
    ran = envbisect("diff", str(QUICKSTART / "good.toml"), str(QUICKSTART / "bad.toml"), "--json", cwd=tmp_path)
    keys = {delta["key"] for delta in ran.document["deltas"]}
    assert {"torch.deterministic", "torch.threads"} < keys
    assert len(keys) >= 7


@pytest.mark.slow
@pytest.mark.torch
def test_the_pair_is_found(tmp_path: Path) -> None:
    manifests = [str(QUICKSTART / name) for name in ("good.toml", "bad.toml")]
    ran = envbisect("run", *manifests, "--session", "session", "--json", cwd=tmp_path, timeout_s=600)
    document = ran.document
    assert (ran.code, document["status"]) == (0, "culprit"), ran.err
    culprit = document["culprits"][0]
    assert "repeat.index_put" in [culprit["symptom"], *culprit["also"]]
    expected = tomllib.loads((QUICKSTART / "expected.toml").read_text())
    by_key = {change["key"]: change for change in culprit["changes"]}
    assert by_key == {change["key"]: change for change in expected["changes"]}
    assert culprit["confidence"] >= 0.95
    assert culprit["reversal"]["all"] == "cures"
    report = envbisect("show", "session", cwd=tmp_path).out
    assert changes_table(report) == changes_table(README.read_text())


def changes_table(text: str) -> list[list[str]]:
    """The words of the lines between the culprit's headline and the evidence, in a report or in the README."""
    lines = [line.split() for line in text.splitlines()]
    begins = next(place for place, words in enumerate(lines) if words[:2] == ["Culprit", "of"])
    ends = next(place for place, words in enumerate(lines) if words == ["Evidence"])
    return lines[begins + 1 : ends]

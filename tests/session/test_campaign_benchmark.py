"""The benchmark of whole runs counts what it says, and its stored table is its own."""

from __future__ import annotations

from pathlib import Path

import campaign as benchmark
import pytest

TABLE = Path(__file__).parents[2] / "docs" / "campaign.md"


def test_a_deterministic_run_is_right_and_its_parts_add_up() -> None:
    one = benchmark.campaign(benchmark.Row("", ("AB",), known=10), 3)
    assert one.answered
    assert one.right
    assert one.complete
    assert one.ends == 4
    assert 8 <= one.search + one.verification <= 16


def test_with_all_every_culprit_has_to_be_named_to_be_right(monkeypatch: pytest.MonkeyPatch) -> None:
    row = benchmark.Row("", ("A", "B"), find_all=True)
    assert benchmark.campaign(row, 0).right
    monkeypatch.setattr(benchmark.Simulated, "run", lambda self, **options: RUN(self, **{**options, "find_all": False}))
    assert not benchmark.campaign(row, 0).right


RUN = benchmark.Simulated.run


def test_a_wrong_answer_of_a_deterministic_test_fails_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    row = benchmark.Row("14 flags, {A}", ("A",))
    text, fine = benchmark.line(row, 2)
    assert fine
    assert text.startswith("| 14 flags, {A} | 2 + 2 | ")
    assert "| 2/2 | 2/2 | 2/2 |" in text
    monkeypatch.setattr(benchmark, "culprit_of", lambda sizes, finding: (0,) * len(sizes))
    text, fine = benchmark.line(row, 2)
    assert not fine
    assert "| 0/2 | 2/2 |" in text


def test_the_stored_table_has_every_line_and_no_wrong_deterministic_answer() -> None:
    lines = [line for line in TABLE.read_text().splitlines() if line.startswith("| ") and "culprits" not in line]
    assert len(lines) == len(benchmark.ROWS) * len(benchmark.KNOWN)
    for line in lines:
        right, answered, _ = (cell.strip() for cell in line.split("|")[7:10])
        told, of = right.split("/")
        assert int(told) >= 0.9 * int(of)
        if "p = " not in line:
            assert right == answered

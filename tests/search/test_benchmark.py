"""The benchmark runs and counts what it says."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "search.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_of_the_search", SCRIPT)
    if spec is None or spec.loader is None:
        pytest.fail(f"{SCRIPT} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_lines_count_questions_and_right_answers(benchmark: ModuleType) -> None:
    for row in benchmark.ROWS[:2]:
        text, fine = benchmark.line(row, benchmark.ENDS[0], 2)
        cells = [cell.strip() for cell in text.strip("|").split("|")]
        assert fine
        assert cells[:2] == [row.name, "2 + 2"]
        assert 3 <= float(cells[2]) <= 12
        assert cells[4:6] == ["2/2", "2/2"]


def test_every_row_draws_its_culprits_inside_its_lattice(benchmark: ModuleType) -> None:
    for row in benchmark.ROWS:
        for point in row.draw(benchmark.random.Random(1)):
            assert any(point)
            assert all(0 <= step <= size for step, size in zip(point, row.sizes, strict=True))


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_git_bisect_finds_the_first_bad_commit(benchmark: ModuleType) -> None:
    tests, seconds = benchmark.git_bisect(16, 5)
    assert 3 <= tests <= 6
    assert seconds > 0

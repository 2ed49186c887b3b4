"""Numbers of a test: files, last lines, ranks."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from envbisect.payload.metrics import collect, numbers_in

NUMBERS = st.dictionaries(st.text(min_size=1, max_size=5), st.floats(-1e9, 1e9) | st.integers(-1000, 1000), max_size=4)


@given(NUMBERS)
def test_every_finite_number_of_an_object_is_read(numbers: dict[str, float]) -> None:
    assert numbers_in(json.dumps(numbers)) == {name: float(value) for name, value in numbers.items()}


@given(st.text(max_size=40))
def test_any_other_line_is_no_numbers_and_no_error(line: str) -> None:
    assert all(isinstance(value, float) for value in numbers_in(line).values())


def test_what_is_no_finite_number_is_left_out() -> None:
    line = '{"a": 1, "b": true, "c": "2", "d": NaN, "e": Infinity, "f": [1], "g": null, "h": 1e999, "i": %s}' % (
        "9" * 400
    )
    assert numbers_in(line) == {"a": 1.0}


def test_deep_nesting_is_no_numbers() -> None:
    assert numbers_in('{"a":' * 100_000) == {}


def test_ranks_are_put_together_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    for rank, value in ((0, 1.0), (1, 5.0), (10, 3.0)):
        Path(f"{path}.rank{rank}").write_text(json.dumps({"a": value, "b": value}))
    reported = collect(str(path), [], {"b": "rank0"})
    assert (reported.values, reported.faults) == ({"a": 5.0, "b": 1.0}, [])


def test_the_file_comes_before_the_last_line_and_the_last_value_counts(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\n')
    reported = collect(str(path), [(None, '{"a": 9, "b": 4}')], {})
    assert reported.values == {"a": 2.0, "b": 4.0}
    assert reported.samples == {"a": [1.0, 2.0]}


def test_a_file_that_is_no_object_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text("[1, 2]")
    assert collect(str(path), [], {}).faults == ["metrics.jsonl: a JSON object of numbers is expected"]

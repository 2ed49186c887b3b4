"""The journal keeps what it said, loses at most the torn last line, and notices every other change."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.session.journal import Journal, RecordType, read


def filled(path: Path, count: int = 3) -> bytes:
    journal = Journal(path)
    for n in range(count):
        journal.append(RecordType.FINISHED, {"n": n, "text": "é\n"})
    journal.close()
    return path.read_bytes()


def test_records_come_back_in_order(tmp_path: Path) -> None:
    filled(tmp_path / "j")
    with closing(Journal(tmp_path / "j")) as journal:
        assert [record.data["n"] for record in journal.of(RecordType.FINISHED)] == [0, 1, 2]
    assert [record.seq for record in read(tmp_path / "j")] == [0, 1, 2]


def test_cut_anywhere_in_the_last_record_loses_only_that_record(tmp_path: Path) -> None:
    path = tmp_path / "j"
    content = filled(path)
    start = content[:-1].rindex(b"\n") + 1
    for cut in range(start, len(content)):
        path.write_bytes(content[:cut])
        journal = Journal(path)
        assert len(journal.records) == 2
        journal.append(RecordType.DECIDED, {"again": True})
        journal.close()
        assert [record.seq for record in read(path)] == [0, 1, 2]


def test_garbage_after_a_torn_write_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "j"
    content = filled(path)
    path.write_bytes(content + b"\x00\x00\x00\n")
    with closing(Journal(path)) as journal:
        assert len(journal.records) == 3
    assert path.read_bytes() == content


@pytest.mark.parametrize("line", [0, 1])
def test_a_changed_record_in_the_middle_is_an_error_that_names_the_line(tmp_path: Path, line: int) -> None:
    path = tmp_path / "j"
    lines = filled(path).splitlines()
    body = json.loads(lines[line])
    body["data"]["n"] = 99
    lines[line] = json.dumps(body).encode()
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(UsageError, match=f"j:{line + 1}: this record was changed"):
        Journal(path)


def test_a_missing_record_in_the_middle_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "j"
    lines = filled(path).splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2] + lines[2])
    with pytest.raises(UsageError, match="j:2"):
        Journal(path)


def test_a_full_disk_is_an_environment_failure_and_what_was_written_stays_readable(tmp_path: Path) -> None:
    content = filled(tmp_path / "j")
    with closing(Journal(tmp_path / "j")) as journal, Path("/dev/full").open("ab", buffering=0) as full:
        journal._file.close()
        journal._file = full
        with pytest.raises(EnvironmentFailure, match="No space left"):
            journal.append(RecordType.OPENED, {})
    assert (tmp_path / "j").read_bytes() == content

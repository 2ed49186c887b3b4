"""A session folder has one owner, says so, and is never written half."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.session.store import SessionFolder, default_path, read_json, write_json


def test_a_second_owner_is_refused_with_the_first_one_s_process_id(tmp_path: Path) -> None:
    folder = SessionFolder.create(tmp_path / "s")
    folder.write("session.json", {"schema": 1})
    with pytest.raises(UsageError, match=f"in use by process {os.getpid()}"):
        SessionFolder.open(tmp_path / "s")
    with pytest.raises(UsageError, match="in use"):
        SessionFolder.create(tmp_path / "s")
    folder.close()
    SessionFolder.open(tmp_path / "s").close()


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    code = (
        "import os, sys, pathlib; from envbisect.session.store import SessionFolder as S;"
        "f = S.create(pathlib.Path(sys.argv[1])); f.write('session.json', {'schema': 1}); os.kill(os.getpid(), 9)"
    )
    finished = subprocess.run([sys.executable, "-c", code, str(tmp_path / "s")], check=False)
    assert finished.returncode == -9
    SessionFolder.open(tmp_path / "s").close()


def test_a_finished_session_is_not_overwritten(tmp_path: Path) -> None:
    folder = SessionFolder.create(tmp_path / "s")
    folder.write("session.json", {"schema": 1})
    folder.close()
    with pytest.raises(UsageError, match="holds a session already") as caught:
        SessionFolder.create(tmp_path / "s")
    assert "envbisect resume" in caught.value.hint


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(UsageError, match="not empty"):
        SessionFolder.create(tmp_path)
    with pytest.raises(UsageError, match="holds no session"):
        SessionFolder.open(tmp_path)


def test_a_folder_that_cannot_be_made_is_an_environment_failure() -> None:
    with pytest.raises(EnvironmentFailure, match="cannot be made"):
        SessionFolder.create(Path("/proc/envbisect-session"))


def test_documents_are_replaced_whole(tmp_path: Path) -> None:
    write_json(tmp_path / "d.json", {"schema": 1, "n": 1})
    write_json(tmp_path / "d.json", {"schema": 1, "n": 2})
    assert read_json(tmp_path / "d.json")["n"] == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["d.json"]


def test_a_document_that_was_edited_is_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "d.json", {"schema": 1, "axes": [1, 2]})
    text = (tmp_path / "d.json").read_text()
    (tmp_path / "d.json").write_text(text.replace("2", "3"))
    with pytest.raises(UsageError, match="was changed or damaged"):
        read_json(tmp_path / "d.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"schema": 99}', '{"schema": "x"}', "[" * 200_000])
def test_a_damaged_or_newer_document_is_one_clear_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "d.json").write_text(text)
    with pytest.raises(UsageError, match=r"d\.json"):
        read_json(tmp_path / "d.json")


def test_default_names_sort_by_time_and_never_collide(tmp_path: Path) -> None:
    now = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
    names = {default_path(tmp_path, now) for _ in range(50)}
    assert len(names) == 50
    assert all(path.name.startswith("20261101-120000-") for path in names)

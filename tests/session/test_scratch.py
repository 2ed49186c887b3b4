"""Temporary folders go with their process, however it ends."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from envbisect.session.scratch import PREFIX, scratch

HOLDS = """
import sys
from envbisect.session.scratch import scratch
with scratch() as folder:
    (folder / "inside").write_text("x")
    print(folder, flush=True)
    sys.stdin.read()
"""


def holder(base: Path) -> subprocess.Popen[str]:
    """A process that holds a folder until its input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        env={"TMPDIR": str(base), "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def folder_of(process: subprocess.Popen[str]) -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_gone_afterwards_also_after_an_error(base: Path) -> None:
    def work() -> None:
        with scratch() as folder:
            (folder / "file").write_text("x")
            assert [path.name for path in base.iterdir()] == [folder.name]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        work()
    assert list(base.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_holds_is_not(base: Path) -> None:
    with holder(base) as doomed, holder(base) as other:
        killed, living = folder_of(doomed), folder_of(other)
        doomed.kill()
        doomed.wait()
        assert (killed / "inside").exists()
        with scratch():
            assert not killed.exists()
            assert (living / "inside").exists()
        other.communicate()
    assert list(base.iterdir()) == []


def test_a_link_with_such_a_name_is_left_alone(base: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").write_text("x")
    (base / f"{PREFIX}link").symlink_to(elsewhere)
    with scratch():
        pass
    assert (elsewhere / "kept").exists()

"""A command that cannot be started is known before; whatever ``exec`` would start has no problem."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from envbisect.backends.commands import command_problem


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for name, text, mode in (
        ("fine.sh", "#!/bin/sh\nexit 0\n", 0o755),
        ("bin/tool", "#!/bin/sh\nexit 0\n", 0o755),
        ("closed.sh", "#!/bin/sh\n", 0o644),
        ("lost.sh", "#!/opt/gone/python -u\n", 0o755),
        ("dos.sh", "#!/bin/sh\r\n", 0o755),
    ):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(text.encode())
        file.chmod(mode)
    (tmp_path / "dangling").symlink_to("nowhere")
    return tmp_path


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("no-such-tool", "not found on the PATH"),
        ("fine.sh", "write ./fine.sh"),
        ("./gone.sh", "is not there"),
        ("./bin", "is a folder"),
        ("./closed.sh", "not executable"),
        ("./lost.sh", "names an interpreter that is not there: '/opt/gone/python'"),
        ("./dos.sh", "names an interpreter that is not there"),
        ("./dangling", "is a broken link"),
        ("./fine.sh/deeper", "cannot be looked at"),
    ],
)
def test_what_cannot_be_started_is_said_and_exec_agrees(here: Path, program: str, words: str) -> None:
    problem = command_problem([program, "x"], here, "/usr/bin:/bin")
    assert words in problem
    assert "\n" not in problem
    with pytest.raises(OSError):
        subprocess.run([program, "x"], cwd=here, env={"PATH": "/usr/bin:/bin"}, check=False)


@pytest.mark.parametrize(("program", "path"), [("./fine.sh", ""), ("tool", "/nowhere:bin"), ("sh", "/usr/bin:/bin")])
def test_what_exec_starts_has_no_problem(here: Path, program: str, path: str) -> None:
    assert command_problem([program], here, path) == ""
    done = subprocess.run([program], cwd=here, env={"PATH": path}, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0


def test_python_is_the_environments_own(here: Path) -> None:
    assert command_problem(["python", "train.py"], here, "/nowhere") == ""


def test_a_folder_on_path_does_not_hide_a_program(here: Path) -> None:
    (here / "first" / "tool").mkdir(parents=True)
    assert command_problem(["tool"], here, f"{here}/first:{here}/bin") == ""
    assert "is a folder" in command_problem(["tool"], here, f"{here}/first")

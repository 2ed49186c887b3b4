"""A session's paths, read from another folder than the one of the run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from envbisect.cli.located import located
from tests.cli.console_script import SCRIPT, envbisect
from tests.cli.test_run import write_case


def document(run_in: Path, **other: Any) -> dict[str, Any]:
    commands = [
        "envbisect burnin m/good.toml --backend=local -- python 'a b.py'",
        "envbisect burnin .envbisect/s --at culprit",
        f"envbisect burnin {run_in}/m/bad.toml",
    ]
    return {
        "session": ".envbisect/s",
        "inputs": {"good": f"{run_in}/m/good.toml", "bad": f"{run_in}/m/bad.toml"},
        "reproduce": [{"command": command, "expect": "passes"} for command in commands],
        **other,
    }


def test_where_the_run_was_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = document(tmp_path)
    assert located(told, ".envbisect/s") is told


def test_elsewhere_the_session_is_absolute_and_commands_go_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_in = tmp_path / "the run"
    run_in.mkdir()
    monkeypatch.chdir(tmp_path)
    told = located(document(run_in), "the run/.envbisect/s")
    assert told["session"] == f"{run_in}/.envbisect/s"
    assert [line["command"] for line in told["reproduce"]] == [
        f"cd '{run_in}' && envbisect burnin m/good.toml --backend=local -- python 'a b.py'",
        f"envbisect burnin '{run_in}/.envbisect/s' --at culprit",
        f"envbisect burnin {run_in}/m/bad.toml",
    ]


def test_a_session_elsewhere_is_absolute_already(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_in = tmp_path / "run"
    run_in.mkdir()
    monkeypatch.chdir(tmp_path)
    told = located(document(run_in, session=f"{tmp_path}/sessions/s"), "sessions/s")
    assert told["session"] == f"{tmp_path}/sessions/s"
    assert told["reproduce"][0]["command"].startswith(f"cd {run_in} && envbisect burnin m/good.toml")


def test_what_show_prints_elsewhere_works_there(tmp_path: Path) -> None:
    case, elsewhere = tmp_path / "case", tmp_path / "elsewhere"
    case.mkdir()
    elsewhere.mkdir()
    write_case(case)
    run = envbisect("run", "good.toml", "bad.toml", "--session", "s", "--max-probes", "5", "--json", cwd=case)
    assert run.document["session"] == "s"
    shown = envbisect("show", "../case/s", "--json", cwd=elsewhere)
    assert shown.code == run.code
    assert Path(shown.document["session"]) == case / "s"
    path = f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}"
    codes = [
        subprocess.run(
            ["bash", "-c", line["command"]], cwd=elsewhere, env={**os.environ, "PATH": path}, check=False
        ).returncode
        for line in shown.document["reproduce"]
    ]
    assert codes == [0, 1]

"""A whole run of a tiny real case through the console script: documents, exit codes, going on after an end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.console_script import SCRIPT, Ran, envbisect

FAILS_AS_PAIR = """\
import os, sys
sys.exit(1 if os.environ["ALGO"] == "Tree" and int(os.environ["LEVEL"]) >= 3 else 0)
"""
NEVER_ENDS = """\
import os, pathlib, time
pathlib.Path(os.environ["STARTED"]).write_text(str(os.getpid()))
time.sleep(300)
"""


def manifest(algo: str, level: int, test: str = "t.py", more: str = "") -> str:
    return (
        f'schema = 1\nname = "{algo}"\n[env]\nALGO = "{algo}"\nLEVEL = "{level}"\nNOISE = "{algo}"\n'
        f'[burnin]\ncommand = ["python", "{test}"]\ntimeout_s = 60\n'
        f'[axes]\n"env.LEVEL" = ["0", "1", "2", "3", "4"]\n{more}'
    )


def write_case(folder: Path) -> Path:
    (folder / "t.py").write_text(FAILS_AS_PAIR)
    (folder / "good.toml").write_text(manifest("Ring", 0))
    (folder / "bad.toml").write_text(manifest("Tree", 4))
    return folder


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_case(tmp_path_factory.mktemp("case"))


@pytest.fixture(scope="module")
def finished(case: Path) -> Ran:
    return envbisect("run", "good.toml", "bad.toml", "--session", "s", "--json", cwd=case)


def changes(document: Any) -> dict[str, tuple[object, ...]]:
    fields = ("good", "last_good", "first_bad", "bad")
    return {row["key"]: tuple(row[field] for field in fields) for row in document["culprits"][0]["changes"]}


def test_the_culprit_is_found_at_its_boundary(finished: Ran) -> None:
    assert (finished.code, finished.document["status"]) == (0, "culprit"), finished.err
    assert changes(finished.document) == {
        "env.ALGO": ("Ring", "Ring", "Tree", "Tree"),
        "env.LEVEL": ("0", "2", "3", "4"),
    }


def test_the_document_has_every_part_of_the_contract(finished: Ran) -> None:
    document = finished.document
    parts = {"schema", "status", "culprits", "suspects", "symptoms", "unmovable", "contradictions", "probes", "seconds"}
    assert parts | {"session"} <= set(document)
    assert document["schema"] == 1
    assert {"total", "good", "bad", "unresolved", "built", "endpoints", "verification"} <= set(document["probes"])
    assert {"total", "build", "burnin"} <= set(document["seconds"])
    culprit = document["culprits"][0]
    assert {"symptom", "also", "confidence", "complete", "certificate", "reversal", "riders"} <= set(culprit)
    assert {row["role"] for row in culprit["certificate"]} >= {"culprit", "neighbour"}
    assert culprit["reversal"]["all"] == "cures"
    assert culprit["confidence"] >= 0.95


def test_json_without_a_terminal_keeps_stderr_empty(finished: Ran) -> None:
    assert finished.err == ""


def test_show_and_resume_print_the_same_document_with_the_same_code(finished: Ran, case: Path) -> None:
    for command in ("show", "resume"):
        again = envbisect(command, "s", "--json", cwd=case)
        assert again.code == finished.code
        assert again.document == finished.document


def test_the_report_for_people_ends_with_commands_that_work(finished: Ran, case: Path) -> None:
    report = envbisect("show", "s", cwd=case)
    assert report.code == 0
    assert "env.LEVEL" in report.out
    _, _, block = report.out.partition("Reproduce with:\n")
    commands = [line.strip() for line in block.splitlines() if line.strip()]
    assert len(commands) == 2
    codes = [reproduced(command, case) for command in commands]
    assert codes == ["# fails" in command for command in commands]
    assert sorted(codes) == [0, 1]


def reproduced(command: str, case: Path) -> int:
    """The exit code of a line of the report, typed into a shell that finds envbisect."""
    path = f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(["bash", "-c", command], cwd=case, env={**os.environ, "PATH": path}, check=False).returncode


def test_progress_and_report_go_to_their_streams(tmp_path: Path) -> None:
    ran = envbisect("run", "good.toml", "bad.toml", cwd=write_case(tmp_path))
    assert ran.code == 0
    assert "Culprit of command" in ran.out
    assert "Session: .envbisect/" in ran.out
    assert "endpoints" in ran.err
    assert "the good stack" in ran.err


def test_the_same_stack_twice_is_not_reproduced(case: Path) -> None:
    ran = envbisect("run", "good.toml", "good.toml", "--json", cwd=case)
    assert (ran.code, ran.document["status"]) == (1, "not-reproduced")


def test_a_test_after_two_dashes_needs_no_burnin(tmp_path: Path) -> None:
    for name, value in (("good", "0"), ("bad", "1")):
        (tmp_path / f"{name}.toml").write_text(f'schema = 1\nname = "{name}"\n[env]\nX = "{value}"\nY = "{value}"\n')
    program = "import os, sys; sys.exit(int(os.environ['X']))"
    ran = envbisect("run", "good.toml", "bad.toml", "--json", "--", "python", "-c", program, cwd=tmp_path)
    assert (ran.code, ran.document["status"]) == (0, "culprit"), ran.err
    assert list(changes(ran.document)) == ["env.X"]


def test_a_spent_budget_is_said_and_can_be_gone_on_from(tmp_path: Path) -> None:
    case = write_case(tmp_path)
    ran = envbisect("run", "good.toml", "bad.toml", "--session", "s", "--max-probes", "5", "--json", cwd=case)
    assert (ran.code, ran.document["status"]) == (1, "budget")
    assert ran.document["probes"]["total"] <= 5
    again = envbisect("resume", "s", "--json", cwd=case)
    assert (again.code, again.document) == (1, ran.document)
    more = envbisect("resume", "s", "--max-probes", "100", "--json", cwd=case)
    assert (more.code, more.document["status"]) == (0, "culprit"), more.err
    assert changes(more.document)["env.LEVEL"] == ("0", "2", "3", "4")


def test_plan_says_what_a_run_would_do_and_runs_nothing(case: Path, tmp_path: Path) -> None:
    copy = write_case(tmp_path)
    told = envbisect("plan", "good.toml", "bad.toml", "--json", cwd=copy)
    assert told.code == 0
    axes = json.dumps(told.document)
    assert all(key in axes for key in ("env.ALGO", "env.LEVEL", "env.NOISE"))
    plain = envbisect("plan", "good.toml", "bad.toml", cwd=copy)
    assert plain.code == 0
    assert all(key in plain.out for key in ("env.ALGO", "env.LEVEL", "env.NOISE"))
    assert {path.name for path in copy.iterdir()} == {"t.py", "good.toml", "bad.toml"}


def test_burnin_runs_one_stack_once(case: Path) -> None:
    assert envbisect("burnin", "good.toml", cwd=case).code == 0
    failed = envbisect("burnin", "bad.toml", "--json", cwd=case)
    assert failed.code == 1
    assert failed.document["schema"] == 1


def test_burnin_fails_a_number_above_its_max(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("print('{\"p99_ms\": 25.4}')\n")
    for name, limit in (("tight", 20), ("wide", 30)):
        (tmp_path / f"{name}.toml").write_text(
            f'schema = 1\n[burnin]\ncommand = ["python", "t.py"]\n[burnin.metrics.p99_ms]\nmax = {limit}.0\n'
        )
    assert envbisect("burnin", "wide.toml", cwd=tmp_path).code == 0
    ran = envbisect("burnin", "tight.toml", cwd=tmp_path)
    assert ran.code == 1
    assert "p99_ms 25.4 is above its max 20" in ran.out
    assert "1 check, 1 failed" in ran.out
    by_file = envbisect("burnin", "wide.toml", "--burnin", "tight.toml", "--json", cwd=tmp_path)
    assert (by_file.code, by_file.document["checks"][0]["status"]) == (1, "fail")


def test_burnin_runs_both_sides_of_the_boundary(finished: Ran, case: Path) -> None:
    assert finished.code == 0
    assert [envbisect("burnin", "s", "--at", at, cwd=case).code for at in ("neighbour", "culprit")] == [0, 1]
    for words in (("--checks", "repeat"), ("--", "true")):
        refused = envbisect("burnin", "s", "--at", "culprit", *words, cwd=case)
        assert refused.code == 2
        assert "--at runs what the session ran" in refused.err
    nowhere = envbisect("burnin", "s", "--at", "middle", cwd=case)
    assert (nowhere.code, "--at middle" in nowhere.err) == (2, True)
    no_session = envbisect("burnin", "good.toml", "--at", "culprit", cwd=case)
    assert (no_session.code, "good.toml holds none" in no_session.err) == (2, True)


def test_a_missing_manifest_is_one_line_also_with_progress(case: Path) -> None:
    ran = envbisect("run", "good.toml", "none.toml", cwd=case)
    assert ran.code == 2
    assert "none.toml: cannot be read" in ran.err
    assert ran.err.count("\n") == 1


def test_an_unknown_backend_is_refused(case: Path) -> None:
    for backend in ("docker", "vm", "nonsense"):
        ran = envbisect("run", "good.toml", "bad.toml", "--backend", backend, cwd=case)
        assert ran.code == 2
        assert backend in ran.err
        assert ran.err.count("\n") == 1


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_can_be_resumed(stop: signal.Signals, tmp_path: Path) -> None:
    case = write_case(tmp_path)
    started = case / "started"
    (case / "t.py").write_text(NEVER_ENDS)
    process = subprocess.Popen(
        [SCRIPT, "run", "good.toml", "bad.toml", "--session", "s", "--json"],
        cwd=case,
        env={**os.environ, "STARTED": str(started)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not (started.exists() and started.read_text()):
        assert time.monotonic() < deadline, "the test never began"
        time.sleep(0.05)
    process.send_signal(stop)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert json.loads(out)["status"] == "interrupted"
    assert "Traceback" not in err
    assert not Path(f"/proc/{started.read_text()}").exists()

    (case / "t.py").write_text(FAILS_AS_PAIR)
    resumed = envbisect("resume", "s", "--json", cwd=case)
    assert (resumed.code, resumed.document["status"]) == (0, "culprit"), resumed.err

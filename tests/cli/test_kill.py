"""``kill -9`` at any moment of a real run: nothing survives, and ``resume`` gives the same answer."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from envbisect.session.journal import RecordType, read
from tests.cli.console_script import SCRIPT, envbisect
from tests.cli.test_run import changes, write_case


def started(folder: Path, session: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [SCRIPT, "run", "good.toml", "bad.toml", "--session", session, "--json"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def records(folder: Path, session: str) -> int:
    journal = folder / session / "journal.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def processes_in(folder: Path) -> list[str]:
    """Command lines of all processes whose working directory is ``folder`` or below it."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if (entry / "cwd").readlink().is_relative_to(folder):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it ended meanwhile
    return found


@pytest.mark.slow
def test_killed_at_any_record_the_answer_is_the_same_and_one_probe_at_most_is_repeated(tmp_path: Path) -> None:
    write_case(tmp_path)
    whole = envbisect("run", "good.toml", "bad.toml", "--session", "whole", "--json", cwd=tmp_path).document
    total = records(tmp_path, "whole")
    for kill_at in range(1, total, 4):
        session = f"killed-{kill_at}"
        process = started(tmp_path, session)
        deadline = time.monotonic() + 60
        while records(tmp_path, session) < kill_at and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        deadline = time.monotonic() + 10
        while processes_in(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert processes_in(tmp_path) == []
        before = sum(r.type is RecordType.FINISHED for r in read(tmp_path / session / "journal.jsonl"))
        resumed = envbisect("resume", session, "--json", cwd=tmp_path)
        assert resumed.code == 0, resumed.err
        assert changes(resumed.document) == changes(whole)
        assert resumed.document["probes"] == whole["probes"]
        after = [r.data["number"] for r in read(tmp_path / session / "journal.jsonl") if r.type is RecordType.FINISHED]
        assert after == list(range(1, whole["probes"]["total"] + 1))
        assert before <= len(after)


@pytest.mark.slow
def test_a_killed_controller_takes_its_test_along(tmp_path: Path) -> None:
    write_case(tmp_path)
    (tmp_path / "t.py").write_text("import time\ntime.sleep(600)\n")
    process = started(tmp_path, "s")
    deadline = time.monotonic() + 60
    while not any("t.py" in line for line in processes_in(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert any("t.py" in line for line in processes_in(tmp_path))
    process.kill()
    process.wait()
    deadline = time.monotonic() + 10
    while processes_in(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_in(tmp_path) == []

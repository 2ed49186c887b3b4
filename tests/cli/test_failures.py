"""What goes wrong with stacks, tests and machines ends in one clear line, with its exit code, and without damage."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.console_script import SCRIPT, Ran, envbisect

STACK = (
    'schema = 1\n[env]\nA = "{value}"\nB = "{value}"\n[burnin]\ncommand = ["python", "t.py"]\ntimeout_s = {timeout_s}\n'
)
PACKAGE = (
    'schema = 1\n[python]\nversion = "3.11"\n[python.packages]\nsix = "{version}"\n'
    '[burnin]\ncommand = ["python", "t.py"]\n'
)


def stacks(folder: Path, test: str, timeout_s: float = 30) -> Path:
    (folder / "t.py").write_text(test)
    (folder / "good.toml").write_text(STACK.format(value=0, timeout_s=timeout_s))
    (folder / "bad.toml").write_text(STACK.format(value=1, timeout_s=timeout_s))
    return folder


def packages(folder: Path, good: str, bad: str) -> Path:
    (folder / "t.py").write_text("import six\nraise SystemExit(six.__version__ >= '1.16.0')\n")
    (folder / "good.toml").write_text(PACKAGE.format(version=good))
    (folder / "bad.toml").write_text(PACKAGE.format(version=bad))
    return folder


def run(folder: Path, *words: str, environ: dict[str, str] | None = None) -> Ran:
    return envbisect("run", "good.toml", "bad.toml", *words, "--json", cwd=folder, environ=environ, timeout_s=300)


def test_a_good_stack_that_fails_is_said_after_four_runs(tmp_path: Path) -> None:
    ran = run(stacks(tmp_path, "raise SystemExit(1)\n"))
    assert (ran.code, ran.document["status"]) == (1, "good-fails")
    assert ran.document["probes"]["total"] <= 4
    assert "the good end failed" in ran.document["reason"]


def test_a_bad_stack_that_passes_is_not_reproduced(tmp_path: Path) -> None:
    ran = run(stacks(tmp_path, "pass\n"))
    assert (ran.code, ran.document["status"]) == (1, "not-reproduced")
    assert ran.document["probes"]["endpoints"] == ran.document["probes"]["total"] == 20
    assert all(symptom["bound"] < 0.35 for symptom in ran.document["symptoms"])


def test_a_test_that_never_returns_in_the_bad_stack_is_a_culprit_like_any_other(tmp_path: Path) -> None:
    ran = run(stacks(tmp_path, "import os, time\nif os.environ['A'] == '1': time.sleep(600)\n", timeout_s=1.5))
    assert (ran.code, ran.document["status"]) == (0, "culprit")
    assert [change["key"] for change in ran.document["culprits"][0]["changes"]] == ["env.A"]
    assert ran.document["symptoms"][0]["signatures"] == ["hang"]


def test_a_test_that_never_returns_anywhere_ends_all_the_same(tmp_path: Path) -> None:
    ran = run(stacks(tmp_path, "import time\ntime.sleep(600)\n", timeout_s=1.0))
    assert (ran.code, ran.document["status"]) == (1, "good-fails")


def test_a_test_that_cannot_be_started_is_a_usage_error(tmp_path: Path) -> None:
    ran = envbisect("run", "good.toml", "bad.toml", "--json", "--", "nosuchprog", cwd=stacks(tmp_path, ""))
    assert ran.code == 2
    assert "nosuchprog" in ran.document["error"]["message"]


def test_a_session_in_use_is_refused_and_left_alone(tmp_path: Path) -> None:
    stacks(tmp_path, "import os, time\ntime.sleep(1)\nraise SystemExit(os.environ['A'] == '1')\n")
    first = subprocess.Popen(
        [SCRIPT, "run", "good.toml", "bad.toml", "--session", "s", "--json"], cwd=tmp_path, stdout=subprocess.PIPE
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / "s" / "journal.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    for words in (("run", "good.toml", "bad.toml", "--session", "s"), ("resume", "s")):
        second = envbisect(*words, "--json", cwd=tmp_path)
        assert second.code == 2
        assert f"in use by process {first.pid}" in second.document["error"]["message"]
    out, _ = first.communicate(timeout=120)
    assert first.returncode == 0
    assert b'"status": "culprit"' in out


def test_a_folder_that_cannot_be_written_is_exit_3(tmp_path: Path) -> None:
    ran = run(stacks(tmp_path, "pass\n"), "--session", "/proc/envbisect-session")
    assert ran.code == 3
    assert "cannot be made" in ran.document["error"]["message"]
    assert "--session" in ran.document["error"]["hint"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one mebibyte."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=False, capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_fills_up_is_exit_3_and_resume_goes_on_once_there_is_room(small_disk: Path) -> None:
    stacks(small_disk, "import os\nraise SystemExit(os.environ['A'] == '1')\n")
    filler = small_disk / "filler"
    with filler.open("wb") as file:
        file.write(b"0" * 940_000)
    full = run(small_disk, "--session", "s")
    assert full.code == 3
    assert "full" in full.err or "No space left" in full.err
    assert len(full.err.strip().splitlines()) == 1
    filler.unlink()
    begun = (small_disk / "s" / "session.json").exists()
    words = ("resume", "s") if begun else ("run", "good.toml", "bad.toml", "--session", "t")
    again = envbisect(*words, "--json", cwd=small_disk)
    assert again.code == 0
    assert [change["key"] for change in again.document["culprits"][0]["changes"]] == ["env.A"]


@pytest.mark.network
def test_a_version_that_does_not_exist_names_the_nearest(tmp_path: Path) -> None:
    ran = run(packages(tmp_path, "1.15.0", "9.9.9"))
    assert ran.code == 2
    assert "six 9.9.9 is not published" in ran.document["error"]["message"]
    assert "1.17.0" in ran.document["error"]["hint"]


@pytest.mark.slow
def test_without_a_network_the_index_is_named_and_the_exit_code_is_3(tmp_path: Path) -> None:
    nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    ran = run(packages(tmp_path, "1.15.0", "1.16.0"), environ={**nowhere, "XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert ran.code == 3
    assert "cannot be reached" in ran.document["error"]["message"]
    assert not (tmp_path / ".envbisect").exists() or not any((tmp_path / ".envbisect").iterdir())

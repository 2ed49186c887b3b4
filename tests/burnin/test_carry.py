"""Carrying: complete, idempotent, and usable where nothing may be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from envbisect.burnin.carry import ENTRY, PACKAGE, carry


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _state(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.rglob("*.py")}


def test_the_folder_holds_the_entry_and_one_package_of_an_uncommon_name(tmp_path: Path) -> None:
    assert carry(tmp_path / "made" / "deep") == tmp_path / "made" / "deep" / ENTRY
    assert _names(tmp_path / "made" / "deep") == [ENTRY, PACKAGE]
    assert _names(tmp_path / "made" / "deep" / PACKAGE / "site") == ["sitecustomize.py"]


def test_carrying_again_writes_nothing_and_repairs_what_was_changed(tmp_path: Path) -> None:
    entry = carry(tmp_path)
    before = _state(tmp_path)
    assert carry(tmp_path) == entry
    assert _state(tmp_path) == before
    original = entry.read_bytes()
    entry.write_text("raise SystemExit('old')")
    carry(tmp_path)
    assert entry.read_bytes() == original


def test_the_entry_says_how_it_is_used_and_needs_no_installed_envbisect(tmp_path: Path) -> None:
    entry = carry(tmp_path)
    for path in [tmp_path, *tmp_path.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(entry)], capture_output=True, text=True, check=False, cwd="/"
    )
    assert (done.returncode, done.stderr) == (2, "usage: envbisect_entry.py REQUEST.json RESULT.json\n")


def test_the_payload_imports_nothing_of_envbisect(tmp_path: Path) -> None:
    carry(tmp_path)
    for path in tmp_path.rglob("*.py"):
        assert "from envbisect" not in path.read_text()
        assert "import envbisect" not in path.read_text()

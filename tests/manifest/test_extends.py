"""Layers of manifests: the child wins, every fault keeps its own file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from envbisect.errors import ManifestError
from envbisect.manifest import load

Write = Callable[..., Path]


def test_tables_merge_key_by_key_and_the_child_wins(write: Write) -> None:
    write('name = "root"\n[env]\nA = "0"\nB = "0"\nC = "0"\n[burnin]\nrounds = 9\ntimeout_s = 7\n', "root.toml")
    write('extends = "root.toml"\n[env]\nB = "1"\nC = "1"\n[burnin.metrics.m]\nmax = 1\n', "base.toml")
    child = load(
        write('extends = "base.toml"\n[env]\nC = "2"\n[burnin]\nrounds = 5\n[burnin.metrics.m]\nworse = "higher"\n')
    )

    assert child.components() == {"env.A": "0", "env.B": "1", "env.C": "2"}
    assert (child.burnin.rounds, child.burnin.timeout_s) == (5, 7)
    assert child.burnin.metrics["m"].max == 1
    assert child.burnin.metrics["m"].worse == "higher"
    assert child.name == "good", "the name is the child's own, never inherited"
    assert (child.place("env.A").file, child.place("env.A").line) == (str(child.folder / "root.toml"), 4)


def test_a_pin_is_replaced_whole_whatever_its_spelling(write: Write) -> None:
    write('[python.packages]\nMy_Pkg = { git = "https://x/y", rev = "a", patches = [] }\nother = "1"\n', "base.toml")
    child = load(write('extends = "base.toml"\n[python.packages]\nmy-pkg = "2.0"\n'))

    assert child.components() == {"python.packages.my-pkg": "2.0", "python.packages.other": "1"}


def test_lists_are_replaced_whole(write: Write) -> None:
    write('[burnin]\ncommand = ["python", "a.py", "--long"]\n[axes]\n"torch.threads" = [1, 2, 4]\n', "base.toml")
    child = load(write('extends = "base.toml"\n[burnin]\ncommand = ["true"]\n[axes]\n"torch.threads" = [1, 8]\n'))

    assert child.burnin.command == ("true",)
    assert child.axes == {"torch.threads": (1, 8)}


def test_paths_belong_to_the_file_that_names_them(write: Write, tmp_path: Path) -> None:
    digest = "sha256:" + "0" * 64
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "p.patch").write_text("")
    pin = '{ git = "https://x/y", rev = "r", patches = ["p.patch"] }'
    write(f'[inputs]\n"w.bin" = "{digest}"\n[python.packages]\na = {pin}\n', "base/base.toml")
    child = load(write(f'extends = "base/base.toml"\n[inputs]\n"w.bin" = "{digest}"\n'))

    assert set(child.components()) == {"inputs.base/w.bin", "inputs.w.bin", "python.packages.a"}
    package = child.components()["python.packages.a"]
    assert isinstance(package, dict)
    assert package["patches"] == [str(tmp_path / "base" / "p.patch")]


def test_faults_of_all_files_come_at_once_child_first(write: Write, tmp_path: Path) -> None:
    write("\n\n[torch]\nthreads = 0\n[burnin]\nrounds = 0\n", "base.toml")
    path = write('extends = "base.toml"\n[torch]\nthread = 1\n[burnin]\nstall_s = 0\n')

    with pytest.raises(ManifestError) as raised:
        load(path)

    assert [(Path(fault.file).name, fault.line, fault.key) for fault in raised.value.faults] == [
        ("good.toml", 4, "torch.thread"),
        ("good.toml", 6, "burnin.stall_s"),
        ("base.toml", 5, "torch.threads"),
        ("base.toml", 7, "burnin.rounds"),
    ]


@pytest.mark.parametrize("names", [("good.toml",), ("a.toml", "good.toml"), ("a.toml", "b.toml", "a.toml")])
def test_a_cycle_is_an_error_not_a_hang(write: Write, names: tuple[str, ...]) -> None:
    current = "good.toml"
    for name in names:
        write(f'extends = "{name}"\n', current)
        current = name

    with pytest.raises(ManifestError, match="cycle"):
        load(write(f'extends = "{names[0]}"\n'))


def test_a_base_that_is_missing_is_a_fault_beside_the_others(write: Write) -> None:
    path = write('extends = "nowhere.toml"\n[torch]\nthreads = 0\n')

    with pytest.raises(ManifestError) as raised:
        load(path)

    assert [(fault.line, fault.key) for fault in raised.value.faults] == [(2, "extends"), (4, "torch.threads")]
    assert "nowhere.toml" in raised.value.faults[0].message


@pytest.mark.parametrize("target", ["../outside.toml", "link.toml", "sub/../../outside.toml"])
def test_a_base_outside_the_folder_is_refused(tmp_path: Path, target: str) -> None:
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "outside.toml").write_text("schema = 1\n")
    (folder / "link.toml").symlink_to(tmp_path / "outside.toml")
    path = folder / "good.toml"
    path.write_text(f'schema = 1\nextends = "{target}"\n')

    with pytest.raises(ManifestError, match="leaves the folder"):
        load(path)

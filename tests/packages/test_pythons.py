"""Interpreters that are really there, and what they can install."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from packaging.tags import Tag

from envbisect.errors import UsageError
from envbisect.packages.pythons import find_python, interrogate, python_satisfies, wheel_tags

THIS = f"{sys.version_info.major}.{sys.version_info.minor}"


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_this_python_is_found_without_a_path_and_is_no_virtual_environment() -> None:
    found = find_python(THIS, {"HOME": "/nowhere"})
    assert found is not None
    assert interrogate(str(found)) == ("{}.{}.{}".format(*sys.version_info[:3]), str(found))
    assert not (found.parent.parent / "pyvenv.cfg").exists()


def test_shims_that_do_not_start_and_liars_are_passed_over(tmp_path: Path) -> None:
    script(tmp_path / "a" / "python9.9", "echo 'pyenv: command not found' >&2; exit 127")
    script(tmp_path / "b" / "python3.99", f"printf 'CPython\\n3.98.0\\n{tmp_path}/old\\n'")
    script(tmp_path / "c" / "python3.99", f"printf 'PyPy\\n3.99.0\\n{tmp_path}/pypy\\n'")
    script(tmp_path / "d" / "python3.99", f"printf 'CPython\\n3.99.4\\n{tmp_path}/right\\n'")
    environ = {"PATH": ":".join(str(tmp_path / name) for name in "abcd"), "HOME": str(tmp_path)}
    assert find_python("3.99", environ) == tmp_path / "right"
    assert find_python("3.99.4", environ) == tmp_path / "right"
    assert find_python("3.99.5", environ) is None
    assert find_python("3.9", {"PATH": "", "HOME": str(tmp_path)}) is None or THIS == "3.9"


def test_pyenv_and_managed_ones_newest_first(tmp_path: Path) -> None:
    for patch in (2, 10, 9):
        home = tmp_path / f"versions/3.99.{patch}/bin/python3.99"
        script(home, f"printf 'CPython\\n3.99.{patch}\\n{tmp_path}/{patch}\\n'")
    managed = tmp_path / "uv/cpython-3.98.1-linux-x86_64-gnu/bin/python3.98"
    script(managed, f"printf 'CPython\\n3.98.1\\n{tmp_path}/managed\\n'")
    environ = {"PYENV_ROOT": str(tmp_path), "UV_PYTHON_INSTALL_DIR": str(tmp_path / "uv"), "HOME": str(tmp_path)}
    assert find_python("3.99", environ) == tmp_path / "10"
    assert find_python("3.99.9", environ) == tmp_path / "9"
    assert find_python("3.98", environ) == tmp_path / "managed"


@pytest.mark.parametrize("version", ["", "three", "2.7", "3.11.7.1", "3.x", ">=3.11"])
def test_no_python_version(version: str) -> None:
    with pytest.raises(UsageError, match="not a Python version"):
        find_python(version)


def test_tags_of_another_python() -> None:
    ranks = wheel_tags("3.9.18", ("manylinux_2_17_x86_64", "linux_x86_64"))
    best, stable = Tag("cp39", "cp39", "manylinux_2_17_x86_64"), Tag("cp38", "abi3", "linux_x86_64")
    pure = Tag("py3", "none", "any")
    assert ranks[best] < ranks[stable] < ranks[pure]
    assert Tag("cp310", "cp310", "manylinux_2_17_x86_64") not in ranks
    assert Tag("cp37", "cp37m", "linux_x86_64") in wheel_tags("3.7", ("linux_x86_64",))


@pytest.mark.parametrize(
    ("specifier", "python", "met"),
    [
        (">=3.8", "3.11", True),
        (">=3.12", "3.11", False),
        (">=3.11.4", "3.11", True),
        (">=3.11.4", "3.11.3", False),
        ("<3.11", "3.11", False),
        ("!=3.11.*", "3.11", False),
        (">=3.6.*", "3.11", True),
        ("", "3.11", True),
    ],
)
def test_requires_python(specifier: str, python: str, met: bool) -> None:
    assert python_satisfies(specifier, python) is met

"""Which runtime a comparison gets, and what is refused."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from envbisect.backends.interpreter import Need
from envbisect.backends.local import LocalRuntime
from envbisect.backends.registry import RUNTIMES, Settings, choose
from envbisect.backends.venv import VenvRuntime
from envbisect.errors import UsageError
from envbisect.keys.spec import Mover
from envbisect.manifest.stack import Pin

HERE = Path(sys.executable)


def test_flags_alone_need_no_build(tmp_path: Path) -> None:
    chosen = choose({Mover.ENV, Mover.TORCH}, python=HERE)
    assert chosen.spec.name == "local"
    assert chosen.unmoved == frozenset()
    assert "env, torch" in chosen.why
    assert str(HERE) in chosen.why
    assert isinstance(chosen.make(Settings(tmp_path, tmp_path / "entry.py")), LocalRuntime)


@pytest.mark.parametrize("mover", [Mover.PACKAGES, Mover.PYTHON])
def test_packages_need_environments_of_their_own(tmp_path: Path, mover: Mover) -> None:
    chosen = choose({Mover.ENV, mover})
    assert chosen.spec.name == "venv"
    assert mover.value in chosen.why
    assert isinstance(chosen.make(Settings(tmp_path, tmp_path / "entry.py")), VenvRuntime)


def test_equal_pins_are_honoured_by_an_interpreter_that_has_them_or_built() -> None:
    assert choose({Mover.ENV}, need=Need(pins=(Pin("pytest", pytest.__version__),))).spec.name == "local"
    chosen = choose({Mover.ENV}, need=Need(pins=(Pin("pytest", "0.0.1"),)))
    assert chosen.spec.name == "venv"
    assert "pytest 0.0.1" in chosen.why


def test_a_named_interpreter_is_not_replaced_by_a_build() -> None:
    with pytest.raises(UsageError, match=r"lacks .*pytest 0\.0\.1"):
        choose({Mover.ENV}, need=Need(pins=(Pin("pytest", "0.0.1"),)), python=HERE)


def test_what_the_test_imports_must_be_somewhere() -> None:
    with pytest.raises(UsageError, match="no_such_module_anywhere"):
        choose({Mover.ENV}, need=Need(imports=("no_such_module_anywhere",)))


def test_what_nobody_can_move_is_left_and_said() -> None:
    chosen = choose({Mover.ENV, Mover.KERNEL, Mover.NOBODY}, python=HERE)
    assert chosen.spec.name == "local"
    assert chosen.unmoved == {Mover.KERNEL, Mover.NOBODY}
    assert choose({Mover.PACKAGES}, "local", python=HERE).unmoved == {Mover.PACKAGES}


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("docker", "docker cannot be used yet", "local or venv"),
        ("vm", "vm cannot be used yet", "local or venv"),
        ("vnev", "no backend 'vnev'", "venv"),
        ("???", "no backend", "local, venv"),
    ],
)
def test_what_cannot_be_used_is_refused_clearly(name: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        choose({Mover.ENV}, name)
    assert hint in caught.value.hint


def test_runtimes_are_ordered_by_what_they_move() -> None:
    for smaller, larger in pairwise(RUNTIMES):
        assert smaller.moves < larger.moves

"""A session's realisations outlive its process, whatever happens to their file."""

from __future__ import annotations

from pathlib import Path

import pytest

from envbisect.errors import EnvironmentFailure
from envbisect.session.realisations import Realisations
from envbisect.space import Lattice
from envbisect.space.model import Axis, Infeasible, Realised, Step, StepSource


def lattice(tmp_path: Path) -> Lattice:
    axis = Axis("env.A", (Step("0"), Step("1"), Step("2")), StepSource.DECLARED)
    return Lattice((axis,), (), (), {}, tmp_path, None, None)


def test_what_was_resolved_is_taken_again_and_a_torn_line_is_not(tmp_path: Path) -> None:
    path, space = tmp_path / "realised.jsonl", lattice(tmp_path)
    kept = Realisations(path)
    one, none = space.realise((1,)), Infeasible((2,), "a needs b<1")
    assert isinstance(one, Realised)
    kept.keep(one)
    kept.keep(one)
    kept.keep(none)
    path.write_text(path.read_text() + '{"schema":1,"asked":[0],"poi')
    again = lattice(tmp_path)
    recalled = Realisations(path)
    recalled.recall(again)
    assert again.realise((1,)) == one
    assert again.realise((2,)) == none
    assert isinstance(again.realise((0,)), Realised)
    before = path.read_text()
    recalled.keep(one)
    assert path.read_text() == before
    recalled.keep(again.realise((0,)))
    third = lattice(tmp_path)
    Realisations(path).recall(third)
    assert third.realise((2,)) == none


def test_a_folder_that_is_gone_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailure, match="cannot be written"):
        Realisations(tmp_path / "gone" / "realised.jsonl").keep(Infeasible((0,), "why"))

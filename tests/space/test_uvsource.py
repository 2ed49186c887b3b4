"""The same tiny worlds, published as real wheels and resolved by the real uv: both resolvers must agree."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from envbisect.errors import UsageError
from envbisect.keys.spec import Mover
from envbisect.packages.config import read_config
from envbisect.space import build_space
from envbisect.space.index import Question, RequirementsConflict
from envbisect.space.lattice import Lattice
from envbisect.space.model import Infeasible, Realised
from envbisect.space.uvsource import UvPackages
from tests.space.worlds import Releases, World, manifest, publish

VENV = frozenset(Mover)
MOMENT = "2030-01-01T00:00:00Z"
WORLD: Releases = {
    "eb-app": {"1.0": ["eb-lib>=1,<2"], "1.1": ["eb-lib>=1,<2"], "2.0": ["eb-lib>=2", "eb-odd"], "2.1": ["eb-lib>=2"]},
    "eb-lib": {"1.0": [], "1.5": [], "2.0": ["eb-dep"], "2.5": ["eb-dep"]},
    "eb-dep": {"0.1": [], "0.2": []},
    "eb-odd": {"5": [], "6": ["eb-dep<1"]},
    "eb-root": {"7": []},
}


@pytest.fixture
def source(tmp_path: Path) -> UvPackages:
    config = read_config([publish(tmp_path / "index", WORLD)], folder=tmp_path, environ={"HOME": str(tmp_path)})
    return UvPackages(config, tmp_path / "cache")


def closures(space: Lattice) -> dict[tuple[int, ...], object]:
    found: dict[tuple[int, ...], object] = {}
    for asked in product(*(range(size + 1) for size in space.sizes)):
        outcome = space.realise(asked)
        assert not isinstance(outcome, Infeasible)
        assert outcome.stack.closure is not None
        found[asked] = (outcome.point, outcome.stack.closure.pins, outcome.riders)
    return found


@pytest.mark.slow
def test_uv_agrees_with_brute_force_at_every_point(tmp_path: Path, source: UvPackages) -> None:
    good = manifest(tmp_path, "good", {"eb-app": "1.0", "eb-lib": "1.0", "eb-root": "7"})
    bad = manifest(tmp_path, "bad", {"eb-app": "2.1", "eb-lib": "2.5", "eb-dep": "0.1"})
    real = build_space(good, bad, movers=VENV, moment=MOMENT, index=source)
    brute = build_space(good, bad, movers=VENV, moment=MOMENT, index=World(WORLD))
    assert [axis.key for axis in real.axes] == [axis.key for axis in brute.axes]
    assert [[step.value for step in axis.steps] for axis in real.axes] == [
        [step.value for step in axis.steps] for axis in brute.axes
    ]
    assert closures(real) == closures(brute)
    assert any("no upload dates" in note for note in real.notes)


def test_a_conflict_is_told_from_what_was_never_published(source: UvPackages) -> None:
    with pytest.raises(RequirementsConflict) as conflict:
        source.resolve(Question("3.11", ("eb-app==1.0", "eb-lib==2.0")))
    assert "eb-lib" in conflict.value.packages
    with pytest.raises(UsageError, match="not published"):
        source.resolve(Question("3.11", ("eb-app==9",)))


def test_parents_are_those_that_require(source: UvPackages) -> None:
    parents = source.resolve(Question("3.11", ("eb-app==2.1", "eb-root"))).parents
    assert parents["eb-dep"] == ("eb-lib",)
    assert parents["eb-root"] == ()


def test_a_realised_point_is_exactly_what_was_resolved(tmp_path: Path, source: UvPackages) -> None:
    good, bad = (manifest(tmp_path, name, {"eb-app": version}) for name, version in (("good", "1.0"), ("bad", "2.1")))
    space = build_space(good, bad, movers=VENV, moment=MOMENT, index=source)
    outcome = space.realise((2, *(0 for _ in space.sizes[1:])))
    assert isinstance(outcome, Realised)
    assert outcome.stack.closure is not None
    lines = [pin.requirement() for pin in outcome.stack.closure.pins]
    assert source.resolve(Question("3.11", tuple(lines))).closure.pins == outcome.stack.closure.pins


def test_a_derived_prerelease_comes_back_as_it_was(tmp_path: Path) -> None:
    releases: Releases = {
        "eb-app": {"1": [], "2": ["eb-dep"], "3": ["eb-dep>=2.0rc1"]},
        "eb-dep": {"1.0": [], "2.0rc1": [], "2.0rc2": []},
    }
    config = read_config([publish(tmp_path / "index", releases)], folder=tmp_path, environ={"HOME": str(tmp_path)})
    good = manifest(tmp_path, "good", {"eb-app": "1"})
    bad = manifest(tmp_path, "bad", {"eb-app": "3", "eb-dep": "2.0rc1"})
    source = UvPackages(config, tmp_path / "cache")
    space = build_space(good, bad, movers=VENV, moment=MOMENT, index=source)
    outcome = space.realise((1,))
    assert isinstance(outcome, Realised)
    assert outcome.stack.closure is not None
    assert outcome.stack.closure.version("eb-dep") == "2.0rc1"

"""Spaces from real manifests over tiny worlds: axes, realisation, riders, exact exchanges, documents."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from envbisect.errors import EnvbisectError, EnvironmentFailure, UsageError
from envbisect.keys.spec import Mover
from envbisect.manifest import load
from envbisect.manifest.freeze import read_freeze
from envbisect.manifest.stack import Pin
from envbisect.space import (
    build_space,
    overview,
    realised_document,
    realised_from_document,
    space_document,
    space_from_document,
)
from envbisect.space.index import Answer, Question
from envbisect.space.lattice import Lattice, fewer_moved
from envbisect.space.model import Configuration, Infeasible, Realised, Rider, StepSource
from tests.space.worlds import World, manifest

LOCAL = frozenset({Mover.ENV, Mover.TORCH, Mover.DATALOADER, Mover.LAUNCH, Mover.CODE, Mover.INPUTS})
VENV = LOCAL | {Mover.PYTHON, Mover.PACKAGES}
MOMENT = "2025-01-01T00:00:00Z"


def points(space: Lattice) -> Iterator[Configuration]:
    yield from product(*(range(size + 1) for size in space.sizes))


def realised(space: Lattice, asked: Configuration) -> Realised:
    outcome = space.realise(asked)
    assert isinstance(outcome, Realised), outcome
    return outcome


def pins(outcome: Realised) -> dict[str, str]:
    assert outcome.stack.closure is not None
    return {pin.name: pin.version for pin in outcome.stack.closure.pins}


def build(
    folder: Path,
    world: World,
    good: Mapping[str, str],
    bad: Mapping[str, str],
    *,
    good_extra: str = "",
    bad_extra: str = "",
) -> Lattice:
    ends = manifest(folder, "good", good, good_extra), manifest(folder, "bad", bad, bad_extra)
    return build_space(*ends, movers=VENV, moment=MOMENT, index=world)


# Without packages.


def test_flags_and_declared_steps_without_an_index(tmp_path: Path) -> None:
    good = manifest(
        tmp_path,
        "good",
        extra='[env]\nNCCL_ALGO = "Ring"\nSAME = "1"\n[torch]\nthreads = 8\n[dataloader]\nnum_workers = 8\n'
        '[axes]\n"dataloader.num_workers" = [0, 2, 4, 8]\n',
    )
    bad = manifest(tmp_path, "bad", extra='[env]\nSAME = "1"\n[torch]\nthreads = 2\n[dataloader]\nnum_workers = 2\n')
    space = build_space(good, bad, movers=LOCAL, moment=MOMENT)
    assert [(axis.key, axis.size) for axis in space.axes] == [
        ("dataloader.num_workers", 2),
        ("env.NCCL_ALGO", 1),
        ("torch.threads", 1),
    ]
    middle = realised(space, (1, 1, 0))
    assert middle.stack.components == {
        "dataloader.num_workers": 4,
        "env.SAME": "1",
        "python.version": "3.11",
        "torch.threads": 8,
    }
    assert middle.point == (1, 1, 0)
    assert middle.stack.closure is None
    assert middle.stack.folder == good.folder
    identities = {realised(space, point).stack.identity() for point in points(space)}
    assert len(identities) == 12


def test_what_the_runtime_cannot_move_stays_and_is_listed(tmp_path: Path) -> None:
    good = manifest(tmp_path, "good", {"numpy": "1.0"}, '[host]\ndriver = "535.1"\nkernel = "5.15"\n[env]\nA = "1"\n')
    bad = manifest(tmp_path, "bad", {"numpy": "2.0"}, '[host]\ndriver = "550.2"\nkernel = "6.1"\n[env]\nA = "2"\n')
    space = build_space(good, bad, movers=LOCAL, moment=MOMENT, machine={"host.driver": "550.2"})
    assert [axis.key for axis in space.axes] == ["env.A"]
    assert [(one.key, one.stays) for one in space.unmovable] == [
        ("host.driver", "550.2"),
        ("host.kernel", None),
        ("python.packages.numpy", None),
    ]
    assert all(one.reason for one in space.unmovable)
    stack = realised(space, (1,)).stack
    assert (stack.components["host.driver"], stack.components["env.A"]) == ("550.2", "2")
    assert "host.kernel" not in stack.components
    assert stack.closure is None


def test_what_is_unknown_at_one_end_and_moved_by_nobody_is_as_the_machine_has_it(tmp_path: Path) -> None:
    freeze = tmp_path / "requirements.txt"
    freeze.write_text("")
    bad = manifest(tmp_path, "bad", extra='[host]\ndriver = "550.2"\n[env]\nA = "1"\n')
    space = build_space(read_freeze(freeze), bad, movers=LOCAL, moment=MOMENT)
    assert "host.driver is unknown at one end: it is as this machine has it, and no suspect" in space.notes
    assert "env.A is unknown at one end: it is '1' everywhere, and no suspect" in space.notes


def test_a_point_outside_the_space_is_refused(tmp_path: Path) -> None:
    good, bad = manifest(tmp_path, "good", extra='[env]\nA = "1"\n'), manifest(tmp_path, "bad")
    space = build_space(good, bad, movers=LOCAL, moment=MOMENT)
    for point in [(2,), (-1,), (), (0, 0)]:
        with pytest.raises(UsageError, match="no configuration of this space"):
            space.realise(point)


def test_equal_ends_have_no_axes(tmp_path: Path) -> None:
    same = manifest(tmp_path, "good", extra='[env]\nA = "1"\n')
    space = build_space(same, same, movers=LOCAL, moment=MOMENT)
    assert space.axes == ()
    assert isinstance(space.realise(()), Realised)


def test_a_python_version_moves_without_packages(tmp_path: Path) -> None:
    good, bad = manifest(tmp_path, "good"), manifest(tmp_path, "bad", version='"3.13"')
    space = build_space(good, bad, movers=VENV, moment=MOMENT, index=World({}))
    closures = [realised(space, point).stack.closure for point in points(space)]
    assert [closure.python for closure in closures if closure] == ["3.11", "3.12", "3.13"]


# With packages.

SIMPLE = World(
    {
        "app": {"1.0": ["lib>=1,<2"], "1.1": ["lib>=1,<2"], "2.0": ["lib>=2"], "2.1": ["lib>=2"]},
        "lib": {"1.0": [], "1.5": [], "2.0": ["extra-dep"], "2.5": ["extra-dep"]},
        "extra-dep": {"0.1": [], "0.2": []},
        "old-dep": {"3.0": []},
        "tool": {"1": [], "2": [], "3": []},
        "root": {"7": ["old-dep"]},
        "same": {"4": []},
    }
)


def simple(folder: Path) -> Lattice:
    return build(
        folder,
        SIMPLE,
        {"app": "1.0", "lib": "1.0", "tool": "3", "root": "7", "old-dep": "3.0", "same": "4"},
        {"app": "2.1", "lib": "2.5", "extra-dep": "0.1", "tool": "1", "same": "4"},
    )


def test_axes_of_packages(tmp_path: Path) -> None:
    space = simple(tmp_path)
    steps = {axis.key.removeprefix("python.packages."): [step.value for step in axis.steps] for axis in space.axes}
    assert steps == {
        "app": ["1.0", "1.1", "2.0", "2.1"],
        "lib": ["1.0", "1.5", "2.0", "2.5"],
        "root": ["7", None],
        "tool": ["3", "2", "1"],
    }
    assert [axis.source for axis in space.axes] == [
        StepSource.RELEASES,
        StepSource.RELEASES,
        StepSource.PRESENCE,
        StepSource.RELEASES,
    ]


def test_the_ends_are_exactly_the_ends(tmp_path: Path) -> None:
    space = simple(tmp_path)
    assert space.packages is not None
    good, bad = realised(space, (0, 0, 0, 0)), realised(space, space.sizes)
    assert good.stack.closure == space.packages.facts.good
    assert bad.stack.closure == space.packages.facts.bad
    assert pins(good) == {"app": "1.0", "lib": "1.0", "tool": "3", "root": "7", "old-dep": "3.0", "same": "4"}
    assert pins(bad) == {"app": "2.1", "lib": "2.5", "extra-dep": "0.1", "tool": "1", "same": "4"}
    assert good.riders == ()
    assert bad.riders == (
        Rider("python.packages.extra-dep", None, "0.1"),
        Rider("python.packages.old-dep", "3.0", None),
    )


def test_a_conflict_is_snapped_and_the_companion_moves(tmp_path: Path) -> None:
    space = simple(tmp_path)
    up = realised(space, (2, 0, 0, 0))  # app alone is raised: lib comes along
    assert (up.asked, up.point) == ((2, 0, 0, 0), (2, 2, 0, 0))
    assert pins(up)["extra-dep"] == "0.1"  # at its end's version, though 0.2 exists
    down = realised(space, (3, 1, 1, 2))  # lib alone is lowered: app comes along
    assert down.point == (1, 1, 1, 2)


def test_every_point_realises_to_a_solution_of_what_it_asks(tmp_path: Path) -> None:
    space = simple(tmp_path)
    for asked in points(space):
        outcome = realised(space, asked)
        assert space.possible(asked) is (outcome.point == asked)
        have = pins(outcome)
        for axis, step in zip(space.axes, outcome.point, strict=True):
            assert have.get(axis.key.removeprefix("python.packages.")) == axis.steps[step].value
        for name, version in have.items():
            for requirement in SIMPLE.active(name, version, "3.11"):
                assert requirement.specifier.contains(have[requirement.name])


def test_environment_axes_share_resolutions_and_never_move(tmp_path: Path) -> None:
    world = World(SIMPLE.releases)
    space = build(
        tmp_path,
        world,
        {"app": "1.0", "lib": "1.0"},
        {"app": "2.1", "lib": "2.5"},
        good_extra='[env]\nA = "1"\n',
        bad_extra='[env]\nA = "2"\n',
    )
    before = len(world.questions)
    outcomes = [realised(space, (flag, 2, 1)) for flag in (0, 1)]
    assert [outcome.point[0] for outcome in outcomes] == [0, 1]
    assert outcomes[0].stack.closure == outcomes[1].stack.closure or outcomes[0].point[1:] != outcomes[1].point[1:]
    assert len(world.questions) - before <= 2
    asked = len(world.questions)
    assert space.realise((0, 2, 1)) is outcomes[0]
    assert len(world.questions) == asked


def test_a_derived_package_floats_only_where_its_version_is_ruled_out(tmp_path: Path) -> None:
    world = World(
        {
            "app": {"1": [], "2": ["dep<2"], "3": ["dep>=2"], "4": ["dep"]},
            "dep": {"1.0": [], "1.5": [], "2.0": [], "2.1": []},
        }
    )
    space = build(tmp_path, world, {"app": "1"}, {"app": "4", "dep": "2.0"})
    have = [pins(realised(space, (step,))).get("dep") for step in range(4)]
    assert have == [None, "1.5", "2.0", "2.0"]
    assert realised(space, (1,)).riders == (Rider("python.packages.dep", None, "1.5"),)


def test_a_root_that_is_required_in_between_comes_back(tmp_path: Path) -> None:
    world = World({"app": {"1": [], "2": ["plug"], "3": []}, "plug": {"1": []}, "other": {"1": []}})
    space = build(tmp_path, world, {"app": "1", "plug": "1"}, {"app": "3"})
    assert [axis.source for axis in space.axes] == [StepSource.RELEASES, StepSource.PRESENCE]
    assert realised(space, (1, 1)).point in {(0, 1), (2, 1), (1, 0)}
    assert pins(realised(space, (2, 0)))["plug"] == "1"


def test_a_failed_build_is_infeasible_and_is_learned_once(tmp_path: Path) -> None:
    world = World({"yaml": {"1": [], "2": [], "3": []}, "tool": {"1": [], "2": []}}, broken=frozenset({"yaml==2"}))
    space = build(tmp_path, world, {"yaml": "1", "tool": "1"}, {"yaml": "3", "tool": "2"})
    first = space.realise((0, 1))
    assert isinstance(first, Infeasible)
    assert (first.build, first.asked) == (True, (0, 1))
    asked = len(world.questions)
    second = space.realise((1, 1))
    assert isinstance(second, Infeasible)
    assert second.build
    assert len(world.questions) == asked


def test_what_only_the_resolver_sees_leads_to_the_next_nearest(tmp_path: Path) -> None:
    """The metadata of app 2 is unknown, so that the table allows what the resolver does not."""
    world = World(
        {"app": {"1": [], "2": ["lib>=3"], "3": []}, "lib": {"1": [], "2": [], "3": []}}, unknown=frozenset({"app==2"})
    )
    space = build(tmp_path, world, {"app": "1", "lib": "1"}, {"app": "3", "lib": "3"})
    outcome = realised(space, (1, 1))
    assert outcome.point in {(0, 1), (2, 1), (1, 2)}


def test_requires_python_moves_the_package_and_not_python(tmp_path: Path) -> None:
    world = World(
        {"num": {"1": [], "2": [], "3": []}}, requires_python={"num==1": "<3.13", "num==3": ">=3.12", "num==2": ""}
    )
    good = manifest(tmp_path, "good", {"num": "1"})
    bad = manifest(tmp_path, "bad", {"num": "3"}, version='"3.13"')
    space = build_space(good, bad, movers=VENV, moment=MOMENT, index=world)
    assert [axis.key for axis in space.axes] == ["python.packages.num", "python.version"]
    outcomes = {asked: realised(space, asked) for asked in points(space)}
    assert outcomes[0, 2].point == (1, 2)
    assert outcomes[2, 0].point == (1, 0)
    assert all(outcome.point[1] == asked[1] for asked, outcome in outcomes.items())
    closure = outcomes[0, 1].stack.closure
    assert closure is not None
    assert closure.python == "3.12"


def test_an_end_that_contradicts_itself_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contradict each other"):
        build(tmp_path, SIMPLE, {"app": "1.0", "lib": "2.0"}, {"app": "2.1"})


def test_a_complete_end_is_taken_as_it_is_whatever_its_metadata(tmp_path: Path) -> None:
    world = World(SIMPLE.releases)
    good = manifest(tmp_path, "good", {"app": "1.0", "lib": "2.0", "extra-dep": "0.1", "tool": "1"}, complete="true")
    bad = manifest(tmp_path, "bad", {"app": "2.1", "lib": "2.5", "extra-dep": "0.1", "tool": "3"}, complete="true")
    space = build_space(good, bad, movers=VENV, moment=MOMENT, index=world)
    assert world.questions == []
    assert pins(realised(space, (0, 0, 0))) == {"app": "1.0", "lib": "2.0", "extra-dep": "0.1", "tool": "1"}
    middle = realised(space, (0, 0, 1))
    assert middle.point == (0, 0, 1)
    assert pins(middle) == {"app": "1.0", "lib": "2.0", "extra-dep": "0.1", "tool": "2"}


def test_specifiers_become_exact(tmp_path: Path) -> None:
    space = build(tmp_path, SIMPLE, {"app": "<2", "lib": "1.5"}, {"app": ">=2"})
    assert [(axis.steps[0].value, axis.steps[-1].value) for axis in space.axes] == [("1.1", "2.1"), ("1.5", "2.5")]


def test_overrides_beat_the_metadata_between_the_ends_too(tmp_path: Path) -> None:
    """app 2 wants lib 2; the bad end overrides that."""
    world = World(SIMPLE.releases)
    good = manifest(tmp_path, "good", {"app": "1.0", "lib": "1.0"})
    bad = manifest(tmp_path, "bad", {"app": "2.1", "lib": "1.5"}, overrides='["lib==1.5"]')
    space = build_space(good, bad, movers=VENV, moment=MOMENT, index=world)
    middle = realised(space, (2, 0))
    assert middle.point == (2, 0)
    assert pins(middle) == {"app": "2.0", "lib": "1.0"}
    assert world.questions[-1].overrides == ("lib==1.0",)


def test_each_end_floats_as_of_its_own_moment_and_the_middle_as_of_the_later(tmp_path: Path) -> None:
    world = World({"tool": {"1": [], "2": [], "3": []}})
    good = manifest(tmp_path, "good", {"tool": "1"}, exclude_newer='"2024-03-01T00:00:00Z"')
    bad = manifest(tmp_path, "bad", {"tool": "3"}, exclude_newer='"2024-06-01T00:00:00Z"')
    space = build_space(good, bad, movers=VENV, moment=MOMENT, index=world)
    for point in points(space):
        closure = realised(space, point).stack.closure
        assert closure is not None
        assert closure.exclude_newer == "2024-06-01T00:00:00Z"
    moments = [question.exclude_newer for question in world.questions]
    assert moments == ["2024-03-01T00:00:00Z", "2024-06-01T00:00:00Z", "2024-06-01T00:00:00Z"]


def test_a_missing_interpreter_is_an_environment_failure(tmp_path: Path) -> None:
    world = World(SIMPLE.releases, pythons=("3.12",))
    with pytest.raises(EnvironmentFailure, match=r"wants Python 3\.11"):
        build(tmp_path, world, {"tool": "1"}, {"tool": "2"})


def test_images_are_refused(tmp_path: Path) -> None:
    good = manifest(tmp_path, "good", {"tool": "1"}, source='"image"')
    with pytest.raises(EnvbisectError, match="backend for images"):
        build_space(good, good, movers=VENV, moment=MOMENT, index=SIMPLE)


def test_exact_exchanges_single_packages_without_resolving(tmp_path: Path) -> None:
    world = World(SIMPLE.releases)
    space = build(
        tmp_path, world, {"app": "1.0", "lib": "1.0"}, {"app": "2.1", "lib": "2.5"}, good_extra='[env]\nA = "1"\n'
    )
    asked = len(world.questions)
    stack = space.exact((0, 0, 0), {"python.packages.app": "2.1", "python.packages.lib": None, "env.A": None})
    assert stack.closure is not None
    assert stack.closure.pins == (Pin("app", "2.1"),)
    assert "env.A" not in stack.components
    assert len(world.questions) == asked


def test_documents_hold_everything_but_resolutions(tmp_path: Path) -> None:
    space = simple(tmp_path)
    outcomes = [space.realise(point) for point in points(space)]
    document = json.loads(json.dumps(space_document(space)))
    restored = space_from_document(document, index=World(SIMPLE.releases))
    assert space_document(restored) == document
    assert [restored.realise(point) for point in points(restored)] == outcomes
    silent = World(SIMPLE.releases)
    again = space_from_document(document, index=silent)
    for outcome in outcomes:
        again.remember(realised_from_document(json.loads(json.dumps(realised_document(outcome)))))
    assert [again.realise(point) for point in points(again)] == outcomes
    assert silent.questions == []


def test_an_infeasible_outcome_survives_its_document() -> None:
    outcome = Infeasible((1, 2), "why", build=True)
    assert realised_from_document(json.loads(json.dumps(realised_document(outcome)))) == outcome


@pytest.mark.parametrize("document", [{}, {"schema": 2}, {"schema": 1}, {"schema": 1, "axes": [{}], "folder": "/"}])
def test_a_damaged_document_is_one_clear_error(document: dict[str, object]) -> None:
    with pytest.raises(EnvbisectError):
        space_from_document(document)


def test_overview_counts(tmp_path: Path) -> None:
    seen = overview(simple(tmp_path))
    assert seen.configurations == 4 * 4 * 2 * 3
    assert [rider.key for rider in seen.riders] == ["python.packages.extra-dep", "python.packages.old-dep"]
    # of app × lib (16 pairs) 8 are ruled out; of the other 5 pairs of axes none
    assert seen.infeasible_pairs == pytest.approx(8 / (16 + 8 + 12 + 8 + 12 + 6))
    assert seen.resolves
    assert seen.axes[0].first_date.startswith("2024")


def test_bundles_are_said(tmp_path: Path) -> None:
    world = World(
        {"front": {"1": ["core==1"], "2": ["core==2"], "3": ["core==3"]}, "core": {"1": [], "2": [], "3": []}}
    )
    space = build(tmp_path, world, {"front": "1"}, {"front": "3"})
    assert overview(space).bundles == (("python.packages.core", "python.packages.front"),)
    assert any("core, front" in note for note in space.notes)
    assert [realised(space, (core, 1)).point for core in range(3)][1] == (1, 1)


def test_held_are_the_fewer_moved() -> None:
    assert fewer_moved((2, 0, 0), (3, 1, 1)) == {0}
    assert fewer_moved((3, 1, 0), (3, 1, 1)) == {2}
    assert fewer_moved((1, 1), (2, 2)) == frozenset()


# Random worlds: whatever the metadata, an answer is a solution, and "infeasible" is true.

NAMES = ("a", "b", "c")


@st.composite
def random_worlds(draw: st.DrawFn) -> World:
    releases: dict[str, dict[str, list[str]]] = {}
    specifiers = st.sampled_from(["", "<2", ">=2", "==2", "!=3", "<=3"])
    for place, name in enumerate(NAMES):
        later = NAMES[place + 1 :]
        releases[name] = {
            str(version): [other + draw(specifiers) for other in later if draw(st.booleans())]
            for version in range(1, 1 + draw(st.integers(2, 4)))
        }
    return World(releases)


@given(random_worlds(), st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_worlds_against_brute_force(tmp_path: Path, world: World, data: st.DataObject) -> None:
    solutions = list(world.solutions(Question("3.11", NAMES)))
    assume(len(solutions) > 1)
    ends = [data.draw(st.sampled_from(solutions)) for _ in range(2)]
    assume(all(set(end) == set(NAMES) for end in ends))
    space = build(tmp_path, world, ends[0], ends[1])
    for asked in points(space):
        outcome = realised(space, asked)  # the ends are feasible, so there is always something near
        have = pins(outcome)
        asked_here = {
            axis.key.removeprefix("python.packages."): axis.steps[step].value
            for axis, step in zip(space.axes, asked, strict=True)
        }
        feasible = all(
            str(asked_here.get(need.name, ends[0][need.name])) in need.specifier
            for name in NAMES
            for need in world.active(name, str(asked_here.get(name, ends[0][name])), "3.11")
        )
        assert (outcome.point == asked) is feasible
        for name, version in have.items():
            assert all(need.specifier.contains(have[need.name]) for need in world.active(name, version, "3.11"))


def test_what_a_freeze_does_not_list_is_no_difference(tmp_path: Path) -> None:
    """``pip freeze`` leaves pip out: that is unknown, not absent; so is the interpreter of a freeze."""
    freeze = tmp_path / "requirements.txt"
    freeze.write_text("tool==1\n")
    world = World({"tool": {"1": [], "2": []}, "pip": {"24.0": []}})
    bad = manifest(tmp_path, "bad", {"tool": "2", "pip": "24.0"}, complete="true", version='"3.12"')
    space = build_space(read_freeze(freeze), bad, movers=VENV, moment=MOMENT, index=world)
    assert [axis.key for axis in space.axes] == ["python.packages.tool"]
    assert "python.packages.pip is unknown at one end: it is '24.0' everywhere, and no suspect" in space.notes
    assert pins(realised(space, (0,))) == {"pip": "24.0", "tool": "1"}
    closures = [realised(space, point).stack.closure for point in points(space)]
    assert [closure.python for closure in closures if closure] == ["3.12", "3.12"]


def test_an_end_without_packages_is_an_empty_environment(tmp_path: Path) -> None:
    good, bad = manifest(tmp_path, "good"), manifest(tmp_path, "bad", {"tool": "2"})
    space = build_space(good, bad, movers=VENV, moment=MOMENT, index=World({"tool": {"2": []}}))
    assert [axis.source for axis in space.axes] == [StepSource.PRESENCE]
    assert [pins(realised(space, point)) for point in points(space)] == [{}, {"tool": "2"}]


def test_packages_need_an_index(tmp_path: Path) -> None:
    good, bad = manifest(tmp_path, "good", {"tool": "1"}), manifest(tmp_path, "bad", {"tool": "2"})
    with pytest.raises(EnvironmentFailure, match="no package index"):
        build_space(good, bad, movers=VENV, moment=MOMENT)


def test_packages_from_git_are_flags_and_keep_their_patches(tmp_path: Path) -> None:
    (tmp_path / "fix.patch").write_text("")
    git = '[python.packages.plug]\ngit = "https://host/plug.git"\nrev = "%s"\n'
    world = World({"plug": {"1": []}, "tool": {"1": [], "2": []}})
    good = manifest(tmp_path, "good", {"tool": "1"}, git % "abc" + 'patches = ["fix.patch"]\n')
    bad = manifest(tmp_path, "bad", {"tool": "2"}, git % "def")
    space = build_space(good, bad, movers=VENV, moment=MOMENT, index=world)
    assert [(axis.key, axis.source) for axis in space.axes] == [
        ("python.packages.plug", StepSource.FLAG),
        ("python.packages.tool", StepSource.FLAG),
    ]
    for point in points(space):
        outcome = realised(space, point)
        assert outcome.point == point
        closure = outcome.stack.closure
        assert closure is not None
        source = closure.pins[0].git
        assert source is not None
        assert (source.url, source.rev) == ("https://host/plug.git", ("abc", "def")[point[0]])
        assert [patch.name for patch in source.patches] == (["fix.patch"], [])[point[0]]
    assert world.questions[-1].requirements[0].startswith("plug @ git+https://host/plug.git@")
    document = json.loads(json.dumps(space_document(space)))
    assert space_from_document(document, index=world).realise((1, 0)) == space.realise((1, 0))


def test_commits_of_the_program_are_an_axis(tmp_path: Path) -> None:
    names = []
    for command in (["init", "-q"], *(["commit", "-q", "--allow-empty", "-m", str(number)] for number in range(3))):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *command], cwd=tmp_path, check=True)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, check=False, capture_output=True, text=True)
        names.append(head.stdout.strip())
    code = '[code]\nrepo = "."\nrev = "%s"\n'
    good, bad = (manifest(tmp_path, name, extra=code % rev) for name, rev in (("good", names[1]), ("bad", names[3])))
    space = build_space(good, bad, movers=LOCAL, moment=MOMENT)
    assert [(axis.key, axis.source) for axis in space.axes] == [("code.rev", StepSource.COMMITS)]
    revisions = [realised(space, point).stack.components["code.rev"] for point in points(space)]
    assert revisions == names[1:]


def test_derived_packages_float_where_only_the_resolver_sees_that_they_conflict(tmp_path: Path) -> None:
    """dep 1 (from the bad end) wants another leaf than the app between the ends."""
    world = World(
        {
            "app": {"1": [], "2": ["dep", "leaf==2"], "3": ["dep"]},
            "dep": {"1": ["leaf==1"], "2": ["leaf==2"]},
            "leaf": {"1": [], "2": []},
        }
    )
    space = build(tmp_path, world, {"app": "1"}, {"app": "3", "dep": "1"})
    middle = realised(space, (1,))
    assert middle.point == (1,)
    assert pins(middle) == {"app": "2", "dep": "2", "leaf": "2"}
    assert [rider.key for rider in middle.riders] == ["python.packages.dep", "python.packages.leaf"]


def test_what_was_never_published_is_a_hole_between_and_an_error_at_an_end(tmp_path: Path) -> None:
    class Strict(World):
        def resolve(self, question: Question) -> Answer:
            if any(text.startswith("app==2") for text in question.requirements):
                raise UsageError("lib 9 is not published")
            return super().resolve(question)

    world = Strict({"app": {"1": [], "2": [], "3": []}})
    space = build(tmp_path, world, {"app": "1"}, {"app": "3"})
    assert realised(space, (1,)).point in {(0,), (2,)}
    with pytest.raises(UsageError, match="not published"):
        build(tmp_path, world, {"app": "2"}, {"app": "3"})


def test_nothing_near_is_infeasible_and_says_why(tmp_path: Path) -> None:
    """Python 3.12 is between the ends, and the package runs on neither side of it there."""
    world = World({"num": {"1": [], "2": []}}, requires_python={"num==1": "<3.12", "num==2": ">=3.13"})
    good = manifest(tmp_path, "good", {"num": "1"})
    bad = manifest(tmp_path, "bad", {"num": "2"}, version='"3.13"')
    space = build_space(good, bad, movers=VENV, moment=MOMENT, index=world)
    outcome = space.realise((0, 1))
    assert isinstance(outcome, Infeasible)
    assert (outcome.build, "num==1" in outcome.reason) == (False, True)
    with pytest.raises(UsageError, match="no stack to change"):
        space.exact((0, 1), {})


def test_a_user_is_told_what_was_assumed(tmp_path: Path) -> None:
    world = World({"tool": {"1": [], "2": []}})
    ends = []
    for name, version in (("good", "1"), ("bad", "2")):
        path = tmp_path / f"{name}.toml"
        path.write_text(f'schema = 1\n[cuda]\ncudnn = "9.{version}"\n[python.packages]\ntool = "{version}"\n')
        ends.append(load(path))
    space = build_space(*ends, movers=VENV, moment=MOMENT, index=world, default_python="3.12")
    assert space.notes == (
        "cuda.cudnn differs (9.1 → 9.2): it follows from other components and is no axis",
        "no manifest pins Python: it is 3.12",
        f"what floats resolves as of {MOMENT}; python.exclude_newer pins that",
    )
    assert "cuda.cudnn" not in realised(space, (0,)).stack.components

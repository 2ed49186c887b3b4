"""The table of what metadata rules out: markers, absence, overrides, and ends that contradict themselves."""

from __future__ import annotations

import pytest

from envbisect.manifest.stack import Value
from envbisect.space.index import Needs
from envbisect.space.requirements import (
    Demand,
    Demands,
    PackageAxis,
    allows,
    applicable,
    exact_ties,
    feasibility,
    parents_in,
    satisfies,
)
from envbisect.space.snap import Feasibility


def demands(lines: dict[str, str], python: str = "3.11", ignored: frozenset[str] = frozenset()) -> Demands:
    """``{"app==1": "lib<2; tool"}``; "python" among the requirements is Requires-Python."""
    needs = {}
    for release, text in lines.items():
        name, _, version = release.partition("==")
        parts = [part.strip() for part in text.split("|") if part.strip()]
        requires_python = next((part.removeprefix("python") for part in parts if part.startswith("python")), "")
        needs[name, version] = Needs(tuple(part for part in parts if not part.startswith("python")), requires_python)
    return Demands(needs, python, ignored)


def axes(**values: list[Value]) -> list[PackageAxis]:
    return [PackageAxis(place, name, tuple(steps)) for place, (name, steps) in enumerate(values.items())]


def table(
    known: Demands, moving: list[PackageAxis], fixed: dict[str, Value] | None = None, **ends: bool
) -> Feasibility:
    return feasibility(known, [len(axis.values) - 1 for axis in moving], moving, fixed or {}, **ends)


def test_requirements_rule_out_pairs_in_both_directions() -> None:
    known = demands({"app==2": "lib>=2", "lib==3": "app>=2"})
    seen = table(known, axes(app=["1", "2", "3"], lib=["1", "2", "3"]))
    assert seen.pairs == {(0, 1): ((True, True, False), (False, True, True), (True, True, True))}
    assert seen.alone == {}


def test_an_absent_package_meets_no_demand_and_one_from_git_meets_all() -> None:
    known = demands({"app==1": "", "app==2": "plug>=5", "app==3": "plug"})
    seen = table(known, axes(app=["1", "2", "3"], plug=[None, "5"]))
    assert seen.pairs[0, 1] == ((True, True), (False, True), (False, True))
    assert satisfies({"git": "u", "rev": "r"}, Demand("plug", ">=5"))


def test_fixed_packages_rule_out_steps_in_both_directions() -> None:
    known = demands({"app==2": "base<1", "base==1": "app!=3"})
    seen = table(known, axes(app=["1", "2", "3", "4"]), {"base": "1"})
    assert seen.alone == {0: (True, False, False, True)}


def test_markers_are_read_for_the_python_of_the_run() -> None:
    line = 'tomli>=1; python_version < "3.11"'
    assert [demand.name for demand in applicable([line], "3.10")] == ["tomli"]
    assert list(applicable([line], "3.11.7")) == []
    assert list(applicable(['x; extra == "all"', "not a requirement!"], "3.11")) == []
    assert [demand.name for demand in applicable(['x; python_full_version >= "3.11.3"'], "3.11")] == ["x"]


def test_requires_python_rules_out_steps_of_that_python_only() -> None:
    lines = {"num==1": "python<3.12", "num==2": "", "num==3": "python>=3.12"}
    moving = axes(num=["1", "2", "3"])
    assert table(demands(lines, "3.11"), moving, bad_end=False).alone == {0: (True, True, False)}
    assert table(demands(lines, "3.12"), moving, good_end=False).alone == {0: (False, True, True)}
    assert table(demands(lines, "3.13"), moving, good_end=False, bad_end=False).alone == {0: (False, True, True)}


@pytest.mark.parametrize("end", ["good_end", "bad_end"])
def test_what_an_end_itself_violates_rules_nothing_out(end: str) -> None:
    step = {"good_end": "1", "bad_end": "3"}[end]
    other = {"good_end": "bad_end", "bad_end": "good_end"}[end]
    moving = axes(app=["1", "2", "3"], lib=["1", "2", "3"])
    known = demands({f"app=={step}": "lib>9 | base>9 | python>=4", "app==2": "lib>9 | base>9 | python>=4"})
    lenient = table(known, moving, {"base": "1"}, **{end: True, other: False})
    assert (lenient.alone, lenient.pairs) == ({}, {})
    strict = table(known, moving, {"base": "1"}, **{end: False, other: True})
    assert strict.alone
    assert strict.pairs


def test_forgiving_one_rule_leaves_the_others() -> None:
    known = demands({"app==1": "base>9", "app==2": "base>9 | core>9"})
    seen = table(known, axes(app=["1", "2", "3"]), {"base": "1", "core": "1"})
    assert seen.alone == {0: (True, False, True)}


def test_overridden_names_are_not_looked_at() -> None:
    known = demands({"app==2": "lib>=2"}, ignored=frozenset({"lib"}))
    assert table(known, axes(app=["1", "2"], lib=["1", "2"])).pairs == {}


def test_unknown_metadata_rules_nothing_out() -> None:
    seen = table(demands({}), axes(app=["1", "2"], lib=["1", "2"]))
    assert (seen.alone, seen.pairs) == ({}, {})


def test_exact_requirements_make_bundles() -> None:
    known = demands({"a==1": "b==1", "b==2": "c==2", "d==1": "e==1.*", "f==1": "a>=1,==1"})
    moving = axes(a=["1", "2"], b=["1", "2"], c=["1", "2"], d=["1", "2"], e=["1", "2"], f=["1", "2"])
    assert exact_ties([known], moving) == (("a", "b", "c"),)


def test_parents_come_from_metadata() -> None:
    known = demands({"app==1": "lib | nowhere | app", "lib==2": ""})
    assert parents_in(known, {"app": "1", "lib": "2", "git": None}) == {"app": (), "lib": ("app",), "git": ()}


def test_containment_takes_prereleases_and_forgives_what_nobody_can_read() -> None:
    assert allows(">=1", "2.0rc1")
    assert allows("", "whatever")
    assert allows(">=1", "not-a-version")
    assert not allows("<2,>=1", "2.0")
    assert allows("==2.13.0", "2.13.0+cpu")

"""Which packages become axes, which come along, which stay."""

from __future__ import annotations

from pathlib import Path

from envbisect.manifest.stack import Closure, GitSource, Pin
from envbisect.space.plan import End, plan_packages


def end(pins: dict[str, str], parents: dict[str, tuple[str, ...]] | None = None) -> End:
    return End(Closure.of("3.11", (Pin(name, version) for name, version in pins.items())), parents or {})


def test_every_package_is_of_one_kind() -> None:
    good = end({"app": "1", "dep": "1", "leaf": "3", "same": "2.0"}, {"dep": ("app",), "leaf": ("dep",)})
    bad = end({"app": "2", "same": "2", "tool": "5", "part": "6"}, {"part": ("tool",)})
    plan = plan_packages(good, bad)
    assert plan.moved == ("app",)
    assert plan.fixed == (Pin("same", "2.0"),)
    assert plan.derived == (Pin("dep", "1"), Pin("leaf", "3"), Pin("part", "6"))
    assert plan.rooted == ("tool",)


def test_of_a_cycle_that_nothing_brings_along_one_is_the_root() -> None:
    plan = plan_packages(end({}), end({"x": "1", "y": "1"}, {"x": ("y",), "y": ("x",)}))
    assert (plan.rooted, plan.derived) == (("x",), (Pin("y", "1"),))


def test_a_cycle_that_something_brings_along_is_derived() -> None:
    good = end({"app": "1"})
    bad = end({"app": "2", "x": "1", "y": "1"}, {"x": ("y", "app"), "y": ("x",)})
    assert plan_packages(good, bad).rooted == ()


def test_a_package_that_requires_itself_is_a_root() -> None:
    assert plan_packages(end({}), end({"x": "1"}, {"x": ("x",)})).rooted == ("x",)


def test_git_pins_are_equal_if_source_and_patches_are() -> None:
    def of(*patches: str) -> End:
        source = GitSource("https://host/x.git", "abc", tuple(Path(patch) for patch in patches))
        return End(Closure.of("3.11", [Pin("x", "", source)]), {})

    assert plan_packages(of("a"), of("a")).fixed[0].name == "x"
    assert plan_packages(of(), of("a")).moved == ("x",)
    assert plan_packages(of(), end({"x": "1"})).moved == ("x",)

"""What counts as a difference."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from envbisect.keys.spec import Mover
from envbisect.manifest.stack import Closure, GitSource, Pin, Value
from envbisect.space.deltas import Delta, deltas, is_url, same, same_version


@dataclass(frozen=True)
class Written:
    pins: dict[str, Value]
    folder: Path = Path("/stacks")
    unknown: frozenset[str] = field(default_factory=frozenset)

    def components(self) -> dict[str, Value]:
        return self.pins


def test_absent_empty_and_zero_are_three_values() -> None:
    good = Written({"env.A": "", "env.B": "0", "env.D": "x"})
    bad = Written({"env.A": "0", "env.C": "", "env.D": "x"})
    found = deltas(good, bad).deltas
    assert found == (Delta("env.A", "", "0"), Delta("env.B", "0", None), Delta("env.C", None, ""))


def test_an_unknown_is_listed_and_is_no_delta() -> None:
    good = Written({"host.driver": "535.1", "host.sysctl.kernel.numa_balancing": 0})
    bad = Written({}, unknown=frozenset({"host.driver", "host.sysctl"}))
    found = deltas(good, bad)
    assert found.deltas == ()
    assert found.unknown == ("host.driver", "host.sysctl.kernel.numa_balancing")


def test_derived_facts_are_no_axes() -> None:
    found = deltas(Written({"cuda.cudnn": "9.1"}), Written({"cuda.cudnn": "9.5"}))
    assert found.deltas == ()
    assert [delta.key for delta in found.derived] == ["cuda.cudnn"]


def test_types_count_and_versions_are_compared_as_versions() -> None:
    assert not same("torch.deterministic", True, 1)
    assert not same("env.A", "2.1", "2.1.0")
    assert same("python.packages.numpy", "2.1", "2.1.0")
    assert not same("python.packages.numpy", "2.1.0", "2.1.0+cpu")


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [("1.0", "1.0.0", True), ("1.0", "1.0.post1", False), (">=1", ">=1", True), (">=1", "1", False)],
)
def test_versions(one: str, other: str, equal: bool) -> None:
    assert same_version(one, other) is equal


def test_closures_replace_the_packages_that_manifests_name() -> None:
    good = Written({"python.packages.numpy": ">=1", "env.A": "1"})
    bad = Written({"python.packages.numpy": ">=2", "env.A": "2"})
    apex = Pin("apex", "", GitSource("https://host/apex.git", "abc"))
    closures = (
        Closure.of("3.11", [Pin("numpy", "2.1.0"), Pin("six", "1.16.0")]),
        Closure.of("3.11", [Pin("numpy", "2.1.0"), apex]),
    )
    found = deltas(good, bad, closures=closures).deltas
    assert found == (
        Delta("env.A", "1", "2"),
        Delta("python.packages.apex", None, {"git": "https://host/apex.git", "rev": "abc"}),
        Delta("python.packages.six", "1.16.0", None),
    )


def test_the_registry_says_who_moves_a_key() -> None:
    assert Delta("env.X", "1", "2").mover is Mover.ENV
    assert Delta("python.packages.numpy", "1", "2").mover is Mover.PACKAGES
    assert Delta("no.such.key", 1, 2).mover is Mover.NOBODY


def test_a_program_in_two_folders_is_two_programs() -> None:
    good = Written({"code.repo": ".", "code.rev": "abc"}, Path("/one"))
    moved = Written({"code.repo": ".", "code.rev": "abc"}, Path("/two"))
    beside = Written({"code.repo": "../one", "code.rev": "abc"}, Path("/two"))
    assert deltas(good, moved).deltas == (Delta("code.repo", "/one", "/two"),)
    assert deltas(good, beside).deltas == ()


@pytest.mark.parametrize(
    ("text", "url"),
    [("https://host/x.git", True), ("git@host:x.git", True), (".", False), ("../x", False), ("/srv/x:y", False)],
)
def test_urls_are_told_from_folders(text: str, url: bool) -> None:
    assert is_url(text) is url

"""What counts as a difference."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from envbisect.keys.spec import Mover
from envbisect.manifest.stack import Closure, GitSource, Pin, Value
from envbisect.space.deltas import Delta, deltas, same, same_version


@dataclass(frozen=True)
class Written:
    pins: dict[str, Value]
    unknown: frozenset[str] = field(default_factory=frozenset)

    def components(self) -> dict[str, Value]:
        return self.pins

    def is_unknown(self, key: str) -> bool:
        return key not in self.pins and any(key.startswith(name) for name in self.unknown)


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

"""Ladders: what counts as a step, in which order, and why the rest does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from envbisect.errors import UsageError
from envbisect.packages.config import IndexConfig
from envbisect.packages.ladder import Ladder, ladder
from envbisect.packages.pages import File
from envbisect.packages.simple import PackageIndex, Project, Release
from envbisect.packages.sources import Index
from tests.packages.local_index import publish, wheel

LINUX = ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "linux_x86_64")


class Recorded(PackageIndex):
    """An index of one recorded project: (version, upload time, extra of the file)."""

    def __init__(self, *releases: tuple[str, str] | tuple[str, str, dict[str, object]]) -> None:
        super().__init__(IndexConfig(), Path("/nowhere"), offline=True)
        found = {}
        for version, moment, *extra in releases:
            options: dict[str, object] = {"filename": f"pkg-{version}-py3-none-any.whl"} | (extra[0] if extra else {})
            file = File(url="https://host/file", upload_time=moment, **options)  # type: ignore[arg-type]
            found[Version(version)] = Release("pkg", Version(version), (file,))
        self.recorded = Project("pkg", found)

    def project(self, name: str) -> Project:
        return self.recorded


def versions(found: Ladder) -> list[str]:
    return [step.version for step in found.steps]


def walk(index: PackageIndex, good: str, bad: str, **options: object) -> Ladder:
    return ladder(index, "pkg", good, bad, **({"python": "3.11", "platforms": LINUX} | options))  # type: ignore[arg-type]


PROTOBUF = Recorded(
    ("3.19.4", "2022-01-28T23:09:00Z"),
    ("4.0.0rc1", "2021-04-12T00:00:00Z", {"yanked": "superseded"}),
    ("3.20.0rc1", "2022-03-04T00:00:00Z"),
    ("3.20.0", "2022-03-31T00:00:00Z"),
    ("3.20.1", "2022-04-22T00:00:00Z"),
    ("4.21.0", "2022-05-25T00:00:00Z", {"yanked": "wrong python"}),
    ("4.21.1", "2022-05-28T00:00:00Z"),
    ("4.21.2", "2022-06-23T00:00:00Z"),
    ("3.19.5", "2022-09-13T00:00:00Z"),
    ("3.20.2", "2022-09-14T00:00:00Z"),
    ("3.20.3", "2022-09-29T00:00:00Z"),
    ("4.21.3", "2022-07-21T00:00:00Z"),
)


def test_back_branches_yanked_and_prereleases_are_off() -> None:
    found = walk(PROTOBUF, "3.19.4", "4.21.2")
    assert versions(found) == ["3.19.4", "3.20.0", "3.20.1", "4.21.1", "4.21.2"]
    assert found.dated
    reasons = dict(found.off)
    assert reasons["4.21.0"] == "yanked: wrong python"
    assert reasons["3.20.0rc1"] == "a pre-release"
    assert reasons["3.20.3"] == "a later release of an older branch (after 4.21.2)"
    assert set(reasons) == {"3.20.0rc1", "4.0.0rc1", "4.21.0", "3.19.5", "3.20.2", "3.20.3"}
    assert found.steps[1].upload_time == "2022-03-31T00:00:00Z"


def test_a_downgrade_is_the_same_ladder_reversed() -> None:
    up, down = walk(PROTOBUF, "3.19.4", "4.21.2"), walk(PROTOBUF, "4.21.2", "3.19.4")
    assert down.steps == tuple(reversed(up.steps))
    assert down.off == up.off


def test_the_endpoints_are_exempt() -> None:
    found = walk(PROTOBUF, "4.21.0", "4.21.3", python="2.7", exclude_newer="2000-01-01")
    assert versions(found) == ["4.21.0", "4.21.3"]


def test_prereleases_count_if_an_endpoint_is_one_or_if_asked_for() -> None:
    assert versions(walk(PROTOBUF, "3.20.0rc1", "3.20.1")) == ["3.20.0rc1", "3.20.0", "3.20.1"]
    assert "3.20.0rc1" in versions(walk(PROTOBUF, "3.19.4", "3.20.1", prereleases=True))


def test_a_good_end_on_a_back_branch() -> None:
    found = walk(PROTOBUF, "3.20.2", "4.21.3")
    assert versions(found) == ["3.20.2", "4.21.1", "4.21.2", "4.21.3"]
    assert dict(found.off)["3.20.3"].startswith("a later release")


def test_only_what_this_python_and_platform_can_install() -> None:
    index = Recorded(
        ("1.0", "2020-01-01T00:00:00Z"),
        ("1.1", "2020-02-01T00:00:00Z", {"filename": "pkg-1.1-cp310-cp310-manylinux_2_17_x86_64.whl"}),
        ("1.2", "2020-03-01T00:00:00Z", {"filename": "pkg-1.2-cp311-cp311-win_amd64.whl"}),
        ("1.3", "2020-04-01T00:00:00Z", {"filename": "pkg-1.3-cp311-cp311-manylinux2014_x86_64.whl"}),
        ("1.4", "2020-05-01T00:00:00Z", {"filename": "pkg-1.4-cp38-abi3-manylinux_2_17_x86_64.whl"}),
        ("1.5", "2020-06-01T00:00:00Z", {"filename": "pkg-1.5.tar.gz"}),
        ("1.6", "2020-07-01T00:00:00Z", {"requires_python": ">=3.12"}),
        ("1.7", "2020-08-01T00:00:00Z", {"requires_python": "<3.11.4"}),
        ("2.0", "2020-09-01T00:00:00Z"),
    )
    assert versions(walk(index, "1.0", "2.0")) == ["1.0", "1.3", "1.4", "1.5", "1.7", "2.0"]
    assert versions(walk(index, "1.0", "2.0", python="3.11.7")) == ["1.0", "1.3", "1.4", "1.5", "2.0"]
    assert versions(walk(index, "1.0", "2.0", python="3.10")) == ["1.0", "1.1", "1.4", "1.5", "1.7", "2.0"]


def test_nothing_newer_than_the_cut_off() -> None:
    found = walk(PROTOBUF, "3.19.4", "4.21.3", exclude_newer="2022-04-22T00:00:00Z")
    assert versions(found) == ["3.19.4", "3.20.0", "4.21.3"]
    assert dict(found.off)["3.20.1"] == "newer than 2022-04-22T00:00:00Z"


def test_without_dates_it_is_version_order() -> None:
    index = Recorded(("1.0", ""), ("1.10", ""), ("1.9", "2020-01-01T00:00:00Z"), ("2.0", ""), ("1.0.1", ""))
    found = walk(index, "1.0", "2.0")
    assert (versions(found), found.dated) == (["1.0", "1.0.1", "1.9", "1.10", "2.0"], False)


def test_local_builds_stay_with_their_kind() -> None:
    index = Recorded(
        ("2.0+cu1", "2020-01-01T00:00:00Z"),
        ("2.1+cpu", "2020-02-02T00:00:00Z"),
        ("2.1+cu1", "2020-02-02T00:00:00Z"),
        ("2.1", "2020-02-01T00:00:00Z"),
        ("2.2+rocm", "2020-03-01T00:00:00Z"),
        ("2.3", "2020-04-01T00:00:00Z"),
        ("2.3+cu1", ""),
        ("2.4+cu1", "2020-05-01T00:00:00Z"),
    )
    found = walk(index, "2.0+cu1", "2.4+cu1")
    assert (versions(found), found.dated) == (["2.0+cu1", "2.1+cu1", "2.3+cu1", "2.4+cu1"], True)
    assert "another local build" in dict(found.off)["2.2+rocm"]
    assert versions(walk(index, "2.1", "2.3")) == ["2.1", "2.3"]
    assert versions(walk(index, "2.1", "2.4")) == ["2.1", "2.3+cu1", "2.4"]  # 2.4 here means 2.4+cu1


def test_equal_ends_are_one_step() -> None:
    assert versions(walk(PROTOBUF, "4.21.1", "4.21.1")) == ["4.21.1"]


def test_an_unpublished_version_names_its_neighbours() -> None:
    with pytest.raises(UsageError) as caught:
        walk(PROTOBUF, "3.19.4", "4.0.0")
    assert caught.value.message == "pkg 4.0.0 is not published"
    assert "3.20.2, 3.20.3, 4.21.0, 4.21.1" in caught.value.hint


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=3, max_size=12, unique_by=lambda one: one[0]),
    st.data(),
)
def test_steps_rise_in_version_and_in_time(published: list[tuple[int, int]], data: st.DataObject) -> None:
    index = Recorded(*((f"1.{number}", f"2020-01-{day + 1:02}T00:00:00Z") for number, day in published))
    numbers = sorted(number for number, _ in published)
    low, high = sorted(data.draw(st.permutations(numbers))[:2])
    found = walk(index, f"1.{low}", f"1.{high}")
    between = {f"1.{number}" for number in numbers if low < number < high}
    inner = found.steps[1:-1]
    assert (found.steps[0].version, found.steps[-1].version) == (f"1.{low}", f"1.{high}")
    assert [Version(step.version) for step in found.steps] == sorted(Version(step.version) for step in found.steps)
    assert [step.upload_time for step in inner] == sorted(step.upload_time for step in inner)
    assert {step.version for step in inner} | {version for version, _ in found.off} == between
    by_definition = {
        f"1.{number}"
        for number, day in published
        if low < number < high
        and not any(low < n <= high and (d, n) < (day, number) and n > number for n, d in published)
    }
    assert {step.version for step in inner} == by_definition


def test_a_real_folder_index(tmp_path: Path) -> None:
    archives = [wheel(tmp_path / "files", "some-pkg", version) for version in ("1.0", "1.1", "2.0")]
    index = PackageIndex(IndexConfig(Index(publish(tmp_path / "simple", archives))), tmp_path / "cache")
    assert versions(ladder(index, "Some_Pkg", "1.0", "2.0", python="3.11")) == ["1.0", "1.1", "2.0"]
    with pytest.raises(UsageError, match="no package other"):
        index.project("other")


@pytest.mark.network
@pytest.mark.parametrize(
    ("name", "good", "bad", "python", "expected"),
    [
        ("protobuf", "3.19.4", "4.21.2", "3.10", "3.19.4 3.20.0 3.20.1 4.21.1 4.21.2"),
        (
            "httpx",
            "0.23.3",
            "0.28.1",
            "3.11",
            "0.23.3 0.24.0 0.24.1 0.25.0 0.25.1 0.25.2 0.26.0 0.27.0 0.27.1 0.27.2 0.28.0 0.28.1",
        ),
        ("packaging", "24.0", "21.3", "3.11", "24.0 23.2 23.1 23.0 22.0 21.3"),
        (
            "setuptools",
            "75.8.0",
            "78.0.1",
            "3.11",
            "75.8.0 75.8.1 75.8.2 75.9.1 76.0.0 76.1.0 77.0.1 77.0.3 78.0.1",
        ),
        ("faker", "19.6.0", "19.8.0", "3.11", "19.6.0 19.6.1 19.6.2 19.7.0 19.8.0"),
        ("scipy", "1.9.3", "1.13.0", "3.11", "1.9.3 1.10.0 1.10.1 1.11.1 1.11.2 1.11.3 1.11.4 1.12.0 1.13.0"),
        ("pyyaml", "5.3.1", "6.0.1", "3.11", "5.3.1 5.4 5.4.1 6.0 6.0.1"),
    ],
)
def test_known_ladders(tmp_path: Path, name: str, good: str, bad: str, *, python: str, expected: str) -> None:
    index = PackageIndex(IndexConfig(), tmp_path)
    try:
        assert versions(ladder(index, name, good, bad, python=python)) == expected.split()
    finally:
        index.close()

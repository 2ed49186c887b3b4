"""Where steps come from: declared values, interpreters, real Git histories, and the flag of last resort."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from envbisect.errors import UsageError
from envbisect.manifest.stack import Value
from envbisect.space.deltas import Delta
from envbisect.space.index import Answer, Needs, Question, Rung, Rungs
from envbisect.space.model import StepSource
from envbisect.space.sources import Scene, propose
from envbisect.space.sources.interpreters import minors_between


class Shelf:
    """An index with fixed ladders and interpreters, for sources only."""

    def __init__(self, pythons: Sequence[str] = (), ladders: Mapping[tuple[str, str], Rungs] | None = None) -> None:
        self.pythons = pythons
        self.ladders = ladders or {}

    def find_python(self, version: str) -> Path | None:
        return Path("/usr/bin/python") if version in self.pythons else None

    def ladder(self, name: str, good: str, bad: str, *, python: str, exclude_newer: str) -> Rungs:
        return self.ladders[name, python]

    def needs(self, releases: Sequence[tuple[str, str]], *, python: str) -> Mapping[tuple[str, str], Needs]:
        raise NotImplementedError

    def resolve(self, question: Question) -> Answer:
        raise NotImplementedError


def scene(
    *,
    index: Shelf | None = None,
    declared: Mapping[str, Sequence[Value]] | None = None,
    folder: Path = Path(),
    components: Mapping[str, Value] | None = None,
    pythons: tuple[str, ...] = ("3.11",),
) -> Scene:
    return Scene({"code.repo": "."} if components is None else components, folder, declared or {}, index, pythons, "")


def values(delta: Delta, where: Scene) -> list[Value]:
    return [step.value for step in propose(delta, where).axis.steps]


def test_a_flag_has_the_two_values() -> None:
    axis = propose(Delta("env.A", None, "1"), scene()).axis
    assert ([step.value for step in axis.steps], axis.source) == ([None, "1"], StepSource.FLAG)


def test_an_absent_package_is_a_presence() -> None:
    assert propose(Delta("python.packages.six", None, "1.16.0"), scene()).axis.source is StepSource.PRESENCE


def test_declared_steps_run_from_good_to_bad_whichever_way_they_are_written() -> None:
    where = scene(declared={"dataloader.num_workers": [0, 2, 4, 8]})
    assert values(Delta("dataloader.num_workers", 0, 8), where) == [0, 2, 4, 8]
    assert values(Delta("dataloader.num_workers", 8, 0), where) == [8, 4, 2, 0]
    assert propose(Delta("dataloader.num_workers", 0, 8), where).axis.source is StepSource.DECLARED


def test_declared_steps_must_hold_both_ends() -> None:
    with pytest.raises(UsageError, match="does not run from 1 to 8"):
        propose(Delta("dataloader.num_workers", 1, 8), scene(declared={"dataloader.num_workers": [0, 2, 8]}))


def test_python_versions_are_those_with_an_interpreter() -> None:
    axis = propose(Delta("python.version", "3.9", "3.13"), scene(index=Shelf(["3.10", "3.12"]))).axis
    assert [step.value for step in axis.steps] == ["3.9", "3.10", "3.12", "3.13"]
    assert axis.off_ladder == ("3.11: no interpreter on this machine",)


@pytest.mark.parametrize(
    ("good", "bad", "between"),
    [("3.12.1", "3.9", ["3.11", "3.10"]), ("3.11", "3.11.7", []), ("3.11", "3.12", []), ("2.7", "3.11", [])],
)
def test_minor_versions_between(good: str, bad: str, between: list[str]) -> None:
    assert minors_between(good, bad) == between


def test_releases_of_two_pythons_are_one_ladder() -> None:
    shelf = Shelf(
        ladders={
            ("numpy", "3.10"): Rungs(
                (Rung("1.22.0", "2022"), Rung("1.23.0"), Rung("1.26.0")), ("1.25.0: no wheel", "1.24.0: yanked")
            ),
            ("numpy", "3.12"): Rungs((Rung("1.22.0", "2022"), Rung("1.25.0"), Rung("1.26.0")), ("1.24.0: yanked",)),
        }
    )
    proposal = propose(Delta("python.packages.numpy", "1.22.0", "1.26.0"), scene(index=shelf, pythons=("3.10", "3.12")))
    assert [step.value for step in proposal.axis.steps] == ["1.22.0", "1.23.0", "1.25.0", "1.26.0"]
    assert proposal.axis.off_ladder == ("1.24.0: yanked",)


def test_an_index_without_dates_is_said() -> None:
    shelf = Shelf(ladders={("six", "3.11"): Rungs((Rung("1"), Rung("2"), Rung("3")), dated=False)})
    assert "no upload dates" in propose(Delta("python.packages.six", "1", "3"), scene(index=shelf)).notes[0]


# A real repository: c0 - c1 - merge(side) - c3 on main, and a branch that leaves at c1.


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, subject: str) -> str:
    git(folder, "commit", "-q", "--allow-empty", "-m", subject)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("program")
    git(folder, "init", "-q", "-b", "main")
    names = {"c0": commit(folder, "zero"), "c1": commit(folder, "one")}
    git(folder, "checkout", "-q", "-b", "side")
    names["s"] = commit(folder, "side")
    git(folder, "checkout", "-q", "main")
    names["c2"] = commit(folder, "two")
    git(folder, "merge", "-q", "--no-ff", "-m", "merge side", "side")
    names["m"] = git(folder, "rev-parse", "HEAD")
    names["c3"] = commit(folder, "three")
    git(folder, "checkout", "-q", "--orphan", "alone")
    names["o"] = commit(folder, "unrelated")
    git(folder, "checkout", "-q", "main")
    return folder, names


def test_commits_are_first_parent_from_good_to_bad(repository: tuple[Path, dict[str, str]]) -> None:
    folder, names = repository
    good = names["c0"][:9]
    proposal = propose(Delta("code.rev", good, names["c3"]), scene(folder=folder))
    assert [step.value for step in proposal.axis.steps] == [good, names["c1"], names["c2"], names["m"], names["c3"]]
    assert [step.note for step in proposal.axis.steps] == ["zero", "one", "two", "merge side", "three"]
    assert all(step.date.startswith("20") for step in proposal.axis.steps)
    assert proposal.axis.source is StepSource.COMMITS


def test_a_downgrade_walks_the_same_ladder_down(repository: tuple[Path, dict[str, str]]) -> None:
    folder, names = repository
    up = values(Delta("code.rev", names["c0"], names["c3"]), scene(folder=folder))
    down = values(Delta("code.rev", names["c3"], names["c0"]), scene(folder=folder))
    assert down == up[::-1]


def test_a_branch_name_becomes_its_commit(repository: tuple[Path, dict[str, str]]) -> None:
    folder, names = repository
    assert values(Delta("code.rev", names["c2"], "main"), scene(folder=folder))[-1] == names["c3"]


def test_diverged_revisions_go_through_their_merge_base(repository: tuple[Path, dict[str, str]]) -> None:
    folder, names = repository
    proposal = propose(Delta("code.rev", names["s"], names["c2"]), scene(folder=folder))
    assert [step.value for step in proposal.axis.steps] == [names["s"], names["c1"], names["c2"]]
    assert "diverged" in proposal.notes[0]


def test_unrelated_revisions_are_a_flag(repository: tuple[Path, dict[str, str]]) -> None:
    folder, names = repository
    proposal = propose(Delta("code.rev", names["c0"], names["o"]), scene(folder=folder))
    assert proposal.axis.source is StepSource.FLAG
    assert "no common history" in proposal.notes[0]


@pytest.mark.parametrize("rev", ["0123456789abcdef", "nowhere", "--all", "HEAD~99"])
def test_a_revision_that_does_not_exist_is_a_usage_error(rev: str, repository: tuple[Path, dict[str, str]]) -> None:
    folder, names = repository
    with pytest.raises(UsageError, match="is no commit"):
        propose(Delta("code.rev", names["c0"], rev), scene(folder=folder))


def test_a_folder_without_repository_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no Git repository"):
        propose(Delta("code.rev", "a", "b"), scene(folder=tmp_path))


@pytest.mark.parametrize("components", [{"code.repo": "https://host/x.git"}, {}], ids=["remote", "two repositories"])
def test_without_one_local_repository_revisions_are_a_flag(components: Mapping[str, Value]) -> None:
    where = scene(components=components)
    assert propose(Delta("code.rev", "a", "b"), where).axis.source is StepSource.FLAG

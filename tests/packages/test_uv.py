"""Resolution with the real uv, on an index that the tests make: every answer and every kind of failure."""

from __future__ import annotations

import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.manifest.stack import GitSource, Pin
from envbisect.packages.config import IndexConfig
from envbisect.packages.pythons import find_python
from envbisect.packages.sources import Index, IndexStrategy
from envbisect.packages.uv import BuildFailed, Conflict, Resolver, name_of
from tests.packages.local_index import FAILING_BACKEND, Served, publish, silent, unbuildable_sdist, wheel

PYTHON = "3.11"
GIT_PROJECT = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "gitted"
version = "0.1"
dependencies = ["leaf"]
"""


def with_python(version: str) -> pytest.MarkDecorator:
    """Only where this interpreter is: Debian packages one Python alone, and uv's downloads need another host."""
    return pytest.mark.skipif(find_python(version) is None, reason=f"Python {version} is not on this machine")


def git_package(folder: Path, files: dict[str, str]) -> str:
    """Commit ``files`` to a new repository and return the revision."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    identity = ["-c", "user.name=n", "-c", "user.email=n@localhost"]
    for arguments in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def config(tmp_path: Path) -> IndexConfig:
    """top 1 → mid<2, extra [more] → leaf; top 2 → mid>=2; lonely → absent; hard only as a source that never builds."""
    files = tmp_path / "files"
    archives = [
        wheel(files, "top", "1.0", ["mid<2", "leaf ; extra == 'more'"]),
        wheel(files, "top", "2.0", ["mid>=2", "old-only ; python_version < '3.9'"]),
        wheel(files, "mid", "1.0"),
        wheel(files, "mid", "1.5"),
        wheel(files, "mid", "2.0", ["leaf"]),
        wheel(files, "leaf", "1.0"),
        wheel(files, "old-only", "1.0"),
        wheel(files, "future", "1.0", python=">=3.99"),
        wheel(files, "lonely", "1.0", ["absent>=3"]),
        unbuildable_sdist(files, "hard", "1.0"),
    ]
    return IndexConfig(Index(publish(tmp_path / "simple", archives)))


@pytest.fixture
def resolver(tmp_path: Path, config: IndexConfig) -> Resolver:
    return Resolver(config, tmp_path / "cache")


def test_a_closure_with_its_parents(resolver: Resolver) -> None:
    found = resolver.resolve(["top==2.0"], python=PYTHON)
    assert found.closure.pins == (Pin("leaf", "1.0"), Pin("mid", "2.0"), Pin("top", "2.0"))
    assert found.closure.python == PYTHON
    assert found.via == {"top": (), "mid": ("top",), "leaf": ("mid",)}
    assert found.notes == ()


def test_extras_constraints_and_overrides(resolver: Resolver) -> None:
    found = resolver.resolve(["top[more]==1.0"], constraints=["mid<1.2", "hard==1.0"], python=PYTHON)
    assert found.closure.pins == (Pin("leaf", "1.0"), Pin("mid", "1.0"), Pin("top", "1.0"))
    assert found.via["leaf"] == ("top",)
    forced = resolver.resolve(["top==1.0"], overrides=["mid==2.0"], python=PYTHON)
    assert forced.closure.version("mid") == "2.0"


@with_python("3.8")
def test_markers_follow_the_python_asked_for(resolver: Resolver) -> None:
    assert resolver.resolve(["top==2.0"], python="3.8").closure.version("old-only") == "1.0"


def test_a_conflict_names_its_packages(resolver: Resolver) -> None:
    with pytest.raises(Conflict) as caught:
        resolver.resolve(["top==2.0", "mid==1.5"], python=PYTHON)
    assert set(caught.value.packages) == {"top", "mid"}
    assert caught.value.reason.startswith("Because top>=2.0 depends on mid>=2")
    assert "\n" not in caught.value.reason


def test_a_dependency_that_nobody_publishes_is_a_conflict(resolver: Resolver) -> None:
    with pytest.raises(Conflict, match="absent was not found"):
        resolver.resolve(["lonely==1.0"], python=PYTHON)


def test_another_python_is_a_conflict(resolver: Resolver) -> None:
    with pytest.raises(Conflict, match=r"Python >=3\.99") as caught:
        resolver.resolve(["future==1.0"], python=PYTHON)
    assert caught.value.packages == ("future",)


def test_a_configured_constraint_is_named(tmp_path: Path, config: IndexConfig) -> None:
    limits = tmp_path / "limits.txt"
    limits.write_text("# site policy\ntop<2\n")
    resolver = Resolver(replace(config, constraints=(str(limits),)), tmp_path / "cache")
    assert resolver.resolve(["top"], python=PYTHON).closure.version("top") == "1.0"
    with pytest.raises(Conflict, match=str(limits)):
        resolver.resolve(["top==2.0"], python=PYTHON)


def test_a_source_that_does_not_build(resolver: Resolver) -> None:
    with pytest.raises(BuildFailed) as caught:
        resolver.resolve(["hard==1.0"], python=PYTHON)
    assert caught.value.pin.startswith("hard")
    assert "no compiler today" in caught.value.log


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        ("top==9.9", "top 9.9 is not published"),
        ("nothing-like-it", "no package nothing-like-it"),
        ("top=1", "cannot be resolved"),
    ],
)
def test_what_does_not_exist_is_the_users_error(resolver: Resolver, requirement: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        resolver.resolve([requirement], python=PYTHON)


def test_the_neighbours_of_a_version_are_named(resolver: Resolver) -> None:
    with pytest.raises(UsageError) as caught:
        resolver.resolve(["top==1.5"], python=PYTHON)
    assert caught.value.hint == "The nearest published versions are 1.0, 2.0."


def test_no_such_python(resolver: Resolver) -> None:
    with pytest.raises(UsageError, match=r"Python 3\.77 is not on this machine"):
        resolver.resolve(["top"], python="3.77")


def test_an_unreachable_index_is_the_environments_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    resolver = Resolver(IndexConfig(Index("http://me:hunter2@127.0.0.1:9/simple")), tmp_path / "cache")
    with pytest.raises(EnvironmentFailure, match="cannot be reached") as caught:
        resolver.resolve(["top"], python=PYTHON)
    assert not isinstance(caught.value, UsageError)
    assert "hunter2" not in caught.value.message


def test_the_second_question_needs_no_network(tmp_path: Path, served: Served) -> None:
    archives = [
        wheel(tmp_path, "top", "1.0", ["mid"]),
        wheel(tmp_path, "top", "1.1", ["mid"]),
        wheel(tmp_path, "mid", "1"),
    ]
    served.add_archives("top", archives[:2], metadata=True)
    served.add_archives("mid", archives[2:], metadata=True)
    resolver = Resolver(IndexConfig(Index(f"{served.url}/simple")), tmp_path / "cache")
    first = resolver.resolve(["top==1.1"], python=PYTHON)
    asked = len(served.log)
    assert resolver.resolve(["top==1.1"], python=PYTHON) == first
    assert len(served.log) == asked
    assert resolver.resolve(["top==1.0"], python=PYTHON).closure.version("top") == "1.0"  # its metadata is not cached
    assert len(served.log) > asked


def test_offline_says_what_is_missing(tmp_path: Path, served: Served) -> None:
    served.add_archives("top", [wheel(tmp_path, "top", "1.0")])
    resolver = Resolver(IndexConfig(Index(f"{served.url}/simple")), tmp_path / "cache", offline=True)
    with pytest.raises(EnvironmentFailure, match="not in the cache") as caught:
        resolver.resolve(["top"], python=PYTHON)
    assert "--offline" in caught.value.hint
    assert served.log == []


def test_the_cut_off_date_is_exclusive_and_said(tmp_path: Path, served: Served) -> None:
    archives = [wheel(tmp_path, "top", "1.0"), wheel(tmp_path, "top", "2.0")]
    served.add_archives("top", archives, ["2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"])
    resolver = Resolver(IndexConfig(Index(f"{served.url}/simple")), tmp_path / "cache")
    found = resolver.resolve(["top"], python=PYTHON, exclude_newer="2021-01-01T00:00:00Z")
    assert found.closure.version("top") == "1.0"
    assert found.closure.exclude_newer == "2021-01-01T00:00:00Z"
    with pytest.raises(UsageError, match=r"top 2\.0 was published after"):
        resolver.resolve(["top==2.0"], python=PYTHON, exclude_newer="2021-01-01T00:00:00Z")


def test_an_index_without_dates_is_exempt_from_the_cut_off(resolver: Resolver) -> None:
    found = resolver.resolve(["top==2.0"], python=PYTHON, exclude_newer="2021-01-01T00:00:00Z")
    assert found.closure.version("leaf") == "1.0"
    assert set(found.undated) == {"top", "mid", "leaf"}


@pytest.mark.parametrize(
    ("strategy", "version"), [(IndexStrategy.FIRST_INDEX, "1.0"), (IndexStrategy.BEST_MATCH, "2.0")]
)
def test_several_indexes_as_configured(tmp_path: Path, strategy: IndexStrategy, version: str) -> None:
    near = publish(tmp_path / "near", [wheel(tmp_path / "a", "top", "1.0")])
    far = publish(tmp_path / "far", [wheel(tmp_path / "b", "top", "2.0")])
    config = IndexConfig(Index(far), (Index(near),), strategy=strategy)
    assert Resolver(config, tmp_path / "cache").resolve(["top"], python=PYTHON).closure.version("top") == version


def test_a_pinned_build_without_a_date_beside_dated_ones(tmp_path: Path, served: Served) -> None:
    served.add_archives("top", [wheel(tmp_path, "top", "1.0")], ["2020-01-01T00:00:00Z"])
    private = publish(tmp_path / "simple", [wheel(tmp_path, "top", "1.0+corp"), wheel(tmp_path, "top", "2.0")])
    resolver = Resolver(IndexConfig(Index(f"{served.url}/simple"), (Index(private),)), tmp_path / "cache")
    pinned = resolver.resolve(["top==1.0+corp"], python=PYTHON, exclude_newer="2021-01-01T00:00:00Z")
    assert pinned.closure.version("top") == "1.0+corp"
    assert pinned.undated == ("top",)
    floating = resolver.resolve(["top"], python=PYTHON, exclude_newer="2021-01-01T00:00:00Z")
    assert floating.closure.version("top") == "1.0"  # 2.0 may be of yesterday
    assert floating.undated == ()


def test_git_sources(tmp_path: Path, resolver: Resolver) -> None:
    revision = git_package(tmp_path / "repo", {"pyproject.toml": GIT_PROJECT, "backend.py": "", "gitted.py": ""})
    url = (tmp_path / "repo").as_uri()
    found = resolver.resolve([f"gitted @ git+{url}@{revision[:9]}"], python=PYTHON)
    assert found.closure.pins == (Pin("gitted", ""), Pin("leaf", "1.0"))
    assert found.closure.pins[0].git == GitSource(url, revision)
    assert found.via["leaf"] == ("gitted",)
    with pytest.raises(UsageError, match="deadbeef"):
        resolver.resolve([f"gitted @ git+{url}@deadbeef"], python=PYTHON)
    with pytest.raises(UsageError, match="gone"):
        resolver.resolve([f"gitted @ git+file://{tmp_path}/gone@{revision}"], python=PYTHON)


def test_a_git_source_that_does_not_build(tmp_path: Path, resolver: Resolver) -> None:
    project = GIT_PROJECT.replace('dependencies = ["leaf"]', 'dynamic = ["dependencies"]')
    revision = git_package(tmp_path / "repo", {"pyproject.toml": project, "backend.py": FAILING_BACKEND})
    with pytest.raises(BuildFailed) as caught:
        resolver.resolve([f"gitted @ git+{(tmp_path / 'repo').as_uri()}@{revision}"], python=PYTHON)
    assert caught.value.pin == "gitted"


def test_an_archive_by_url_is_refused(tmp_path: Path, resolver: Resolver) -> None:
    archive = wheel(tmp_path, "loose", "1.0")
    with pytest.raises(UsageError, match="neither an index nor Git"):
        resolver.resolve([f"loose @ {archive.as_uri()}"], python=PYTHON)


def test_a_local_build_from_a_folder_of_wheels_wins(tmp_path: Path) -> None:
    index = publish(tmp_path / "simple", [wheel(tmp_path / "files", "top", "1.0")])
    wheel(tmp_path / "wheels", "top", "1.0+cpu")
    config = IndexConfig(Index(index), find_links=(str(tmp_path / "wheels"),))
    assert Resolver(config, tmp_path / "cache").resolve(["top==1.0"], python=PYTHON).closure.version("top") == "1.0+cpu"


def test_a_name_is_read_from_any_requirement() -> None:
    assert name_of(" Typing_Extensions[x] >= 4 ; python_version < '4'") == "typing-extensions"
    assert name_of("apex @ git+https://host/apex@rev") == "apex"


@pytest.mark.network
def test_against_pypi(tmp_path: Path) -> None:
    resolver = Resolver(IndexConfig(), tmp_path)
    with pytest.raises(Conflict) as caught:
        resolver.resolve(["httpx==0.28.1", "httpcore==0.16.3"], python=PYTHON)
    assert set(caught.value.packages) == {"httpx", "httpcore"}


@pytest.mark.network
@with_python("3.10")
def test_against_pypi_for_an_older_python(tmp_path: Path) -> None:
    resolver = Resolver(IndexConfig(), tmp_path)
    found = resolver.resolve(["protobuf==4.21.0"], python="3.10")
    assert any("yanked" in note for note in found.notes)
    with pytest.raises(Conflict, match=r"Python>=3\.11"):
        resolver.resolve(["numpy==2.4.6"], python="3.10")


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("requirement", ["top==1.0", "top"])
def test_an_index_that_denies_is_no_missing_package(
    served: Served, tmp_path: Path, status: int, requirement: str
) -> None:
    served.statuses["/simple/top/"] = [status] * 20
    resolver = Resolver(IndexConfig(Index(f"{served.url}/simple")), tmp_path / "cache")
    with pytest.raises(EnvironmentFailure, match=f"{served.url}.*access denied") as raised:
        resolver.resolve([requirement], python=PYTHON)
    assert "credentials" in raised.value.hint


@pytest.mark.parametrize("kind", ["text/html", "application/vnd.pypi.simple.v1+json", "application/octet-stream"])
@pytest.mark.parametrize("requirement", ["top==1.0", "top"])
def test_an_index_that_gives_garbage_is_named(served: Served, tmp_path: Path, kind: str, requirement: str) -> None:
    served.pages["/simple/top/"] = (kind, b"\x00\xff\xfe garbage", "")
    resolver = Resolver(IndexConfig(Index(f"{served.url}/simple")), tmp_path / "cache")
    with pytest.raises(EnvironmentFailure, match=f"{served.url}/simple/top/"):
        resolver.resolve([requirement], python=PYTHON)


def test_an_index_that_never_answers_ends_after_two_timeouts(tmp_path: Path) -> None:
    with silent() as (url, _connections):
        resolver = Resolver(IndexConfig(Index(f"{url}/simple"), timeout_s=1), tmp_path / "cache")
        started = time.monotonic()
        with pytest.raises(EnvironmentFailure, match="the index cannot be reached"):
            resolver.resolve(["top==1.0"], python=PYTHON)
        assert time.monotonic() - started < 12

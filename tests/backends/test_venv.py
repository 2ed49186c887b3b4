"""Built environments: exact, kept, clean whatever a test does to them, and honest about what went wrong."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from envbisect.backends.interface import Environment, InfrastructureFault, Unbuildable
from envbisect.backends.uvinstall import Installer, Order, reflinks
from envbisect.backends.venv import Limits, VenvRuntime
from envbisect.errors import UsageError
from envbisect.manifest.stack import Closure, GitSource, Pin, Stack
from envbisect.packages.config import IndexConfig, read_config, uv_environ
from envbisect.packages.pythons import find_python
from envbisect.packages.sources import Index
from envbisect.packages.uv import find_uv
from tests.backends.stacks import git, request, stack, write_entry
from tests.backends.wheelhouse import add_sdist, add_wheel, offline_environ, source_files
from tests.packages.local_index import serving


@pytest.fixture
def house(tmp_path: Path) -> Path:
    folder = tmp_path / "house"
    folder.mkdir()
    for version in ("1.0", "2.0"):
        add_wheel(folder, "alpha", version)
        add_wheel(folder, "beta", version)
    return folder


class Maker:
    """Makes runtimes that share a package cache, each with a session of its own."""

    def __init__(self, tmp_path: Path, house: Path) -> None:
        self.tmp_path, self.house, self.count = tmp_path, house, 0

    def __call__(self, **options: object) -> VenvRuntime:
        self.count += 1
        settings: dict[str, object] = {
            "session": self.tmp_path / f"session{self.count}",
            "entry": write_entry(self.tmp_path),
            "uv": find_uv(),
            "uv_environ": offline_environ(self.house),
            "find_python": find_python,
            "cache": self.tmp_path / "cache",
            **options,
        }
        return VenvRuntime(**settings)  # type: ignore[arg-type]


@pytest.fixture
def make(tmp_path: Path, house: Path) -> Maker:
    return Maker(tmp_path, house)


def probe(runtime: VenvRuntime, environment: Environment, tmp_path: Path, **options: object) -> dict[str, object]:
    run = runtime.run(environment, request(1, **options), tmp_path / "probe", 60)
    assert run.result is not None, run.log.read_text()
    return run.result


def imported(runtime: VenvRuntime, environment: Environment, tmp_path: Path, name: str) -> dict[str, object]:
    module = probe(runtime, environment, tmp_path, **{"import": [name]})[name]
    assert isinstance(module, dict)
    return module


def installed(environment: Environment) -> list[str]:
    site = environment.python.parent.parent.glob("lib/python*/site-packages/*.dist-info")
    return sorted(info.name.removesuffix(".dist-info") for info in site)


def test_the_environment_is_exactly_the_closure(make: Maker, tmp_path: Path) -> None:
    runtime = make()
    environment = runtime.prepare(stack(tmp_path, pins=("alpha==2.0", "beta==1.0")))
    assert installed(environment) == ["alpha-2.0", "beta-1.0"]
    assert not environment.reused
    assert environment.build_s > 0
    result = probe(runtime, environment, tmp_path)
    assert str(result["python"]).startswith("3.11.")
    assert result["prefix"] == str(environment.python.parent.parent)
    assert result["which"] == str(environment.python)


def test_one_environment_serves_while_only_flags_move(make: Maker, tmp_path: Path) -> None:
    runtime = make(managed_env={"ALGO"})
    first = runtime.prepare(stack(tmp_path, {"env.ALGO": "Ring"}, ("alpha==1.0",)))
    second = runtime.prepare(stack(tmp_path, {"env.ALGO": "Tree"}, ("alpha==1.0",)))
    other = runtime.prepare(stack(tmp_path, {"env.ALGO": "Tree"}, ("alpha==2.0",)))
    assert (first.reused, second.reused, other.reused) == (False, True, False)
    assert first.key == second.key != other.key
    assert second.build_s == 0
    assert second.environ["ALGO"] == "Tree"


def test_a_resumed_session_reuses_what_it_built(make: Maker, tmp_path: Path) -> None:
    make(session=tmp_path / "same").prepare(stack(tmp_path, pins=("alpha==1.0",)))
    assert make(session=tmp_path / "same").prepare(stack(tmp_path, pins=("alpha==1.0",))).reused


def test_an_edit_in_place_reaches_neither_the_cache_nor_the_next_probe(make: Maker, tmp_path: Path) -> None:
    wanted = stack(tmp_path, pins=("alpha==1.0",))
    runtime = make()
    environment = runtime.prepare(wanted)
    assert imported(runtime, environment, tmp_path, "alpha")["poisoned"] is False
    probe(runtime, environment, tmp_path, edit="alpha")  # appends to the installed file
    assert imported(runtime, environment, tmp_path, "alpha")["poisoned"] is True
    again = runtime.prepare(wanted)  # the same session notices,
    assert not again.reused
    assert imported(runtime, again, tmp_path, "alpha")["poisoned"] is False
    other = make()  # and another one, from the same cache, is clean
    assert imported(other, other.prepare(wanted), tmp_path, "alpha")["poisoned"] is False


def test_no_file_is_shared_with_the_cache_or_between_environments(make: Maker, tmp_path: Path) -> None:
    folders = [make().prepare(stack(tmp_path, pins=("alpha==1.0",))).python.parent.parent for _ in range(2)]
    files = [path for folder in (*folders, tmp_path / "cache") for path in folder.rglob("*.py") if path.is_file()]
    assert len(files) >= 3
    assert all(path.stat().st_nlink == 1 for path in files)


def test_byte_code_neither_litters_nor_counts_as_a_change(make: Maker, tmp_path: Path) -> None:
    runtime = make(inherited={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    wanted = stack(tmp_path, pins=("alpha==1.0",))
    environment = runtime.prepare(wanted)
    imported(runtime, environment, tmp_path, "alpha")
    root = environment.python.parent.parent
    assert list((root / "pycache").rglob("alpha*.pyc"))
    assert not list(root.glob("lib/**/__pycache__"))
    assert runtime.prepare(wanted).reused


def test_what_would_shadow_the_pins_does_not_leak(make: Maker, tmp_path: Path) -> None:
    shadow = tmp_path / "shadow"
    shadow.mkdir()
    (shadow / "alpha.py").write_text("POISON = 1\n")
    runtime = make(inherited={**os.environ, "PYTHONPATH": str(shadow), "PYTHONUSERBASE": str(shadow)})
    environment = runtime.prepare(stack(tmp_path, pins=("alpha==1.0",)))
    assert imported(runtime, environment, tmp_path, "alpha")["poisoned"] is False


def test_another_python_is_another_environment(make: Maker, tmp_path: Path) -> None:
    if find_python("3.12") is None:
        pytest.skip("no Python 3.12 on this machine")
    runtime = make()
    base = stack(tmp_path, pins=("alpha==1.0",))
    assert base.closure is not None
    environment = runtime.prepare(replace(base, closure=Closure.of("3.12", base.closure.pins)))
    assert str(probe(runtime, environment, tmp_path)["python"]).startswith("3.12.")
    assert environment.key != runtime.prepare(base).key


# --- what cannot be built ---------------------------------------------------------------------------------------------


def test_a_source_distribution_is_built(make: Maker, house: Path, tmp_path: Path) -> None:
    add_sdist(house, "gamma", "1.0")
    runtime = make()
    environment = runtime.prepare(stack(tmp_path, pins=("alpha==1.0", "gamma==1.0")))
    assert installed(environment) == ["alpha-1.0", "gamma-1.0"]


def test_a_failing_build_is_tried_twice_and_then_unbuildable(make: Maker, house: Path, tmp_path: Path) -> None:
    count = tmp_path / "tries"
    body = f"open({str(count)!r}, 'a').write('x'); raise SystemExit('no compiler for gamma')"
    add_sdist(house, "gamma", "1.0", body)
    with pytest.raises(Unbuildable, match=r"gamma==1\.0 does not build") as caught:
        make().prepare(stack(tmp_path, pins=("alpha==1.0", "gamma==1.0")))
    assert caught.value.culprits == ("gamma==1.0",)
    assert "no compiler for gamma" in caught.value.log
    assert count.read_text() == "xx"
    assert not list((tmp_path / "session1" / "environments").glob("*/bin"))


def test_a_build_that_fails_once_only_is_good(make: Maker, house: Path, tmp_path: Path) -> None:
    count = tmp_path / "tries"
    body = f"f = open({str(count)!r}, 'a'); f.write('x'); f.close(); assert os.path.getsize(f.name) > 1"
    add_sdist(house, "gamma", "1.0", body)
    assert installed(make().prepare(stack(tmp_path, pins=("gamma==1.0",)))) == ["gamma-1.0"]


def test_a_build_does_not_answer_for_another_date(make: Maker, house: Path, tmp_path: Path) -> None:
    count = tmp_path / "tries"
    add_sdist(house, "gamma", "1.0", f"open({str(count)!r}, 'a').write('x')")
    for date in ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"):
        closure = Closure.of("3.11", [Pin("gamma", "1.0")], date)
        make().prepare(Stack({}, closure, tmp_path))
    assert count.read_text() == "xx"  # once a date


def test_a_version_that_the_index_does_not_have_is_unbuildable(make: Maker, tmp_path: Path) -> None:
    with pytest.raises(Unbuildable, match=r"alpha==9\.0") as caught:
        make().prepare(stack(tmp_path, pins=("alpha==9.0", "beta==1.0")))
    assert caught.value.culprits == ("alpha==9.0",)


def test_a_wheel_for_other_machines_only_is_unbuildable(make: Maker, house: Path, tmp_path: Path) -> None:
    add_wheel(house, "delta", "1.0", "cp311-cp311-win_amd64")
    with pytest.raises(Unbuildable, match="delta"):
        make().prepare(stack(tmp_path, pins=("delta==1.0",)))


def test_a_package_that_names_itself_otherwise_is_unbuildable(make: Maker, house: Path, tmp_path: Path) -> None:
    shutil.copy(house / "alpha-1.0-py3-none-any.whl", house / "omega-1.0-py3-none-any.whl")
    with pytest.raises(Unbuildable):
        make().prepare(stack(tmp_path, pins=("omega==1.0",)))


# --- what is nobody's evidence ----------------------------------------------------------------------------------------


def test_an_index_that_cannot_be_reached_is_an_infrastructure_fault(make: Maker, house: Path, tmp_path: Path) -> None:
    environ = offline_environ(house) | {
        "UV_DEFAULT_INDEX": "http://user:hunter2@127.0.0.1:9/simple",
        "UV_HTTP_RETRIES": "0",
    }
    with pytest.raises(InfrastructureFault, match="index cannot be reached") as caught:
        make(uv_environ=environ).prepare(stack(tmp_path, pins=("alpha==1.0", "nowhere==1.0")))
    assert "hunter2" not in caught.value.message + caught.value.hint


class Pages(http.server.SimpleHTTPRequestHandler):
    """A package index over HTTP, without a word on stderr."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        pass


def test_without_a_network_what_is_cached_is_enough(make: Maker, tmp_path: Path) -> None:
    served = tmp_path / "served"
    (served / "simple" / "alpha").mkdir(parents=True)
    wheel = add_wheel(served, "alpha", "1.0")
    (served / "simple" / "alpha" / "index.html").write_text(f'<a href="/{wheel.name}">{wheel.name}</a>')
    wanted = stack(tmp_path, pins=("alpha==1.0",))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages, directory=served)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        environ = uv_environ(IndexConfig(index=Index(f"http://127.0.0.1:{server.server_port}/simple")))
        environ |= {"UV_HTTP_RETRIES": "0"}
        try:
            make(uv_environ=environ).prepare(wanted)
        finally:
            server.shutdown()
            thread.join()
    assert installed(make(uv_environ=environ).prepare(wanted)) == ["alpha-1.0"]
    with pytest.raises(InfrastructureFault, match="index cannot be reached"):
        make(uv_environ=environ, cache=tmp_path / "another").prepare(wanted)


def test_a_session_folder_that_cannot_be_written_is_an_infrastructure_fault(make: Maker, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureFault):
        make(session=tmp_path / "file").prepare(stack(tmp_path, pins=("alpha==1.0",)))


def test_a_python_that_is_not_here_is_a_usage_error(make: Maker, tmp_path: Path) -> None:
    missing = Stack({}, Closure.of("3.4", [Pin("alpha", "1.0")]), tmp_path)
    with pytest.raises(UsageError, match=r"Python 3\.4 is not on this machine"):
        make().prepare(missing)


def test_nothing_pinned_is_refused(make: Maker, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing is pinned"):
        make().prepare(Stack({}, None, tmp_path))


# --- the real index ---------------------------------------------------------------------------------------------------


@pytest.mark.network
@pytest.mark.slow
def test_a_real_sdist_that_todays_tools_cannot_build_is_unbuildable(make: Maker, tmp_path: Path) -> None:
    runtime = make(uv_environ=uv_environ(read_config()))
    with pytest.raises(Unbuildable, match="cython_sources") as caught:
        runtime.prepare(stack(tmp_path, pins=("pyyaml==5.4", "six==1.16.0")))
    assert caught.value.culprits == ("pyyaml==5.4",)


@pytest.mark.network
def test_a_real_package_comes_from_the_configured_index(make: Maker, tmp_path: Path) -> None:
    runtime = make(uv_environ=uv_environ(read_config()))
    environment = runtime.prepare(stack(tmp_path, pins=("six==1.16.0",)))
    assert imported(runtime, environment, tmp_path, "six")["poisoned"] is False


# --- Git --------------------------------------------------------------------------------------------------------------


def test_a_git_package_is_built_at_its_revision_with_its_patches(make: Maker, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "--quiet")
    for name, text in source_files("gamma", "1.0").items():
        (repository / name).write_text(text)
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "first")
    rev = git(repository, "rev-parse", "HEAD")
    (repository / "gamma.py").write_text("VERSION = '1.0'\nPOISON = 'by a patch'\n")
    patch = tmp_path / "fix.patch"
    patch.write_text(git(repository, "diff") + "\n")
    runtime = make()
    pins = [Pin("gamma", "", GitSource(str(repository), rev, patches)) for patches in ((), (patch,))]
    outcomes = []
    for pin in pins:
        environment = runtime.prepare(Stack({}, Closure.of("3.11", [pin]), tmp_path))
        outcomes.append(imported(runtime, environment, tmp_path, "gamma")["poisoned"])
    assert outcomes == [False, True]
    patch.write_text(patch.read_text().replace("VERSION", "REVISION"))
    with pytest.raises(Unbuildable, match=r"fix\.patch does not apply"):
        runtime.prepare(Stack({}, Closure.of("3.11", pins[1:]), tmp_path))


# --- room -------------------------------------------------------------------------------------------------------------


def test_the_environment_that_was_unused_longest_goes_first(make: Maker, tmp_path: Path) -> None:
    runtime = make(limits=Limits(environments=2))
    one, two, three = (stack(tmp_path, pins=pins) for pins in (("alpha==1.0",), ("alpha==2.0",), ("beta==1.0",)))
    runtime.prepare(one)
    runtime.prepare(two)
    assert runtime.prepare(one).reused  # now two is the oldest
    runtime.prepare(three)
    assert len(list((tmp_path / "session1" / "environments").glob("*/bin"))) == 2
    assert runtime.prepare(one).reused
    assert not runtime.prepare(two).reused


def test_closing_removes_environments_and_keeps_the_cache(make: Maker, tmp_path: Path) -> None:
    runtime = make()
    runtime.prepare(stack(tmp_path, pins=("alpha==1.0",)))
    runtime.close()
    assert not (tmp_path / "session1" / "environments").exists()
    assert (tmp_path / "cache" / "uv").is_dir()


def test_reflinks_are_tried_and_not_believed(tmp_path: Path) -> None:
    assert reflinks(tmp_path, tmp_path) in {True, False}
    if Path("/dev/shm").is_dir():
        assert not reflinks(tmp_path, Path("/dev/shm"))


def test_half_an_environment_of_a_killed_process_is_built_anew_from_any_folder(
    make: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = stack(tmp_path, pins=("alpha==1.0",))
    left = tmp_path / "here" / "environments" / (wanted.closure or Closure.of("", ())).identity()[:16]
    (left / "bin").mkdir(parents=True)
    (left / "pyvenv.cfg").write_text("home = /nowhere\n")
    (left / "bin" / "python").symlink_to("/nowhere/python")
    environment = make(session=Path("here")).prepare(wanted)
    monkeypatch.chdir("/")
    assert not environment.reused
    assert environment.python == left / "bin" / "python"
    assert make(session=tmp_path / "here").prepare(wanted).reused


def test_what_cannot_be_removed_first_is_cleared_by_uv(make: Maker, tmp_path: Path) -> None:
    target = tmp_path / "env"
    (target / "bin").mkdir(parents=True)
    (target / "pyvenv.cfg").write_text("home = /nowhere\n")
    installer = Installer(find_uv(), tmp_path / "cache", offline_environ(make.house))
    python = find_python("3.11")
    assert python is not None
    installer.install(Order(("alpha==1.0",), python), target, tmp_path / "env.log")
    assert [path.name for path in target.glob("lib/python*/site-packages/alpha-*")] == ["alpha-1.0.dist-info"]


def test_an_index_that_denies_is_no_evidence_about_the_stack(make: Maker, tmp_path: Path) -> None:
    with serving() as served:
        served.statuses["/simple/alpha/"] = [401] * 20
        runtime = make(uv_environ=uv_environ(IndexConfig(Index(f"{served.url}/simple"))))
        with pytest.raises(InfrastructureFault, match="access denied"):
            runtime.prepare(stack(tmp_path, pins=("alpha==1.0",)))
        served.statuses.clear()
        with pytest.raises(Unbuildable, match="the index has no alpha"):
            runtime.prepare(stack(tmp_path, pins=("alpha==1.0",)))

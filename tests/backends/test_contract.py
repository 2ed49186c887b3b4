"""What every runtime promises, whatever it is made of. A new runtime adds one line to ``MAKERS``."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from envbisect.backends.interface import Environment, InfrastructureFault, ProbeRun, Runtime, Unbuildable
from envbisect.backends.interpreter import Need, choose_interpreter
from envbisect.backends.local import LocalRuntime
from envbisect.backends.venv import VenvRuntime
from envbisect.keys.spec import Mover
from envbisect.packages.pythons import find_python
from envbisect.packages.uv import find_uv
from tests.backends.faulty import FaultyRuntime, Injected
from tests.backends.stacks import request, stack, write_entry
from tests.backends.wheelhouse import add_wheel, offline_environ
from tests.process.test_run import alive

MANAGED = {"ALGO", "LEVEL"}
SHELL = {"ALGO": "shell", "LEVEL": "shell", "KEPT": "kept"}


def local(tmp_path: Path, inherited: dict[str, str]) -> Runtime:
    return LocalRuntime(
        session=tmp_path / "session",
        entry=write_entry(tmp_path),
        choice=choose_interpreter(Need(), Path(sys.executable)),
        managed_env=MANAGED,
        inherited=inherited,
    )


def venv(tmp_path: Path, inherited: dict[str, str]) -> Runtime:
    house = tmp_path / "house"
    house.mkdir()
    add_wheel(house, "alpha", "1.0")
    return VenvRuntime(
        session=tmp_path / "session",
        entry=write_entry(tmp_path),
        uv=find_uv(),
        uv_environ=offline_environ(house),
        find_python=find_python,
        cache=tmp_path / "cache",
        managed_env=MANAGED,
        inherited=inherited,
    )


def faulty(tmp_path: Path, inherited: dict[str, str]) -> Runtime:
    return FaultyRuntime(local(tmp_path, inherited))


MAKERS: dict[str, Callable[[Path, dict[str, str]], Runtime]] = {"local": local, "venv": venv, "faulty": faulty}
PINS = ("alpha==1.0",)


@pytest.fixture
def marker() -> str:
    return f"contract-{secrets.token_hex(6)}"


@pytest.fixture(params=sorted(MAKERS))
def runtime(request: pytest.FixtureRequest, tmp_path: Path, marker: str) -> Iterator[Runtime]:
    made = MAKERS[request.param](tmp_path, {**os.environ, **SHELL, "MARKER": marker})
    yield made
    made.close()


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    folder = tmp_path / "manifests"
    folder.mkdir()
    (folder / "data.txt").write_text("data")
    return folder


def run(runtime: Runtime, environment: Environment, folder: Path, **options: object) -> ProbeRun:
    return runtime.run(environment, request(7, **options), folder, 60)


def test_it_moves_variables_flags_and_code_at_least(runtime: Runtime) -> None:
    assert {Mover.ENV, Mover.TORCH, Mover.DATALOADER, Mover.LAUNCH, Mover.CODE, Mover.INPUTS} <= runtime.moves
    assert runtime.name in {"local", "venv"}


def test_the_payload_sees_the_configuration(runtime: Runtime, manifests: Path, tmp_path: Path) -> None:
    environment = runtime.prepare(stack(manifests, {"env.ALGO": "Tree"}, PINS))
    done = run(runtime, environment, tmp_path / "probe")
    assert (done.exit_code, done.timed_out) == (0, False)
    assert done.result is not None
    environ = done.result["environ"]
    assert isinstance(environ, dict)
    assert environ["ALGO"] == "Tree"
    assert "LEVEL" not in environ  # pinned at the other end only: unset
    assert environ["KEPT"] == "kept"
    assert environ["ENVBISECT_PROBE"] == "7"
    assert environ["ENVBISECT_CONFIGURATION"] == '{"env.ALGO": "Ring"}'
    assert (done.result["cwd"], done.result["files"]) == (str(manifests), ["data.txt"])
    assert done.result["executable"] == str(environment.python)
    assert done.log.read_text() == "done\n"
    assert done.seconds > 0


def test_every_probe_has_a_fresh_scratch_folder_that_goes_again(
    runtime: Runtime, manifests: Path, tmp_path: Path
) -> None:
    environment = runtime.prepare(stack(manifests, pins=PINS))
    seen = set()
    for number in range(2):
        result = run(runtime, environment, tmp_path / f"probe{number}").result
        assert result is not None
        environ = result["environ"]
        assert isinstance(environ, dict)
        seen.add(environ["TMPDIR"])
        assert not Path(environ["TMPDIR"]).exists()
        assert environ["TRITON_CACHE_DIR"].startswith(environ["TMPDIR"])
    assert len(seen) == 2


def test_the_same_stack_is_prepared_once(runtime: Runtime, manifests: Path) -> None:
    first = runtime.prepare(stack(manifests, {"env.ALGO": "Tree"}, PINS))
    second = runtime.prepare(stack(manifests, {"env.ALGO": "Ring"}, PINS))
    assert second.reused
    assert (first.key, first.python) == (second.key, second.python)


def test_the_deadline_kills_everything(runtime: Runtime, manifests: Path, tmp_path: Path, marker: str) -> None:
    environment = runtime.prepare(stack(manifests, pins=PINS))
    started = time.monotonic()
    done = runtime.run(environment, request(1, sleep_s=60), tmp_path / "probe", 2.5)
    assert done.timed_out
    assert done.result is None
    assert time.monotonic() - started < 15
    assert done.log.read_text() == "sleeping\n"
    assert alive(marker) == []


@pytest.mark.parametrize(("options", "exit_code"), [({"exit": 3}, 3), ({"cut": True}, 0)])
def test_a_result_that_is_missing_or_cut_off_is_none(
    runtime: Runtime, manifests: Path, tmp_path: Path, options: dict[str, object], exit_code: int
) -> None:
    environment = runtime.prepare(stack(manifests, pins=PINS))
    assert run(runtime, environment, tmp_path / "probe").result is not None  # an older result must not be taken
    done = run(runtime, environment, tmp_path / "probe", **options)
    assert (done.result, done.exit_code) == (None, exit_code)


def test_an_environment_that_vanished_is_an_infrastructure_fault(
    runtime: Runtime, manifests: Path, tmp_path: Path
) -> None:
    whole = runtime.prepare(stack(manifests, pins=PINS))
    gone = Environment(whole.key, tmp_path / "gone" / "bin" / "python", 0, True, whole.cwd, whole.environ)
    with pytest.raises(InfrastructureFault, match="could not be run"):
        run(runtime, gone, tmp_path / "probe")


def test_closing_twice_is_fine_and_leaves_the_users_folder(runtime: Runtime, manifests: Path) -> None:
    runtime.prepare(stack(manifests, pins=PINS))
    runtime.close()
    runtime.close()
    assert [path.name for path in manifests.iterdir()] == ["data.txt"]


def test_injected_faults_strike_in_their_order(manifests: Path, tmp_path: Path) -> None:
    of_prepare = [Injected.BUILD_LOST, Injected.UNBUILDABLE]
    of_run = [None, Injected.PROBE_LOST, Injected.RESULT_LOST, Injected.HANG, Injected.CTRL_C]
    runtime = FaultyRuntime(local(tmp_path, dict(os.environ)), [*of_prepare, *of_run])
    wanted = stack(manifests)
    with pytest.raises(InfrastructureFault):
        runtime.prepare(wanted)
    with pytest.raises(Unbuildable):
        runtime.prepare(wanted)
    environment = runtime.prepare(wanted)
    assert run(runtime, environment, tmp_path / "probe").result is not None
    with pytest.raises(InfrastructureFault):
        run(runtime, environment, tmp_path / "probe")
    lost = run(runtime, environment, tmp_path / "probe")
    assert (lost.result, lost.exit_code, lost.timed_out) == (None, -9, False)
    assert run(runtime, environment, tmp_path / "probe").timed_out
    with pytest.raises(KeyboardInterrupt):
        run(runtime, environment, tmp_path / "probe")
    assert run(runtime, environment, tmp_path / "probe").result is not None


def test_what_a_killed_process_left_of_a_probe_goes_with_its_repetition(
    runtime: Runtime, manifests: Path, tmp_path: Path
) -> None:
    environment = runtime.prepare(stack(manifests, pins=PINS))
    probe = tmp_path / "probe"
    probe.mkdir()
    left, users = tmp_path / "envbisect-0123abcd", tmp_path / "envbisect-results"
    for folder in (left, users):
        (folder / "deep").mkdir(parents=True)
    for folder, stays in ((left, False), (users, True)):
        (probe / "scratch.txt").write_text(str(folder))
        assert run(runtime, environment, probe).result is not None
        assert folder.exists() is stays
        assert not (probe / "scratch.txt").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [({"exit": 3}, "exit code 3 and said nothing"), ({"cut": True}, "cut off"), ({"signal": 11}, "killed by SIGSEGV")],
)
def test_a_log_without_a_result_ends_with_the_reason(
    runtime: Runtime, manifests: Path, tmp_path: Path, options: dict[str, object], words: str
) -> None:
    environment = runtime.prepare(stack(manifests, pins=PINS))
    done = run(runtime, environment, tmp_path / "probe", **options)
    assert done.result is None
    assert words in done.log.read_text().splitlines()[-1]


def test_a_burn_in_whose_program_is_gone_says_so(runtime: Runtime, manifests: Path, tmp_path: Path) -> None:
    environment = runtime.prepare(stack(manifests, pins=PINS))
    write_entry(tmp_path).unlink()
    done = run(runtime, environment, tmp_path / "probe")
    assert done.result is None
    assert "entry.py is gone" in done.log.read_text().splitlines()[-1]

"""The runtime that takes an interpreter as it is: which one, with what environment, code and inputs."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from envbisect.backends.environ import process_environ
from envbisect.backends.interface import Environment, Unbuildable
from envbisect.backends.interpreter import Choice, Need, choose_interpreter, examine
from envbisect.backends.local import LocalRuntime
from envbisect.errors import UsageError
from envbisect.manifest.stack import Pin, Value
from tests.backends.stacks import git, request, stack, write_entry


@pytest.fixture(scope="module")
def own() -> Choice:
    return choose_interpreter(Need(), Path(sys.executable))


def runtime(tmp_path: Path, choice: Choice, **options: object) -> LocalRuntime:
    return LocalRuntime(session=tmp_path / "session", entry=write_entry(tmp_path), choice=choice, **options)  # type: ignore[arg-type]


def seen(local: LocalRuntime, environment: Environment, tmp_path: Path) -> dict[str, object]:
    run = local.run(environment, request(), tmp_path / "probe", 30)
    assert run.result is not None, run.log.read_text()
    return run.result


# --- which interpreter ------------------------------------------------------------------------------------------------


def fake_python(folder: Path) -> Path:
    """An interpreter of its own: a virtual environment without packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin" / "python"


def test_the_active_environment_comes_before_path_and_the_tool(tmp_path: Path) -> None:
    active, on_path = fake_python(tmp_path / "active"), fake_python(tmp_path / "on-path")
    environ = {"VIRTUAL_ENV": str(tmp_path / "active"), "PATH": str(on_path.parent)}
    assert choose_interpreter(Need(), environ=environ).python == active
    del environ["VIRTUAL_ENV"]
    choice = choose_interpreter(Need(), environ=environ)
    assert choice.python == on_path
    assert "PATH's python" in choice.why


def test_one_without_what_is_needed_is_passed_over_and_said(tmp_path: Path) -> None:
    fake_python(tmp_path / "active")
    environ = {"VIRTUAL_ENV": str(tmp_path / "active"), "PATH": ""}
    choice = choose_interpreter(Need(imports=("pytest",)), environ=environ)
    assert choice.python == Path(sys.executable)
    assert "$VIRTUAL_ENV" in choice.why
    assert "lacks pytest" in choice.why


def test_pins_are_compared_exactly_but_for_an_unasked_local_part(tmp_path: Path) -> None:
    folder = tmp_path / "env"
    python = fake_python(folder)
    site = next(folder.glob("lib/python*/site-packages"))
    info = site / "torch-2.13.0+cpu.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0+cpu\n")
    for version, lacks in (("2.13.0", ()), ("2.13.0+cpu", ()), ("2.13.0+cu130", 1), ("2.12.0", 1)):
        facts = examine(python, Need(pins=(Pin("torch", version),)))
        assert facts is not None
        assert len(facts.lacks) == (lacks or 0), version
    facts = examine(python, Need(pins=(Pin("numpy", "2.1.0"),)))
    assert facts is not None
    assert facts.lacks == ("numpy 2.1.0 (it has none)",)


def test_nothing_that_serves_is_a_usage_error_that_names_each_candidate(tmp_path: Path) -> None:
    fake_python(tmp_path / "active")
    need = Need(imports=("no_such_module_anywhere",))
    with pytest.raises(UsageError, match="no_such_module_anywhere") as caught:
        choose_interpreter(need, environ={"VIRTUAL_ENV": str(tmp_path / "active"), "PATH": "/nowhere"})
    assert "$VIRTUAL_ENV" in caught.value.message
    assert "own interpreter" in caught.value.message
    assert "--python" in caught.value.hint


def test_a_given_interpreter_must_run_and_have_what_is_needed(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", Path("/bin/true")):
        with pytest.raises(UsageError, match="not a Python interpreter"):
            choose_interpreter(Need(), path)
    with pytest.raises(UsageError, match=r"lacks .*Python 2\.7"):
        choose_interpreter(Need(python="2.7"), Path(sys.executable))


# --- its environment --------------------------------------------------------------------------------------------------


def test_pinned_variables_rule_and_absent_ones_are_unset(tmp_path: Path, own: Choice) -> None:
    inherited = {
        **os.environ,
        "ALGO": "shell",
        "LEVEL": "shell",
        "OTHER": "kept",
        "EMPTY": "shell",
        "ENVBISECT_PROBE": "9",
    }
    local = runtime(tmp_path, own, managed_env={"ALGO", "LEVEL", "EMPTY"}, inherited=inherited)
    environment = local.prepare(stack(tmp_path, {"env.ALGO": "Tree", "env.EMPTY": ""}))
    environ = seen(local, environment, tmp_path)["environ"]
    assert isinstance(environ, dict)
    assert environ["ALGO"] == "Tree"
    assert environ["EMPTY"] == ""
    assert environ["OTHER"] == "kept"
    assert "LEVEL" not in environ
    assert environ["ENVBISECT_PROBE"] == "1"


def test_what_belongs_to_another_interpreter_does_not_leak(tmp_path: Path, own: Choice) -> None:
    inherited = {**os.environ, "PYTHONHOME": "/nowhere", "VIRTUAL_ENV": "/elsewhere", "PYTHONPATH": str(tmp_path)}
    local = runtime(tmp_path, own, inherited=inherited)
    environ = seen(local, local.prepare(stack(tmp_path)), tmp_path)["environ"]
    assert isinstance(environ, dict)
    assert "PYTHONHOME" not in environ
    assert environ.get("VIRTUAL_ENV") == (str(own.facts.prefix) if own.facts.in_venv else None)
    assert environ["PYTHONPATH"] == str(tmp_path)  # part of the interpreter as it is


def test_a_pinned_pythonhome_is_the_users_decision(tmp_path: Path) -> None:
    pinned = stack(tmp_path, {"env.PYTHONHOME": "/pinned"})
    environ = process_environ(pinned, {}, managed=(), path_first=(), virtual_env=None, built=False)
    assert environ["PYTHONHOME"] == "/pinned"


@pytest.mark.parametrize("value", [True, [1], {"a": 1}, "nul\0"])
def test_a_value_that_no_variable_can_have_is_refused(tmp_path: Path, value: Value) -> None:
    with pytest.raises(UsageError, match=r"env\.X"):
        process_environ(stack(tmp_path, {"env.X": value}), {}, managed=(), path_first=(), virtual_env=None, built=False)


def test_python_is_the_chosen_one_wherever_it_lies(tmp_path: Path) -> None:
    virtual = choose_interpreter(Need(), fake_python(tmp_path / "venv"))
    base = choose_interpreter(Need(), Path(os.path.realpath(sys.executable)))
    assert not base.facts.in_venv
    for number, choice in enumerate((virtual, base)):
        (tmp_path / str(number)).mkdir()
        local = runtime(tmp_path / str(number), choice)
        environment = local.prepare(stack(tmp_path))
        output = subprocess.run(
            ["python", "-c", "import sys; print(sys.executable, sys.prefix)"],
            env=dict(environment.environ),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert output.split() == [str(choice.python), str(choice.facts.prefix)]


# --- code and inputs --------------------------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits; the manifest lies in ``bench/``, the worktree is dirty."""
    folder = tmp_path / "project"
    (folder / "bench").mkdir(parents=True)
    git(folder, "init", "--quiet")
    for number in (1, 2):
        (folder / "bench" / "version.txt").write_text(f"{number}\n")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", str(number))
        git(folder, "tag", f"v{number}")
    (folder / "bench" / "version.txt").write_text("dirty\n")
    return folder


def state_of(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(p): (p.lstat().st_mtime_ns, p.lstat().st_size) for p in sorted(folder.rglob("*")) if not p.is_dir()}


def test_code_runs_at_its_revision_and_the_users_tree_is_untouched(
    tmp_path: Path, own: Choice, repository: Path
) -> None:
    local = runtime(tmp_path, own)
    before = state_of(repository)
    keys = []
    for number in (1, 2):
        code: dict[str, Value] = {"code.repo": "..", "code.rev": f"v{number}"}
        environment = local.prepare(stack(repository / "bench", code))
        assert not environment.reused
        assert (environment.cwd / "version.txt").read_text() == f"{number}\n"
        assert seen(local, environment, tmp_path)["cwd"] == str(environment.cwd)
        assert local.prepare(stack(repository / "bench", code)).reused
        keys.append(environment.key)
    assert keys[0] != keys[1]
    assert state_of(repository) == before
    assert git(repository, "worktree", "list").count("\n") == 0


def test_a_repository_elsewhere_runs_at_its_root(tmp_path: Path, own: Choice, repository: Path) -> None:
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    for url in (str(repository), f"file://{repository}"):
        environment = runtime(tmp_path, own).prepare(stack(manifests, {"code.repo": url, "code.rev": "v1"}))
        assert (environment.cwd / "bench" / "version.txt").read_text() == "1\n"


def test_a_dirty_patch_is_applied_or_the_stack_is_unbuildable(tmp_path: Path, own: Choice, repository: Path) -> None:
    (repository / "bench" / "wip.patch").write_text(git(repository, "diff") + "\n")
    local = runtime(tmp_path, own)
    code: dict[str, Value] = {"code.rev": "v2", "code.repo": "..", "code.dirty_patch": "wip.patch"}
    environment = local.prepare(stack(repository / "bench", code))
    assert (environment.cwd / "version.txt").read_text() == "dirty\n"
    with pytest.raises(Unbuildable, match=r"wip\.patch does not apply"):
        local.prepare(stack(repository / "bench", {**code, "code.rev": "v1"}))
    with pytest.raises(Unbuildable):  # a half-made checkout is not taken for a whole one
        local.prepare(stack(repository / "bench", {**code, "code.rev": "v1"}))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ({"code.repo": "..", "code.rev": "v9"}, "no revision v9"),
        ({"code.repo": "..", "code.rev": "--help"}, "no revision --help"),
        ({"code.repo": "nowhere", "code.rev": "v1"}, "no repository"),
        ({"code.repo": "..", "code.rev": "v1", "code.dirty_patch": "no.patch"}, "does not exist"),
    ],
)
def test_code_that_is_not_there_is_a_usage_error(
    tmp_path: Path, own: Choice, repository: Path, code: dict[str, Value], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        runtime(tmp_path, own).prepare(stack(repository / "bench", code))


def test_variables_of_a_git_hook_do_not_redirect_the_checkout(tmp_path: Path, own: Choice, repository: Path) -> None:
    inherited = {**os.environ, "GIT_DIR": str(tmp_path / "other.git"), "GIT_INDEX_FILE": "x"}
    local = runtime(tmp_path, own, inherited=inherited)
    environment = local.prepare(stack(repository / "bench", {"code.repo": "..", "code.rev": "v1"}))
    assert (environment.cwd / "version.txt").read_text() == "1\n"


def digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_inputs_are_checked_by_hash_and_all_faults_are_named(tmp_path: Path, own: Choice) -> None:
    (tmp_path / "val.bin").write_text("data")
    local = runtime(tmp_path, own)
    local.prepare(stack(tmp_path, {"inputs.val.bin": digest("data")}))
    (tmp_path / "val.bin").write_text("tampered")
    with pytest.raises(UsageError, match=r"val\.bin is sha256.*; .*weights\.pt is missing"):
        local.prepare(stack(tmp_path, {"inputs.val.bin": digest("data"), "inputs.weights.pt": digest("w")}))


def test_inputs_move_with_the_code(tmp_path: Path, own: Choice, repository: Path) -> None:
    texts = {"good": "old data", "bad": "new data"}
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "val.bin").write_text(text)
    local = runtime(tmp_path, own, input_folders=[tmp_path / "good", tmp_path / "bad"])
    for text in (*texts.values(), "old data"):
        components: dict[str, Value] = {
            "code.repo": str(repository), "code.rev": "v1", "inputs.val.bin": digest(text),
        }  # fmt: skip
        environment = local.prepare(stack(tmp_path / "good", components))
        assert (environment.cwd / "val.bin").read_text() == text
    assert (tmp_path / "good" / "val.bin").read_text() == "old data"

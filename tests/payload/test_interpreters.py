"""The payload on the oldest and on the newest Python, without torch: syntax, semantics, hook."""

from __future__ import annotations

from envbisect.burnin.result import CheckStatus
from tests.payload.conftest import Run, Script


def test_the_users_test_runs_and_fails_alike(run: Run, script: Script, other_python: str) -> None:
    ran = run(command=script("def f():\n    raise ValueError('x 1')\nf()\n"), python=other_python)
    failure = ran.only().failure
    assert failure is not None
    assert (failure.type, failure.message, failure.frames[-1]) == ("ValueError", "x N", "__main__:f")
    assert other_python.split("/versions/")[1].startswith(ran.result.python)


def test_checks_without_torch_cannot_tell(run: Run, other_python: str) -> None:
    ran = run(checks=["ladder", "repeat", "latency"], python=other_python)
    assert ran.result.complete
    assert {check.status for check in ran.result.checks} == {CheckStatus.CANNOT_TELL}


def test_a_torch_that_does_not_import_is_an_error_of_every_check(run: Run, script: Script, other_python: str) -> None:
    script("raise ImportError('libcudart.so.12: cannot open shared object file')\n", name="torch.py")
    ran = run(checks=["repeat.index_put"], python=other_python, environ={"PYTHONPATH": "."})
    check = ran.only()
    assert check.status is CheckStatus.ERROR
    assert check.failure is not None
    assert (check.failure.type, check.failure.frames) == ("ImportError", ("torch:<module>",))


def test_every_module_of_the_payload_imports(run: Run, entry: object, other_python: str) -> None:
    """A module that no other test reaches on this interpreter must be readable by it too."""
    import subprocess
    from pathlib import Path

    root = Path(str(entry)).parent
    names = [
        ".".join(path.relative_to(root).with_suffix("").parts)
        for path in sorted((root / "envbisect_payload").rglob("*.py"))
        if path.name not in ("__init__.py", "sitecustomize.py")
    ]
    code = f"import sys, importlib; sys.path.insert(0, {str(root)!r}); [importlib.import_module(n) for n in {names!r}]"
    assert "envbisect_payload.checks.ladder" in names
    done = subprocess.run([other_python, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

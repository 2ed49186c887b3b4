"""The payload as a runtime starts it: carried, in a process of its own, by a request file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from envbisect.burnin.carry import carry
from envbisect.burnin.request import BurninRequest
from envbisect.burnin.result import BurninResult, CheckResult, parse_result

Run = Callable[..., "Ran"]
Script = Callable[..., list[str]]

OTHER_PYTHONS = ("3.8", "3.13")

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs an interpreter with torch")


@dataclass(frozen=True)
class Ran:
    """How the payload ended and what it wrote."""

    exit_code: int
    result: BurninResult
    folder: Path

    def only(self) -> CheckResult:
        """The single check that ran."""
        (check,) = self.result.checks
        return check

    def faults(self) -> list[str]:
        return [f"{fault.kind}: {fault.message}" for fault in self.result.faults]


@pytest.fixture(scope="session")
def entry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return carry(tmp_path_factory.mktemp("payload"))


@pytest.fixture
def run(entry: Path, tmp_path: Path) -> Run:
    """``run(python=…, environ=…, deadline_s=…, **request)`` in ``tmp_path / "work"``."""
    work = tmp_path / "work"
    work.mkdir()

    def start(
        *,
        python: str = sys.executable,
        environ: Mapping[str, str] | None = None,
        deadline_s: float = 60,
        **request: object,
    ) -> Ran:
        document = BurninRequest.model_validate({"probe": 7, **request}).document()
        (tmp_path / "request.json").write_text(json.dumps(document))
        result = tmp_path / "result.json"
        process = subprocess.run(
            [python, str(entry), str(tmp_path / "request.json"), str(result)],
            cwd=work,
            env={**os.environ, **(environ or {})},
            timeout=deadline_s,
            check=False,
        )
        return Ran(process.returncode, parse_result(json.loads(result.read_text())), tmp_path)

    return start


def _interpreter(version: str) -> str | None:
    """An interpreter of pyenv, which the payload's tests want in its oldest and newest kind."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = sorted(root.glob(f"versions/{version}.*/bin/python"))
    return str(found[-1]) if found else None


@pytest.fixture(params=OTHER_PYTHONS)
def other_python(request: pytest.FixtureRequest) -> str:
    """The oldest and the newest Python that the payload runs on."""
    python = _interpreter(request.param)
    if python is None:
        pytest.skip(f"no Python {request.param} of pyenv here")
    return python


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Write a test program into the folder where the test runs; returns its command."""

    def write(text: str, name: str = "program.py") -> list[str]:
        (tmp_path / "work" / name).write_text(text)
        return ["python", name]

    return write

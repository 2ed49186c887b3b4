"""What the command line imports, and that the controller leaves torch alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.console_script import SCRIPT, Ran, envbisect

HEAVY = {"numpy", "pydantic", "docker", "git", "requests", "uv", "torch", "packaging", "tomli", "http", "asyncio"}
TYPERS_OWN = {"pydantic"}  # Typer reads the parameters of a command (not the list of commands) with it
COMMANDS = ("", "run", "plan", "diff", "burnin", "lint", "show", "resume", "schema", "doctor")

REPORT = """\
import sys
from envbisect.cli.main import main
code = main(sys.argv[1:])
print("\\n" + " ".join(sorted({name.partition(".")[0] for name in sys.modules})))
sys.exit(code)
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_help_imports_nothing_heavy(command: str) -> None:
    words = [command, "--help"] if command else ["--help"]
    done = subprocess.run([sys.executable, "-c", REPORT, *words], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "typer" in loaded
    assert loaded.isdisjoint(HEAVY - TYPERS_OWN if command else HEAVY)


def test_help_of_every_command_is_listed() -> None:
    listed = envbisect("--help", cwd=Path.cwd()).out
    assert all(command in listed for command in COMMANDS)


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    """Two manifests whose test needs no torch, beside a torch that tells who imports it."""
    body = 'schema = 1\nname = "{x}"\n[env]\nX = "{x}"\n[burnin]\ncommand = ["python", "t.py"]\ntimeout_s = 20\n'
    for name, x in (("good", "0"), ("bad", "1")):
        (tmp_path / f"{name}.toml").write_text(body.format(x=x))
    (tmp_path / "t.py").write_text("import os, sys\nsys.exit(int(os.environ['X']))\n")
    poisoned = tmp_path / "poisoned" / "torch"
    poisoned.mkdir(parents=True)
    (poisoned / "__init__.py").write_text(
        "import json, os, sys\n"
        "with open(os.environ['TORCH_IMPORTERS'], 'a') as told:\n"
        "    told.write(json.dumps(sys.argv) + '\\n')\n"
        "raise ImportError('this torch is poisoned')\n"
    )
    return tmp_path


def poisoned_run(stack: Path, *words: str) -> tuple[Ran, list[list[str]]]:
    """Run the console script beside the poisoned torch; returns the argv of every process that imported it."""
    importers = stack / "importers"
    environ = {"PYTHONPATH": str(stack / "poisoned"), "TORCH_IMPORTERS": str(importers)}
    ran = envbisect(*words, cwd=stack, environ=environ)
    told = importers.read_text().splitlines() if importers.exists() else []
    return ran, [json.loads(line) for line in told]


def test_the_poison_works(stack: Path) -> None:
    importers = stack / "importers"
    environ = {**os.environ, "PYTHONPATH": str(stack / "poisoned"), "TORCH_IMPORTERS": str(importers)}
    done = subprocess.run([sys.executable, "-c", "import torch"], env=environ, capture_output=True, check=False)
    assert done.returncode == 1
    assert importers.exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("diff", "good.toml", "bad.toml"), 0),
        (("lint", "good.toml"), 0),
        (("schema",), 0),
        (("plan", "good.toml", "bad.toml"), 0),
        (("run", "good.toml", "bad.toml", "--session", "s"), 0),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_the_controller_never_imports_torch(words: tuple[str, ...], code: int, stack: Path) -> None:
    ran, importers = poisoned_run(stack, *words)
    assert ran.code == code, ran.err
    assert [argv for argv in importers if argv[:1] == [str(SCRIPT)]] == []

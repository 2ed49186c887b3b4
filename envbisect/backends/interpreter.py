"""Which Python interpreter a test means when nothing is built for it, and why that one."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from envbisect.backends.environ import OF_ANOTHER_INTERPRETER
from envbisect.errors import UsageError
from envbisect.manifest.stack import Pin
from envbisect.process.run import run_group

QUESTION_TIMEOUT_S: Final = 60.0

# Asked of an interpreter without importing anything of its packages: finding a module is cheap, importing torch is not.
_QUESTION = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]  # a json.py in the current folder is not meant
import json, sysconfig
from importlib import metadata
from importlib.util import find_spec
want = json.loads(sys.argv[1])
found = {}
for name in want["pins"]:
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        found[name] = None
json.dump({
    "executable": sys.executable,
    "version": "%d.%d.%d" % sys.version_info[:3],
    "venv": sys.prefix != sys.base_prefix,
    "prefix": sys.prefix,
    "scripts": sysconfig.get_path("scripts"),
    "missing": [name for name in want["imports"] if find_spec(name) is None],
    "pins": found,
}, sys.stdout)
"""


@dataclass(frozen=True, slots=True)
class Need:
    """What a test needs of an interpreter that is taken as it is.

    ``imports`` are top-level module names, ``pins`` the exact distributions, ``python`` a version or its beginning
    ("3.11"); all may be empty.
    """

    imports: tuple[str, ...] = ()
    pins: tuple[Pin, ...] = ()
    python: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What an interpreter answered. ``lacks`` says in words what the need misses, one entry each."""

    executable: Path
    version: str
    in_venv: bool
    prefix: Path
    scripts: Path
    lacks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The interpreter that was chosen, and the sentence that says why."""

    facts: Facts
    why: str

    @property
    def python(self) -> Path:
        return self.facts.executable


def choose_interpreter(need: Need, given: Path | None = None, environ: Mapping[str, str] | None = None) -> Choice:
    """The interpreter ``given``; else the first of $VIRTUAL_ENV, PATH's python and this tool's own that has ``need``.

    Raises:
        UsageError: ``given`` is no Python or lacks something; or no candidate has all that is needed.
    """
    environ = os.environ if environ is None else environ
    if given is not None:
        facts = examine(given, need)
        if facts is None:
            raise UsageError(f"--python {given} is not a Python interpreter that runs", "name the python executable")
        if facts.lacks:
            raise UsageError(
                f"--python {given} lacks what the test needs: {', '.join(facts.lacks)}",
                "install it there, name another interpreter, or use --backend venv",
            )
        return Choice(facts, f"{facts.executable} (Python {facts.version}): given by --python")
    passed_over: list[str] = []
    for label, path in candidates(environ):
        facts = examine(path, need)
        if facts is None:
            passed_over.append(f"{label} ({path}) does not run")
        elif facts.lacks:
            passed_over.append(f"{label} ({path}) lacks {', '.join(facts.lacks)}")
        else:
            but = f"; {'; '.join(passed_over)}" if passed_over else ""
            has = " that has what the test needs" if need != Need() else ""
            return Choice(facts, f"{facts.executable} (Python {facts.version}): {label}, the first{has}{but}")
    raise UsageError(
        f"no interpreter has what the test needs: {'; '.join(passed_over) or 'none found'}",
        "name one with --python PATH, or pin [python.packages] and let --backend venv build one",
    )


def candidates(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """The interpreters that a user may mean, nearest first: what they are, and where."""
    if virtual := environ.get("VIRTUAL_ENV"):
        yield "$VIRTUAL_ENV", Path(virtual) / "bin" / "python"
    for name in ("python", "python3"):
        if found := shutil.which(name, path=environ.get("PATH")):
            yield f"PATH's {name}", Path(found)
            break
    yield "envbisect's own interpreter", Path(sys.executable)


@cache
def examine(python: Path, need: Need) -> Facts | None:
    """Ask an interpreter about itself and ``need``; None if it does not answer. Asked once, then remembered."""
    want = json.dumps({"imports": need.imports, "pins": [pin.name for pin in need.pins]})
    with tempfile.TemporaryDirectory(prefix="envbisect-") as folder:
        answer = Path(folder) / "answer.json"
        environ = {key: value for key, value in os.environ.items() if key not in OF_ANOTHER_INTERPRETER}
        try:
            finished = run_group(
                [str(python), "-c", _QUESTION, want],
                environ=environ,
                cwd=Path.cwd(),  # version managers choose by the current folder
                stdout=answer,
                stderr=Path(folder) / "stderr.log",
                deadline_s=QUESTION_TIMEOUT_S,
                scratch=Path(folder),
            )
            document = json.loads(answer.read_text()) if finished.exit_code == 0 else None
        except (OSError, ValueError):
            return None
    if document is None:
        return None
    return Facts(
        # A venv's python must keep its own name: resolving the link would leave the venv.
        executable=Path(document["executable"]),
        version=document["version"],
        in_venv=document["venv"],
        prefix=Path(document["prefix"]),
        scripts=Path(document["scripts"]),
        lacks=tuple(_lacks(need, document)),
    )


def _lacks(need: Need, document: Mapping[str, object]) -> Iterator[str]:
    version, pins, missing = document["version"], document["pins"], document["missing"]
    if need.python and not f"{version}.".startswith(f"{need.python}."):
        yield f"Python {need.python} (it is {version})"
    if isinstance(missing, list):
        yield from missing
    if isinstance(pins, dict):
        for pin in need.pins:
            if pins[pin.name] is None or (pin.version and not same_version(pin.version, pins[pin.name])):
                yield f"{pin.name} {pin.version} (it has {pins[pin.name] or 'none'})"


def same_version(asked: str, found: str) -> bool:
    """Equal by PEP 440; an asked version without local part takes any local part (2.13.0 is 2.13.0+cpu)."""
    from packaging.version import InvalidVersion, Version

    try:
        left, right = Version(asked), Version(found)
    except InvalidVersion:
        return asked == found
    return left == right or (left.local is None and left == Version(right.public))

"""Interpreters on this machine, and what a Python of a given version can install."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from envbisect.errors import UsageError

_PROBE: Final = (
    "import sys, platform; print(platform.python_implementation()); print('%d.%d.%d' % sys.version_info[:3]);"
    "print(getattr(sys, '_base_executable', None) or sys.executable)"
)
_VERSION: Final = re.compile(r"3(\.\d+){0,2}")


def find_python(version: str, environ: Mapping[str, str] | None = None) -> Path | None:
    """A CPython of ``version`` ("3", "3.11" or "3.11.7") on this machine, never a virtual environment's; else None.

    Looked for in this order: PATH, the interpreter that runs this, pyenv's versions, those that uv manages. Nothing is
    downloaded. Every candidate is asked what it is: a pyenv shim may name a version that is not there.

    Raises:
        UsageError: ``version`` is not a Python version.
    """
    if not _VERSION.fullmatch(version):
        raise UsageError(f"'{version}' is not a Python version", 'Write it like "3.11" or "3.11.7".')
    seen: set[str] = set()
    for candidate in _candidates(version, os.environ if environ is None else environ):
        found = interrogate(str(candidate)) if candidate.is_file() else None
        if found is None or found[1] in seen:
            continue
        seen.add(found[1])
        if f"{found[0]}.".startswith(f"{version}."):
            return Path(found[1])
    return None


@lru_cache(maxsize=256)
def interrogate(executable: str) -> tuple[str, str] | None:
    """Version ("3.11.7") and base executable of a CPython, None if it is none or does not start."""
    import subprocess

    try:
        answer = subprocess.run(
            [executable, "-I", "-c", _PROBE],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = answer.stdout.splitlines()
    if answer.returncode or len(lines) != 3 or lines[0] != "CPython":
        return None
    return lines[1], lines[2]


def _candidates(version: str, environ: Mapping[str, str]) -> Iterator[Path]:
    minor = ".".join(version.split(".")[:2])
    names = [f"python{minor}", "python3", "python"]
    for folder in environ.get("PATH", "").split(os.pathsep):
        yield from (Path(folder) / name for name in names if folder)
    yield Path(sys.executable)
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    pyenv = Path(environ.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local/share")
    managed = Path(environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv/python")
    for root, pattern in ((pyenv, f"{minor}*"), (managed, f"cpython-{minor}*")):
        for folder_path in sorted(root.glob(pattern), key=_by_numbers, reverse=True):
            yield folder_path / "bin" / f"python{minor}"
    yield from (Path(folder) / f"python{minor}" for folder in ("/usr/local/bin", "/usr/bin"))


def _by_numbers(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.name)]


@lru_cache(maxsize=32)
def wheel_tags(python: str, platforms: tuple[str, ...] | None = None) -> Mapping[object, int]:
    """The wheel tags (``packaging.tags.Tag``) that CPython ``python`` takes, each with its rank: 0 is best.

    ``platforms`` are platform tags, best first; default: those of this machine.
    """
    from packaging import tags

    major, minor = (int(part) for part in (*python.split("."), "0")[:2])
    names = list(platforms) if platforms is not None else list(tags.platform_tags())
    abi = f"cp{major}{minor}{'m' if (major, minor) < (3, 8) else ''}"
    ordered = [
        *tags.cpython_tags((major, minor), abis=[abi], platforms=names),
        *tags.compatible_tags((major, minor), interpreter=f"cp{major}{minor}", platforms=names),
    ]
    ranks: dict[object, int] = {}
    for rank, tag in enumerate(ordered):
        ranks.setdefault(tag, rank)
    return ranks


@lru_cache(maxsize=4096)
def python_satisfies(requires_python: str, python: str) -> bool:
    """Whether ``python`` meets a Requires-Python. "3.11" stands for its earliest and latest patch: either may do.

    Specifiers that PEP 440 does not know (">=3.6.*") count as met, as with pip.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        specifiers = SpecifierSet(requires_python)
    except InvalidSpecifier:
        return True
    versions = [python] if python.count(".") == 2 else [f"{python}.0", f"{python}.99"]
    return any(specifiers.contains(version, prereleases=True) for version in versions)

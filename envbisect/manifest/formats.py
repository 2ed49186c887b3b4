"""Formats of single keys, beyond their type: versions, moments, hashes, sizes, paths."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from envbisect.keys import KeySpec
from envbisect.manifest.packages import check_requirement
from envbisect.manifest.paths import inside, is_url
from envbisect.manifest.stack import Value
from envbisect.manifest.wrong import Wrong, shown


def check_format(spec: KeySpec, value: Value, folder: Path) -> Value:
    """The value, already of the right type, in its canonical form; paths become absolute, relative to ``folder``.

    Raises:
        Wrong: not in the format of this key.
    """
    if spec.name in _PATHS:
        return _PATHS[spec.name](value, folder)
    return _FORMATS[spec.name](value) if spec.name in _FORMATS else value


_PYTHON: Final = re.compile(r"3\.(\d{1,2})(\.\d{1,3})?", re.ASCII)
_OLDEST_PYTHON: Final = 8  # the burn-in that runs inside needs 3.8
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_SIZE: Final = re.compile(r"[1-9]\d{0,15}[bkmgtBKMGT]?", re.ASCII)
_NUMBERED: Final = re.compile(r"\d{1,9}(\.\d{1,9}){0,5}", re.ASCII)


def _python_version(value: Value) -> Value:
    match = _PYTHON.fullmatch(str(value))
    if match is None or int(match[1]) < _OLDEST_PYTHON:
        raise Wrong(
            f"{shown(value)} is not a Python version", f'"3.{_OLDEST_PYTHON}" or later, like "3.11" or "3.11.7"'
        )
    return value


def _moment(value: Value) -> Value:
    expected = 'a moment with its time zone: "2026-11-01T00:00:00Z"'
    try:
        moment = datetime.datetime.fromisoformat(str(value))
        if moment.tzinfo is None:
            raise Wrong(f"{shown(value)} has no time zone", expected)
        return moment.astimezone(datetime.UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError) as error:
        raise Wrong(f"{shown(value)} is no moment", expected) from error


def _urls(value: Value) -> Value:
    for url in value if isinstance(value, list) else []:
        if not re.match(r"(https?|file)://\S", str(url)):
            raise Wrong(f"{shown(url)} is no address of an index", "https://…, http://… or file:///…")
    return value


def _requirements(value: Value) -> Value:
    return [check_requirement(str(item)) for item in value] if isinstance(value, list) else value


def _digest(value: Value) -> Value:
    text = str(value).lower()
    if not _DIGEST.fullmatch(text):
        raise Wrong(f"{shown(value)} is no hash", '"sha256:" and 64 hexadecimal digits, as sha256sum prints')
    return text


def _size(value: Value) -> Value:
    if not _SIZE.fullmatch(str(value)):
        raise Wrong(f"{shown(value)} is no size", 'a number with b, k, m, g or t: "8g"')
    return value


def _numbered(value: Value) -> Value:
    if not _NUMBERED.fullmatch(str(value)):
        raise Wrong(f"{shown(value)} is no version", 'numbers and dots: "12.6"')
    return value


def _repository(value: Value, folder: Path) -> Value:
    text = str(value)
    if is_url(text):
        return text
    path = inside(folder, text)
    expected = "a folder in Git, or the URL of a repository"
    if not path.is_dir():
        raise Wrong(f"{shown(value)} is no folder", expected)
    if (path / "HEAD").is_file() and (path / "objects").is_dir():
        return str(path)  # a bare repository
    # The top of the work tree, so that two folders of one repository name the same one.
    top = next((folder for folder in (path, *path.parents) if (folder / ".git").exists()), None)
    if top is None:
        raise Wrong(f"there is no Git repository around {shown(value)}", expected)
    return str(top)


def _revision(value: Value) -> Value:
    if str(value).startswith("-") or any(character.isspace() for character in str(value)):
        raise Wrong(f"{shown(value)} is no revision", "a commit, tag or branch")
    return value


def _patch(value: Value, folder: Path) -> Value:
    path = inside(folder, str(value))
    if not path.is_file():
        raise Wrong(f"{shown(value)} is no file", "a patch that exists, as `git diff` writes it")
    return str(path)


def _mounts(value: Value, folder: Path) -> Value:
    for mount in value if isinstance(value, list) else []:
        source, colon, target = str(mount).partition(":")
        if not (source and colon and target.startswith("/")):
            raise Wrong(f"{shown(mount)} is no mount", '"source:/target" or "source:/target:ro"')
        inside(folder, source)
    return value


_FORMATS: Final[dict[str, Callable[[Value], Value]]] = {
    "python.version": _python_version,
    "python.exclude_newer": _moment,
    "python.index": _urls,
    "python.overrides": _requirements,
    "inputs.*": _digest,
    "image.shm_size": _size,
    "image.run.memory": _size,
    "cuda.build": _numbered,
    "cuda.runtime": _numbered,
    "cuda.toolkit": _numbered,
    "cuda.cudnn": _numbered,
    "cuda.nccl": _numbered,
    "code.rev": _revision,
}
_PATHS: Final[dict[str, Callable[[Value, Path], Value]]] = {
    "image.run.mounts": _mounts,
    "code.repo": _repository,
    "code.dirty_patch": _patch,
}

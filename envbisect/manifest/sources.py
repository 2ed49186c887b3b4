"""Whatever stands for a stack on the command line: a manifest, a freeze, or what cannot be read yet."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import tomli
from pydantic import ValidationError

from envbisect.errors import UsageError
from envbisect.manifest.burnin import Burnin
from envbisect.manifest.document import Place, read_text
from envbisect.manifest.findings import faults_of
from envbisect.manifest.freeze import looks_like_freeze, read_freeze
from envbisect.manifest.model import Manifest
from envbisect.manifest.reader import load_burnin, load_text, summary

_CAPTURED: Final = ("live", "ssh:", "image:")
_INSTEAD: Final = "give a manifest (TOML) or the output of `pip freeze`"
_REPORTS: Final = ("Collecting environment information", "PyTorch version:", "CUDA used to build PyTorch:")


def load_any(
    source: str,
    *,
    command: Sequence[str] | None = None,
    checks: Sequence[str] | None = None,
    python: str | None = None,
    burnin_file: Path | None = None,
) -> Manifest:
    """Read GOOD or BAD as the command line names it, by its content.

    Args:
        source: path of a manifest or of a freeze.
        command: the test, instead of what ``[burnin]`` runs; its other settings stay.
        checks: built-in checks, instead of those of ``[burnin]``; a command stays.
        python: version of the interpreter, for a source that does not say it.
        burnin_file: a manifest whose ``[burnin]`` replaces the source's.

    Raises:
        ManifestError: the file has faults.
        UsageError: nothing is named, or this kind of source cannot be read yet.
    """
    if not source.strip():
        raise UsageError("no file is named: an empty word stands for a stack", _INSTEAD)
    if source.startswith(_CAPTURED[1:]) or source == _CAPTURED[0]:
        kind = "this machine" if source == _CAPTURED[0] else source
        raise UsageError(f"cannot read {kind} yet: capturing a running system is not part of this version", _INSTEAD)
    manifest = _read(Path(source), python, burnin_file)
    return _with_test(manifest, command, checks)


def _read(path: Path, python: str | None, burnin_file: Path | None) -> Manifest:
    text = read_text(path)
    is_toml = path.suffix == ".toml"
    if not is_toml and looks_like_freeze(text):
        manifest = read_freeze(path, python=python, text=text)
        return dataclasses.replace(manifest, burnin=load_burnin(burnin_file)) if burnin_file else manifest
    kind = _refused_kind(text, is_toml)
    if kind:
        raise UsageError(f"cannot read {path} yet: it is {kind}", _INSTEAD)
    return load_text(path, text, burnin_file=burnin_file)


def _refused_kind(text: str, is_toml: bool) -> str:
    """What a file is if it is none that can be read; empty for a manifest, also for one with faults."""
    if any(mark in text for mark in _REPORTS):
        return "a report of an environment"
    if text.lstrip()[:1] in {"{", "<"}:
        return "JSON or markup"
    try:
        tree = tomli.loads(text)
    except (ValueError, RecursionError):  # also numbers of thousands of digits
        return "" if is_toml else "neither a manifest nor a freeze"
    return _kind_of(tree)


def _kind_of(tree: dict[str, object]) -> str:
    if "schema" in tree:
        return ""
    if "lock-version" in tree or isinstance(tree.get("package"), list):
        return "a lock file"
    return "the metadata of a project" if {"build-system", "project", "tool"} & tree.keys() else ""


def _with_test(manifest: Manifest, command: Sequence[str] | None, checks: Sequence[str] | None) -> Manifest:
    if command is None and checks is None:
        return manifest
    settings = manifest.burnin.model_dump()
    if command is not None:
        settings |= {"command": list(command), "checks": []}
    if checks is not None:
        settings["checks"] = list(checks)
    try:
        return dataclasses.replace(manifest, burnin=Burnin.model_validate(settings))
    except ValidationError as error:
        place = Place("the command line")
        raise summary(Path(place.file), [*faults_of(error, Burnin, "burnin", lambda _: place)]) from error

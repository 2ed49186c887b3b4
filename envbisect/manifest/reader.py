"""Read a manifest with everything that it extends, and report all that is wrong with it at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError

from envbisect.errors import Fault, ManifestError
from envbisect.keys import spec_for
from envbisect.manifest.axes import read_axes
from envbisect.manifest.burnin import Burnin
from envbisect.manifest.components import Entry, flatten
from envbisect.manifest.document import Document, Place, parse_document, read_document, read_text
from envbisect.manifest.findings import faults_of
from envbisect.manifest.model import Code, Launch, Manifest, PackageHome, PythonSettings
from envbisect.manifest.packages import is_exact
from envbisect.manifest.paths import inside
from envbisect.manifest.positions import TreePath
from envbisect.manifest.stack import Value
from envbisect.manifest.wrong import Wrong, shown

SCHEMA: Final = 1
_LONGEST_NAME: Final = 200


def load(path: Path, *, burnin_file: Path | None = None) -> Manifest:
    """Read a TOML manifest, the files that it extends and, if given, the ``[burnin]`` of another manifest instead.

    Raises:
        ManifestError: with every fault of every file.
    """
    return load_text(path, read_text(path), burnin_file=burnin_file)


def load_burnin(path: Path) -> Burnin:
    """The test that a manifest describes in place of another's: its ``[burnin]``, or that of what it extends.

    Raises:
        ManifestError: the file has faults, or no ``[burnin]``: the default test in its place would surprise.
    """
    document = read_document(path)
    burnin = load_text(path, document.text).burnin
    if not any("burnin" in layer.tree for layer in _chain(document, [])):
        fault = Place(str(path)).fault("has no [burnin] table", key="burnin", expected="a table that describes a test")
        raise summary(path, [fault])
    return burnin


def load_text(path: Path, text: str, *, burnin_file: Path | None = None) -> Manifest:
    """As ``load``, of a text that has been read before; ``path`` is where it stands. Raises ManifestError."""
    faults: list[Fault] = []
    chain = _chain(parse_document(path, text), faults)
    merged = _merge(chain, faults)
    burnin = _burnin(merged, faults)
    faults += _contradictions(merged.entries)
    if burnin_file is not None:
        try:
            burnin = load_burnin(burnin_file)
        except ManifestError as error:
            faults += error.faults
    if faults or burnin is None:
        order = {str(document.path): index for index, document in enumerate(chain)}
        raise summary(path, sorted(faults, key=lambda fault: (order.get(fault.file, len(order)), fault.line)))
    return _manifest(chain[0], merged, burnin)


def summary(path: Path, faults: Sequence[Fault]) -> ManifestError:
    """One error for all faults of a manifest; each fault once, and a single one in full in the message."""
    faults = tuple(dict.fromkeys(faults))
    if len(faults) == 1:
        return ManifestError(str(faults[0]), faults[0].expected and f"expected {faults[0].expected}", faults)
    return ManifestError(
        f"{path} has {len(faults)} faults", "correct them; `envbisect schema` describes every key", faults
    )


# --- extends ----------------------------------------------------------------------------------------------------------


def _chain(document: Document, faults: list[Fault]) -> list[Document]:
    """The document and what it extends, nearest first. A base that cannot be read ends the chain with a fault."""
    chain = [document]
    seen = {os.path.realpath(document.path)}
    while (extends := chain[-1].tree.get("extends")) is not None:
        child = chain[-1]
        place = child.place("extends")
        try:
            base = _base(child, extends)
        except Wrong as wrong:
            faults.append(place.fault(wrong.message, key="extends", expected=wrong.expected))
            break
        if os.path.realpath(base) in seen:
            faults.append(
                place.fault(f"{shown(extends)} is a cycle of extends", key="extends", expected="a base manifest")
            )
            break
        seen.add(os.path.realpath(base))
        try:
            chain.append(read_document(base))
        except ManifestError as error:
            # A fault without a line is about the whole file: it stands where the file is named.
            faults += [
                fault if fault.line else place.fault(f"extends {shown(extends)}: {fault.message}", key="extends")
                for fault in error.faults
            ]
            break
    return chain


def _base(child: Document, extends: object) -> Path:
    if not isinstance(extends, str) or not extends:
        raise Wrong(f"extends is {shown(extends)}", 'the path of a manifest: "base.toml"')
    if Path(extends).is_absolute():
        raise Wrong(f"{shown(extends)} is an absolute path", "a path relative to this manifest")
    inside(child.folder, extends)
    return child.path.parent / extends


# --- layers -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Merged:
    """What a chain of files says together: of each key the nearest file's value and its place."""

    entries: dict[str, Entry] = field(default_factory=dict)
    axes: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    axis_places: dict[str, Place] = field(default_factory=dict)
    burnin: object = field(default_factory=dict)
    burnin_places: dict[TreePath, Place] = field(default_factory=dict)


def _merge(chain: Sequence[Document], faults: list[Fault]) -> _Merged:
    merged = _Merged()
    root = chain[0].folder
    for document in reversed(chain):
        flat = flatten(document, root)
        axes, places, axis_faults = read_axes(document)
        merged.entries.update(flat.entries)
        merged.axes.update(axes)
        merged.axis_places.update(places)
        if "burnin" in document.tree:
            merged.burnin = _overlaid(merged.burnin, document.tree["burnin"])
            merged.burnin_places.update(
                {path[1:]: document.place(*path) for path in document.lines if path[0] == "burnin"}
            )
        faults += [*_head_faults(document), *flat.faults, *axis_faults]
    return merged


def _overlaid(base: object, child: object) -> object:
    """Tables merge key by key, the child wins; anything else is replaced whole."""
    if not (isinstance(base, dict) and isinstance(child, dict)):
        return child
    return {**base, **{key: _overlaid(base.get(key), value) for key, value in child.items()}}


def _head_faults(document: Document) -> list[Fault]:
    faults = []
    schema = document.tree.get("schema")
    place = document.place("schema")
    if schema is None:
        faults.append(place.fault("schema is missing", key="schema", expected=f"schema = {SCHEMA}, at the top"))
    elif isinstance(schema, bool) or schema != SCHEMA:
        faults.append(
            place.fault(
                f"schema is {shown(schema)}", key="schema", expected=f"schema = {SCHEMA}, all that this version reads"
            )
        )
    name = document.tree.get("name", "x")
    if not (isinstance(name, str) and name.strip() and name.isprintable() and len(name) <= _LONGEST_NAME):
        expected = f"one line of text, at most {_LONGEST_NAME} characters"
        faults.append(document.place("name").fault(f"name is {shown(name)}", key="name", expected=expected))
    return faults


# --- the parts --------------------------------------------------------------------------------------------------------


def _burnin(merged: _Merged, faults: list[Fault]) -> Burnin | None:
    try:
        return Burnin.model_validate(merged.burnin)
    except ValidationError as error:
        faults += faults_of(error, Burnin, "burnin", lambda path: _nearest_place(merged.burnin_places, path))
        return None


def _nearest_place(places: Mapping[TreePath, Place], path: TreePath) -> Place:
    return next((places[path[:length]] for length in range(len(path), -1, -1) if path[:length] in places), Place(""))


def _contradictions(entries: Mapping[str, Entry]) -> list[Fault]:
    """What no value is wrong by itself, but impossible together."""
    faults = []
    complete = entries.get("python.complete")
    if complete is not None and complete.value is True:
        for key, entry in entries.items():
            if key.startswith("python.packages.") and not is_exact(entry.value):
                message = f"{key} is {shown(entry.value)}, but the list is complete = true"
                faults.append(entry.place.fault(message, key=key, expected="an exact version"))
    for key in ("code.rev", "code.dirty_patch"):
        if key in entries and "code.repo" not in entries:
            faults.append(entries[key].place.fault(f"{key} without code.repo", key=key, expected='repo = "."'))
    return faults


def _manifest(document: Document, merged: _Merged, burnin: Burnin) -> Manifest:
    values = {key: entry.value for key, entry in merged.entries.items()}
    pins = {key: value for key, value in values.items() if not _is_setting(key)}
    places = {key: merged.entries[key].place for key in pins}
    places |= {f"axes.{key}": place for key, place in merged.axis_places.items()}
    name = document.tree.get("name")
    return Manifest(
        name=name if isinstance(name, str) else document.path.stem,
        path=document.path,
        folder=document.folder,
        burnin=burnin,
        pins=MappingProxyType(pins),
        axes=MappingProxyType(merged.axes),
        python=python_settings(values),
        code=_code(pins),
        launch=_launch(pins),
        places=MappingProxyType(places),
    )


def _is_setting(key: str) -> bool:
    spec = spec_for(key)
    return spec is not None and spec.setting


def python_settings(values: Mapping[str, Value]) -> PythonSettings:
    """The typed view of everything below ``python``; the values have been checked."""
    version = values.get("python.version")
    return PythonSettings(
        version=version if isinstance(version, str) else None,
        packages=MappingProxyType(_below("python.packages", values)),
        index=_texts(values.get("python.index")),
        exclude_newer=str(values.get("python.exclude_newer", "")),
        overrides=_texts(values.get("python.overrides")),
        source=PackageHome(str(values.get("python.source", PackageHome.VENV))),
        complete=values.get("python.complete") is True,
    )


def _code(pins: Mapping[str, Value]) -> Code | None:
    repo, rev, patch = (pins.get(f"code.{name}") for name in ("repo", "rev", "dirty_patch"))
    if not isinstance(repo, str):
        return None
    return Code(repo, str(rev) if rev is not None else None, Path(str(patch)) if patch is not None else None)


def _launch(pins: Mapping[str, Value]) -> Launch:
    processes = pins.get("launch.nproc_per_node", 1)
    variables = {name: str(value) for name, value in _below("launch.per_rank_env", pins).items()}
    return Launch(processes if isinstance(processes, int) else 1, MappingProxyType(variables))


def _below(table: str, values: Mapping[str, Value]) -> dict[str, Value]:
    start = table + "."
    return {key.removeprefix(start): value for key, value in sorted(values.items()) if key.startswith(start)}


def _texts(value: Value) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()

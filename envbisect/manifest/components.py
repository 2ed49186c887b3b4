"""From the tables of one TOML file to flat components, driven by the registry of keys."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from envbisect.errors import Fault
from envbisect.keys import KeySpec, Layer, ValueType, all_specs, names_below, spec_for
from envbisect.manifest.document import Document, Place
from envbisect.manifest.packages import canonical_name
from envbisect.manifest.paths import inside
from envbisect.manifest.spelling import nearest
from envbisect.manifest.stack import Value
from envbisect.manifest.values import check_value
from envbisect.manifest.wrong import Wrong, shown

HEAD: Final = ("schema", "name", "extends")
OTHER_TABLES: Final = ("burnin", "axes")
_NESTING: Final = (Layer.HOST, Layer.INPUTS)  # where a name with dots may be written without quotes
_VARIABLE: Final = re.compile(r"[^=\0\s]+")
_FEW: Final = 16


@dataclass(frozen=True, slots=True)
class Entry:
    """One pinned key, or a setting of resolution, and where it stands."""

    key: str
    value: Value
    place: Place


@dataclass(slots=True)
class Flat:
    """What one file says, flattened, and everything that is wrong with it."""

    entries: dict[str, Entry] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


def flatten(document: Document, root: Path) -> Flat:
    """All keys of the layers of ``document`` in dotted form, checked.

    ``root`` is the folder of the manifest that was asked for: names of inputs are relative to it, whichever file of an
    ``extends`` chain they come from. Faults are collected, in the order of the file.
    """
    return _Flattener(document, root).run()


class _Flattener:
    def __init__(self, document: Document, root: Path) -> None:
        self._document = document
        self._root = root
        self._flat = Flat()

    def run(self) -> Flat:
        for name, raw in self._document.tree.items():
            if name in HEAD or name in OTHER_TABLES:
                continue
            if name not in names_below(""):
                self._unknown("", name, (name,))
            elif isinstance(raw, dict):
                self._table(name, raw, (name,))
            else:
                self._fault((name,), f"{name} is {shown(raw)}", name, f"a table: [{name}]")
        return self._flat

    def _table(self, table: str, content: dict[str, object], path: tuple[str, ...]) -> None:
        for name, raw in content.items():
            key, here = f"{table}.{name}", (*path, name)
            spec = spec_for(key)
            if isinstance(raw, dict) and self._nests(key, spec):
                self._table(key, raw, here)
            elif spec is not None:
                self._leaf(spec, key, raw, here)
            elif _is_table(key):
                self._fault(here, f"{key} is {shown(raw)}", key, f"a table: [{key}]")
            else:
                self._unknown(table, name, here)

    def _nests(self, key: str, spec: KeySpec | None) -> bool:
        if _is_table(key):
            return True
        return spec is not None and spec.open and spec.layer in _NESTING

    def _leaf(self, spec: KeySpec, key: str, raw: object, path: tuple[str, ...]) -> None:
        place = self._document.place(*path)
        try:
            key = canonical_key(spec, key, self._document.folder, self._root)
            value = check_value(spec, key, raw, self._document.folder)
        except Wrong as wrong:
            self._flat.faults.append(
                place.fault(wrong.message, key=key, expected=wrong.expected, nearest=wrong.nearest)
            )
            return
        first = self._flat.entries.get(key)
        if first is not None:
            self._fault(path, f"{key} is set twice, first on line {first.place.line}", key, "one value")
            return
        self._flat.entries[key] = Entry(key, value, place)

    def _unknown(self, table: str, name: str, path: tuple[str, ...]) -> None:
        wrong = unknown_key(f"{table}.{name}" if table else name, table)
        self._fault(path, wrong.message, f"{table}.{name}" if table else name, wrong.expected, wrong.nearest)

    def _fault(self, path: tuple[str, ...], message: str, key: str, expected: str, near: str = "") -> None:
        self._flat.faults.append(self._document.place(*path).fault(message, key=key, expected=expected, nearest=near))


def canonical_key(spec: KeySpec, key: str, folder: Path, root: Path) -> str:
    """The one way to write a key: package names by PEP 503, names of inputs relative to the root manifest.

    Raises:
        Wrong: the free part of the key is not a name of that kind.
    """
    name = key.removeprefix(spec.table + ".")
    if spec.type is ValueType.PACKAGE:
        return f"{spec.table}.{canonical_name(name)}"
    if spec.layer is Layer.INPUTS:
        return key if Path(name).is_absolute() else f"{spec.table}.{os.path.relpath(inside(folder, name), root)}"
    if spec.layer is Layer.ENV or spec.table == "launch.per_rank_env":
        name = key.removeprefix(f"{spec.layer}.").removeprefix("per_rank_env.")
        if not _VARIABLE.fullmatch(name):
            raise Wrong(f"{shown(name)} is no name of a variable", "a name without spaces and =")
        if name.startswith("ENVBISECT_"):
            raise Wrong(f"{name} is set by envbisect itself", "another name")
    return key


def unknown_key(key: str, table: str | None = None) -> Wrong:
    """What to say of a key that the registry does not have. ``table`` is the deepest table around it that exists."""
    if table is None:
        table = key.rpartition(".")[0]
        while table and not _is_table(table):
            table = table.rpartition(".")[0]
    name = key.removeprefix(f"{table}.") if table else key
    names = names_below(table) if table else (*HEAD, *names_below(""), *OTHER_TABLES)
    near = nearest(name, names)
    near = f"{table}.{near}" if near and table else near or _elsewhere(name)
    where = f" in [{table}]" if table else ""
    expected = "one of " + ", ".join(names) if len(names) <= _FEW else ""
    return Wrong(f"unknown key {shown(name)}{where}", expected, near)


def _is_table(key: str) -> bool:
    """Whether keys lie below ``key`` (``host``, ``host.sysctl``, ``host.gpu``)."""
    return any(spec.name.startswith(key + ".") for spec in all_specs())


def _elsewhere(name: str) -> str:
    """A key of exactly this last part in another table: ``num_workers`` under [torch] is ``dataloader.num_workers``."""
    return next((spec.name for spec in all_specs() if spec.name.rpartition(".")[2] == name), "")

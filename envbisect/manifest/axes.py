"""Steps that no source can list: the ``[axes]`` table."""

from __future__ import annotations

import json

from envbisect.errors import Fault
from envbisect.keys import ValueType, spec_for
from envbisect.manifest.components import canonical_key, unknown_key
from envbisect.manifest.document import Document, Place
from envbisect.manifest.stack import Value
from envbisect.manifest.values import check_value
from envbisect.manifest.wrong import Wrong, shown

_EXAMPLE = '"dataloader.num_workers" = [0, 2, 4, 8]'


def read_axes(document: Document) -> tuple[dict[str, tuple[Value, ...]], dict[str, Place], list[Fault]]:
    """The steps by component, where they stand, and what is wrong with them.

    Only what one file can tell is checked: that the key exists, that its steps are values of it, at least two, none
    twice. Whether the endpoints are among them is known when there are two manifests.
    """
    table = document.tree.get("axes", {})
    if not isinstance(table, dict):
        place = document.place("axes")
        return {}, {}, [place.fault(f"axes is {shown(table)}", key="axes", expected="a table: [axes]")]
    axes: dict[str, tuple[Value, ...]] = {}
    places: dict[str, Place] = {}
    faults: list[Fault] = []
    for path, raw in _leaves(table, ()):
        place = document.place("axes", *path)
        key = ".".join(path)
        try:
            key, steps = _axis(key, raw, document)
        except Wrong as wrong:
            faults.append(place.fault(wrong.message, key=f"axes.{key}", expected=wrong.expected, nearest=wrong.nearest))
            continue
        if key in axes:
            faults.append(place.fault(f"the axis {key} is listed twice", key=f"axes.{key}", expected="one list"))
            continue
        axes[key], places[key] = steps, place
    return axes, places, faults


def same(one: Value, other: Value) -> bool:
    """Whether two values are the same pin: ``1`` and ``true`` are not, nor are ``"1"`` and ``1``."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _leaves(table: dict[str, object], path: tuple[str, ...]) -> list[tuple[tuple[str, ...], object]]:
    """A key may be written in quotes or, by mistake or taste, without: then its parts have become tables."""
    found: list[tuple[tuple[str, ...], object]] = []
    for name, raw in table.items():
        here = (*path, name)
        found += _leaves(raw, here) if isinstance(raw, dict) else [(here, raw)]
    return found


def _axis(key: str, raw: object, document: Document) -> tuple[str, tuple[Value, ...]]:
    spec = spec_for(key)
    if spec is None:
        raise unknown_key(key)
    if spec.setting or spec.derived:
        reason = "steers the resolution of packages" if spec.setting else "follows from other components"
        raise Wrong(f"{key} {reason} and cannot be an axis", _EXAMPLE)
    if not isinstance(raw, list):
        raise Wrong(f"the axis {key} is {shown(raw)}", f"an array of its steps: {_EXAMPLE}")
    key = canonical_key(spec, key, document.folder, document.folder)
    steps = tuple(check_value(spec, key, step, document.folder) for step in raw)
    if len(steps) < 2:
        raise Wrong(f"the axis {key} has {len(steps)} steps", f"two at least, from good to bad: {_EXAMPLE}")
    written = [json.dumps(step, sort_keys=True) for step in steps]
    twice = next((text for index, text in enumerate(written) if text in written[:index]), None)
    if twice is not None:
        raise Wrong(f"the axis {key} has the step {twice} twice", "each step once")
    if spec.type is ValueType.PACKAGE and any(isinstance(step, str) and not step[:1].isdigit() for step in steps):
        raise Wrong(f"the axis {key} has a specifier among its steps", "exact versions")
    return key, steps

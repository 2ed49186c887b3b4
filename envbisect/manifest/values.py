"""Check one value against the specification of its key."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Final

from envbisect.keys import KeySpec, Layer, ValueType
from envbisect.manifest.formats import check_format
from envbisect.manifest.packages import check_package
from envbisect.manifest.spelling import nearest
from envbisect.manifest.stack import Value
from envbisect.manifest.wrong import Wrong, shown

_LONGEST: Final = 100_000  # Linux takes 128 KiB for one variable or argument


def check_value(spec: KeySpec, key: str, raw: object, folder: Path) -> Value:
    """The value of ``key`` in its canonical form; paths become absolute, relative to ``folder``.

    Raises:
        Wrong: not a value of this key.
    """
    value = _typed(spec, key, raw, folder)
    if spec.choices and value not in spec.choices:
        expected = "one of " + ", ".join(json.dumps(choice) for choice in spec.choices)
        names = [choice for choice in spec.choices if isinstance(choice, str)]
        raise Wrong(f"{shown(raw)} is not a value of {key}", expected, nearest(str(value), names))
    return check_format(spec, value, folder)


def _typed(spec: KeySpec, key: str, raw: object, folder: Path) -> Value:
    if spec.type is ValueType.PACKAGE:
        return check_package(key, raw, folder)
    return _READERS[spec.type](spec, key, raw)


def _string(spec: KeySpec, key: str, raw: object) -> str:
    is_variable = spec.layer is Layer.ENV or spec.name.startswith("launch.per_rank_env.")
    if isinstance(raw, str):
        if not raw and not is_variable:
            raise Wrong(f"{key} is empty", "a string that is not empty; leave the key out for absent")
        if "\0" in raw or len(raw) > _LONGEST:
            raise Wrong(f"{key} has a NUL character or is too long", f"at most {_LONGEST} characters without NUL")
        return raw
    if is_variable and isinstance(raw, bool | int | float):
        name = key.removeprefix("env.").removeprefix("launch.per_rank_env.")
        text = {True: "1", False: "0"}.get(raw) if isinstance(raw, bool) else str(raw)
        raise Wrong(f"{key} is {shown(raw)}, but variables are text", f'a string: {name} = "{text}"')
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        raise Wrong(f"{key} is {shown(raw)}", f'a string, in quotes: "{raw}"')
    raise Wrong(f"{key} is {shown(raw)}", "a string")


def _boolean(_spec: KeySpec, key: str, raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    raise Wrong(f"{key} is {shown(raw)}", "true or false, without quotes")


def _integer(spec: KeySpec, key: str, raw: object) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool):
        _check_range(spec, key, raw)
        return raw
    raise Wrong(f"{key} is {shown(raw)}", "an integer" + _range(spec))


def _number(spec: KeySpec, key: str, raw: object) -> int | float:
    if isinstance(raw, int | float) and not isinstance(raw, bool) and math.isfinite(raw):
        _check_range(spec, key, raw)
        return raw
    raise Wrong(f"{key} is {shown(raw)}", "a number" + _range(spec))


def _check_range(spec: KeySpec, key: str, number: float) -> None:
    too_low = spec.minimum is not None and number < spec.minimum
    too_high = spec.maximum is not None and number > spec.maximum
    if too_low or too_high:
        kind = "an integer" if spec.type is ValueType.INTEGER else "a number"
        raise Wrong(f"{key} is {number}, which is impossible", kind + _range(spec))


def _range(spec: KeySpec) -> str:
    low = f", at least {spec.minimum:g}" if spec.minimum is not None else ""
    high = f", at most {spec.maximum:g}" if spec.maximum is not None else ""
    return low + high


def _strings(_spec: KeySpec, key: str, raw: object) -> Value:
    if not isinstance(raw, list):
        raise Wrong(f"{key} is {shown(raw)}", "an array of strings")
    for item in raw:
        if not isinstance(item, str) or not item or "\0" in item or len(item) > _LONGEST:
            raise Wrong(f"{key} has {shown(item)} in it", "an array of strings that are not empty")
    return [*raw]


def _scalar(_spec: KeySpec, key: str, raw: object) -> str | int | float | bool:
    if isinstance(raw, float) and not math.isfinite(raw):
        raise Wrong(f"{key} is {shown(raw)}", "a finite number")
    if isinstance(raw, str) and ("\0" in raw or len(raw) > _LONGEST):
        raise Wrong(f"{key} has a NUL character or is too long", f"at most {_LONGEST} characters without NUL")
    if isinstance(raw, str | int | float | bool):
        return raw
    raise Wrong(f"{key} is {shown(raw)}", "a string, a number, or true or false")


# Exhaustive, but for packages, which need the folder too: a test goes through all types.
_READERS: Final[dict[ValueType, Callable[[KeySpec, str, object], Value]]] = {
    ValueType.STRING: _string,
    ValueType.INTEGER: _integer,
    ValueType.NUMBER: _number,
    ValueType.BOOLEAN: _boolean,
    ValueType.STRINGS: _strings,
    ValueType.SCALAR: _scalar,
}

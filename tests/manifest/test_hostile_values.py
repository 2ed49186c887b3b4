"""Whatever a manifest says: faults, or a manifest; never another exception, and never a confused terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import tomli
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from envbisect.errors import EnvbisectError, Fault
from envbisect.keys import KeySpec, Layer, ValueType, all_specs
from envbisect.manifest import json_schema, load, load_any
from envbisect.manifest.stack import Value

PAGE = (Path(__file__).parents[2] / "docs" / "manifest.md").read_text()
EXAMPLE = PAGE.split("```toml\n", 1)[1].split("```", 1)[0]
MANY = "1" * 5000
HUGE = "0x" + "f" * 5000


@pytest.mark.parametrize(
    "body",
    [
        f"[torch]\nthreads = {MANY}",
        f"[torch]\nthreads = {HUGE}",
        f"[burnin]\ntimeout_s = {HUGE}",
        f"[burnin.metrics.m]\nmax = {HUGE}",
        f'[axes]\n"torch.threads" = [1, {HUGE}]',
        "[burnin.classify]\nbad_if = '" + "(" * 5000 + "'",
        "[burnin.classify]\nbad_if = 'a{99999999999999}'",
        '[python]\nexclude_newer = "0001-01-01T00:00:00+14:00"',
        f'[python.packages]\nx = "1.{MANY}"',
        f'[python.packages]\nx = "<{MANY}"',
        f'[python]\noverrides = ["x=={MANY}"]',
        f'[code]\nrepo = "{"a/" * 5000}"',
        f'[code]\nrepo = "{"a" * 300}"',
        f'[inputs]\n"{"a" * 5000}" = "sha256:{"0" * 64}"',
        f'[env]\nA = "{"a" * 200_000}"',
        f'name = "{"n" * 5000}"',
        'name = "\\u001b[2J"',
        '"" = 1',
        "[env]\n'' = '1'",
        "[axes]\n'' = [1, 2]",
        "[[burnin]]\nx = 1",
        "[[env]]\nA = '1'",
        "[burnin]\nmetrics = [1]",
        "[burnin]\n'a.b' = 1",
        'extends = "a\\u0000"',
        "extends = '.'",
        "extends = 'good.toml/x'",
    ],
    ids=lambda body: body[:40],
)
def test_an_absurd_value_is_a_fault(faults: Callable[[str], Sequence[Fault]], body: str) -> None:
    found = faults(body)

    assert len(found) == 1
    assert len(found[0].message) < 1000


@pytest.mark.parametrize("body", ['[env]\n"A\\u001b[31m" = 1', '"\\n\\u009b" = 1', '[burnin]\n"\\u202e" = 1'])
def test_a_message_is_one_printable_line(faults: Callable[[str], Sequence[Fault]], body: str) -> None:
    for fault in faults(body):
        assert fault.message.isprintable()
        assert fault.key.isprintable()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_manifest_is_a_manifest_or_has_faults(tmp_path: Path, data: st.DataObject) -> None:
    lines = EXAMPLE.splitlines()
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(lines) - 1))
        other = lines[data.draw(st.integers(0, len(lines) - 1))]
        column = data.draw(st.integers(0, len(lines[place])))
        junk = data.draw(
            st.sampled_from(['"', "[", "]", "=", ".", "{", "}", "1", "#", "-", "\\", ",", "é", "\x00", "inf"])
        )
        damage = data.draw(st.sampled_from(["swap", "junk", "drop", "value"]))
        key, equals, _ = lines[place].partition("=")
        lines[place] = {
            "swap": other,
            "junk": lines[place][:column] + junk + lines[place][column:],
            "drop": "",
            "value": key
            + equals
            + data.draw(st.sampled_from(["1", "true", "'x'", "[]", "{}", "nan", "[1, 'a']", "{a.b = 1}"])),
        }[damage]
    path = tmp_path / "m.toml"
    path.write_text("\n".join(lines))

    for read in (load, lambda path: load_any(str(path))):
        error = _error_of(read, path)
        assert error is None or error.message
        assert error is None or all(0 <= fault.line <= len(lines) for fault in error.faults)


def _error_of(read: Callable[[Path], object], path: Path) -> EnvbisectError | None:
    try:
        read(path)
    except EnvbisectError as error:
        return error
    return None


FORMATTED = ("code.", "inputs.", "image.run.mounts", "image.run.memory", "image.shm_size", "cuda.", "python.")
PLAIN = [spec for spec in all_specs() if not spec.name.startswith(FORMATTED)]
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x7f", min_codepoint=32), min_size=1, max_size=9)
SCALARS = TEXT | st.integers(-9, 9) | st.booleans() | st.floats(-9, 9)


def _values(spec: KeySpec) -> st.SearchStrategy[Value]:
    if spec.choices:
        return st.sampled_from(spec.choices)
    low = math.ceil(spec.minimum or 0)
    strategies: dict[ValueType, st.SearchStrategy[Any]] = {
        ValueType.STRING: TEXT,
        ValueType.INTEGER: st.integers(low, 99),
        ValueType.NUMBER: st.integers(low, 99) | st.floats(low, 99),
        ValueType.BOOLEAN: st.booleans(),
        ValueType.STRINGS: st.lists(TEXT, max_size=3),
        ValueType.SCALAR: SCALARS,
    }
    return strategies[spec.type]


def _names(spec: KeySpec) -> st.SearchStrategy[str]:
    if not spec.open:
        return st.just(spec.name)
    variable = spec.layer in {Layer.ENV, Layer.LAUNCH}
    free = st.from_regex(r"[A-Z_]{1,6}" if variable else r"[a-z_.]{1,9}", fullmatch=True)
    return free.map(lambda name: f"{spec.table}.{name}")


@st.composite
def components(draw: st.DrawFn) -> dict[str, Value]:
    specs = draw(st.lists(st.sampled_from(PLAIN), unique_by=lambda spec: spec.name, max_size=8))
    return {draw(_names(spec)): draw(_values(spec)) for spec in specs}


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pins=components())
def test_every_valid_component_is_read_as_it_was_written(tmp_path: Path, pins: dict[str, Value]) -> None:
    """Written in the flattest way: everything below its layer in quotes."""
    lines = ["schema = 1"]
    for layer in Layer:
        below = {key: value for key, value in pins.items() if key.startswith(layer + ".") and "*" not in key}
        lines.append(f"[{layer}]")
        lines += [f"{json.dumps(key.split('.', 1)[1])} = {_toml(value)}" for key, value in below.items()]
    path = tmp_path / "m.toml"
    path.write_text("\n".join(lines))

    assert load(path).components() == dict(sorted(pins.items()))


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pins=components())
def test_the_schema_accepts_what_the_reader_accepts(tmp_path: Path, pins: dict[str, Value]) -> None:
    """Written with one header for each table, as people do."""
    tables: dict[str, list[str]] = {}
    for key, value in pins.items():
        spec = next(spec for spec in PLAIN if spec.name == key or (spec.open and key.startswith(spec.table + ".")))
        # Beside the value host.gpu there can be no table [host.gpu]: host's names with dots stand in quotes.
        inner = spec.table if spec.open else spec.name.rpartition(".")[0]
        table = inner if spec.open or spec.layer is not Layer.HOST else "host"
        tables.setdefault(table, []).append(f"{json.dumps(key.removeprefix(table + '.'))} = {_toml(value)}")
    text = "schema = 1\n" + "\n".join(f"[{table}]\n" + "\n".join(lines) for table, lines in tables.items())
    path = tmp_path / "m.toml"
    path.write_text(text)
    load(path)

    assert list(Draft202012Validator(json_schema()).iter_errors(tomli.loads(text))) == []


def _toml(value: Value) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)

"""The JSON Schema agrees with the reader on real manifests and on wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli
from jsonschema import Draft202012Validator

from envbisect.keys import all_specs
from envbisect.manifest import json_schema, load

ROOT = Path(__file__).parents[2]
REAL = sorted(path for path in (ROOT / "manifests").rglob("*.toml") if path.name != "expected.toml")


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("path", REAL, ids=lambda path: str(path.relative_to(ROOT)))
def test_real_manifests_are_valid(validator: Draft202012Validator, path: Path) -> None:
    load(path)

    assert [error.message for error in validator.iter_errors(tomli.loads(path.read_text()))] == []


def test_the_documented_example_is_valid(validator: Draft202012Validator) -> None:
    text = (ROOT / "docs" / "manifest.md").read_text()
    example = text.split("```toml\n", 1)[1].split("```", 1)[0]

    assert [error.message for error in validator.iter_errors(tomli.loads(example))] == []


@pytest.mark.parametrize(
    "body",
    [
        "[tourch]",
        "[torch]\nthreads = 'two'",
        "[torch]\nthreads = 0",
        "[torch]\nthread = 1",
        "[torch]\nfloat32_matmul_precision = 'hihg'",
        "[dataloader]\nnum_workers = -1",
        "[host]\ncmdline = 1",
        "[host]\ngpu.colcks = 1",
        "[host]\n'gpu.colcks' = 1",
        "[env]\nA = 1",
        "[launch.per_rank_env]\nA = 1",
        "[python.packages]\na = { git = 'x' }",
        "[python.packages]\na = 1",
        "[burnin]\nrounds = 0",
        "[burnin]\ntimeout_s = 0",
        "[burnin]\ntiemout_s = 1",
        "[burnin]\nsignature = 'some'",
        "[burnin.metrics.a]\nworse = 'more'",
        "[burnin.metrics.a]\nwrose = 'higher'",
        "[axes]\n'torch.threads' = [1]",
        "[axes]\n'torch.threads' = 1",
        "schema = 2",
    ],
)
def test_what_an_editor_should_underline_is_invalid(validator: Draft202012Validator, body: str) -> None:
    head = "" if body.startswith("schema") else "schema = 1\n"

    assert not validator.is_valid(tomli.loads(head + body))


def test_names_with_dots_are_valid_with_and_without_quotes(validator: Draft202012Validator) -> None:
    quoted = "[host]\ngpu = 'A100'\n'gpu.clocks' = 1410\n[host.sysctl]\n'a.b.c' = 2\n[axes]\n'torch.threads' = [1, 2]\n"
    bare = "[host]\ngpu.clocks = 1410\n[host.sysctl]\na.b.c = 2\n[axes]\ntorch.threads = [1, 2]\n"

    assert validator.is_valid(tomli.loads("schema = 1\n" + quoted))
    assert validator.is_valid(tomli.loads("schema = 1\n" + bare))


def test_every_key_has_its_documentation_in_the_schema() -> None:
    schema = json_schema()

    for spec in all_specs():
        assert _descend(schema, spec.name.split("."))["description"] == spec.doc, spec.name


def _descend(schema: dict[str, Any], parts: list[str]) -> dict[str, Any]:
    node = schema
    for part in parts:
        if "properties" not in node and "anyOf" in node:
            node = next(item for item in node["anyOf"] if "properties" in item)
        node = node["additionalProperties"] if part == "*" else node["properties"][part]
    return node

"""The JSON Schema of the manifest, for editors: generated from the registry of keys and the models of the test."""

from __future__ import annotations

import copy
from typing import Any, Final

from envbisect.keys import KeySpec, Layer, ValueType, all_specs
from envbisect.manifest.burnin import Burnin

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_SCALAR: Final[list[str]] = ["string", "number", "boolean"]
_NESTING: Final = (Layer.HOST, Layer.INPUTS)
_GIT: Final[dict[str, Any]] = {
    "type": "object",
    "description": "A Git repository at a revision, with patches applied in order.",
    "properties": {
        "git": {"type": "string", "description": "URL of the repository."},
        "rev": {"type": "string", "description": "Commit, tag or branch."},
        "patches": {"type": "array", "items": {"type": "string"}, "description": "Paths relative to the manifest."},
    },
    "required": ["git", "rev"],
    "additionalProperties": False,
}
_TYPES: Final[dict[ValueType, dict[str, Any]]] = {
    ValueType.STRING: {"type": "string"},
    ValueType.INTEGER: {"type": "integer"},
    ValueType.NUMBER: {"type": "number"},
    ValueType.BOOLEAN: {"type": "boolean"},
    ValueType.STRINGS: {"type": "array", "items": {"type": "string"}},
    ValueType.SCALAR: {"type": _SCALAR},
    ValueType.PACKAGE: {"anyOf": [{"type": "string"}, _GIT]},
}
_LAYERS: Final[dict[Layer, str]] = {
    Layer.HOST: "Facts of the host: found or moved by a backend that can, otherwise a requirement that is checked.",
    Layer.IMAGE: "The container image and what a container may see.",
    Layer.CUDA: "CUDA and its libraries: different numbers, each optional.",
    Layer.PYTHON: "The interpreter and its packages.",
    Layer.ENV: "Environment variables.",
    Layer.TORCH: "Flags of torch, set before anything else.",
    Layer.DATALOADER: "Defaults of torch's DataLoader.",
    Layer.CODE: "The user's own program.",
    Layer.INPUTS: "What the program reads, by hash.",
    Layer.LAUNCH: "How a test is started.",
}


def json_schema() -> dict[str, Any]:
    """The manifest's format as JSON Schema (draft 2020-12); what it accepts is what one file alone can tell."""
    properties: dict[str, Any] = {
        "schema": {"const": 1, "description": "Version of the format."},
        "name": {"type": "string", "minLength": 1, "description": "Name of the stack; the file's name without it."},
        "extends": {"type": "string", "description": "Manifest that this one is laid over, a relative path."},
    }
    for spec in all_specs():
        layer = properties.setdefault(spec.layer.value, _table(_LAYERS[spec.layer]))
        _add(layer, spec.name.split(".")[1:], spec)
    properties["burnin"] = _burnin()
    properties["axes"] = _axes()
    return {
        "$schema": _DIALECT,
        "title": "envbisect manifest",
        "type": "object",
        "properties": properties,
        "required": ["schema"],
        "additionalProperties": False,
    }


def _table(description: str) -> dict[str, Any]:
    return {"type": "object", "description": description, "properties": {}, "additionalProperties": False}


def _add(table: dict[str, Any], parts: list[str], spec: KeySpec) -> None:
    """Add a key to the table that it lies in, making the tables in between."""
    name, *rest = parts
    properties: dict[str, Any] = table["properties"]
    if name == "*":
        table["additionalProperties"] = _open(spec)
    elif not rest:
        properties[name] = _leaf(spec)
    elif rest == ["*"]:
        inner = properties.setdefault(name, _table(spec.doc))
        inner["additionalProperties"] = _open(spec)
    else:
        # A key below another key's name (host.gpu.clocks beside host.gpu) is also written in quotes.
        if spec.layer is Layer.HOST:
            properties[".".join(parts)] = _leaf(spec)
        _add(_table_at(properties, name, f"Keys of {spec.layer} {name}."), rest, spec)


def _table_at(properties: dict[str, Any], name: str, description: str) -> dict[str, Any]:
    """The table of this name, made if there is none; beside a value of the same name it is the alternative to it."""
    there = properties.get(name)
    table = _table(description)
    if there is None:
        properties[name] = table
    elif "anyOf" in there:
        table = there["anyOf"][1]
    elif "properties" in there:
        table = there
    else:
        properties[name] = {"anyOf": [there, table], "description": there["description"]}
    return table


def _leaf(spec: KeySpec) -> dict[str, Any]:
    leaf = {**copy.deepcopy(_TYPES[spec.type]), "description": spec.doc}
    if spec.choices:
        leaf["enum"] = list(spec.choices)
    if spec.minimum is not None:
        leaf["minimum"] = spec.minimum
    if spec.maximum is not None:
        leaf["maximum"] = spec.maximum
    return leaf


def _open(spec: KeySpec) -> dict[str, Any]:
    """Any name in a table; where names have dots, tables are their parts written without quotes."""
    leaf = _leaf(spec)
    if spec.layer not in _NESTING:
        return leaf
    nested = {"type": "object", "additionalProperties": {"type": [*_SCALAR, "object"]}}
    return {"anyOf": [leaf, nested], "description": spec.doc}


def _burnin() -> dict[str, Any]:
    schema = Burnin.model_json_schema()
    definitions = schema.pop("$defs", {})
    inlined = _inlined(schema, definitions)
    inlined["description"] = "The test that tells good from bad."
    result: dict[str, Any] = inlined
    return result


def _inlined(node: Any, definitions: dict[str, Any]) -> Any:
    """References replaced by what they mean: editors follow them badly. The models are no recursive ones."""
    if isinstance(node, list):
        return [_inlined(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if reference:
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return {**_inlined(definitions[reference.rpartition("/")[2]], definitions), **_inlined(rest, definitions)}
    # TOML has no null: "or null" means that the key may be left out, which it may anyway.
    alternatives = [item for item in node.get("anyOf", []) if item != {"type": "null"}]
    if len(alternatives) == 1:
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        return {**_inlined(alternatives[0], definitions), **_inlined(rest, definitions)}
    return {key: _inlined(value, definitions) for key, value in node.items() if not _is_noise(key, value)}


def _is_noise(key: str, value: Any) -> bool:
    """Titles that repeat the names, and defaults that say no more than that a key was left out."""
    return (key == "title" and isinstance(value, str)) or (key == "default" and value in (None, [], {}))


def _axes() -> dict[str, Any]:
    steps = {"type": "array", "minItems": 2, "uniqueItems": True, "description": "Steps from good to bad, both in it."}
    nested = {"type": "object", "additionalProperties": {"type": ["array", "object"]}}
    return {
        "type": "object",
        "description": "Steps between the endpoints that no source can list, by dotted key in quotes.",
        "additionalProperties": {"anyOf": [steps, nested]},
    }

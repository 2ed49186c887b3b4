"""From pydantic's errors to faults with a place, an expectation and the nearest right name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from envbisect.errors import Fault
from envbisect.manifest.document import Place
from envbisect.manifest.spelling import nearest
from envbisect.manifest.wrong import shown

PlaceOf = Callable[[tuple[str | int, ...]], Place]

_EXPECTED: Final[Mapping[str, str]] = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "a string",
    "tuple_type": "an array of strings",
    "dict_type": "a table",
    "model_type": "a table",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "enum": "one of {expected}",
}


def faults_of(error: ValidationError, model: type[BaseModel], table: str, place_of: PlaceOf) -> Iterable[Fault]:
    """A fault for each finding. ``table`` is the dotted name of what was validated, ``place_of`` finds its parts."""
    for details in error.errors(include_url=False):
        path = details["loc"]
        key = ".".join([table, *(str(part) for part in path if isinstance(part, str))])
        yield _fault(details, model, key, place_of(path))


def _fault(details: ErrorDetails, model: type[BaseModel], key: str, place: Place) -> Fault:
    if details["type"] == "extra_forbidden":
        *parents, name = details["loc"]
        fields = tuple(_model_at(model, parents).model_fields)
        near = nearest(str(name), fields)
        table = key.removesuffix(f".{name}")
        return place.fault(
            f"unknown key {shown(name)} in [{table}]",
            key=key,
            expected="one of " + ", ".join(fields),
            nearest=f"{table}.{near}" if near else "",
        )
    context: dict[str, Any] = details.get("ctx", {})
    template = _EXPECTED.get(details["type"])
    if template is None:
        message = f"{key}: {details['msg']}"
        return place.fault(message, key=key, expected=context.get("expected", ""), nearest=context.get("nearest", ""))
    given = details["input"]
    near = nearest(str(given), _choices(context)) if details["type"] == "enum" else ""
    is_element = details["loc"] != () and isinstance(details["loc"][-1], int)
    message = f"{key} has {shown(given)} in it" if is_element else f"{key} is {shown(given)}"
    return place.fault(message, key=key, expected=template.format(**context), nearest=near)


def _choices(context: Mapping[str, Any]) -> list[str]:
    return str(context.get("expected", "")).replace(" or ", ", ").replace("'", "").split(", ")


def _model_at(model: type[BaseModel], path: Iterable[str | int]) -> type[BaseModel]:
    """The model that validates what lies at ``path``: fields that are models, or tables of models by name."""
    for part in path:
        field = model.model_fields.get(str(part))
        if field is None:
            continue  # a free name in a table of models
        candidates = (field.annotation, *get_args(field.annotation))
        model = next((c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)), model)
    return model

"""The test that tells good from bad: the ``[burnin]`` table."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from envbisect.manifest.spelling import nearest

CHECK_FAMILIES: Final = ("ladder", "repeat", "latency")
"""Families of built-in checks. ``repeat.index_put`` is one check of a family; the catalogue knows which there are."""

_CHECK_ID: Final = re.compile(r"([a-z]+)((?:\.[a-z0-9_]+)*)")
_METRIC: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_BETTER_IF_HIGHER: Final = ("throughput", "accuracy")


class SignaturePolicy(StrEnum):
    """Which failures count as bad: those with a signature learned at the bad end, or any."""

    LEARNED = "learned"
    ANY = "any"


class Worse(StrEnum):
    """The direction in which a metric is worse."""

    HIGHER = "higher"
    LOWER = "lower"
    DIFFERENT = "different"


class Aggregate(StrEnum):
    """How one number is made of those of several ranks."""

    MAX = "max"
    RANK0 = "rank0"


def default_direction(metric: str) -> Worse:
    """Higher is worse, except rates, throughput and accuracy."""
    name = metric.casefold()
    return Worse.LOWER if name.endswith(("_per_s", *_BETTER_IF_HIGHER)) else Worse.HIGHER


def _check_id(text: str) -> str:
    match = _CHECK_ID.fullmatch(text)
    if match is not None and match[1] in CHECK_FAMILIES:
        return text
    near = nearest(text.partition(".")[0], CHECK_FAMILIES)
    raise PydanticCustomError(
        "check_id",
        "{shown} is no check",
        {
            "shown": f'"{text}"',
            "expected": f"one of {', '.join(CHECK_FAMILIES)}, or one check of them",
            "nearest": near,
        },
    )


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise PydanticCustomError(
            "pattern", "not a regular expression: {reason}", {"reason": str(error), "expected": "Python's re syntax"}
        ) from error
    if not text:
        raise PydanticCustomError(
            "pattern", "an empty expression matches everything", {"expected": "leave it out instead"}
        )
    return text


def _argument(text: str) -> str:
    if "\0" in text:
        raise PydanticCustomError("argument", "an argument has a NUL character", {"expected": "text without NUL"})
    return text


def _command(arguments: tuple[str, ...]) -> tuple[str, ...]:
    if not arguments or not arguments[0].strip():
        raise PydanticCustomError("command", "the command is empty", {"expected": '["python", "test.py"]'})
    return arguments


def _metrics(metrics: dict[str, Metric]) -> dict[str, Metric]:
    for name in metrics:
        if not _METRIC.fullmatch(name):
            raise PydanticCustomError(
                "metric",
                "{shown} is no name of a metric",
                {"shown": f'"{name}"', "expected": "letters, digits, _ and ."},
            )
    return metrics


_Strict = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
_Argument = Annotated[str, AfterValidator(_argument)]
_Command = Annotated[tuple[_Argument, ...], Field(strict=False), AfterValidator(_command)]
_Pattern = Annotated[str, AfterValidator(_pattern)]
_CheckId = Annotated[str, AfterValidator(_check_id)]
_Seconds = Annotated[float, Field(gt=0)]


class Classify(BaseModel):
    """Regular expressions over the output, for what exit codes cannot say."""

    model_config = _Strict

    bad_if: _Pattern | None = Field(None, description="Output that ends the probe at once and makes it bad.")
    unresolved_if: _Pattern | None = Field(None, description="Output that makes the probe unresolved.")


class Metric(BaseModel):
    """A number that the test reports."""

    model_config = _Strict

    worse: Worse | None = Field(
        None,
        strict=False,
        description="Direction in which it is worse; without it higher, except rates, throughput and accuracy.",
    )
    max: float | None = Field(None, description="Above this a probe fails.")
    min_effect: Annotated[float, Field(ge=0)] | None = Field(
        None, description="Smallest difference between the ends that matters, in the metric's own unit."
    )
    aggregate: Aggregate = Field(Aggregate.MAX, strict=False, description="How ranks make one number: max or rank0.")

    @model_validator(mode="after")
    def _bound_fits_direction(self) -> Self:
        if self.max is not None and self.worse is Worse.LOWER:
            raise PydanticCustomError(
                "metric",
                'max bounds it from above, but worse = "lower"',
                {"expected": 'max or worse = "lower", not both'},
            )
        return self


class Burnin(BaseModel):
    """What is run in every configuration, and how its end is judged."""

    model_config = _Strict

    checks: Annotated[tuple[_CheckId, ...], Field(strict=False)] = Field(
        (), description="Built-in checks by id; all families if neither checks nor a command is given."
    )
    command: _Command | None = Field(
        None, description="The user's own test: exit 0 is good, 125 cannot tell, another end may be bad."
    )
    rounds: int = Field(3, ge=1, description="Rounds of each built-in check.")
    timeout_s: _Seconds = Field(120.0, description="Seconds after which a probe is a hang.")
    stall_s: _Seconds | None = Field(None, description="Seconds without output and progress after which it is a hang.")
    setup: _Command | None = Field(None, description="A command run first, outside the clock and the verdict.")
    signature: SignaturePolicy = Field(
        SignaturePolicy.LEARNED,
        strict=False,
        description="Which failures are bad: those with the signature seen at the bad end, or any.",
    )
    classify: Classify = Field(Classify(), description="Regular expressions over the output.")
    metrics: Annotated[dict[str, Metric], AfterValidator(_metrics)] = Field(
        {}, description="Numbers that the test reports, by name."
    )

    @model_validator(mode="before")
    @classmethod
    def _all_families_by_default(cls, data: object) -> object:
        if isinstance(data, dict) and "checks" not in data and data.get("command") is None:
            return {**data, "checks": CHECK_FAMILIES}
        return data

    @model_validator(mode="after")
    def _has_a_test(self) -> Self:
        if not self.checks and self.command is None:
            raise PydanticCustomError(
                "no_test",
                "no checks and no command: nothing to run",
                {"expected": "leave checks out to run all of them"},
            )
        return self

    def direction(self, metric: str) -> Worse:
        """The direction in which a metric is worse, declared or by its name."""
        declared = self.metrics.get(metric)
        return declared.worse if declared and declared.worse else default_direction(metric)

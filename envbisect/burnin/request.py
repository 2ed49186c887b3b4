"""The burn-in request (schema 1): what the payload is asked to run, made from a manifest's ``[burnin]`` and a stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from envbisect.burnin.catalogue import validate
from envbisect.manifest.burnin import Burnin
from envbisect.manifest.stack import Stack

SETUP_TIMEOUT_S: Final = 1800.0
"""The setup is outside the clock of the test, but not without an end."""

MARGIN_S: Final = 30.0
"""What the payload may take besides the test: importing torch, ending a process group, writing the result."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LaunchRequest(_Strict):
    """How a test is started; more than one process means torchrun."""

    nproc_per_node: Annotated[int, Field(ge=1)] = 1
    per_rank_env: Mapping[str, str] = {}


class ClassifyRequest(_Strict):
    """Regular expressions over the output, in Python's syntax."""

    bad_if: str | None = None
    unresolved_if: str | None = None


class MetricRequest(_Strict):
    """How the numbers of several ranks become one."""

    aggregate: Literal["max", "rank0"] = "max"


class BurninRequest(_Strict):
    """One probe. ``torch`` and ``dataloader`` are the configuration's tables; ``[env]`` is in the environment already.

    ``options`` are for development: ``device`` ("cpu"), ``setup_timeout_s``.
    """

    schema_: Literal[1] = 1
    probe: Annotated[int, Field(ge=0)]
    checks: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None
    setup: tuple[str, ...] | None = None
    rounds: Annotated[int, Field(ge=1)] = 3
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    stall_s: Annotated[float, Field(gt=0)] | None = None
    torch: Mapping[str, str | int | float | bool] = {}
    dataloader: Mapping[str, str | int | float | bool] = {}
    launch: LaunchRequest = LaunchRequest()
    classify: ClassifyRequest = ClassifyRequest()
    metrics: Mapping[str, MetricRequest] = {}
    configuration: Mapping[str, JsonValue] = {}
    options: Mapping[str, JsonValue] = {}

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=lambda name: name.rstrip("_"),
        populate_by_name=True,
    )

    def document(self) -> dict[str, object]:
        """As JSON, the way the payload reads it."""
        return self.model_dump(mode="json", by_alias=True)


def build_request(
    burnin: Burnin, stack: Stack, probe: int, configuration: Mapping[str, JsonValue]
) -> dict[str, object]:
    """The request of one probe. ``configuration`` is what a test sees in ``ENVBISECT_CONFIGURATION``.

    Raises:
        UsageError: a check is unknown.
    """
    validate(burnin.checks)
    request = BurninRequest(
        probe=probe,
        checks=burnin.checks,
        command=burnin.command,
        setup=burnin.setup,
        rounds=burnin.rounds,
        timeout_s=burnin.timeout_s,
        stall_s=burnin.stall_s,
        torch=_scalars(stack, "torch"),
        dataloader=_scalars(stack, "dataloader"),
        launch=_launch(stack),
        classify=ClassifyRequest(bad_if=burnin.classify.bad_if, unresolved_if=burnin.classify.unresolved_if),
        metrics={name: MetricRequest(aggregate=metric.aggregate.value) for name, metric in burnin.metrics.items()},
        configuration=configuration,
    )
    return request.document()


def deadline_s(burnin: Burnin) -> float:
    """How long a runtime waits for the payload before it ends it: the payload's own timeouts come first."""
    parts = (burnin.timeout_s if burnin.checks else 0.0) + (burnin.timeout_s if burnin.command else 0.0)
    return parts + (SETUP_TIMEOUT_S if burnin.setup else 0.0) + MARGIN_S


def _scalars(stack: Stack, table: str) -> dict[str, str | int | float | bool]:
    return {name: value for name, value in stack.table(table).items() if isinstance(value, str | int | float | bool)}


def _launch(stack: Stack) -> LaunchRequest:
    """``per_rank_env`` is one component with a table, or a component for each of its names."""
    prefix = "per_rank_env."
    table = stack.table("launch")
    whole = table.get("per_rank_env")
    environ = {name: str(value) for name, value in whole.items()} if isinstance(whole, dict) else {}
    environ |= {
        name.removeprefix(prefix): str(value)
        for name, value in table.items()
        if name.startswith(prefix) and value is not None
    }
    count = table.get("nproc_per_node")
    return LaunchRequest(nproc_per_node=count if isinstance(count, int) else 1, per_rank_env=environ)

"""The manifests' test: how a probe is requested and what its run showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envbisect.backends.interface import ProbeRun
from envbisect.burnin.request import build_request, deadline_s
from envbisect.burnin.result import parse_result
from envbisect.burnin.symptoms import Observation, observe
from envbisect.errors import EnvbisectError
from envbisect.manifest import Burnin
from envbisect.manifest.stack import Stack, Value


@dataclass(frozen=True, slots=True)
class BurninTest:
    """``[burnin]`` as it is run and read."""

    burnin: Burnin

    @property
    def deadline_s(self) -> float:
        """Seconds that one run may take, set-up included."""
        return deadline_s(self.burnin)

    @property
    def command(self) -> tuple[str, ...] | None:
        """The user's own test, None if there is none."""
        return self.burnin.command

    def request(self, stack: Stack, probe: int, configuration: Mapping[str, Value]) -> dict[str, object]:
        """The burn-in request (schema 1) of one probe."""
        return build_request(self.burnin, stack, probe, configuration)

    def observe(self, run: ProbeRun) -> Observation:
        """What a run showed. A payload that wrote nothing readable counts as one that left no result."""
        try:
            result = parse_result(run.result) if run.result is not None else None
        except EnvbisectError:
            result = None
        return observe(result, exit_code=run.exit_code, timed_out=run.timed_out)

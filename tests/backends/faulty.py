"""A runtime that injects faults behind the same interface: what a machine, a network or a test may do at any moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from pathlib import Path

from envbisect.backends.interface import Environment, InfrastructureFault, ProbeRun, Runtime, Unbuildable
from envbisect.keys.spec import Mover
from envbisect.manifest.stack import Stack


class Injected(Enum):
    """One fault. The first two strike ``prepare``, the others ``run``."""

    UNBUILDABLE = auto()
    BUILD_LOST = auto()  # network or disk
    PROBE_LOST = auto()  # the worker
    RESULT_LOST = auto()  # the payload died before it wrote anything
    HANG = auto()
    CTRL_C = auto()


_OF_PREPARE = frozenset({Injected.UNBUILDABLE, Injected.BUILD_LOST})


@dataclass
class FaultyRuntime:
    """Passes everything to ``real`` but for the scheduled faults, which are used up in order, None being no fault."""

    real: Runtime
    faults: list[Injected | None] = field(default_factory=list)
    unbuildable: frozenset[str] = frozenset()  # identities of stacks that never build

    @property
    def name(self) -> str:
        return self.real.name

    @property
    def moves(self) -> frozenset[Mover]:
        return self.real.moves

    def prepare(self, stack: Stack) -> Environment:
        fault = self._next(of_prepare=True)
        if fault is Injected.UNBUILDABLE or stack.identity() in self.unbuildable:
            raise Unbuildable("injected: does not build", "log of the build", ("injected==1.0",))
        if fault is Injected.BUILD_LOST:
            raise InfrastructureFault("injected: no network", "wait")
        return self.real.prepare(stack)

    def run(self, environment: Environment, request: Mapping[str, object], folder: Path, deadline_s: float) -> ProbeRun:
        fault = self._next(of_prepare=False)
        if fault is Injected.PROBE_LOST:
            raise InfrastructureFault("injected: the worker is gone", "wait")
        if fault is Injected.CTRL_C:
            raise KeyboardInterrupt
        run = self.real.run(environment, request, folder, deadline_s)
        if fault is Injected.RESULT_LOST:
            return replace(run, result=None, exit_code=-9)
        if fault is Injected.HANG:
            return replace(run, result=None, exit_code=-15, timed_out=True, seconds=deadline_s)
        return run

    def close(self) -> None:
        self.real.close()

    def _next(self, *, of_prepare: bool) -> Injected | None:
        if not self.faults:
            return None
        fault = self.faults[0]
        if fault is not None and (fault in _OF_PREPARE) is not of_prepare:
            return None
        if fault is None and of_prepare:
            return None  # a None stands for one probe
        return self.faults.pop(0)

"""Run one ask: realise the configuration, prepare the environment, run the burn-in, observe. The only impure step."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol

from envbisect.backends.interface import Environment, InfrastructureFault, ProbeRun, Runtime, Unbuildable
from envbisect.burnin.symptoms import Observation
from envbisect.errors import UsageError
from envbisect.manifest.stack import Stack, Value
from envbisect.session.ask import Ask, NotBuilt, NotFeasible, Ran, Reply
from envbisect.session.events import BuildFinished, BuildStarted, Note, Subscriber
from envbisect.space.model import Configuration, Infeasible, Realised, Space

ATTEMPTS: Final = 3
"""How often an infrastructure fault is retried before the run stops (it is never told to the search)."""

GRACE_S: Final = 20.0
"""Seconds beyond the test's own deadline before the whole payload is killed from outside."""


class BurninLike(Protocol):
    """The burn-in of both manifests: how a request is made and a run is read."""

    @property
    def deadline_s(self) -> float:
        """Seconds that one run may take, set-up included."""
        ...

    @property
    def command(self) -> tuple[str, ...] | None:
        """The user's own test, None if there is none."""
        ...

    def request(self, stack: Stack, probe: int, configuration: Mapping[str, Value]) -> dict[str, object]: ...

    def observe(self, run: ProbeRun) -> Observation: ...


def _keep_nothing(_: Realised | Infeasible) -> None:
    """What was resolved is not kept."""


@dataclass
class Executor:
    """Answers asks with real environments and real runs.

    Attributes:
        faults: called with one line for every infrastructure fault, before it is retried.
        workdir: where the test runs, if not in the manifest's folder.
        keep: hears what every asked configuration was realised to.
        built: environments made so far (reused ones are not counted).
    """

    space: Space
    runtime: Runtime
    test: BurninLike
    notify: Subscriber
    faults: Callable[[str], None]
    workdir: Path | None = None
    keep: Callable[[Realised | Infeasible], None] = _keep_nothing
    pause_s: float = 2.0
    built: int = 0

    def answer(self, ask: Ask, number: int, folder: Path) -> Reply:
        """Run ``ask`` as probe ``number``; logs and the burn-in result go to ``folder``.

        Raises:
            EnvironmentFailure: the machine or the network failed, also when tried again.
        """
        realised = self._realise(ask)
        if isinstance(realised, Infeasible):
            if not realised.build:
                return NotFeasible(realised.reason)
            return NotBuilt(ask.configuration, realised.reason, (realised.pin,) if realised.pin else ())
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._run(realised, number, folder)
            except InfrastructureFault as fault:
                self.faults(fault.message)
                if attempt == ATTEMPTS:
                    raise
                self.notify(Note(f"{fault.message}; trying again ({attempt} of {ATTEMPTS - 1})"))
                time.sleep(self.pause_s * attempt)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _realise(self, ask: Ask) -> Realised | Infeasible:
        if ask.changes:
            stack = self.space.exact(ask.configuration, dict(ask.changes))
            return Realised(ask.configuration, ask.configuration, stack)
        realised = self.space.realise(ask.configuration)
        self.keep(realised)
        return realised

    def _run(self, realised: Realised, number: int, folder: Path) -> Reply:
        if self.workdir is not None:
            realised = replace(realised, stack=replace(realised.stack, folder=self.workdir))
        environment = self._prepare(realised, number)
        if isinstance(environment, NotBuilt):
            return environment
        if number == 1 and self.test.command is not None:
            self._check_command(self.test.command, environment)
        values = self.configuration(realised.point)
        request = self.test.request(realised.stack, number, values)
        run = self.runtime.run(environment, request, folder, self.test.deadline_s + GRACE_S)
        if run.result is None and not run.timed_out:
            raise InfrastructureFault(
                f"the burn-in left no result (exit code {run.exit_code}): {last_line(run.log)}",
                f"see {run.log}; an interpreter that cannot even start is no evidence about the stack",
            )
        return Ran(
            realised.point,
            self.test.observe(run),
            components_of(realised.stack),
            realised.riders,
            0.0 if environment.reused else environment.build_s,
            run.seconds,
        )

    def _prepare(self, realised: Realised, number: int) -> Environment | NotBuilt:
        self.notify(BuildStarted(number))
        try:
            environment = self.runtime.prepare(realised.stack)
        except Unbuildable as failure:
            self.notify(BuildFinished(number, 0.0, False, failure.reason))
            return NotBuilt(realised.point, failure.reason, failure.culprits)
        self.built += not environment.reused
        self.notify(BuildFinished(number, environment.build_s, environment.reused))
        return environment

    def _check_command(self, command: tuple[str, ...], environment: Environment) -> None:
        """A test that cannot even be started in the good stack is a slip of the pen, not a failure of the stack."""
        from envbisect.backends.commands import command_problem

        problem = command_problem(command, environment.cwd, environment.environ.get("PATH", ""))
        if problem:
            raise UsageError(f"the test cannot be started: {problem}", "correct the command")

    def configuration(self, point: Configuration) -> dict[str, Value]:
        """The axes' values at a point, as the user's test sees them in ``ENVBISECT_CONFIGURATION``."""
        return {axis.key: axis.steps[step].value for axis, step in zip(self.space.axes, point, strict=True)}


def last_line(log: Path) -> str:
    """The last words of a log, for a message."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "its log is empty")


def components_of(stack: Stack) -> dict[str, Any]:
    """Every pin of a stack by dotted key, packages included."""
    components: dict[str, Any] = dict(stack.components)
    if stack.closure is not None:
        components["python.version"] = stack.closure.python
        for pin in stack.closure.pins:
            components[f"python.packages.{pin.name}"] = pin.git.rev if pin.git else pin.version
    return components

"""What every runtime is: it makes an environment for a stack, runs the payload in it, and cleans up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from envbisect.errors import EnvironmentFailure
from envbisect.keys.spec import Mover
from envbisect.manifest.stack import Stack


class Unbuildable(Exception):  # noqa: N818 - an outcome, not an error that a user sees
    """This stack cannot be built, whoever tries and however often: evidence about the stack.

    Attributes:
        reason: one line for the user.
        log: the builder's whole output.
        culprits: pins ("pyyaml==5.4") that failed to build, if known.
    """

    def __init__(self, reason: str, log: str = "", culprits: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.log = log
        self.culprits = culprits


class InfrastructureFault(EnvironmentFailure):
    """Network, disk, a lost worker: never evidence about the stack; the executor retries, then stops with exit 3."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A finished environment. ``python`` is its interpreter; ``key`` names its content (equal keys are reused)."""

    key: str
    python: Path
    build_s: float
    reused: bool
    cwd: Path  # where the test runs
    environ: Mapping[str, str]  # the complete process environment, without per-probe variables


@dataclass(frozen=True, slots=True)
class ProbeRun:
    """One run of the payload, as seen from outside.

    ``result`` is the burn-in result document (schema 1) as the payload wrote it, None if it wrote none.
    ``exit_code`` is negative for a signal, as in subprocess.
    """

    result: dict[str, object] | None
    exit_code: int
    timed_out: bool
    seconds: float
    log: Path


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Seconds that a new environment and one run are expected to take."""

    build_s: float
    run_s: float


class Runtime(Protocol):
    """A way to make environments. All methods are blocking; Ctrl-C raises KeyboardInterrupt after everything died."""

    @property
    def name(self) -> str: ...

    @property
    def moves(self) -> frozenset[Mover]: ...

    def prepare(self, stack: Stack) -> Environment:
        """Build, or reuse, the environment of ``stack``.

        Raises:
            Unbuildable: the stack itself cannot be built.
            InfrastructureFault: the machine or the network failed.
        """
        ...

    def run(self, environment: Environment, request: Mapping[str, object], folder: Path, deadline_s: float) -> ProbeRun:
        """Run the payload once with ``request`` (burn-in request, schema 1); logs go to ``folder``.

        Everything that was started is dead when this returns or raises.
        """
        ...

    def close(self) -> None:
        """Remove what the runtime made for this session."""
        ...

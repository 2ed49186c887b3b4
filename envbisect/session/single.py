"""The burn-in once, in the stack of one manifest (``envbisect burnin``)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from envbisect.backends.interface import Unbuildable
from envbisect.errors import EnvironmentFailure
from envbisect.session.options import RunOptions
from envbisect.session.preparation import prepare
from envbisect.space.model import Infeasible


def run_single(options: RunOptions, moment: str, scratch: Path) -> dict[str, Any]:
    """The burn-in result document (schema 1) of one run.

    Raises:
        EnvironmentFailure: the stack cannot be built, or the payload left no result.
    """
    prepared = prepare(options, moment, scratch)
    realised = prepared.space.realise((0,) * len(prepared.space.axes))
    if isinstance(realised, Infeasible):
        raise EnvironmentFailure(
            f"{options.good} cannot be installed: {realised.reason}", "correct its pins; `envbisect plan` shows more"
        )
    stack = realised.stack
    if prepared.setting.workdir:
        stack = replace(stack, folder=Path(prepared.setting.workdir))
    folder = scratch / "probe"
    folder.mkdir()
    try:
        environment = prepared.runtime.prepare(stack)
    except Unbuildable as failure:
        raise EnvironmentFailure(
            f"{options.good} cannot be built: {failure.reason}", "pin versions that can be built here"
        ) from failure
    request = prepared.test.request(stack, 1, dict(stack.components))
    run = prepared.runtime.run(environment, request, folder, prepared.test.deadline_s)
    if run.result is None:
        ended = "did not end in time" if run.timed_out else f"ended with exit code {run.exit_code}"
        raise EnvironmentFailure(f"the burn-in {ended} and left no result: {_last_line(run.log)}", "try it again")
    return dict(run.result)


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return next((line for line in reversed(lines) if line.strip()), "its log is empty")

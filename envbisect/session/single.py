"""The burn-in once: in the stack of one manifest, or at a place of a finished session (``envbisect burnin``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from envbisect.backends.interface import Unbuildable
from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.session.executor import last_line
from envbisect.session.options import RunOptions
from envbisect.session.preparation import Prepared, prepare
from envbisect.session.recipe import PLACES
from envbisect.space import space_from_document
from envbisect.space.model import Configuration, Infeasible


def run_single(options: RunOptions, moment: str, scratch: Path) -> dict[str, Any]:
    """The burn-in result document (schema 1) of one run in a manifest's stack.

    Raises:
        EnvironmentFailure: the stack cannot be built, or the payload left no result.
    """
    prepared = prepare(options, moment, scratch)
    return _run(prepared, (0,) * len(prepared.space.axes), options.good, scratch)


def run_place(
    stored: Mapping[str, Any], space: Mapping[str, Any], result: Mapping[str, Any], place: str, scratch: Path
) -> dict[str, Any]:
    """The burn-in result document of one run where a session found something.

    Args:
        stored, space, result: the session's documents.
        place: one of ``PLACES``; ``culprit`` and ``neighbour`` are rows of the first certificate.

    Raises:
        UsageError: the session has no such place.
        EnvironmentFailure: as for ``run_single``.
    """
    options = RunOptions.from_document(dict(stored["options"]))
    prepared = prepare(
        options,
        stored["moment"],
        scratch,
        stored=stored,
        stored_space=lambda index: space_from_document(space, index=index),
    )
    return _run(prepared, _configuration(prepared, result, place), place, scratch)


def _configuration(prepared: Prepared, result: Mapping[str, Any], place: str) -> Configuration:
    axes = prepared.space.axes
    if place in ("good", "bad"):
        return tuple(axis.size if place == "bad" else 0 for axis in axes)
    if place not in PLACES:
        raise UsageError(f"--at {place} is no place of a session", f"use one of {', '.join(PLACES)}")
    rows = [row for culprit in result["culprits"] for row in culprit["certificate"] if row["role"] == place]
    if not rows:
        raise UsageError(f"this session has no {place}: its status is {result['status']}", "use --at good or --at bad")
    values = rows[0]["configuration"]
    return tuple([step.value for step in axis.steps].index(values[axis.key]) for axis in axes)


def _run(prepared: Prepared, point: Configuration, name: str, scratch: Path) -> dict[str, Any]:
    realised = prepared.space.realise(point)
    if isinstance(realised, Infeasible):
        raise EnvironmentFailure(
            f"{name} cannot be installed: {realised.reason}", "correct its pins; `envbisect plan` shows more"
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
            f"{name} cannot be built: {failure.reason}", "pin versions that can be built here"
        ) from failure
    request = prepared.test.request(stack, 1, dict(stack.components))
    run = prepared.runtime.run(environment, request, folder, prepared.test.deadline_s)
    if run.result is None:
        ended = "did not end in time" if run.timed_out else f"ended with exit code {run.exit_code}"
        raise EnvironmentFailure(f"the burn-in {ended} and left no result: {last_line(run.log)}", "try it again")
    return dict(run.result)

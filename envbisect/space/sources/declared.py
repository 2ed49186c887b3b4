"""Steps that a manifest declares in ``[axes]``: what no source can list (0, 2, 4, 8 workers)."""

from __future__ import annotations

from envbisect.errors import UsageError
from envbisect.space.deltas import Delta, same
from envbisect.space.model import Axis, Step, StepSource
from envbisect.space.sources.interface import Proposal, Scene


def propose(delta: Delta, scene: Scene) -> Proposal | None:
    """The declared values from the good one to the bad one, whichever way they are written.

    Raises:
        UsageError: an endpoint is not the first or last of the declared values.
    """
    values = scene.declared.get(delta.key)
    if values is None:
        return None
    steps = list(values)
    if steps and same(delta.key, steps[0], delta.bad) and same(delta.key, steps[-1], delta.good):
        steps.reverse()  # a downgrade is the same ladder, walked down
    ends_match = len(steps) > 1 and same(delta.key, steps[0], delta.good) and same(delta.key, steps[-1], delta.bad)
    if not ends_match:
        raise UsageError(
            f'[axes] "{delta.key}" does not run from {delta.good!r} to {delta.bad!r}',
            "write the values in order, with the good end's value first and the bad end's last",
        )
    return Proposal(Axis(delta.key, tuple(Step(value) for value in steps), StepSource.DECLARED))

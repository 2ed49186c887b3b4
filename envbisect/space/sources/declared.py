"""Steps that a manifest declares in ``[axes]``: what no source can list (0, 2, 4, 8 workers)."""

from __future__ import annotations

from envbisect.errors import UsageError
from envbisect.space.deltas import Delta, same
from envbisect.space.model import Axis, Step, StepSource
from envbisect.space.sources.interface import Proposal, Scene


def propose(delta: Delta, scene: Scene) -> Proposal | None:
    """The declared values from the good one to the bad one, whichever way they are written.

    Raises:
        UsageError: an endpoint is not among them.
    """
    values = scene.declared.get(delta.key)
    if values is None:
        return None
    first, last = (
        next((place for place, value in enumerate(values) if same(delta.key, value, end)), None)
        for end in (delta.good, delta.bad)
    )
    if first is None or last is None or first == last:
        raise UsageError(
            f'[axes] "{delta.key}" does not run from {delta.good!r} to {delta.bad!r}',
            "write its values in order, both ends among them",
        )
    up = first < last  # a downgrade is the same ladder, walked down
    steps = values[first : last + 1] if up else values[last : first + 1][::-1]
    return Proposal(Axis(delta.key, tuple(Step(value) for value in steps), StepSource.DECLARED))

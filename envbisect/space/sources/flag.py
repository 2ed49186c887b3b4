"""The source of last resort: nothing is known between the two values; absent against present is a flag as well."""

from __future__ import annotations

from envbisect.manifest.stack import ABSENT
from envbisect.space.deltas import PACKAGES, Delta
from envbisect.space.model import Axis, Step, StepSource
from envbisect.space.sources.interface import Proposal, Scene


def propose(delta: Delta, scene: Scene) -> Proposal:  # noqa: ARG001 - the interface of a source
    """Two steps: the good value and the bad one."""
    one_is_absent = delta.good is ABSENT or delta.bad is ABSENT
    presence = delta.key.startswith(PACKAGES) and one_is_absent
    source = StepSource.PRESENCE if presence else StepSource.FLAG
    return Proposal(Axis(delta.key, (Step(delta.good), Step(delta.bad)), source))

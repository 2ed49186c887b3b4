"""Python packages: the versions that the index published between the two pins."""

from __future__ import annotations

from envbisect.space.deltas import PACKAGES, Delta
from envbisect.space.index import PackageSource, Rung, Rungs
from envbisect.space.model import Axis, Step, StepSource
from envbisect.space.sources.interface import Proposal, Scene


def propose(delta: Delta, scene: Scene) -> Proposal | None:
    """The ladder of a package that both ends have from the index; installable on a Python of this run.

    Raises:
        UsageError: a pinned version was never published.
        EnvironmentFailure: the index cannot be reached.
    """
    if not delta.key.startswith(PACKAGES) or scene.index is None:
        return None
    if not isinstance(delta.good, str) or not isinstance(delta.bad, str):
        return None
    name = delta.key.removeprefix(PACKAGES)
    rungs = _merged(scene.index, name, delta.good, delta.bad, scene)
    steps = tuple(Step(rung.version, rung.date) for rung in rungs.steps)
    notes = () if rungs.dated else (f"{name}: the index gives no upload dates, its versions are in version order",)
    source = StepSource.RELEASES if len(steps) > 2 else StepSource.FLAG
    return Proposal(Axis(delta.key, steps, source, rungs.off), notes)


def _merged(index: PackageSource, name: str, good: str, bad: str, scene: Scene) -> Rungs:
    """The ladders of all Pythons as one: what is installable on any of them is a step.

    Every ladder is in version order, so merging is sorting; Requires-Python of a step is checked where it is met.
    """
    from packaging.version import Version

    ladders = [
        index.ladder(name, good, bad, python=python, exclude_newer=scene.exclude_newer) for python in scene.pythons
    ]
    if len(ladders) == 1:
        return ladders[0]
    rungs: dict[str, Rung] = {rung.version: rung for ladder in ladders for rung in ladder.steps}
    middle = sorted(rungs.keys() - {good, bad}, key=Version, reverse=Version(good) > Version(bad))
    off = dict.fromkeys(reason for ladder in ladders for reason in ladder.off)
    return Rungs(
        tuple(rungs[version] for version in (good, *middle, bad)),
        tuple(reason for reason in off if reason.partition(":")[0] not in rungs),
        all(ladder.dated for ladder in ladders),
    )

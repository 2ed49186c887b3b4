"""Python versions: the minor releases between the ends for which this machine has an interpreter."""

from __future__ import annotations

from envbisect.manifest.stack import Value
from envbisect.space.deltas import PYTHON_VERSION, Delta
from envbisect.space.model import Axis, Step, StepSource
from envbisect.space.sources.interface import Proposal, Scene


def propose(delta: Delta, scene: Scene) -> Proposal | None:
    """From the good version to the bad one by minor versions; versions without an interpreter are off the ladder."""
    if delta.key != PYTHON_VERSION or scene.index is None:
        return None
    if not isinstance(delta.good, str) or not isinstance(delta.bad, str):
        return None
    between, missing = [], []
    for version in minors_between(delta.good, delta.bad):
        if scene.index.find_python(version) is None:
            missing.append(f"{version}: no interpreter on this machine")
        else:
            between.append(version)
    values: list[Value] = [delta.good, *between, delta.bad]
    source = StepSource.INTERPRETERS if between else StepSource.FLAG
    return Proposal(Axis(delta.key, tuple(Step(value) for value in values), source, tuple(missing)))


def minors_between(good: str, bad: str) -> list[str]:
    """Minor versions strictly between two Python versions, in the direction from good to bad.

    >>> minors_between("3.10", "3.13.1")
    ['3.11', '3.12']
    """
    first, last = _minor(good), _minor(bad)
    if first[0] != last[0]:
        return []
    direction = 1 if first < last else -1
    return [f"{first[0]}.{minor}" for minor in range(first[1] + direction, last[1], direction)]


def _minor(version: str) -> tuple[int, int]:
    major, _, rest = version.partition(".")
    return int(major), int(rest.partition(".")[0] or 0)

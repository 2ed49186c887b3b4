"""Where the steps of an axis come from. A new source is one module here and one name in ``SOURCES``."""

from __future__ import annotations

from typing import Final

from envbisect.errors import EnvbisectError
from envbisect.space.deltas import Delta
from envbisect.space.sources import commits, declared, flag, interpreters, releases
from envbisect.space.sources.interface import Proposal, Scene, Source

SOURCES: Final[tuple[Source, ...]] = (
    declared.propose,  # what the user wrote wins
    interpreters.propose,
    releases.propose,
    commits.propose,
    flag.propose,  # takes everything
)


def propose(delta: Delta, scene: Scene) -> Proposal:
    """The axis of ``delta`` from the first source that knows it."""
    for source in SOURCES:
        proposal = source(delta, scene)
        if proposal is not None:
            return proposal
    raise EnvbisectError(f"no source knows the steps of {delta.key}", "declare them in [axes] of a manifest")


__all__ = ["SOURCES", "Proposal", "Scene", "Source", "propose"]

"""Which untested configurations will not answer either: blame for OTHER_FAILURE and UNDECIDED.

A configuration without an answer is blamed on one of its steps if every other one of its steps was seen in an answer,
or if the configuration with another step there answers. Two such configurations (three in a tiny lattice) make

* a *dead* step, if the step was never seen in an answer: nothing with it is asked;
* a *patch*, if it was: the box that the silent configurations span, as long as nothing in it answered. So two steps
  that fail differently only together are blamed together.

This is a guess, unlike what is unbuildable: it saves questions, and a few last chances may refute it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from envbisect.search.lattice import Lattice
from envbisect.search.words import Configuration

Steps = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Patch:
    """A box of configurations, both corners inside."""

    low: Configuration
    high: Configuration

    def outside(self, point: Configuration) -> list[int]:
        """The axes on which the configuration leaves the box."""
        corners = zip(self.low, point, self.high, strict=True)
        return [axis for axis, (low, step, high) in enumerate(corners) if not low <= step <= high]


@dataclass(frozen=True, slots=True)
class Silence:
    """What the silent configurations are blamed on.

    Attributes:
        blame: for every level never seen in an answer, how many configurations are blamed on it.
        dead: for every level, whether nothing with it answers.
        patches: boxes in which nothing answers.
    """

    blame: Steps
    dead: NDArray[np.bool_]
    patches: tuple[Patch, ...]

    @property
    def found(self) -> bool:
        """Whether anything is left alone that was not itself asked."""
        return bool(self.patches) or bool(self.dead.any())

    def covers(self, point: Configuration) -> bool:
        """Whether the configuration lies in a patch."""
        return any(not patch.outside(point) for patch in self.patches)


def explain_silence(
    lattice: Lattice, silent: Sequence[Configuration], answered: Sequence[Configuration], needed: int
) -> Silence:
    """Blame steps for the ``silent`` configurations; ``needed`` of them make a step dead or a patch."""
    blame = np.zeros(lattice.levels, dtype=np.int32)
    dead = np.zeros(lattice.levels, dtype=np.bool_)
    if not silent or not lattice.dimensions:
        return Silence(blame, dead, ())
    shape = (-1, lattice.dimensions)
    still = np.array(silent, dtype=np.int32).reshape(shape)
    heard = np.array(answered, dtype=np.int32).reshape(shape)
    seen = np.zeros(lattice.levels, dtype=np.bool_)
    seen[lattice.offset] = True
    seen[lattice.offset + np.array(lattice.top, dtype=np.int32)] = True
    seen[(heard + lattice.offset).ravel()] = True
    for point in still:
        blame[_blamed(point, heard, seen, lattice)] += 1
    dead = (blame >= needed) & ~seen
    patches: list[Patch] = []
    for level in np.flatnonzero(seen & (blame > 0)).tolist():
        inside = still[still[:, lattice.axis_of[level]] == lattice.step_of[level]]
        if len(inside) >= needed:
            patches += _patches(inside, heard, needed)
    return Silence(np.where(seen, 0, blame).astype(np.int32), dead, tuple(dict.fromkeys(patches)))


def _blamed(point: Steps, heard: Steps, seen: NDArray[np.bool_], lattice: Lattice) -> list[int]:
    """The levels that this configuration is blamed on."""
    levels = lattice.offset + point
    unseen = levels[~seen[levels]]
    if len(unseen):
        return [int(unseen[0])] if len(unseen) == 1 else []
    differs = heard != point
    beside = differs[differs.sum(axis=1) == 1]
    return [int(levels[axis]) for axis in np.flatnonzero(beside.any(axis=0)).tolist()]


def _patches(silent: Steps, heard: Steps, needed: int) -> list[Patch]:
    """Boxes around the silent configurations that hold no answer, grown one configuration at a time."""
    boxes: list[tuple[Steps, Steps, int]] = []
    for point in silent:
        for number, (low, high, count) in enumerate(boxes):
            lower, higher = np.minimum(low, point), np.maximum(high, point)
            if not ((heard >= lower) & (heard <= higher)).all(axis=1).any():
                boxes[number] = lower, higher, count + 1
                break
        else:
            boxes.append((point, point, 1))
    return [Patch(tuple(low.tolist()), tuple(high.tolist())) for low, high, count in boxes if count >= needed]

"""The product lattice and the hypotheses on it: every minimal failing point of few axes, as numpy arrays.

A *unit* is one step of one axis above 0, numbered ``offset[axis] + step``; a hypothesis of order k is k units of
different axes. Blocks hold all hypotheses of one order, shape (count, order).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from envbisect.search.words import Configuration

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

ORDER_MASS: Final = (0.36, 0.46, 0.11, 0.04, 0.02, 0.01)
"""Prior mass of culprits of one axis, two, three, …: one factor explains most faults, three nearly all (NIST)."""

MOST_ORDERS: Final = 12

CAP: Final = 1_000_000  # hypotheses of at most two axes
CAP_DEEP: Final = 40_000  # hypotheses altogether, where orders above two are listed too


def order_mass(order: int) -> float:
    """Prior mass of culprits of so many axes; beyond the table each further axis halves it."""
    return ORDER_MASS[order - 1] if order <= len(ORDER_MASS) else ORDER_MASS[-1] * 0.5 ** (order - len(ORDER_MASS))


def order_masses(axes: int, orders: int) -> tuple[float, ...]:
    """Prior mass of orders 1..orders among so many axes, not normalised.

    No set of axes is more probable than the sets one smaller on average: with two axes the one pair would else outweigh
    each of them, and a single culprit under noise be taken for a pair.
    """
    masses: list[float] = []
    for order in range(1, orders + 1):
        most = masses[-1] * max(axes - order + 1, 0) / order if masses else 1.0
        masses.append(min(order_mass(order), most))
    return tuple(masses)


def _weights_of_orders(axis_weights: Floats, orders: int) -> list[float]:
    """Elementary symmetric polynomials of the axes' weights: the total weight of all hypotheses of each order."""
    totals = [1.0] + [0.0] * orders
    for weight in axis_weights.tolist():
        for order in range(orders, 0, -1):
            totals[order] += weight * totals[order - 1]
    return totals


class Lattice:
    """Numbering of the steps of all axes. ``sizes[i]`` is the top step of axis i."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes: Configuration = tuple(int(size) for size in sizes)
        self.dimensions = len(self.sizes)
        self.top: Configuration = self.sizes
        self.zero: Configuration = (0,) * self.dimensions
        spans = np.array([size + 1 for size in self.sizes], dtype=np.int64)
        self.offset = np.concatenate([[0], np.cumsum(spans)]).astype(np.int32)[: self.dimensions]
        self.levels = int(spans.sum())
        self.axis_of = np.repeat(np.arange(self.dimensions, dtype=np.int32), spans)
        self.step_of = (np.arange(self.levels) - self.offset[self.axis_of]).astype(np.int32)
        self.points = math.prod(size + 1 for size in self.sizes)

    def reached(self, configuration: Configuration) -> Bools:
        """For every level (shape ``levels``): is it at or below the configuration on its axis?"""
        if not self.dimensions:
            return np.zeros(0, dtype=np.bool_)
        steps = np.asarray(configuration, dtype=np.int32)
        return np.asarray(self.step_of <= steps[self.axis_of], dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the search looks: under ``top``, above ``base`` (whose axes are known to belong to the culprit).

    ``coarse`` looks at whole axes only, endpoint to endpoint; ``orders`` is the largest number of axes besides base's.
    Below ``deep``, a configuration that probably fails, hypotheses of up to ``deep_orders`` axes are listed as well.
    """

    top: Configuration
    base: Configuration
    coarse: bool
    orders: int
    deep: Configuration | None = None
    deep_orders: int = 0

    @property
    def free(self) -> tuple[int, ...]:
        """The axes that are still open."""
        return tuple(i for i, (t, b) in enumerate(zip(self.top, self.base, strict=True)) if t > b)


def count_orders(spans: Sequence[int], orders: int) -> list[int]:
    """How many hypotheses there are of each order 0..orders: elementary symmetric polynomials of the spans."""
    counts = [1] + [0] * orders
    for span in spans:
        for order in range(orders, 0, -1):
            counts[order] += span * counts[order - 1]
    return counts


def open_frame(top: Configuration, base: Configuration) -> Frame:
    """The finest frame whose hypotheses stay below the caps: all orders, at least singles and pairs, or whole axes."""
    spans = [t for t, b in zip(top, base, strict=True) if t > b]
    counts = count_orders(spans, len(ORDER_MASS))
    if sum(counts[:3]) > CAP:
        flags = count_orders([1] * len(spans), 2)
        return Frame(top, base, coarse=True, orders=2 if sum(flags) <= CAP else 1)
    orders = min(2, len(spans))
    while orders < min(len(spans), len(ORDER_MASS)) and sum(counts[: orders + 2]) <= CAP_DEEP:
        orders += 1
    return Frame(top, base, coarse=False, orders=orders)


def deepen(frame: Frame, target: Configuration) -> Frame:
    """The frame with all orders below the target that the cap allows; the frame itself if that adds none."""
    spans = [max(0, t - b) for t, b in zip(target, frame.base, strict=True)]
    spans = [(1 if frame.coarse else span) for span in spans if span]
    most = min(len(spans), MOST_ORDERS)
    counts = count_orders(spans, most)
    orders = frame.orders
    while orders < most and sum(counts[: orders + 2]) <= CAP_DEEP:
        orders += 1
    if orders <= frame.orders:
        return frame
    return Frame(frame.top, frame.base, frame.coarse, frame.orders, target, orders)


class Hypotheses:
    """All minimal failing points of a frame, with their prior.

    Attributes:
        blocks: one array (count, order) of units for each order; order 0 (base itself) only if base is not zero.
        log_prior: shape (total,), normalised to 1.
        complete: no minimal point under the frame's top is missing from the list.
    """

    def __init__(self, lattice: Lattice, frame: Frame, weights: Floats) -> None:
        self.lattice, self.frame = lattice, frame
        units = self._units(frame.top)
        share = np.zeros(lattice.levels)
        counts = np.bincount(lattice.axis_of[units], minlength=max(lattice.dimensions, 1))
        share[units] = weights[lattice.axis_of[units]] / counts[lattice.axis_of[units]]
        self.blocks: list[Ints] = []
        masses: list[Floats] = []
        if any(frame.base):
            self.blocks.append(np.zeros((1, 0), dtype=np.int32))
            masses.append(np.full(1, 0.25))
        # The prior of an order is spread over all its hypotheses, listed or not: power sums give their total weight.
        axis_mass: Floats = np.zeros(max(lattice.dimensions, 1))
        np.add.at(axis_mass, lattice.axis_of[units], share[units])
        totals = _weights_of_orders(axis_mass[axis_mass > 0], max(frame.orders, frame.deep_orders))
        for block in self._listed(units, 1, frame.orders):
            self.blocks.append(block)
        if frame.deep is not None:
            for block in self._listed(self._units(frame.deep), frame.orders + 1, frame.deep_orders):
                self.blocks.append(block)
        of_order = order_masses(len(frame.free), max(frame.orders, frame.deep_orders))
        for block in self.blocks[len(masses) :]:
            order = block.shape[1]
            mass = np.prod(share[block], axis=1)
            masses.append(np.asarray(mass / totals[order] * of_order[order - 1], dtype=np.float64))
        prior = np.concatenate(masses) if masses else np.zeros(0)
        self.log_prior: Floats = np.log(prior / prior.sum()) if len(prior) else prior
        self.total = len(prior)
        self.complete = not frame.coarse and frame.orders >= len(frame.free)
        self.bounds = np.cumsum([0] + [len(block) for block in self.blocks])

    def _units(self, top: Configuration) -> Ints:
        lattice, base = self.lattice, self.frame.base
        parts = [
            np.arange(top[i] if self.frame.coarse else base[i] + 1, top[i] + 1, dtype=np.int32) + lattice.offset[i]
            for i in self.frame.free
            if top[i] > base[i]
        ]
        return np.concatenate(parts).astype(np.int32) if parts else np.zeros(0, dtype=np.int32)

    def _listed(self, units: Ints, lowest: int, highest: int) -> Iterator[Ints]:
        """All combinations of units of different axes, for each order from ``lowest`` to ``highest``."""
        lattice = self.lattice
        first_after = np.searchsorted(lattice.axis_of[units], np.arange(lattice.dimensions), side="right")
        block: Ints = np.zeros((1, 0), dtype=np.int32)
        for order in range(1, highest + 1):
            start = first_after[lattice.axis_of[block[:, -1]]] if order > 1 else np.zeros(1, dtype=np.int64)
            repeat = len(units) - start
            rows = np.repeat(np.arange(len(block)), repeat)
            if not len(rows):
                return
            column = np.arange(len(rows)) - np.repeat(np.cumsum(repeat) - repeat, repeat) + np.repeat(start, repeat)
            block = np.column_stack([block[rows], units[column]]).astype(np.int32)
            if order >= lowest:
                yield block

    def under(self, configuration: Configuration) -> Bools:
        """For every hypothesis: is it at or below the configuration?"""
        if any(b > x for b, x in zip(self.frame.base, configuration, strict=True)):
            return np.zeros(self.total, dtype=np.bool_)
        reached = self.lattice.reached(configuration)
        out = np.ones(self.total, dtype=np.bool_)
        for start, block in zip(self.bounds, self.blocks, strict=False):
            part = out[start : start + len(block)]
            for column in range(block.shape[1]):
                part &= reached[block[:, column]]
        return out

    def point(self, index: int) -> Configuration:
        """The configuration of one hypothesis."""
        number = int(np.searchsorted(self.bounds, index, side="right")) - 1
        steps = list(self.frame.base)
        for unit in self.blocks[number][index - self.bounds[number]].tolist():
            steps[int(self.lattice.axis_of[unit])] = int(self.lattice.step_of[unit])
        return tuple(steps)

    def index(self, configuration: Configuration) -> int | None:
        """The number of a configuration among the hypotheses, None if it is not listed."""
        base, offset = self.frame.base, self.lattice.offset
        units = [int(offset[i]) + s for i, s in enumerate(configuration) if s != base[i]]
        for start, block in zip(self.bounds, self.blocks, strict=False):
            if block.shape[1] == len(units):
                hits = np.flatnonzero((block == np.array(units, dtype=np.int32)).all(axis=1))
                return int(start + hits[0]) if len(hits) else None
        return None

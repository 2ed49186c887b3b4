"""How few probes any search can need: the bits to find over the bits that one run can tell."""

from __future__ import annotations

import math
from itertools import combinations

from searching.worlds import CONFIDENCE, Point, Row


def entropy(rate: float) -> float:
    """Bits of one coin with this rate."""
    return 0.0 if rate in (0.0, 1.0) else -rate * math.log2(rate) - (1 - rate) * math.log2(1 - rate)


def capacity(p: float, q: float) -> float:
    """Bits a run, at best, where failing configurations fail with p and passing ones with q.

    The closed form for a channel with two inputs and two outputs (Muroga 1953): the search's own estimate is not
    asked, because it is what is measured here.
    """
    if p == q:
        return 0.0
    difference = (entropy(q) - entropy(p)) / (p - q)
    passes = -entropy(p) - p * difference
    return math.log2(2 ** (passes + difference) + 2**passes)


def hypotheses(sizes: Point, order: int) -> int:
    """How many culprits of so many axes there are."""
    return sum(math.prod(sizes[axis] for axis in axes) for axes in combinations(range(len(sizes)), order))


def bound(row: Row) -> float | None:
    """The mean number of probes that no search can go below on this row; None where several sets or none are to blame.

    0.95 · log2(N) / C, N the culprits of the order that is searched: whoever has to be right in 95 % must get that
    share of the bits (Burnashev and Zigangirov 1974).
    """
    if not row.order:
        return None
    return CONFIDENCE * math.log2(hypotheses(row.sizes, row.order)) / capacity(row.p, row.q)

"""What a search is expected to need, and the prior that it starts from, before anything was told."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from envbisect.search.belief import NULL_MASS, REST_MASS, SEVERAL_MASS
from envbisect.search.lattice import ORDER_MASS, Floats, Frame, Hypotheses, Lattice, order_masses
from envbisect.search.rates import Rates

CERTIFYING: Final = 1.0  # probes besides those that a perfect halving needs, measured


def capacity(p: float, q: float) -> float:
    """Bits that one run can tell at most when failing and passing configurations fail with p and q (binary channel)."""

    def entropy(rate: float) -> float:
        return 0.0 if rate in (0.0, 1.0) else -rate * math.log2(rate) - (1 - rate) * math.log2(1 - rate)

    best = 0.0
    for step in range(1, 200):
        share = step / 200
        mixed = share * p + (1 - share) * q
        best = max(best, entropy(mixed) - share * entropy(p) - (1 - share) * entropy(q))
    return best


def expected_probes(
    frame: Frame, lattice: Lattice, weights: Floats, told: tuple[float, float] | None, confidence: float
) -> float:
    """Entropy of the prior over what a probe can tell, and the runs that certify."""
    if not lattice.dimensions:
        return 0.0
    log = Hypotheses(lattice, frame, weights).log_prior
    bits = float(-(np.exp(log) * log).sum()) / math.log(2)
    if frame.coarse:
        bits += sum(math.log2(size) for size in lattice.sizes) / lattice.dimensions
    if told is None or told == (1.0, 0.0):
        return bits + (CERTIFYING if lattice.dimensions > 1 else 0.0)
    return (bits * confidence + math.log2(1 / (1 - confidence))) / capacity(*told)


def prior_document(frame: Frame, lattice: Lattice, weights: Floats, rates: Rates) -> dict[str, object]:
    """The prior as a JSON-like document."""
    told = rates.told
    hypotheses = Hypotheses(lattice, frame, weights)
    share = np.exp(hypotheses.log_prior)
    orders = {
        str(block.shape[1]): {
            "hypotheses": len(block),
            "mass": round(float(share[start : start + len(block)].sum()), 4),
        }
        for start, block in zip(hypotheses.bounds, hypotheses.blocks, strict=False)
    }
    total = float(weights.sum()) or 1.0
    return {
        "orders": orders,
        "order_mass": [round(mass, 6) for mass in order_masses(lattice.dimensions, len(ORDER_MASS))],
        "axis_weights": [round(float(weight) / total, 6) for weight in weights],
        "whole_axes_first": frame.coarse,
        "several": SEVERAL_MASS,
        "more_axes": 0.0 if hypotheses.complete else REST_MASS,
        "nothing_changed": NULL_MASS,
        "rates": list(told) if told is not None else "hidden",
        "deterministic": None if told is not None else rates.deterministic,
    }

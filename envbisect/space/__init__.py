"""From two manifests to the product lattice between them, and from its points to stacks."""

from envbisect.space.build import build_space
from envbisect.space.deltas import Delta, Differences, deltas
from envbisect.space.document import realised_document, realised_from_document, space_document, space_from_document
from envbisect.space.lattice import Lattice
from envbisect.space.overview import AxisOverview, Overview, overview

__all__ = [
    "AxisOverview",
    "Delta",
    "Differences",
    "Lattice",
    "Overview",
    "build_space",
    "deltas",
    "overview",
    "realised_document",
    "realised_from_document",
    "space_document",
    "space_from_document",
]

"""The search engine: pure ask/tell over a product lattice. Only ``Search`` needs numpy, when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envbisect.search.words import (
    Cause,
    Configuration,
    Contradiction,
    Costs,
    Drift,
    Outcome,
    Proof,
    Result,
    Role,
    Status,
)

if TYPE_CHECKING:
    from envbisect.search.engine import Search

__all__ = [
    "Cause",
    "Configuration",
    "Contradiction",
    "Costs",
    "Drift",
    "Outcome",
    "Proof",
    "Result",
    "Role",
    "Search",
    "Status",
]


def __getattr__(name: str) -> object:
    if name == "Search":
        from envbisect.search.engine import Search

        return Search
    raise AttributeError(name)

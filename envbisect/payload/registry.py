"""Every built-in check, in the order in which they run. A new check is one new file and one line here."""

from __future__ import annotations

from typing import Dict, Iterable, List

from .checks import ladder, latency, repeat
from .checks.context import Check

CHECKS: Dict[str, Check] = {check.id: check for check in (*ladder.CHECKS, *repeat.CHECKS, *latency.CHECKS)}
"""By id, such as ``repeat.index_put``."""


def family_of(check: str) -> str:
    """``repeat`` for ``repeat.index_put``."""
    return check.partition(".")[0]


def expand(asked: Iterable[str]) -> List[Check]:
    """The checks that ``asked`` names, by id or by family, each once, in the registry's order.

    Raises:
        KeyError: a name is neither an id nor a family.
    """
    wanted = set()
    for name in asked:
        found = [check for check in CHECKS if name in (check, family_of(check))]
        if not found:
            raise KeyError(name)
        wanted.update(found)
    return [check for identifier, check in CHECKS.items() if identifier in wanted]

"""Defaults of ``torch.utils.data.DataLoader`` from ``[dataloader]``: used only where the caller gave nothing."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Dict, Mapping

ARGUMENTS = {
    "num_workers": "num_workers",
    "pin_memory": "pin_memory",
    "prefetch_factor": "prefetch_factor",
    "persistent_workers": "persistent_workers",
    "start_method": "multiprocessing_context",
}
"""Key of the manifest to argument of the constructor."""

NEED_WORKERS = ("prefetch_factor", "persistent_workers", "start_method")
"""What DataLoader refuses, or has no use for, without workers."""


def set_defaults(loader: Any, table: Dict[str, Any], made: Callable[[], None]) -> None:
    """Wrap ``loader.__init__``; ``made`` is called for every DataLoader.

    Raises:
        ValueError: this torch's DataLoader has no such argument.
    """
    original = loader.__init__
    signature = inspect.signature(original)
    lacking = [key for key in table if ARGUMENTS.get(key) not in signature.parameters]
    if lacking:
        raise ValueError("DataLoader has no %s" % ", ".join(lacking))

    @functools.wraps(original)
    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807 - it replaces a constructor
        made()
        try:
            given = signature.bind_partial(self, *arguments, **options).arguments
        except TypeError:  # the constructor shall say so itself
            given = dict.fromkeys(signature.parameters)
        original(self, *arguments, **options, **defaults_for(table, given))

    loader.__init__ = __init__


def defaults_for(table: Dict[str, Any], given: Mapping[str, Any]) -> Dict[str, Any]:
    """The arguments to add to those that the caller gave."""
    workers = given.get("num_workers", table.get("num_workers", 0))
    return {
        ARGUMENTS[key]: value
        for key, value in table.items()
        if ARGUMENTS[key] not in given and (workers or key not in NEED_WORKERS)
    }

"""Going on with a session under other options: what is kept, and whether its answer already is what is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envbisect.errors import UsageError
from envbisect.session.journal import Journal, RecordType
from envbisect.session.options import RunOptions
from envbisect.session.store import SessionFolder


def sure_enough(answered: Mapping[str, Any], before: RunOptions, options: RunOptions) -> bool:
    """Whether a finished session's culprits are as sure as they are now asked to be, and only that was changed."""
    culprits = answered.get("culprits", [])
    reached = answered["status"] == "culprit" and all(one["confidence"] >= options.confidence for one in culprits)
    return reached and options == before.amended(confidence=options.confidence)


def carry_over(folder: SessionFolder, forget: int | None) -> int:
    """How many observations are kept; those from probe ``forget`` on are marked as forgotten first.

    Raises:
        UsageError: there is no such probe.
    """
    journal = Journal(folder.path / "journal.jsonl")
    try:
        if forget is not None:
            last = max((record.data["number"] for record in journal.observed()), default=0)
            if not 1 <= forget <= last:
                raise UsageError(f"--forget {forget} is no probe of this session", f"name one of 1 to {last}")
            journal.append(RecordType.FORGOTTEN, {"since": forget})
        return len(journal.observed())
    finally:
        journal.close()


def going_on(carried: int, before: RunOptions, options: RunOptions) -> str:
    """What is said before a session goes on."""
    asked = f"; asked for confidence {options.confidence:g}" if options.confidence != before.confidence else ""
    reached = f", after {before.confidence:g}" if asked else ""
    return f"going on from {carried} runs that were made before{asked}{reached}"

"""What a check is, and what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Optional

from ..document import CheckResult

if TYPE_CHECKING:
    from ..ranks import RankPool


class Context(NamedTuple):
    """What a check may use.

    Attributes:
        torch: the imported torch, with the flags of the configuration set.
        device: the ``torch.device`` that is checked.
        rounds: how often a check repeats what it does, at least 1.
        deadline: moment of ``time.monotonic()`` by which a step that can say what hangs has said it.
        flags: the ``[torch]`` table as asked for.
        ranks: the processes for collective checks; None when no check needs any.
    """

    torch: Any
    device: Any
    rounds: int
    deadline: float
    flags: Dict[str, Any]
    ranks: Optional[RankPool]


class Check(NamedTuple):
    """One built-in check. ``documentation`` is one sentence: what passes, and what a failure means.

    ``gates`` is true for a rung of a ladder: when it does not pass, later checks of its family are skipped.
    """

    id: str
    run: Callable[[Context], CheckResult]
    documentation: str
    needs_ranks: bool = False
    gates: bool = False

"""Whatever a build costs beside a run, the search ends in few questions: repeating is never an end in itself."""

from __future__ import annotations

import pytest

from envbisect.search import Costs, Outcome, Search, Status

SIZES = (1, 14, 7, 11, 21)
CULPRIT = (1, 0, 0, 0, 3)


def feasible(point: tuple[int, ...]) -> bool:
    """The last axis needs the third one to follow, as a package needs its companion."""
    return point[3] >= 1 or point[4] < 3


@pytest.mark.parametrize("ratio", [None, 0.125, 0.5, 1.0, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("holes", [False, True])
def test_the_ratio_of_build_to_run_never_makes_a_search_repeat_itself(ratio: float | None, holes: bool) -> None:
    costs = Costs(1.0, [((1, 2, 3, 4), ratio)]) if ratio is not None else None
    predicate = (lambda point: not feasible(point)) if holes else (lambda point: False)
    search = Search(SIZES, deterministic=0.6, infeasible=predicate, costs=costs)
    for end, outcome in (((0,) * 5, Outcome.GOOD), (SIZES, Outcome.BAD)):
        search.tell(end, outcome, count=2)
    asked = 0
    while (batch := search.ask(1)) and asked < 60:
        asked += 1
        (point,) = batch
        fails = all(a >= b for a, b in zip(point, CULPRIT, strict=True))
        search.tell(point, Outcome.BAD if fails else Outcome.GOOD)
    result = search.result()
    assert result.status is Status.CULPRIT
    assert result.culprit is not None
    assert (result.culprit[0], result.culprit[4]) == (1, 3)
    assert asked <= 25

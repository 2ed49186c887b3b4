"""A plan for people."""

from __future__ import annotations

from typing import Any

from envbisect.report.plan import render
from tests.report.printing import printed

AXIS = {
    "key": "python.packages.httpx",
    "source": "releases",
    "steps": 14,
    "good": "0.23.0",
    "bad": "0.28.1",
    "first_date": "2022-05-23T12:00:00Z",
    "last_date": "2024-12-06T15:37:21Z",
    "values": ["0.23.0", "0.28.1"],
    "off_ladder": ["0.24.9: yanked", "1.0.dev1: pre-release", "0.23.4: back branch", "0.23.5: back branch"],
}


def document(**other: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "good": "good.toml",
        "bad": "bad.toml",
        "runtime": {"name": "venv", "why": "venv: packages differ"},
        "axes": [AXIS],
        "configurations": 14,
        "bundles": [["python.packages.pydantic", "python.packages.pydantic-core"]],
        "infeasible_pairs": 0.12341,
        "riders": [{"key": "python.packages.jiter", "good": None, "bad": "0.8.2"}],
        "unmovable": [{"key": "host.driver", "good": "1", "bad": "2", "stays": "1", "reason": "nobody moves it"}],
        "notes": ["the index has no dates"],
        "expected": {"endpoints": 4, "probes": 3.8, "hours_at_most": 0.25},
        "prior": {
            "orders": {"1": {"mass": 0.6}, "2": {"mass": 0.28}, "3": {"mass": 0.08}, "4": {"mass": 0.04}},
            "several": 0.15,
        },
        **other,
    }


def lines(**other: Any) -> list[str]:
    text = printed(lambda console: render(document(**other), console))
    return [" ".join(line.split()) for line in text.splitlines()]


def test_everything_that_is_planned_is_said() -> None:
    assert lines() == [
        "axis good → bad steps from",
        "python.packages.httpx 0.23.0 → 0.28.1 14 releases 2022-05-23 to 2024-12-06",
        "left out of python.packages.httpx: 0.24.9: yanked; 1.0.dev1: pre-release; 0.23.4: back branch; 1 more",
        "not moved: host.driver 1 → 2, stays at 1: nobody moves it",
        "move together: python.packages.pydantic, python.packages.pydantic-core",
        "comes along: python.packages.jiter (not set) → 0.8.2",
        "ruled out by metadata: 12.4 % of all pairs of versions",
        "note: the index has no dates",
        "",
        "Runtime venv: packages differ",
        "1 axis, 14 configurations",
        "Expected: 4 runs of both ends, then about 3.8 probes",
        "(if the test never disagrees with itself; at most 15 min, builds aside)",
        "Held likely before the first probe: a culprit of 1 change 60 %, of 2 changes 28 %, of more 12 %",
    ]


def test_more_than_one_culprit_is_a_question_apart() -> None:
    assert lines(axes=[AXIS, {**AXIS, "key": "env.A"}])[-1] == (
        "Held likely before the first probe: a culprit of 1 change 60 %, of 2 changes 28 %, of more 12 %; "
        "and with 15 %, whatever their size, more than one culprit"
    )


def test_what_stays_where_nobody_knows_is_as_the_machine_has_it() -> None:
    delta = {"key": "host.driver", "good": "1", "bad": "2", "stays": None, "reason": "nobody moves it"}
    assert "not moved: host.driver 1 → 2, as this machine has it: nobody moves it" in lines(unmovable=[delta])


def test_one_probe_is_one_probe() -> None:
    told = lines(expected={"endpoints": 4, "probes": 1.0, "hours_at_most": 0.25})
    assert "Expected: 4 runs of both ends, then about 1 probe" in told


def test_equal_stacks_have_no_plan() -> None:
    told = lines(axes=[], configurations=1, prior={})
    assert told[0] == "Nothing differs that could be moved."
    assert not any(line.startswith("Expected") for line in told)

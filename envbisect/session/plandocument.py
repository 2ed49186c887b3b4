"""The plan document (``plan --json``, schema 1): what a run would do, before a single build."""

from __future__ import annotations

from typing import Any, Final

from envbisect.search import Search
from envbisect.session.endpoints import FEWEST
from envbisect.session.goal import DETERMINISTIC
from envbisect.session.preparation import Prepared
from envbisect.space import overview

SCHEMA: Final = 1


def plan_document(prepared: Prepared) -> dict[str, Any]:
    """Axes, steps, bundles, what is infeasible, riders, what nobody can move, expected probes, hours and the prior."""
    space, seen = prepared.space, overview(prepared.space)
    return {
        "schema": SCHEMA,
        "good": prepared.options.good,
        "bad": prepared.options.bad,
        "runtime": {"name": prepared.setting.runtime, "why": prepared.setting.why},
        "axes": [
            {
                "key": axis.key,
                "source": axis.source.value,
                "steps": axis.steps,
                "good": axis.first,
                "bad": axis.last,
                "first_date": axis.first_date,
                "last_date": axis.last_date,
                "values": [step.value for step in space.axes[place].steps],
                "off_ladder": list(axis.off_ladder),
            }
            for place, axis in enumerate(seen.axes)
        ],
        "configurations": seen.configurations,
        "bundles": [list(bundle) for bundle in seen.bundles],
        "infeasible_pairs": round(seen.infeasible_pairs, 4),
        "riders": [{"key": rider.key, "good": rider.good, "bad": rider.bad} for rider in seen.riders],
        "unmovable": [
            {"key": one.key, "good": one.good, "bad": one.bad, "stays": one.stays, "reason": one.reason}
            for one in space.unmovable
        ],
        "notes": list(prepared.notes[1:]),
        **_expectation(prepared),
    }


def _expectation(prepared: Prepared) -> dict[str, Any]:
    """Probes to decision for a test that never disagrees with itself, and the longest time that they may take."""
    sizes = prepared.space.sizes
    if not sizes:
        return {"expected": {"endpoints": 0, "probes": 0.0, "hours_at_most": 0.0}, "prior": {}}
    search = Search(
        sizes=sizes,
        confidence=prepared.options.confidence,
        seed=prepared.options.seed,
        deterministic=DETERMINISTIC,
    )
    probes = search.expected_probes()
    endpoints = 2 * FEWEST
    hours = (probes + endpoints) * prepared.test.deadline_s / 3600
    return {
        "expected": {"endpoints": endpoints, "probes": round(probes, 1), "hours_at_most": round(hours, 2)},
        "prior": search.describe_prior(),
    }

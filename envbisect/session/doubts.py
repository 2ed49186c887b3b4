"""What speaks against an answer, as it stands in the result document: contradictions and drift. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envbisect.manifest.stack import Value
from envbisect.session.campaign import Answer, Campaign
from envbisect.session.finding import Contradiction, Drifted, KnownClash
from envbisect.session.history import Counts


@dataclass(frozen=True, slots=True)
class Doubts:
    """The doubts about a campaign's answer; ``numbers`` are the probes' numbers in the order of its history."""

    campaign: Campaign
    answer: Answer | None
    numbers: Sequence[int]

    def contradictions(self) -> list[dict[str, Any]]:
        """Pairs of configurations that break monotony, each with its runs, and statements that the runs contradict."""
        if self.answer is None:
            return []
        pairs = [self._pair(pair) for r in self.answer.reports for f in r.findings for pair in f.contradictions]
        once = [pair for place, pair in enumerate(pairs) if pair not in pairs[:place]]
        return once + [_statement(gap) for gap in self.answer.clashes]

    def drift(self) -> dict[str, Any] | None:
        """What changed while it was measured, None if nothing did."""
        reports = self.answer.reports if self.answer else ()
        found = next((f.drift for r in reports for f in r.findings if f.drift is not None), None)
        return self._drift(found) if found is not None else None

    def _drift(self, found: Drifted) -> dict[str, Any]:
        place = found.since - 1
        return {
            "end": found.end,
            "configuration": dict(found.configuration),
            "before": _runs(found.before),
            "after": _runs(found.after),
            "probability": found.probability,
            "since": self.numbers[place] if 0 <= place < len(self.numbers) else None,
        }

    def _pair(self, pair: Contradiction) -> dict[str, Any]:
        return {
            "fails": dict(pair.fails),
            "passes": dict(pair.passes),
            "fails_runs": {**_runs(pair.fails_counts), "probes": self._probes(pair.fails)},
            "passes_runs": {**_runs(pair.passes_counts), "probes": self._probes(pair.passes)},
        }

    def _probes(self, configuration: Mapping[str, Value]) -> list[int]:
        """Numbers of the probes that ran a configuration."""
        axes = self.campaign.plan.axes
        return [
            number
            for number, entry in zip(self.numbers, self.campaign.history.entries, strict=False)
            if not entry.exact
            and {a.key: a.steps[s].value for a, s in zip(axes, entry.point, strict=True)} == dict(configuration)
        ]


def _statement(gap: KnownClash) -> dict[str, Any]:
    return {"end": gap.end, "known": _runs(gap.known), "seen": _runs(gap.seen), "probability": gap.probability}


def _runs(counts: Counts) -> dict[str, int]:
    return {"good": counts.good, "bad": counts.bad}

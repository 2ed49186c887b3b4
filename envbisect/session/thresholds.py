"""Numbers as symptoms: which metrics separate the ends, and from which value on a run is bad. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final, Protocol

from envbisect.burnin.symptoms import Observation, SymptomState
from envbisect.manifest.burnin import Metric, Worse, default_direction

MIN_RUNS: Final = 5
"""Runs an end needs before an undeclared or unlimited metric may separate: 5 against 5 can reach p = 1/252."""

MIN_RELATIVE_EFFECT: Final = 0.05
"""Smaller relative changes of the median are no symptom unless the manifest says otherwise (``min_effect``)."""


class HasMetric(Protocol):
    """As much of a symptom as its numbers need."""

    @property
    def check(self) -> str: ...

    @property
    def metric(self) -> MetricRule | None: ...


@dataclass(frozen=True, slots=True)
class MetricRule:
    """A run is bad if its number lies beyond the threshold(s).

    Attributes:
        name: the metric, unit included: ``p99_ms``.
        above: bad if greater than this; None if high values are no harm.
        below: bad if less than this; None if low values are no harm.
        effect: how far the ends are apart, relative to the good median (for "worst first").
    """

    name: str
    above: float | None
    below: float | None
    effect: float

    def is_bad(self, value: float) -> bool:
        if math.isnan(value):
            return True
        return (self.above is not None and value > self.above) or (self.below is not None and value < self.below)


def metric_rules(
    check: str,
    good: Sequence[Observation],
    bad: Sequence[Observation],
    declared: Mapping[str, Metric],
    alpha: float,
) -> list[MetricRule]:
    """The rules of the metrics of ``check`` that separate the ends, worst first.

    Declared ones with ``max`` need no statistics: the threshold is given. The others must separate after Holm's
    correction (exact permutation of runs), in the bad direction, by ``min_effect`` at least.
    """
    values = {end: _values(check, runs) for end, runs in (("good", good), ("bad", bad))}
    rules: list[MetricRule] = []
    candidates: list[tuple[MetricRule, Worse]] = []
    for name in sorted(set(values["good"]) & set(values["bad"])):
        here, there, metric = values["good"][name], values["bad"][name], declared.get(name)
        worse = metric.worse if metric is not None and metric.worse is not None else default_direction(name)
        if metric is not None and metric.max is not None:
            rules.append(_limited(name, metric.max, worse, here, there))
        elif len(here) >= MIN_RUNS and len(there) >= MIN_RUNS:
            rule = _separating(name, worse, here, there, metric)
            if rule is not None:
                candidates.append((rule, worse))
    rules += _significant(candidates, values["good"], values["bad"], alpha)
    return sorted(rules, key=lambda rule: (-round(rule.effect, 6), rule.name))


def middle(symptom: HasMetric, good: Sequence[Observation], bad: Sequence[Observation]) -> tuple[float, float] | None:
    """The medians of a symptom's metric at both ends; None if it is no metric, or an end has no number."""
    if symptom.metric is None:
        return None
    here, there = (_values(symptom.check, runs).get(symptom.metric.name, []) for runs in (good, bad))
    return (median(here), median(there)) if here and there else None


def _significant(
    candidates: Sequence[tuple[MetricRule, Worse]],
    good: Mapping[str, Sequence[float]],
    bad: Mapping[str, Sequence[float]],
    alpha: float,
) -> list[MetricRule]:
    """The rules that survive Holm's correction over all candidates."""
    if not candidates:
        return []
    from envbisect import stats

    p_values = {
        rule.name: stats.separates(good[rule.name], bad[rule.name], stats.Worse(worse.value))
        for rule, worse in candidates
    }
    adjusted = stats.holm(p_values)
    return [rule for rule, _ in candidates if adjusted[rule.name] <= alpha]


def _values(check: str, runs: Sequence[Observation]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for run in runs:
        seen = run.of(check)
        if seen.state is SymptomState.PASS:
            for name, value in seen.metrics.items():
                found.setdefault(name, []).append(float(value))
    return found


def _effect(here: Sequence[float], there: Sequence[float]) -> float:
    """Relative change of the median from good to bad; the absolute change where good's median is 0."""
    base = median(here)
    return (median(there) - base) / abs(base) if base else median(there) - base


def _limited(name: str, limit: float, worse: Worse, here: Sequence[float], there: Sequence[float]) -> MetricRule:
    above, below = (None, limit) if worse is Worse.LOWER else (limit, None)
    return MetricRule(name, above, below, abs(_effect(here, there)))


def _separating(
    name: str, worse: Worse, here: Sequence[float], there: Sequence[float], metric: Metric | None
) -> MetricRule | None:
    """The rule that tells the ends apart, None if they differ too little or in the harmless direction."""
    gap = median(there) - median(here)
    declared = metric.min_effect if metric is not None else None
    least = declared if declared is not None else MIN_RELATIVE_EFFECT * abs(median(here))
    if gap == 0 or abs(gap) < least:
        return None
    if gap > 0 and worse is not Worse.LOWER:
        return MetricRule(name, _cut(here, there), None, _effect(here, there))
    if gap < 0 and worse is not Worse.HIGHER:
        return MetricRule(name, None, -_cut([-v for v in here], [-v for v in there]), -_effect(here, there))
    return None


def _cut(low: Sequence[float], high: Sequence[float]) -> float:
    """The threshold that best tells ``low`` from ``high`` (Youden's J); the middle of the widest best gap."""
    points = sorted({*low, *high})
    best_score, best_gap, best = -1, -1.0, points[0]
    for a, b in pairwise(points):
        cut = (a + b) / 2
        score = sum(v <= cut for v in low) * len(high) + sum(v > cut for v in high) * len(low)
        if (score, b - a) > (best_score, best_gap):
            best_score, best_gap, best = score, b - a, cut
    return best

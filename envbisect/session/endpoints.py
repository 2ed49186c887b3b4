"""Endpoints first: show the failure before searching for it, and learn what the failure is. Pure."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from envbisect.burnin.symptoms import Observation, SymptomState
from envbisect.errors import EnvironmentFailure
from envbisect.manifest.burnin import Metric
from envbisect.search.endpoints import good_always_fails
from envbisect.search.evidence import Tally
from envbisect.session.ask import Ask, NotBuilt, NotFeasible, Purpose, Reply
from envbisect.session.history import History
from envbisect.session.oracle import Symptom, failed, failure_symptoms, rate
from envbisect.session.thresholds import MIN_RUNS, metric_rules
from envbisect.space.model import Configuration

FEWEST: Final = 2
MOST: Final = 10


@dataclass(frozen=True, slots=True)
class EndpointPolicy:
    """What the manifests say about the test, as far as the ends are concerned."""

    any_failure: bool
    metrics: Mapping[str, Metric]
    confidence: float


@dataclass(frozen=True, slots=True)
class Ends:
    """What the ends showed.

    Attributes:
        good_failed: every run of the good end failed (at least two, five if the bad end passes too).
        cannot_tell: which end never gave an answer.
        spent: the budget ended before the ends had shown what they must.
    """

    good: tuple[Observation, ...]
    bad: tuple[Observation, ...]
    symptoms: tuple[Symptom, ...]
    good_failed: bool
    cannot_tell: str = ""
    spent: bool = False


def establish(
    zero: Configuration,
    top: Configuration,
    history: History,
    policy: EndpointPolicy,
    spent: Callable[[], bool] = lambda: False,
) -> Generator[Ask, Reply, Ends]:
    """Run both ends: 2 + 2 times, more (to 10 + 10) while an end disagrees with itself or the bad end has not failed.

    A good end that always failed is looked at for longer where the bad end passes: such a test may flake at both.

    Runs that the history holds already are not made again.

    Raises:
        EnvironmentFailure: an end cannot be built.
    """
    good, bad = history.observations(zero), history.observations(top)
    wanted = FEWEST
    while True:
        while True:
            if min(len(good), len(bad)) >= FEWEST and good_always_fails(_tally(good), _tally(bad)):
                return Ends(tuple(good), tuple(bad), (), good_failed=True)
            short = [end for end in (("good", zero, good), ("bad", top, bad)) if len(end[2]) < wanted]
            if not short:
                break
            if spent():
                return Ends(tuple(good), tuple(bad), (), good_failed=False, spent=True)
            name, point, runs = min(short, key=lambda end: len(end[2]))
            runs.append((yield from _run_end(name, point, history)))
        symptoms = _symptoms(good, bad, policy)
        following = _runs_wanted(good, bad, symptoms, policy)
        if following <= wanted:
            return Ends(tuple(good), tuple(bad), tuple(symptoms), False, _silent(good, bad))
        wanted = following


def _run_end(name: str, point: Configuration, history: History) -> Generator[Ask, Reply, Observation]:
    entry = yield from history.probe(Ask(point, Purpose.ENDPOINT))
    match entry.reply:
        case NotBuilt(reason=reason):
            raise EnvironmentFailure(
                f"the {name} end cannot be built: {reason}",
                f"correct the {name} manifest: nothing is found without it",
            )
        case NotFeasible(reason=reason):
            raise EnvironmentFailure(
                f"the {name} end contradicts itself: {reason}", f"correct the pins of the {name} manifest"
            )
        case _:
            return entry.reply.observation


def _symptoms(good: Sequence[Observation], bad: Sequence[Observation], policy: EndpointPolicy) -> list[Symptom]:
    failures = failure_symptoms(good, bad, policy.any_failure)
    numbers = []
    for check in sorted({seen.id for observation in bad for seen in observation.symptoms}):
        for rule in metric_rules(check, good, bad, policy.metrics, 1 - policy.confidence):
            symptom = Symptom(f"{check}.{rule.name}", check, None, rule)
            if rate(symptom, bad) > rate(symptom, good):
                numbers.append(symptom)
    numbers.sort(key=lambda s: -round(s.metric.effect, 6) if s.metric else 0.0)
    return failures + numbers


def _runs_wanted(
    good: Sequence[Observation], bad: Sequence[Observation], symptoms: Sequence[Symptom], policy: EndpointPolicy
) -> int:
    """How many runs of each end are needed, given what they showed so far."""
    if _silent(good, bad):
        return min(len(good), MOST) if len(good) >= FEWEST + 1 else FEWEST + 1
    numbers = _reports_numbers(good) and _reports_numbers(bad)
    fails = [symptom for symptom in symptoms if symptom.metric is None]
    measured = bool(policy.metrics) or not fails
    least = MIN_RUNS if numbers and measured else FEWEST
    if not symptoms:
        return MOST
    primary = symptoms[0]
    steady = rate(primary, good) in (0.0, 1.0) and rate(primary, bad) in (0.0, 1.0)
    return least if steady else MOST


def _tally(runs: Sequence[Observation]) -> Tally:
    bad = sum(failed(observation) for observation in runs)
    return Tally(good=len(runs) - bad, bad=bad)


def _reports_numbers(runs: Sequence[Observation]) -> bool:
    return any(seen.metrics for run in runs for seen in run.symptoms)


def _silent(good: Sequence[Observation], bad: Sequence[Observation]) -> str:
    """The end of which no run could tell anything, or nothing."""
    for name, runs in (("good", good), ("bad", bad)):
        states = {seen.state for run in runs for seen in run.symptoms}
        if runs and not states & {SymptomState.PASS, SymptomState.FAIL}:
            return name
    return ""

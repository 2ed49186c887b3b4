"""From observations to outcomes. Pure: what a failure is was learned at the bad end, and nothing else counts as bad.

A symptom is one check that tells good from bad. Its signatures are the failures that the bad end showed; any other
failure is another failure (unresolved), so that a middle version that breaks in its own way is never the culprit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from envbisect.burnin.symptoms import Observation, Signature, SymptomState
from envbisect.search import Cause, Outcome
from envbisect.session.thresholds import MetricRule


@dataclass(frozen=True, slots=True)
class Verdict:
    """An outcome with its cause, which only an unresolved one has."""

    outcome: Outcome
    cause: Cause | None = None


GOOD: Final = Verdict(Outcome.GOOD)
BAD: Final = Verdict(Outcome.BAD)
OTHER_FAILURE: Final = Verdict(Outcome.UNRESOLVED, Cause.OTHER_FAILURE)
UNDECIDED: Final = Verdict(Outcome.UNRESOLVED, Cause.UNDECIDED)
UNBUILDABLE: Final = Verdict(Outcome.UNRESOLVED, Cause.UNBUILDABLE)


@dataclass(frozen=True, slots=True)
class Symptom:
    """One way to tell good from bad.

    Attributes:
        id: as in the result document: ``command``, ``repeat.index_put``, ``command.p99_ms``.
        check: the check that it is read from.
        signatures: the failures that are this symptom; None means every failure is (``signature = "any"``).
        metric: for a number: which one, and from where on it is bad.
    """

    id: str
    check: str
    signatures: frozenset[Signature] | None = None
    metric: MetricRule | None = None

    def judge(self, observation: Observation) -> Verdict:
        """What one run says about this symptom."""
        seen = observation.of(self.check)
        match seen.state:
            case SymptomState.PASS:
                return self._judge_number(seen.metrics) if self.metric else GOOD
            case SymptomState.FAIL:
                if self.metric:
                    return OTHER_FAILURE
                ours = self.signatures is None or seen.signature in self.signatures
                return BAD if ours else OTHER_FAILURE
            case SymptomState.CANNOT_TELL:
                return UNDECIDED
            case SymptomState.ABSENT:
                return OTHER_FAILURE if failed(observation) else UNDECIDED
            case _:
                assert_never(seen.state)

    def _judge_number(self, metrics: Mapping[str, float]) -> Verdict:
        if self.metric is None or self.metric.name not in metrics:
            return UNDECIDED
        return BAD if self.metric.is_bad(metrics[self.metric.name]) else GOOD


def failure_symptoms(good: Sequence[Observation], bad: Sequence[Observation], any_failure: bool) -> list[Symptom]:
    """The symptoms that the bad end shows as failures, most telling first.

    Each check that failed there at least once gives one symptom for each signature that is stable (seen twice, or the
    only one); signatures that never repeat are one symptom together. A check that fails at both ends alike is none.
    """
    found: list[tuple[float, int, Symptom]] = []
    checks = sorted({seen.id for observation in bad for seen in observation.symptoms})
    for order, check in enumerate(checks):
        for symptom in _of_check(check, bad, any_failure):
            gap = rate(symptom, bad) - rate(symptom, good)
            if gap > 0:
                found.append((gap, order, symptom))
    return [symptom for _, _, symptom in sorted(found, key=lambda entry: (-round(entry[0], 6), entry[1]))]


def failed(observation: Observation) -> bool:
    """Whether anything failed in a run, whatever it was."""
    return any(seen.state is SymptomState.FAIL for seen in observation.symptoms)


def tally(symptom: Symptom, observations: Sequence[Observation]) -> tuple[int, int]:
    """How many runs showed the symptom, of how many that could tell."""
    verdicts = [symptom.judge(observation).outcome for observation in observations]
    told = [outcome for outcome in verdicts if outcome is not Outcome.UNRESOLVED]
    return told.count(Outcome.BAD), len(told)


def rate(symptom: Symptom, observations: Sequence[Observation]) -> float:
    """The share of runs that showed the symptom, among those that could tell; 0 if none could."""
    bad, told = tally(symptom, observations)
    return bad / told if told else 0.0


def _of_check(check: str, bad: Sequence[Observation], any_failure: bool) -> list[Symptom]:
    counts: Counter[Signature] = Counter()
    for observation in bad:
        seen = observation.of(check)
        if seen.state is SymptomState.FAIL and seen.signature is not None:
            counts[seen.signature] += 1
    if not counts:
        return []
    if any_failure:
        return [Symptom(check, check)]
    stable = [signature for signature, count in counts.most_common() if count > 1]
    if not stable:
        return [Symptom(check, check, frozenset(counts))]
    first = Symptom(check, check, frozenset(stable[:1]))
    return [first, *(Symptom(f"{check}#{n}", check, frozenset([s])) for n, s in enumerate(stable[1:], start=2))]

"""A failure is bad only if it is the failure that the bad end showed."""

from __future__ import annotations

import pytest

from envbisect.burnin.result import FailureKind
from envbisect.burnin.symptoms import Observation, Signature, SymptomObservation, SymptomState
from envbisect.search import Cause, Outcome
from envbisect.session.oracle import Symptom, failure_symptoms, rate
from tests.session.worlds import OTHER, OURS, cannot_tell, failed, passed


def symptom() -> Symptom:
    (found,) = failure_symptoms([passed()] * 2, [failed()] * 2, any_failure=False)
    return found


@pytest.mark.parametrize(
    ("observation", "outcome", "cause"),
    [
        (passed(), Outcome.GOOD, None),
        (failed(), Outcome.BAD, None),
        (failed(OTHER), Outcome.UNRESOLVED, Cause.OTHER_FAILURE),
        (cannot_tell(), Outcome.UNRESOLVED, Cause.UNDECIDED),
        (Observation((), ("the payload left no result",)), Outcome.UNRESOLVED, Cause.UNDECIDED),
        (
            Observation((SymptomObservation("ladder.forward", SymptomState.FAIL, OTHER),)),
            Outcome.UNRESOLVED,
            Cause.OTHER_FAILURE,
        ),
    ],
)
def test_judging(observation: Observation, outcome: Outcome, cause: Cause | None) -> None:
    verdict = symptom().judge(observation)
    assert (verdict.outcome, verdict.cause) == (outcome, cause)


def test_any_failure_counts_if_the_manifest_says_so() -> None:
    (found,) = failure_symptoms([passed()], [failed()], any_failure=True)
    assert found.judge(failed(OTHER)).outcome is Outcome.BAD


def test_two_stable_signatures_are_two_symptoms_the_more_frequent_first() -> None:
    found = failure_symptoms([passed()] * 5, [failed()] * 3 + [failed(OTHER)] * 2, any_failure=False)
    assert [s.id for s in found] == ["command", "command#2"]
    assert [s.signatures for s in found] == [frozenset({OURS}), frozenset({OTHER})]


def test_failures_that_never_repeat_are_one_symptom_together() -> None:
    crashes = [failed(Signature(FailureKind.SIGNAL, signal=name)) for name in ("SIGSEGV", "SIGBUS", "SIGILL")]
    (found,) = failure_symptoms([passed()] * 3, crashes, any_failure=False)
    assert found.signatures is not None
    assert len(found.signatures) == 3


def test_a_check_that_fails_alike_at_both_ends_is_no_symptom() -> None:
    assert failure_symptoms([failed()] * 2, [failed()] * 2, any_failure=False) == []


def test_the_rate_counts_only_runs_that_could_tell() -> None:
    assert rate(symptom(), [failed(), passed(), cannot_tell(), failed(OTHER)]) == 0.5
    assert rate(symptom(), [cannot_tell()]) == 0.0

"""From result documents to symptoms: states and signatures."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envbisect.burnin.result import BurninResult, CheckStatus, FailureKind, parse_result
from envbisect.burnin.symptoms import Signature, SymptomState, observe
from envbisect.errors import EnvbisectError

TEXT = st.none() | st.text(min_size=1, max_size=8)
SIGNATURES = st.builds(
    Signature, st.sampled_from(FailureKind), TEXT, TEXT, st.none() | st.integers(-64, 255), TEXT, TEXT
)


def _result(*checks: Mapping[str, object], **more: object) -> BurninResult:
    document = {"schema": 1, "kind": "burnin-result", "probe": 1, "python": "3.11.7", "complete": True}
    return parse_result({**document, "checks": list(checks), **more})


def _failure(kind: str, **facts: object) -> dict[str, object]:
    return {"id": "command", "status": "fail", "failure": {"kind": kind, **facts}}


@given(SIGNATURES)
def test_signatures_survive_json(signature: Signature) -> None:
    again = Signature.read(json.loads(json.dumps(signature.document())))
    assert again == signature
    assert hash(again) == hash(signature)
    assert str(signature)


@pytest.mark.parametrize("status", list(CheckStatus))
def test_every_status_has_a_state_and_only_failures_have_a_signature(status: CheckStatus) -> None:
    failed = status in (CheckStatus.FAIL, CheckStatus.ERROR, CheckStatus.HANG)
    check = {"id": "a", "status": status.value, "failure": {"kind": "value"} if failed else None}
    seen = observe(_result(check), exit_code=0, timed_out=False).of("a")
    assert (seen.state is SymptomState.FAIL) == failed
    assert (seen.signature is not None) == failed
    assert (seen.state is SymptomState.PASS) == (status is CheckStatus.PASS)


@pytest.mark.parametrize(
    ("check", "signature"),
    [
        (_failure("exit", exit_code=3, message="x 1"), Signature(FailureKind.EXIT, exit_code=3)),
        (_failure("signal", signal="SIGSEGV", exit_code=-11), Signature(FailureKind.SIGNAL, signal="SIGSEGV")),
        (
            _failure("exception", type="TypeError", frames=["__main__:f", "httpx._client.base:__init__"], exit_code=1),
            Signature(FailureKind.EXCEPTION, type="TypeError", function="httpx:__init__"),
        ),
        (_failure("exception", type="TypeError"), Signature(FailureKind.EXCEPTION, type="TypeError")),
        (_failure("hang", rank=2), Signature(FailureKind.HANG)),
        (_failure("pattern", pattern="na+n"), Signature(FailureKind.PATTERN, pattern="na+n")),
        (_failure("value", message="12 of 50"), Signature(FailureKind.VALUE)),
    ],
)
def test_signatures_keep_what_identifies_and_nothing_else(check: dict[str, object], signature: Signature) -> None:
    assert observe(_result(check), exit_code=0, timed_out=False).of("command").signature == signature


@pytest.mark.parametrize("change", ["message", "rank", "exit_code"])
def test_what_may_differ_between_runs_is_not_in_the_signature(change: str) -> None:
    facts: dict[str, object] = {"type": "E", "frames": ["a:f"], "message": "1", "rank": 1, "exit_code": 1}
    first = observe(_result(_failure("exception", **facts)), exit_code=0, timed_out=False)
    other = observe(
        _result(_failure("exception", **{**facts, change: 2 if change != "message" else "2"})),
        exit_code=0,
        timed_out=False,
    )
    assert first.of("command").signature == other.of("command").signature


@pytest.mark.parametrize(
    ("exit_code", "timed_out", "state", "signature"),
    [
        (-11, False, SymptomState.FAIL, Signature(FailureKind.SIGNAL, signal="SIGSEGV")),
        (-9, True, SymptomState.FAIL, Signature(FailureKind.HANG)),
        (-9, False, SymptomState.CANNOT_TELL, None),
        (-15, False, SymptomState.CANNOT_TELL, None),
        (42, False, SymptomState.FAIL, Signature(FailureKind.EXIT, exit_code=42)),
    ],
)
def test_a_payload_that_died_in_the_middle(
    exit_code: int, timed_out: bool, state: SymptomState, signature: Signature | None
) -> None:
    passed = {"id": "repeat.sum", "status": "pass"}
    result = _result(passed, complete=False, in_flight="repeat.put")
    observation = observe(result, exit_code=exit_code, timed_out=timed_out)
    assert observation.of("repeat.sum").state is SymptomState.PASS
    assert observation.of("repeat.put").state is state
    assert observation.of("repeat.put").signature == signature
    assert observation.of("latency").state is SymptomState.ABSENT


def test_no_result_at_all_is_no_evidence() -> None:
    observation = observe(None, exit_code=1, timed_out=False)
    assert observation.symptoms == ()
    assert observation.of("command").state is SymptomState.ABSENT
    assert "exit code 1" in observation.faults[0]


def test_metrics_come_with_their_check() -> None:
    check = {"id": "latency", "status": "pass", "metrics": {"p99_ms": 1.5}}
    assert observe(_result(check), exit_code=0, timed_out=False).of("latency").metrics == {"p99_ms": 1.5}


def test_fields_of_a_later_payload_are_left_out_and_another_schema_is_refused() -> None:
    assert _result({"id": "a", "status": "pass", "novel": 1}, novel=[1]).check("a") is not None
    with pytest.raises(EnvbisectError) as caught:
        parse_result({"schema": 2, "kind": "burnin-result", "probe": 1, "python": "3.11"})
    assert "schema" in caught.value.message


def test_a_bare_exit_code_brings_the_last_line_that_was_printed() -> None:
    printed = "usage: t.py\n\x1b[31mt.py: error: no such option\n\n"
    check = {**_failure("exit", exit_code=2), "detail": "exit code 2", "output_tail": printed}
    observed = observe(_result(check), exit_code=0, timed_out=False).of("command")
    assert observed.detail == "exit code 2: [31mt.py: error: no such option"
    assert str(observed.signature) == "exit code 2"

"""One burn-in result for people."""

from __future__ import annotations

from typing import Any

import pytest

from envbisect.burnin.result import parse_result
from envbisect.report.burnin import held_to, passed, render
from tests.report.printing import printed


def result(*statuses: str, **other: Any) -> dict[str, Any]:
    checks = [{"id": f"repeat.op{n}", "status": status, "seconds": 0.25} for n, status in enumerate(statuses)]
    return {
        "schema": 1,
        "python": "3.11.2",
        "torch": "2.13.0+cpu",
        "checks": checks,
        "complete": True,
        "seconds": 3.25,
        **other,
    }


@pytest.mark.parametrize(
    ("statuses", "ok"),
    [
        (("pass",), True),
        (("pass", "refused", "skipped", "cannot-tell"), True),
        (("pass", "fail"), False),
        (("pass", "error"), False),
        (("hang",), False),
        (("refused", "skipped"), False),
        ((), False),
    ],
)
def test_a_burnin_passes_if_something_passed_and_nothing_failed(statuses: tuple[str, ...], ok: bool) -> None:
    assert passed(result(*statuses)) is ok
    assert not passed(result(*statuses, complete=False))


def test_a_failure_shows_the_end_of_its_output() -> None:
    document = result("pass", "fail", faults=[{"kind": "flag", "message": "torch 1.8 has no\nsuch flag"}])
    document["checks"][1] |= {
        "detail": "3 of 3 rounds differ",
        "metrics": {"p99_ms": 1.25},
        "output_tail": "".join(f"line {n}\n" for n in range(40)) + "    raise\nValueError: \x1b[31mno\n",
    }
    text = printed(lambda console: render(document, console))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "repeat.op0 pass 0.2 s" in lines
    assert "repeat.op1 fail 0.2 s 3 of 3 rounds differ; p99_ms 1.25" in lines
    assert "| line 39" in lines
    assert "| line 1" not in lines
    assert r"| ValueError: \x1b[31mno" in lines
    assert "flag: torch 1.8 has no such flag" in lines
    assert "  |     raise" in text.splitlines()
    assert lines[-1] == "2 checks, 1 failed (Python 3.11.2, torch 2.13.0+cpu, 3.2 s)"


def test_a_number_above_its_limit_fails_its_check() -> None:
    document = result("pass", "pass", "cannot-tell")
    for check, value in zip(document["checks"], (20.0, 20.5, 30.0), strict=True):
        check |= {"detail": f"p99_ms {value:g}", "metrics": {"p99_ms": value}}
    held = held_to(document, {"p99_ms": 20.0, "other": 1.0})
    assert [check["status"] for check in held["checks"]] == ["pass", "fail", "cannot-tell"]
    assert held["checks"][1]["detail"] == "p99_ms 20.5 is above its max 20"
    assert (passed(document), passed(held)) == (True, False)
    assert parse_result({**held, "kind": "burnin-result", "probe": 1}).checks[1].failure is not None
    assert held_to(document, {}) == document


def test_numbers_that_the_detail_tells_are_not_told_again() -> None:
    document = result("pass")
    document["checks"][0] |= {"detail": "p99_ms 25.4, loss 2", "metrics": {"p99_ms": 25.4, "loss": 2.0}}
    text = printed(lambda console: render(document, console))
    assert text.splitlines()[1].split()[-4:] == ["p99_ms", "25.4,", "loss", "2"]
    assert text.count("p99_ms") == 1


def test_a_burnin_that_died_says_where() -> None:
    text = printed(lambda console: render(result("pass", complete=False, in_flight="ladder", torch=None), console))
    assert "the burn-in died in ladder" in text
    assert text.splitlines()[-1] == "1 check, not finished (Python 3.11.2, 3.2 s)"

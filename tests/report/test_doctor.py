"""The facts of a machine for people."""

from __future__ import annotations

from envbisect.report.doctor import render
from tests.report.printing import printed


def test_facts_that_are_not_fine_say_what_to_do() -> None:
    facts = [
        {"subject": "uv", "state": "fine", "detail": "uv 0.13.9", "hint": ""},
        {"subject": "disk", "state": "problem", "detail": "1 GB free", "hint": "make room"},
    ]
    text = printed(lambda console: render({"schema": 1, "facts": facts}, console))
    assert [" ".join(line.split()) for line in text.splitlines()] == [
        "uv fine uv 0.13.9",
        "disk problem 1 GB free (make room)",
        "1 problem",
    ]

"""Normalised failures: what stays the same when it happens again, and what does not stay."""

from __future__ import annotations

import pytest

from envbisect.payload.failure import describe_exception, first_line, normalised_message, signal_name, told


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("tensor at 0x7f00 has 3 elements", "tensor at <address> has N elements"),
        ("cannot open /usr/lib/x86/libfoo.so.12: no such file", "cannot open <path>: no such file"),
        ("loss 1.5e-07 at step 12", "loss N at step N"),
        ("\n\nsecond line first\nthird", "second line first"),
        ("a/b is no path, and/or", "a/b is no path, and/or"),
        ("", ""),
    ],
)
def test_messages(text: str, normalised: str) -> None:
    assert normalised_message(text) == normalised


def test_two_runs_of_one_failure_look_alike() -> None:
    def fail(number: int) -> None:
        raise ValueError(f"object {object()!r} of {number} in /tmp/run-{number}/file")

    described = []
    for number in (1, 22):
        with pytest.raises(ValueError) as caught:
            fail(number)
        described.append(describe_exception(caught.value))
    one, other = described
    assert told(one) != told(other)
    assert {**one, "text": ""} == {**other, "text": ""}
    assert described[0]["frames"][-1] == f"{__name__}:fail"


def test_at_most_three_frames_and_the_raising_one_last() -> None:
    def down(depth: int) -> None:
        if not depth:
            raise KeyError(depth)
        down(depth - 1)

    with pytest.raises(KeyError) as caught:
        down(9)
    assert describe_exception(caught.value)["frames"] == [f"{__name__}:down"] * 3


def test_frames_of_the_payload_and_of_the_import_machinery_are_left_out() -> None:
    machinery: dict[str, object] = {"__name__": "importlib"}
    own: dict[str, object] = {"__name__": "envbisect_payload.checks.repeat"}
    exec("def call(f): f()", own)
    exec("def call(f): f()", machinery)

    def raising() -> None:
        raise KeyError

    for outer in (own["call"], machinery["call"]):
        with pytest.raises(KeyError) as caught:
            outer(raising)  # type: ignore[operator]
        frames = describe_exception(caught.value)["frames"]
        assert frames[-1] == f"{__name__}:raising"
        assert not any("call" in frame for frame in frames)


def test_an_exception_that_cannot_say_itself() -> None:
    class BrokenError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert describe_exception(BrokenError())["message"] == "<no message: RuntimeError>"


@pytest.mark.parametrize(("code", "name"), [(-11, "SIGSEGV"), (-9, "SIGKILL"), (-40, "SIG40"), (1, None), (None, None)])
def test_signal_names(code: int | None, name: str | None) -> None:
    assert signal_name(code) == name


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "cannot import name 'a' from 'urllib3.contrib' (/x/y.py)",
            "cannot import name 'a' from 'urllib3.contrib' (/x/y.py)",
        ),
        ("\n  rank 1 diverged \nand more", "rank 1 diverged"),
        ("a\x1b[31mb\udc80", r"a\x1b[31mb\udc80"),
        ("x" * 301, "x" * 299 + "…"),
        ("", ""),
    ],
)
def test_people_read_the_first_line_as_it_was(text: str, line: str) -> None:
    assert first_line(text) == line


def test_an_exception_without_a_message_is_its_type() -> None:
    assert told(describe_exception(AssertionError())) == "AssertionError"
    assert told(describe_exception(AssertionError(3))) == "AssertionError: 3"

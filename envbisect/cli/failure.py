"""How an error is told: one line for people, the same as a JSON document for programs."""

from __future__ import annotations

from difflib import get_close_matches

from envbisect.errors import EnvbisectError, Fault
from envbisect.report.values import one_line

RED = "\x1b[1;31m"
RESET = "\x1b[0m"


def headline(error: EnvbisectError, *, colour: bool = False) -> str:
    """``envbisect: what is wrong where (what to do next)``, one line without its newline."""
    name = f"{RED}envbisect:{RESET}" if colour else "envbisect:"
    fault = _only_fault(error)
    if fault and fault.nearest:
        return f"{name} {fault_line(fault)}"
    hint = one_line(error.hint).rstrip(".")
    return f"{name} {one_line(error.message).rstrip('.')}" + (f" ({hint})" if hint else "")


def fault_lines(error: EnvbisectError) -> list[str]:
    """One line for every fault, unless the headline says it already."""
    return [] if _only_fault(error) else [f"  {fault_line(fault)}" for fault in error.faults]


def fault_line(fault: Fault) -> str:
    """Where and what, and the best that can be said about how to mend it."""
    line = one_line(str(fault))
    if fault.nearest:
        return f"{line} (did you mean {one_line(fault.nearest)}?)"
    expected = one_line(fault.expected)
    return f"{line} (expected {expected})" if expected and expected not in line else line


def _only_fault(error: EnvbisectError) -> Fault | None:
    """The fault of an error that says nothing beyond it."""
    match error.faults:
        case (fault,) if fault.message in error.message and fault.expected in error.message + error.hint:
            return fault
        case _:
            return None


def document(error: EnvbisectError) -> dict[str, object]:
    """The document that ``--json`` prints in place of an answer."""
    return {
        "schema": 1,
        "error": {
            "message": error.message,
            "hint": error.hint,
            "faults": [
                {
                    "message": fault.message,
                    "file": fault.file,
                    "line": fault.line,
                    "key": fault.key,
                    "expected": fault.expected,
                    "nearest": fault.nearest,
                }
                for fault in error.faults
            ],
        },
    }


def nearest_command(word: str, commands: list[str]) -> str:
    """The command that ``word`` was probably meant to be, empty if none is near."""
    return next(iter(get_close_matches(word, commands, n=1)), "")

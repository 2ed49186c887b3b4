"""How an error is told: one line for people, the same as a JSON document for programs."""

from __future__ import annotations

from difflib import get_close_matches

from envbisect.errors import EnvbisectError, Fault

RED = "\x1b[1;31m"
RESET = "\x1b[0m"


def one_line(text: str) -> str:
    """``text`` on one line, with control characters (a terminal obeys them) spelled out."""
    flat = " ".join(text.split())
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in flat)


def headline(error: EnvbisectError, *, colour: bool = False) -> str:
    """``envbisect: what is wrong where (what to do next)``, one line without its newline."""
    name = f"{RED}envbisect:{RESET}" if colour else "envbisect:"
    hint = one_line(error.hint).rstrip(".")
    return f"{name} {one_line(error.message).rstrip('.')}" + (f" ({hint})" if hint else "")


def fault_lines(error: EnvbisectError) -> list[str]:
    """One line for every fault beyond what the headline says already."""
    lines = [fault_line(fault) for fault in error.faults]
    head = one_line(error.message)
    return [] if len(lines) == 1 and _says(head, error.faults[0]) else [f"  {line}" for line in lines]


def fault_line(fault: Fault) -> str:
    line = one_line(str(fault))
    extra = []
    if fault.expected and fault.expected not in line:
        extra.append(f"expected {one_line(fault.expected)}")
    if fault.nearest and fault.nearest not in line:
        extra.append(f"did you mean {one_line(fault.nearest)}?")
    return f"{line} ({'; '.join(extra)})" if extra else line


def _says(head: str, fault: Fault) -> bool:
    """True if the headline holds everything that the line of ``fault`` would."""
    parts = (fault.message, fault.file, fault.expected, fault.nearest)
    return all(one_line(part) in head for part in parts if part)


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

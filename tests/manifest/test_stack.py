"""The values that every layer shares: content identity above all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from envbisect.manifest.stack import Closure, GitSource, Pin, Stack

NUMPY, SIX = Pin("numpy", "2.1.0"), Pin("six", "1.16.0")


def test_requirements_read_as_pip_reads_them() -> None:
    assert NUMPY.requirement() == "numpy==2.1.0"
    assert (
        Pin("apex", "", GitSource("https://x/apex.git", "a7de60e")).requirement()
        == "apex @ git+https://x/apex.git@a7de60e"
    )


def test_the_order_of_pins_is_no_content_but_everything_else_is() -> None:
    closure = Closure.of("3.11", [SIX, NUMPY])

    assert closure.identity() == Closure.of("3.11", [NUMPY, SIX]).identity()
    others = [
        replace(closure, python="3.12"),
        replace(closure, exclude_newer="2026-01-01T00:00:00Z"),
        Closure.of("3.11", [NUMPY]),
        Closure.of("3.11", [NUMPY, Pin("six", "1.17.0")]),
    ]
    assert len({closure.identity(), *(other.identity() for other in others)}) == 5


def test_a_patch_counts_by_what_it_says_not_by_where_it_lies(tmp_path: Path) -> None:
    def identity(name: str, content: str) -> str:
        patch = tmp_path / name
        patch.write_text(content)
        return Closure.of("3.11", [Pin("a", "", GitSource("https://x/a", "r", (patch,)))]).identity()

    assert identity("one.patch", "-a+b") == identity("two.patch", "-a+b")
    assert identity("one.patch", "-a+b") != identity("two.patch", "-a+c")


def test_versions_are_found_by_name() -> None:
    closure = Closure.of("3.11", [SIX, NUMPY])

    assert closure.version("six") == "1.16.0"
    assert closure.version("torch") is None


def test_a_stack_is_what_it_holds_wherever_it_lies() -> None:
    stack = Stack({"env.A": "1", "torch.threads": 2}, Closure.of("3.11", [SIX]), Path("/a"))

    assert stack.identity() == Stack({"torch.threads": 2, "env.A": "1"}, stack.closure, Path("/b")).identity()
    others = [
        replace(stack, components={"env.A": "1"}),
        replace(stack, components={"env.A": "1", "torch.threads": "2"}),
        replace(stack, closure=None),
    ]
    assert len({stack.identity(), *(other.identity() for other in others)}) == 4


def test_a_table_holds_names_with_dots() -> None:
    stack = Stack({"env.A": "1", "environment": "x", "host.sysctl.kernel.x": 2}, None, Path("/a"))

    assert stack.table("env") == {"A": "1"}
    assert stack.table("host.sysctl") == {"kernel.x": 2}

"""The nearest right name."""

from __future__ import annotations

import pytest

from envbisect.manifest import nearest


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("tourch", ["torch", "host"], "torch"),
        ("TORCH", ["torch", "host"], "torch"),
        ("nccl_algo", ["NCCL_ALGO", "NCCL_PROTO"], "NCCL_ALGO"),
        ("zzz", ["torch", "host"], ""),
        ("", ["torch"], ""),
        ("torch", [], ""),
    ],
)
def test_the_nearest_name_or_none(name: str, candidates: list[str], expected: str) -> None:
    assert nearest(name, candidates) == expected

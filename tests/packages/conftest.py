"""A served index and an uncluttered environment for the package tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.packages.local_index import Served, serving


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' own server is never asked for through a proxy."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")

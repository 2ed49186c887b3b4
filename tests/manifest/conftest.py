"""A folder to write manifests into, and their faults without ceremony."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from envbisect.errors import Fault, ManifestError
from envbisect.manifest import Manifest, load

Write = Callable[..., Path]
Faults = Callable[[Path], Sequence[Fault]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a manifest: ``write(body, "name.toml")``; the first line is ``schema = 1`` unless ``head`` differs."""

    def _write(body: str = "", name: str = "good.toml", head: str = "schema = 1\n") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + body)
        return path

    return _write


@pytest.fixture
def read(write: Write) -> Callable[[str], Manifest]:
    return lambda body: load(write(body))


@pytest.fixture
def faults(write: Write) -> Callable[[str], Sequence[Fault]]:
    """All faults of a manifest with this body; line 2 is the body's first line."""

    def _faults(body: str) -> Sequence[Fault]:
        with pytest.raises(ManifestError) as raised:
            load(write(body))
        return raised.value.faults

    return _faults

"""What a whole stack is made of, once nothing floats any more. Shared by every layer above the manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

Scalar: TypeAlias = str | int | float | bool
Value: TypeAlias = Scalar | list["Value"] | dict[str, "Value"] | None
"""A component's pin as JSON. ``None`` means absent ("not set", "not installed"); TOML itself has no null."""

ABSENT: Final = None


@dataclass(frozen=True, slots=True)
class GitSource:
    """A package or program taken from Git: ``patches`` are absolute paths, applied in order with ``git apply``."""

    url: str
    rev: str
    patches: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Pin:
    """One installed distribution, exact. ``name`` is canonical (PEP 503); ``version`` is PEP 440, with its local part.

    For a Git pin ``version`` is empty and ``git`` says where it comes from.
    """

    name: str
    version: str
    git: GitSource | None = field(default=None, compare=False)

    def requirement(self) -> str:
        """As pip and uv read it: ``numpy==2.1.0`` or ``apex @ git+https://…@rev``."""
        return f"{self.name} @ git+{self.git.url}@{self.git.rev}" if self.git else f"{self.name}=={self.version}"


@dataclass(frozen=True, slots=True)
class Closure:
    """Every Python distribution of an environment, exact, for one Python.

    ``python`` is the version asked for, as in the manifest ("3.11" or "3.11.7"). ``exclude_newer`` is an RFC 3339
    moment or empty; it is a build input too, because it reaches build dependencies.
    """

    python: str
    pins: tuple[Pin, ...]
    exclude_newer: str = ""

    @classmethod
    def of(cls, python: str, pins: Iterable[Pin], exclude_newer: str = "") -> Closure:
        return cls(python, tuple(sorted(pins)), exclude_newer)

    def version(self, name: str) -> str | None:
        """The version of ``name``, or None if it is not installed."""
        return next((pin.version for pin in self.pins if pin.name == name), None)

    def identity(self) -> str:
        """Content identity (hex sha256) of the environment that this closure builds."""
        lines = [self.python, self.exclude_newer]
        for pin in self.pins:
            lines.append(pin.requirement())
            if pin.git:
                lines += [hashlib.sha256(patch.read_bytes()).hexdigest() for patch in pin.git.patches]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Stack:
    """One complete stack, ready to be built and run: a point of the space, realised.

    Attributes:
        components: dotted key to pin, for example ``{"env.NCCL_ALGO": "Ring", "torch.threads": 2}``. A key that is
            absent here is absent in the stack. Packages stand in ``closure``, not here.
        closure: the Python packages, or None when an interpreter is taken as it is (runtime ``local``).
        folder: the folder of the manifest that the test comes from; relative paths mean this folder.
    """

    components: Mapping[str, Value]
    closure: Closure | None
    folder: Path

    def table(self, prefix: str) -> dict[str, Value]:
        """All components below ``prefix``: ``table("env")`` gives ``{"NCCL_ALGO": "Ring"}``."""
        start = prefix + "."
        return {key[len(start) :]: value for key, value in self.components.items() if key.startswith(start)}

    def identity(self) -> str:
        """Content identity (hex sha256): equal for stacks that cannot behave differently."""
        document = {
            "components": dict(sorted(self.components.items())),
            "closure": self.closure.identity() if self.closure else "",
        }
        return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()

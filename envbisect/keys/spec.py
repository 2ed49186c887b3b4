"""What is known of a key: its type, layer, order of steps, reader, mover and documentation. Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Layer(StrEnum):
    """The part of the stack that a key belongs to, as in the tables of a manifest."""

    HOST = "host"
    IMAGE = "image"
    CUDA = "cuda"
    PYTHON = "python"
    ENV = "env"
    TORCH = "torch"
    DATALOADER = "dataloader"
    CODE = "code"
    INPUTS = "inputs"
    LAUNCH = "launch"


class Mover(StrEnum):
    """What can be moved by software; every key names its mover, every runtime the movers that it has."""

    ENV = "env"
    TORCH = "torch"
    DATALOADER = "dataloader"
    LAUNCH = "launch"
    CODE = "code"
    INPUTS = "inputs"
    PYTHON = "python"
    PACKAGES = "packages"
    IMAGE = "image"
    KERNEL = "kernel"
    NOBODY = "nobody"


class Order(StrEnum):
    """How the steps between two values of a key are found and ordered."""

    FLAG = "flag"  # nothing in between
    RELEASES = "releases"  # published versions
    COMMITS = "commits"  # Git history


class ValueType(StrEnum):
    """The type of a key's value in TOML."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    STRINGS = "array of strings"
    SCALAR = "string, number or boolean"
    PACKAGE = "version, specifier or Git source"


@dataclass(frozen=True, slots=True)
class KeySpec:
    """One key. ``name`` is dotted; a final ``*`` (``env.*``) stands for every name in an open table.

    ``reader`` is the id of the implementation that reads the key live (registered by a higher layer), empty if none
    does. ``choices`` lists the allowed values, empty if any is.
    """

    name: str
    type: ValueType
    layer: Layer
    mover: Mover
    doc: str
    order: Order = Order.FLAG
    reader: str = ""
    choices: tuple[str | int | float | bool, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    derived: bool = False  # a fact that follows from others (cuda.cudnn from a wheel): never an axis of its own
    setting: bool = False  # steers how packages are resolved (python.index): no component, never a delta

    @property
    def open(self) -> bool:
        """Whether this entry stands for every name in a table."""
        return self.name.endswith(".*")

    @property
    def table(self) -> str:
        """The dotted name of an open table (``env`` for ``env.*``); the name itself of any other key."""
        return self.name.removesuffix(".*")

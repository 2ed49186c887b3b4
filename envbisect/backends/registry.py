"""The runtimes by name, and which one a comparison needs. A new runtime is one file and one entry in ``RUNTIMES``."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from envbisect.backends import local, venv
from envbisect.backends.interface import Runtime
from envbisect.backends.interpreter import Choice, Need, choose_interpreter
from envbisect.errors import UsageError
from envbisect.keys.spec import Mover

if TYPE_CHECKING:
    from envbisect.packages.config import IndexConfig


@dataclass(frozen=True, slots=True)
class Settings:
    """What any runtime may need to be made; times and places are the session's.

    Attributes:
        session: the session's folder.
        entry: the payload's script.
        managed_env: the variables that are pinned at either end of the comparison.
        input_folders: the folders of all manifests.
        index: where packages come from; None: as pip and uv are configured here.
        cache: our own package cache; None: ``$XDG_CACHE_HOME/envbisect``.
        inherited: the environment that tests start from; None: this process's own.
    """

    session: Path
    entry: Path
    managed_env: Collection[str] = ()
    input_folders: Sequence[Path] = ()
    index: IndexConfig | None = None
    cache: Path | None = None
    inherited: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class RuntimeSpec:
    """One registered runtime. ``installs`` is true if pinned packages are built, false if they have to be there."""

    name: str
    moves: frozenset[Mover]
    installs: bool
    make: Callable[[Settings, Choice | None], Runtime]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The runtime for a comparison.

    Attributes:
        spec: the runtime.
        why: one sentence for the plan.
        unmoved: movers of the deltas that it does not have: those deltas stay where the machine is.
        interpreter: which interpreter is meant, for a runtime that installs nothing.
    """

    spec: RuntimeSpec
    why: str
    unmoved: frozenset[Mover]
    interpreter: Choice | None = None

    def make(self, settings: Settings) -> Runtime:
        """The runtime itself.

        Raises:
            EnvironmentFailure: what it stands on (uv) is not here.
        """
        return self.spec.make(settings, self.interpreter)


def _make_local(settings: Settings, choice: Choice | None) -> Runtime:
    return local.LocalRuntime(
        session=settings.session,
        entry=settings.entry,
        choice=choice or choose_interpreter(Need()),
        managed_env=settings.managed_env,
        inherited=settings.inherited,
        input_folders=settings.input_folders,
    )


def _make_venv(settings: Settings, _choice: Choice | None) -> Runtime:
    from envbisect.packages.config import read_config, uv_environ
    from envbisect.packages.pythons import find_python
    from envbisect.packages.uv import find_uv

    return venv.VenvRuntime(
        session=settings.session,
        entry=settings.entry,
        uv=find_uv(),
        uv_environ=uv_environ(settings.index or read_config()),
        find_python=find_python,
        cache=settings.cache,
        managed_env=settings.managed_env,
        inherited=settings.inherited,
        input_folders=settings.input_folders,
    )


RUNTIMES: Final = (  # smallest first
    RuntimeSpec("local", local.MOVES, installs=False, make=_make_local),
    RuntimeSpec("venv", venv.MOVES, installs=True, make=_make_venv),
)
NOT_YET: Final[Mapping[str, str]] = {
    "docker": "images, apt packages and container settings stay as they are",
    "vm": "kernels, boot parameters and modules stay as they are",
}


def choose(
    needed: Collection[Mover],
    requested: str | None = None,
    *,
    need: Need = Need(),  # noqa: B008 - frozen
    python: Path | None = None,
) -> Chosen:
    """The smallest runtime that can move the deltas and honours the pins.

    Args:
        needed: the movers of all deltas; what no runtime has is left unmoved.
        requested: ``--backend``.
        need: what the test needs of an interpreter; ``need.pins`` are the packages that both ends pin.
        python: ``--python``: the interpreter whose packages are meant.

    Raises:
        UsageError: no such runtime, one that cannot be used yet, or no interpreter has what the test needs.
    """
    wanted = frozenset(needed)
    movable = wanted & frozenset().union(*(spec.moves for spec in RUNTIMES))
    if requested is not None:
        spec = _named(requested)
        choice = None if spec.installs else choose_interpreter(need, python)
        return Chosen(spec, f"{spec.name}: asked for by --backend", wanted - spec.moves, choice)
    reason = ""
    for spec in RUNTIMES:
        if not movable <= spec.moves:
            reason = f"it is the smallest that moves {_listed(movable - spec.moves)}"
            continue
        if spec.installs:
            reason = reason or "packages are pinned"
            return Chosen(spec, f"{spec.name}: {reason}", wanted - spec.moves)
        try:
            choice = choose_interpreter(need, python)
        except UsageError as error:
            if python is not None or not need.pins:
                raise
            reason = f"packages are pinned, and {error.message}"
            continue
        what = f"{_listed(movable)} move without a build" if movable else "nothing has to be built"
        return Chosen(spec, f"{spec.name}: {what}; {choice.why}", wanted - spec.moves, choice)
    raise UsageError(f"no runtime can be used: {reason}", "name an interpreter with --python")


def _named(name: str) -> RuntimeSpec:
    for spec in RUNTIMES:
        if spec.name == name:
            return spec
    names = [spec.name for spec in RUNTIMES]
    if name in NOT_YET:
        raise UsageError(
            f"--backend {name} cannot be used yet: {NOT_YET[name]}", f"use {' or '.join(names)} for what they can move"
        )
    near = difflib.get_close_matches(name, [*names, *NOT_YET], 1)
    raise UsageError(f"there is no backend {name!r}", f"did you mean {near[0]}?" if near else f"use {', '.join(names)}")


def _listed(movers: Collection[Mover]) -> str:
    return ", ".join(sorted(mover.value for mover in movers))

"""From manifests to a runtime on this machine: which one, which interpreter, which package index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.keys.spec import Mover
from envbisect.manifest import Manifest
from envbisect.manifest.stack import Pin, Value
from envbisect.session.options import RunOptions
from envbisect.session.setting import Setting
from envbisect.space import deltas

if TYPE_CHECKING:
    from envbisect.backends.interface import Runtime
    from envbisect.backends.registry import Chosen
    from envbisect.packages.config import IndexConfig
    from envbisect.space.uvsource import UvPackages


def settle(options: RunOptions, good: Manifest, bad: Manifest) -> tuple[Setting, Chosen]:
    """The runtime for two manifests, and what the session remembers of it.

    Raises:
        UsageError: no runtime fits, or the manifests want different package indexes.
    """
    from envbisect.backends.interpreter import Need
    from envbisect.backends.registry import choose
    from envbisect.burnin.catalogue import needs

    if good.python.index and bad.python.index and good.python.index != bad.python.index:
        raise UsageError(
            f"{good.path} and {bad.path} name different package indexes", "give both the same python.index"
        )
    needed = {delta.mover for delta in deltas(good, bad).deltas}
    pins = [pin for name, value in good.python.packages.items() if (pin := exact_pin(name, value)) is not None]
    if len(pins) < len(good.python.packages):
        needed.add(Mover.PACKAGES)
    need = Need(
        imports=needs(good.burnin.checks),
        pins=tuple(pins) if Mover.PACKAGES not in needed else (),
        python=good.python.version or "",
    )
    given = Path(options.python).expanduser() if options.python else None
    chosen = choose(needed, options.backend, need=need, python=given)
    named = good if good.python.index else bad
    setting = Setting(
        burnin=_plain(good.burnin.model_dump(mode="json")),
        runtime=chosen.spec.name,
        why=chosen.why,
        python=str(chosen.interpreter.python) if chosen.interpreter else None,
        managed_env=tuple(sorted(_variables(good) | _variables(bad))),
        input_folders=tuple(dict.fromkeys((str(good.folder), str(bad.folder)))),
        index=named.python.index,
        index_folder=str(named.folder),
        notes=tuple(dict.fromkeys((*good.notes, *bad.notes))),
        workdir=str(Path.cwd()) if options.command else None,
    )
    return setting, chosen


def chosen_before(setting: Setting) -> Chosen:
    """The runtime of an earlier process of the same session.

    Raises:
        UsageError: its interpreter is gone.
    """
    from envbisect.backends.registry import choose

    return choose((), setting.runtime, python=Path(setting.python) if setting.python else None)


def make_runtime(chosen: Chosen, setting: Setting, session: Path) -> Runtime:
    """The runtime itself; environments go below ``session``."""
    from envbisect.backends.registry import Settings
    from envbisect.burnin.carry import carry

    try:
        entry = carry(session / "payload")
    except OSError as error:
        raise EnvironmentFailure(
            f"{session} cannot be written: {error.strerror or error}", "free some disk space or name another --session"
        ) from error
    return chosen.make(
        Settings(
            session=session,
            entry=entry,
            managed_env=setting.managed_env,
            input_folders=[Path(folder) for folder in setting.input_folders],
            index=_index(setting),
        )
    )


def make_packages(setting: Setting) -> UvPackages:
    """The package index of the session; nothing is asked of it yet."""
    from envbisect.backends.venv import default_cache
    from envbisect.space.uvsource import UvPackages

    return UvPackages(_index(setting), default_cache())


def exact_pin(name: str, value: Value) -> Pin | None:
    """A package that is pinned to one published version; None if it is open or comes from Git."""
    from envbisect.manifest.packages import is_exact

    return Pin(name, value) if isinstance(value, str) and is_exact(value) else None


def _index(setting: Setting) -> IndexConfig:
    from envbisect.packages.config import read_config

    return read_config(setting.index, folder=Path(setting.index_folder))


def _variables(manifest: Manifest) -> set[str]:
    return {key.removeprefix("env.") for key in manifest.components() if key.startswith("env.")}


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    """A dumped model without what was left at its default, so that a later version may add fields."""
    return {name: value for name, value in document.items() if value not in (None, [], {})}

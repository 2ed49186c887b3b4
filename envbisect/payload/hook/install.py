"""Install the hook: uncaught exceptions are recorded, torch gets its flags, DataLoader its defaults.

Nothing is imported for it that the program does not import itself, and an error of the hook is reported as a fault
of the burn-in; it never reaches the program.
"""

from __future__ import annotations

import atexit
import os
import sys
from types import ModuleType
from typing import Any, Callable

from .post_import import Action, after_import
from .record import FOLDER, ProcessRecord, own_metrics_file


def install() -> None:
    """Set the hook up in this process, if it belongs to a burn-in."""
    folder = os.environ.get(FOLDER)
    if not folder or not os.path.isdir(folder):
        return
    record = ProcessRecord(folder)
    own_metrics_file(os.environ)
    atexit.register(record.at_exit)
    _chain_excepthook(record)
    actions = {
        "threading": _threads,
        "multiprocessing.process": _children,
        "torch.multiprocessing.spawn": _spawned,
        "torch": _flags,
        "torch.utils.data.dataloader": _loaders,
    }
    after_import({name: _safely(record, name, action) for name, action in actions.items()})


def _safely(record: ProcessRecord, name: str, action: Callable[[ProcessRecord, Any], None]) -> Action:
    def run(module: ModuleType) -> None:
        try:
            action(record, module)
        except Exception as error:  # whatever a version of a module lacks: the program goes on, the probe says so
            record.fault("%s: %s: %s" % (name, type(error).__name__, error))

    return run


def _chain_excepthook(record: ProcessRecord) -> None:
    following = sys.excepthook

    def excepthook(kind: Any, error: Any, traceback: Any) -> None:
        try:
            record.exception(error)
        finally:
            following(kind, error, traceback)

    sys.excepthook = excepthook


def _threads(record: ProcessRecord, threading: Any) -> None:
    following = threading.excepthook

    def excepthook(facts: Any) -> None:
        try:
            if facts.exc_value is not None:
                record.thread_exception(facts.exc_value)
        finally:
            following(facts)

    threading.excepthook = excepthook


def _children(record: ProcessRecord, process: Any) -> None:
    """A multiprocessing child prints its exception itself and leaves through ``os._exit``: no hook of sys sees it."""
    bootstrap = process.BaseProcess._bootstrap

    def _bootstrap(self: Any, *arguments: Any, **options: Any) -> Any:
        run = self.run

        def recorded() -> None:
            try:
                run()
            except Exception as error:
                record.exception(error)
                raise

        self.run = recorded
        return bootstrap(self, *arguments, **options)

    process.BaseProcess._bootstrap = _bootstrap


def _spawned(record: ProcessRecord, spawn: Any) -> None:
    """``torch.multiprocessing.spawn`` catches the exception in the child; the first argument is the rank."""
    wrap = spawn._wrap

    def _wrap(function: Any, rank: int, *rest: Any) -> Any:
        def recorded(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except Exception as error:
                record.exception(error, rank)
                raise

        return wrap(recorded, rank, *rest)

    # pickled by name when a child is spawned
    _wrap.__module__, _wrap.__name__, _wrap.__qualname__ = wrap.__module__, wrap.__name__, wrap.__qualname__
    spawn._wrap = _wrap


def _flags(record: ProcessRecord, torch: Any) -> None:
    from ..flags import apply_flags

    settings = [setting._asdict() for setting in apply_flags(torch, _asked()["torch"])]
    record.torch(str(torch.__version__), settings)


def _loaders(record: ProcessRecord, module: Any) -> None:
    from .loaders import set_defaults

    set_defaults(module.DataLoader, _asked()["dataloader"], record.dataloader)


def _asked() -> Any:
    import json

    with open(os.path.join(os.environ[FOLDER], "hook.json"), encoding="utf-8") as stream:
        return json.load(stream)

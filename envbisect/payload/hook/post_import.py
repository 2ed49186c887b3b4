"""Call something right after a module was imported, by whoever imports it; do nothing if nobody does."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Callable, Dict, Optional

Action = Callable[[ModuleType], None]


class PostImportFinder:
    """A finder that finds nothing itself: it lets the others find a module and adds an action to its loading."""

    def __init__(self, actions: Dict[str, Action]) -> None:
        self._actions = actions

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[ModuleSpec]:
        """The spec that the other finders give, its loader made to call the action once."""
        action = self._actions.pop(name, None)
        if action is None:
            return None
        spec = self._elsewhere(name, path, target)
        if spec is None or spec.loader is None:
            self._actions[name] = action  # not there yet: a later import may find it
            return spec
        self._wrap(spec.loader, name, action)
        return spec

    def _elsewhere(self, name: str, path: Any, target: Any) -> Optional[ModuleSpec]:
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: Optional[ModuleSpec] = find(name, path, target)
            if spec is not None:
                return spec
        return None

    def _wrap(self, loader: Any, name: str, action: Action) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # back to the class's own: the module keeps the loader that it would have had
            try:
                execute(module)
            except BaseException:
                self._actions[name] = action  # the program may try again
                raise
            action(module)

        loader.exec_module = exec_module


def after_import(actions: Dict[str, Action]) -> None:
    """Run each action after its module's import, at once if it is imported already."""
    waiting = {}
    for name, action in actions.items():
        module = sys.modules.get(name)
        if module is None:
            waiting[name] = action
        else:
            action(module)
    if waiting:
        sys.meta_path.insert(0, PostImportFinder(waiting))

"""Call something right after a module was imported, by whoever imports it; do nothing if nobody does."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Callable, Dict, Optional

Action = Callable[[ModuleType], None]


class PostImportFinder:
    """A finder that finds nothing itself: it lets the others find a module and adds an action to its loading.

    Looking is not importing (``importlib.util.find_spec("torch")`` is how libraries ask whether torch is there), so
    an action waits until its module has really been loaded, once.
    """

    def __init__(self, actions: Dict[str, Action]) -> None:
        self._actions = actions

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[ModuleSpec]:
        """The spec that the other finders give, with a loader that calls the action."""
        if name not in self._actions:
            return None
        spec = self._elsewhere(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = ActingLoader(spec.loader, self._loaded)  # type: ignore[assignment]
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

    def _loaded(self, module: ModuleType) -> None:
        action = self._actions.pop(module.__name__, None)
        if action is not None:
            action(module)


class ActingLoader:
    """Stands in for a loader until the module is executed; the module keeps the loader that it would have had."""

    def __init__(self, loader: Any, loaded: Action) -> None:
        self._loader = loader
        self._loaded = loaded

    def create_module(self, spec: ModuleSpec) -> Optional[ModuleType]:
        """As the loader does."""
        module: Optional[ModuleType] = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module; if that works, act."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._loaded(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


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

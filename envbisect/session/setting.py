"""What a session fixes once, so that ``resume`` needs no manifest: the test, the runtime, where packages come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Setting:
    """Plain data, stored in ``session.json``.

    Attributes:
        burnin: ``[burnin]`` of both manifests as JSON.
        runtime: name of the runtime; ``why`` is the sentence that the plan shows.
        python: the interpreter of a runtime that installs nothing.
        managed_env: variables that are pinned at either end.
        input_folders: folders of both manifests.
        index: ``python.index`` of the manifests, relative to ``index_folder``; empty for what pip and uv are
            configured with.
        workdir: where a test given on the command line runs; None is the good manifest's folder.
        notes: what the manifests' readers want the user to know.
    """

    burnin: Mapping[str, Any]
    runtime: str
    why: str
    python: str | None
    managed_env: tuple[str, ...]
    input_folders: tuple[str, ...]
    index: tuple[str, ...]
    index_folder: str
    notes: tuple[str, ...]
    workdir: str | None = None

    def to_document(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Setting:
        lists = ("managed_env", "input_folders", "index", "notes")
        return cls(**{**document, **{name: tuple(document[name]) for name in lists}})

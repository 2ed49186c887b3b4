"""The package index of a run: ``envbisect.packages`` behind the interface that the space needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from envbisect.space.index import Answer, Needs, Question, RequirementsConflict, Rung, Rungs, SourceBuildFailed

if TYPE_CHECKING:
    from envbisect.packages.config import IndexConfig
    from envbisect.packages.uv import Resolver


class UvPackages:
    """A ``PackageSource`` over the configured indexes, resolved by uv. Equal questions are asked once.

    Args:
        config: where packages come from.
        cache_dir: for pages and metadata, and in ``uv-resolve`` for uv: one cache for each set of build inputs, apart
            from the cache that environments are installed from. Outlives the run.
        offline: use only what is cached.
    """

    def __init__(self, config: IndexConfig, cache_dir: Path, *, offline: bool = False) -> None:
        from envbisect.packages.metadata import MetadataReader
        from envbisect.packages.simple import PackageIndex

        self._config = config
        self._uv_root = cache_dir / "uv-resolve"
        self._offline = offline
        self._index = PackageIndex(config, cache_dir / "index", offline=offline)
        self._metadata = MetadataReader(self._index)
        self._resolvers: dict[Path, Resolver] = {}
        self._answers: dict[Question, Answer] = {}

    def find_python(self, version: str) -> Path | None:
        """The interpreter of a version on this machine."""
        from envbisect.packages.pythons import find_python

        return find_python(version)

    def ladder(self, name: str, good: str, bad: str, *, python: str, exclude_newer: str) -> Rungs:
        """Published versions from ``good`` to ``bad``, installable on ``python``."""
        from envbisect.packages.ladder import ladder

        found = ladder(self._index, name, good, bad, python=python, exclude_newer=exclude_newer)
        return Rungs(
            tuple(Rung(step.version, step.upload_time) for step in found.steps),
            tuple(f"{version}: {reason}" for version, reason in found.off),
            found.dated,
        )

    def needs(self, releases: Sequence[tuple[str, str]], *, python: str) -> Mapping[tuple[str, str], Needs]:
        """Metadata of (name, version) pairs, many at a time; what only a build could tell is missing."""
        self._index.prefetch(name for name, _ in releases)
        found = self._metadata.prefetch(releases, python=python)
        return {
            key: Needs(tuple(str(requirement) for requirement in metadata.requires_dist), metadata.requires_python)
            for key, metadata in found.items()
            if metadata is not None
        }

    def resolve(self, question: Question) -> Answer:
        """Resolve with uv: from its cache if that is as good as the index, else from the index."""
        if question not in self._answers:
            self._answers[question] = self._resolve(question)
        return self._answers[question]

    def close(self) -> None:
        """Close the connections."""
        self._index.close()

    def _resolve(self, question: Question) -> Answer:
        from envbisect.packages.uv import BuildFailed, Conflict

        try:
            resolution = self._resolver(question).resolve(
                question.requirements,
                python=question.python,
                constraints=question.constraints,
                overrides=question.overrides,
                exclude_newer=question.exclude_newer,
            )
        except Conflict as conflict:
            raise RequirementsConflict(conflict.reason, conflict.packages) from conflict
        except BuildFailed as failure:
            raise SourceBuildFailed(str(failure), failure.pin) from failure
        notes = [f"uv: {note}" for note in resolution.notes]
        if resolution.undated:
            names = ", ".join(resolution.undated)
            notes.append(f"an index without upload times: no cut-off moment applies to {names}")
        return Answer(resolution.closure, resolution.via, tuple(notes))

    def _resolver(self, question: Question) -> Resolver:
        from envbisect.packages.caches import build_cache_dir
        from envbisect.packages.uv import Resolver

        folder = build_cache_dir(self._uv_root, python=question.python, exclude_newer=question.exclude_newer)
        if folder not in self._resolvers:
            self._resolvers[folder] = Resolver(self._config, folder, index=self._index, offline=self._offline)
        return self._resolvers[folder]

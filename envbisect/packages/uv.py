"""Resolution with uv: a list of requirements becomes a closure, or a reason why there is none."""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.packages import uvtext
from envbisect.packages.caches import build_cache_dir
from envbisect.packages.config import IndexConfig, uv_environ
from envbisect.packages.pythons import find_python
from envbisect.packages.simple import PackageIndex, Project, parse_filename
from envbisect.packages.transport import SILENT_RETRIES
from envbisect.packages.uvanswer import (
    Answer,
    BuildFailed,
    Conflict,
    Question,
    Resolution,
    explained,
    name_of,
    resolution_of,
)
from envbisect.packages.uvtext import Failure
from envbisect.process.run import run_group

__all__ = ["BuildFailed", "Conflict", "Resolution", "Resolver", "find_uv", "name_of"]

RESOLVE_DEADLINE_S: Final = 900.0
"""A resolution may have to build source distributions to learn their requirements."""


def find_uv() -> Path:
    """uv's executable: the one installed beside this interpreter, else the first on PATH.

    Raises:
        EnvironmentFailure: there is none.
    """
    try:
        from uv import find_uv_bin

        return Path(find_uv_bin())
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if found is None:
        raise EnvironmentFailure("uv is not installed", f"Install it: {sys.executable} -m pip install uv")
    return Path(found)


class Resolver:
    """Resolves requirements for a Python of this machine. Safe to use from several threads.

    Args:
        config: where packages come from.
        cache_dir: root of uv's caches, one for each set of build inputs (``caches.build_cache_dir``).
        index: asked whether a package has upload times at all; None: made when needed.
        offline: only what is cached.
    """

    def __init__(
        self, config: IndexConfig, cache_dir: Path, *, index: PackageIndex | None = None, offline: bool = False
    ) -> None:
        self.config = config
        self.cache_dir = cache_dir
        self.offline = offline
        self._index = index
        self._dateless: set[str] = set()  # packages that a cut-off date would hide altogether
        self._seen: set[str] = set()  # packages whose pages an online run of this process has read
        self._lock = threading.Lock()

    def resolve(
        self,
        requirements: Sequence[str],
        *,
        python: str,
        constraints: Sequence[str] = (),
        overrides: Sequence[str] = (),
        build_constraints: Sequence[str] = (),
        exclude_newer: str = "",
    ) -> Resolution:
        """Resolve ``requirements`` (PEP 508) for CPython ``python`` ("3.11", "3.11.7") on this machine.

        Answered from the cache alone once every package involved has been looked up by this instance.

        Args:
            constraints: limit what is chosen without asking for it.
            overrides: replace what packages say about the named ones.
            build_constraints: limit what source distributions are built with.
            exclude_newer: RFC 3339, exclusive; packages of an index without upload times are exempt, and named.

        Raises:
            Conflict: no solution.
            BuildFailed: a source distribution did not build.
            UsageError: a package or version does not exist, a requirement cannot be read, no such Python.
            EnvironmentFailure: network, disk, or a failure of uv that is not understood.
        """
        interpreter = find_python(python)
        if interpreter is None:
            raise UsageError(
                f"Python {python} is not on this machine", f"Install it, for example with: uv python install {python}"
            )
        question = Question(
            requirements=tuple(requirements),
            constraints=tuple(constraints),
            overrides=tuple(overrides),
            build_constraints=tuple(build_constraints),
            python=python,
            interpreter=interpreter,
            exclude_newer=exclude_newer,
            undated=tuple(sorted(self._dateless)) if exclude_newer else (),
        )
        answer = self._ask(question)
        while freed := self._undated(answer, question):
            question = replace(question, undated=(*question.undated, *freed))
            answer = self._ask(question)
        if answer.exit_code:
            raise explained(answer, question, self.config, self._project)
        return resolution_of(answer, question)

    def _ask(self, question: Question) -> Answer:
        """From the cache if that is as good as the index, else from the index."""
        if self.offline or self._knows(question.names()):
            answer = self._run(question, offline=True)
            if self.offline or self._is_settled(answer):
                return answer
        answer = self._run(question, offline=False)
        if answer.exit_code == 0:
            with self._lock:
                self._seen |= {name_of(text) for text, _ in uvtext.parse_compiled(answer.stdout)} | question.names()
        return answer

    def _knows(self, names: Iterable[str]) -> bool:
        with self._lock:
            return self._seen.issuperset(names)

    def _is_settled(self, answer: Answer) -> bool:
        """Whether the index could not answer otherwise: everything involved was looked up before."""
        if answer.exit_code == 0:
            return self._knows(name_of(text) for text, _ in uvtext.parse_compiled(answer.stdout))
        verdict = uvtext.classify(answer.stderr)
        return verdict.failure is Failure.CONFLICT and self._knows(verdict.subjects)

    def _undated(self, answer: Answer, question: Question) -> tuple[str, ...]:
        """Packages to exempt from the cut-off date after a failure: without any date, or with a pin that has none."""
        if answer.exit_code == 0 or not question.exclude_newer:
            return ()
        parsed = (parse_filename(filename) for filename in uvtext.undated(answer.stderr))
        names = dict.fromkeys(found[0] for found in parsed if found is not None)
        dateless, pinned = [], []
        for name in names.keys() - set(question.undated):
            project = self._project(name)
            release = project.get(question.pinned_version(name) or "")
            if not project.dated:
                dateless.append(name)
            elif release is not None and not release.upload_time:
                pinned.append(name)
        with self._lock:
            self._dateless.update(dateless)
        return tuple(sorted(dateless + pinned))

    def _project(self, name: str) -> Project:
        with self._lock:
            if self._index is None:
                self._index = PackageIndex(self.config, self.cache_dir / "pages", offline=self.offline)
            index = self._index
        return index.project(name)

    def _run(self, question: Question, *, offline: bool) -> Answer:
        environ = uv_environ(self.config)
        environ.pop("UV_CONSTRAINT", None)  # an option would replace it, and it cannot hold a path with a space
        cache = build_cache_dir(
            self.cache_dir,
            python=question.python,
            exclude_newer=question.exclude_newer,
            build_constraints=question.build_constraints,
        )
        environ.setdefault("UV_HTTP_RETRIES", str(SILENT_RETRIES))  # a silent index costs the timeout at every try
        environ |= {"UV_CACHE_DIR": str(cache), "GIT_TERMINAL_PROMPT": "0"}
        with tempfile.TemporaryDirectory(prefix="envbisect-resolve-") as name:
            folder = Path(name)
            command = [
                str(find_uv()), "pip", "compile", "--color", "never", "--no-progress", "--no-header",
                "--annotation-style", "line", "--no-python-downloads", "--python", str(question.interpreter),
            ]  # fmt: skip
            command += [part for path in self.config.constraints for part in ("--constraints", path)]
            for option, lines in (
                ("--constraints", question.constraints),
                ("--overrides", question.overrides),
                ("--build-constraints", question.build_constraints),
            ):
                if lines:
                    command += [option, str(_listed(folder / f"{option.strip('-')}.txt", lines))]
            if question.exclude_newer:
                command += ["--exclude-newer", question.exclude_newer]
            command += [part for one in question.undated for part in ("--exclude-newer-package", f"{one}=false")]
            command += ["--offline"] if offline else []
            command.append(str(_listed(folder / "requirements.in", question.requirements)))
            return _finished(command, environ, folder)


def _listed(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def _finished(command: Sequence[str], environ: Mapping[str, str], folder: Path) -> Answer:
    stdout, stderr = folder / "stdout", folder / "stderr"
    try:
        end = run_group(
            command,
            environ=environ,
            cwd=folder,
            stdout=stdout,
            stderr=stderr,
            deadline_s=RESOLVE_DEADLINE_S,
            scratch=folder,
        )
    except OSError as error:
        raise EnvironmentFailure(f"uv cannot be started: {error}", "Install uv again.") from error
    if end.timed_out:
        raise EnvironmentFailure(
            f"uv did not resolve within {RESOLVE_DEADLINE_S:.0f} s", "Is the index slow, or does a build hang?"
        )
    return Answer(end.exit_code, stdout.read_text("utf-8", "replace"), stderr.read_text("utf-8", "replace"))

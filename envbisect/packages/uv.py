"""Resolution with uv: a list of requirements becomes a closure, or a reason why there is none."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, assert_never

from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.manifest.stack import Closure, GitSource, Pin
from envbisect.packages import uvtext
from envbisect.packages.caches import build_cache_dir
from envbisect.packages.config import IndexConfig, uv_environ
from envbisect.packages.pythons import find_python
from envbisect.packages.simple import PackageIndex, parse_filename
from envbisect.packages.sources import local_path, masked
from envbisect.packages.uvtext import Failure
from envbisect.process.run import run_group

RESOLVE_DEADLINE_S: Final = 900.0
"""A resolution may have to build source distributions to learn their requirements."""


class Conflict(Exception):  # noqa: N818 - an answer about the stack, not a failure of the tool
    """The requirements contradict each other, this Python or this platform.

    Attributes:
        reason: the resolver's words, one line.
        packages: canonical names that the explanation speaks of.
    """

    def __init__(self, reason: str, packages: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.packages = packages


class BuildFailed(Exception):  # noqa: N818 - an answer about the stack, not a failure of the tool
    """A source distribution had to be built to learn its requirements, and did not build.

    Attributes:
        pin: what failed ("pyyaml==5.4"), as uv names it.
        log: uv's whole output.
    """

    def __init__(self, pin: str, log: str) -> None:
        super().__init__(f"{pin} does not build")
        self.pin = pin
        self.log = log


@dataclass(frozen=True, slots=True)
class Resolution:
    """``via`` maps every package to those that require it (canonical names); roots that nobody requires map to ().

    ``notes`` are uv's warnings: yanked versions, extras that do not exist; ``undated`` names packages whose index
    gives no upload times, so that the cut-off date could not be applied to them.
    """

    closure: Closure
    via: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()
    undated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Question:
    requirements: tuple[str, ...]
    constraints: tuple[str, ...]
    overrides: tuple[str, ...]
    build_constraints: tuple[str, ...]
    python: str
    interpreter: Path
    exclude_newer: str
    undated: tuple[str, ...] = ()  # exempt from exclude_newer

    def exact_pins(self) -> frozenset[str]:
        """The "name==version" that were asked for, canonical, as uv repeats them."""
        return frozenset(
            f"{name_of(text)}=={version}"
            for text in (*self.requirements, *self.constraints, *self.overrides)
            if (version := text.partition(";")[0].partition("==")[2].strip())
        )

    def names(self) -> frozenset[str]:
        return frozenset(name_of(text) for text in (*self.requirements, *self.overrides))


@dataclass(frozen=True, slots=True)
class _Answer:
    exit_code: int
    stdout: str
    stderr: str


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
        question = _Question(
            requirements=tuple(requirements),
            constraints=tuple(constraints),
            overrides=tuple(overrides),
            build_constraints=tuple(build_constraints),
            python=python,
            interpreter=interpreter,
            exclude_newer=exclude_newer,
        )
        answer = self._ask(question)
        while freed := self._undated(answer, question):
            question = replace(question, undated=(*question.undated, *freed))
            answer = self._ask(question)
        if answer.exit_code:
            raise _explained(answer, question, self.config)
        return _resolution(answer, question)

    def _ask(self, question: _Question) -> _Answer:
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

    def _is_settled(self, answer: _Answer) -> bool:
        """Whether the index could not answer otherwise: everything involved was looked up before."""
        if answer.exit_code == 0:
            return self._knows(name_of(text) for text, _ in uvtext.parse_compiled(answer.stdout))
        verdict = uvtext.classify(answer.stderr)
        return verdict.failure is Failure.CONFLICT and self._knows(verdict.subjects)

    def _undated(self, answer: _Answer, question: _Question) -> tuple[str, ...]:
        """Packages to exempt from the cut-off date after a failure, because no source dates any file of theirs."""
        if answer.exit_code == 0 or not question.exclude_newer:
            return ()
        parsed = (parse_filename(filename) for filename in uvtext.undated(answer.stderr))
        names = dict.fromkeys(found[0] for found in parsed if found is not None)
        index = self._index or PackageIndex(self.config, self.cache_dir / "envbisect-pages", offline=self.offline)
        self._index = index
        return tuple(name for name in names if name not in question.undated and not index.project(name).dated)

    def _run(self, question: _Question, *, offline: bool) -> _Answer:
        environ = uv_environ(self.config)
        constraints = environ.pop("UV_CONSTRAINT", "").split()  # an option would replace the variable
        cache = build_cache_dir(
            self.cache_dir,
            python=question.python,
            exclude_newer=question.exclude_newer,
            build_constraints=question.build_constraints,
        )
        environ |= {"UV_CACHE_DIR": str(cache), "GIT_TERMINAL_PROMPT": "0"}
        with tempfile.TemporaryDirectory(prefix="envbisect-resolve-") as name:
            folder = Path(name)
            command = [
                str(find_uv()), "pip", "compile", "--color", "never", "--no-progress", "--no-header",
                "--annotation-style", "line", "--no-python-downloads", "--python", str(question.interpreter),
            ]  # fmt: skip
            command += [part for path in constraints for part in ("--constraints", path)]
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


def _finished(command: Sequence[str], environ: Mapping[str, str], folder: Path) -> _Answer:
    stdout, stderr = folder / "stdout", folder / "stderr"
    try:
        end = run_group(
            command, environ=environ, cwd=folder, stdout=stdout, stderr=stderr, deadline_s=RESOLVE_DEADLINE_S
        )
    except OSError as error:
        raise EnvironmentFailure(f"uv cannot be started: {error}", "Install uv again.") from error
    if end.timed_out:
        raise EnvironmentFailure(
            f"uv did not resolve within {RESOLVE_DEADLINE_S:.0f} s", "Is the index slow, or does a build hang?"
        )
    return _Answer(end.exit_code, stdout.read_text("utf-8", "replace"), stderr.read_text("utf-8", "replace"))


def name_of(requirement: str) -> str:
    """The canonical name of a PEP 508 requirement; an unreadable one is its own name.

    >>> name_of("Typing_Extensions[x] >= 4 ; python_version < '4'")
    'typing-extensions'
    """
    from packaging.utils import canonicalize_name

    match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", requirement)
    return canonicalize_name(match[1]) if match else requirement


def _resolution(answer: _Answer, question: _Question) -> Resolution:
    compiled = uvtext.parse_compiled(answer.stdout)
    pins = [_pin(text) for text, _ in compiled]
    via = {
        pin.name: tuple(name_of(parent) for parent in parents) for pin, (_, parents) in zip(pins, compiled, strict=True)
    }
    closure = Closure.of(question.python, pins, question.exclude_newer)
    return Resolution(closure, via, tuple(masked(note) for note in uvtext.notes(answer.stderr)), question.undated)


def _pin(text: str) -> Pin:
    from packaging.requirements import Requirement

    requirement = Requirement(text)
    name = name_of(requirement.name)
    if requirement.url is None:
        return Pin(name, str(requirement.specifier).removeprefix("=="))
    if not requirement.url.startswith("git+"):
        raise UsageError(
            f"{name} comes from {masked(requirement.url)}, which is neither an index nor Git",
            "Put the archive into a folder and name that folder in python.index, then pin the version.",
        )
    url, _, revision = requirement.url.removeprefix("git+").partition("#")[0].rpartition("@")
    return Pin(name, "", GitSource(url, revision))


def _explained(answer: _Answer, question: _Question, config: IndexConfig) -> Exception:
    """The exception that a failed run stands for."""
    verdict = uvtext.classify(answer.stderr)
    words = masked(uvtext.reason(answer.stderr)) or f"exit code {answer.exit_code}"
    error: Exception
    match verdict.failure:
        case Failure.NO_PACKAGE if not question.names().isdisjoint(verdict.subjects):
            missing = next(name for name in verdict.subjects if name in question.names())
            error = UsageError(f"no package {missing} in {config.describe()}", "Check its spelling, or add its index.")
        case Failure.NO_VERSION if not question.exact_pins().isdisjoint(verdict.subjects):
            error = _unpublished(
                next(pin for pin in verdict.subjects if pin in question.exact_pins()), answer, question
            )
        case Failure.CONFLICT | Failure.NO_PACKAGE | Failure.NO_VERSION:
            packages = uvtext.mentioned(uvtext.plain(answer.stderr))
            error = Conflict(words + _constraint_note(config, packages), packages)
        case Failure.BUILD:
            error = BuildFailed(_built(verdict.subjects[0]), masked(uvtext.plain(answer.stderr)))
        case Failure.OFFLINE:
            error = EnvironmentFailure(f"not in the cache: {words}", "Run once without --offline.")
        case Failure.NETWORK:
            error = EnvironmentFailure(f"the index cannot be reached: {words}", "Check the network and the index.")
        case Failure.MACHINE:
            error = EnvironmentFailure(f"uv failed on this machine: {words}", "Make room, or check the permissions.")
        case Failure.INPUT:
            error = UsageError(f"a requirement cannot be resolved: {words}", "Correct it in the manifest.")
        case Failure.UNKNOWN:
            error = EnvironmentFailure(f"uv failed: {words}", "Run uv by hand with the same requirements to see why.")
        case _:
            assert_never(verdict.failure)
    return error


def _built(subject: str) -> str:
    """What uv calls "name==1.0", "name @ URL" or a path, as "name==version", or the name alone for a Git pin."""
    if "==" in subject:
        return f"{name_of(subject)}=={subject.partition('==')[2]}"
    archive = parse_filename(subject.rpartition("/")[2].partition("#")[0])
    return f"{archive[0]}=={archive[1]}" if archive else name_of(subject)


def _constraint_note(config: IndexConfig, packages: tuple[str, ...]) -> str:
    """Which configured constraint files speak of ``packages``: nobody remembers them when a pin is refused."""
    guilty = []
    for place in config.constraints:
        path = local_path(place)
        lines = path.read_text("utf-8", "replace").splitlines() if path is not None and path.is_file() else []
        if {name_of(line) for line in lines} & set(packages):
            guilty.append(place)
    return f" (constrained by {', '.join(guilty)})" if guilty else ""


def _unpublished(pin: str, answer: _Answer, question: _Question) -> UsageError:
    name, _, version = pin.partition("==")
    if name in uvtext.too_new(answer.stderr):
        return UsageError(
            f"{name} {version} was published after python.exclude_newer ({question.exclude_newer})",
            "Move exclude_newer behind the upload of the newest pin; it is exclusive.",
        )
    return UsageError(f"{name} {version} is not published", "Check the version against the index.")

"""What was asked of uv and what it answered, as values: a closure, or the exception that a failure stands for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.manifest.stack import Closure, GitSource, Pin
from envbisect.packages import uvtext
from envbisect.packages.config import IndexConfig
from envbisect.packages.simple import Project, parse_filename
from envbisect.packages.sources import local_path, masked
from envbisect.packages.uvtext import Failure


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
class Question:
    """One resolution; the texts are PEP 508 requirements."""

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

    def pinned_version(self, name: str) -> str | None:
        """The exact version asked for ``name``, if any."""
        start = f"{name}=="
        return next((pin.removeprefix(start) for pin in self.exact_pins() if pin.startswith(start)), None)

    def names(self) -> frozenset[str]:
        """The packages that are asked for (canonical)."""
        return frozenset(name_of(text) for text in (*self.requirements, *self.overrides))


@dataclass(frozen=True, slots=True)
class Answer:
    """How a run of uv ended."""

    exit_code: int
    stdout: str
    stderr: str


def name_of(requirement: str) -> str:
    """The canonical name of a PEP 508 requirement; an unreadable one is its own name.

    >>> name_of("Typing_Extensions[x] >= 4 ; python_version < '4'")
    'typing-extensions'
    """
    from packaging.utils import canonicalize_name

    match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", requirement)
    return canonicalize_name(match[1]) if match else requirement


def resolution_of(answer: Answer, question: Question) -> Resolution:
    """The resolution that a successful run printed."""
    compiled = uvtext.parse_compiled(answer.stdout)
    pins = [_pin(text) for text, _ in compiled]
    via = {
        pin.name: tuple(name_of(parent) for parent in parents) for pin, (_, parents) in zip(pins, compiled, strict=True)
    }
    closure = Closure.of(question.python, pins, question.exclude_newer)
    undated = tuple(name for name in question.undated if name in via)
    return Resolution(closure, via, tuple(masked(note) for note in uvtext.notes(answer.stderr)), undated)


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


def explained(answer: Answer, question: Question, config: IndexConfig, project: Callable[[str], Project]) -> Exception:
    """The exception that a failed run stands for. ``project`` looks a package up, to name a version's neighbours."""
    verdict = uvtext.classify(answer.stderr)
    words = masked(uvtext.reason(answer.stderr)) or f"exit code {answer.exit_code}"
    error: Exception
    if refused := _refused(uvtext.pageless(answer.stderr), project):
        return refused
    match verdict.failure:
        case Failure.NO_PACKAGE if not question.names().isdisjoint(verdict.subjects):
            missing = next(name for name in verdict.subjects if name in question.names())
            error = UsageError(f"no package {missing} in {config.describe()}", "Check its spelling, or add its index.")
        case Failure.NO_VERSION if not question.exact_pins().isdisjoint(verdict.subjects):
            pin = next(pin for pin in verdict.subjects if pin in question.exact_pins())
            error = _unpublished(pin, answer, question, project)
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


def _refused(names: tuple[str, ...], project: Callable[[str], Project]) -> EnvironmentFailure | None:
    """Why an index gave uv no page of ``names``, if the reason lies in the index: to uv, denied and absent are one."""
    for name in names:
        try:
            project(name)
        except EnvironmentFailure as error:
            return error
        except UsageError:  # truly not there
            continue
    return None


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


def _unpublished(pin: str, answer: Answer, question: Question, project: Callable[[str], Project]) -> UsageError:
    name, _, version = pin.partition("==")
    if name in uvtext.too_new(answer.stderr):
        return UsageError(
            f"{name} {version} was published after python.exclude_newer ({question.exclude_newer})",
            "Move exclude_newer behind the upload of the newest pin; it is exclusive.",
        )
    try:
        project(name).require(version)
    except UsageError as error:
        return error
    return UsageError(
        f"uv finds no {name} {version}", "Is it on another index than the first one that has the package?"
    )

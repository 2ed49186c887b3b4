"""The user's own program: the first-parent commits between two revisions of a local repository."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.manifest.paths import is_url
from envbisect.space.deltas import Delta
from envbisect.space.model import Axis, Step, StepSource
from envbisect.space.sources.interface import Proposal, Scene

if TYPE_CHECKING:
    from git import Repo

CODE_REPO: Final = "code.repo"
CODE_REV: Final = "code.rev"
_FORMAT: Final = "--format=%H%x00%cI%x00%s"


def propose(delta: Delta, scene: Scene) -> Proposal | None:
    """The ladder of ``code.rev``. A repository that is only a URL has no history here and leaves a flag.

    Diverged revisions go through their merge base first: good, base, then first-parent to bad.

    Raises:
        UsageError: the repository or one of the revisions does not exist.
        EnvironmentFailure: there is no git on this machine.
    """
    if delta.key != CODE_REV or not isinstance(delta.good, str) or not isinstance(delta.bad, str):
        return None
    repository = scene.components.get(CODE_REPO)  # two repositories have no common history
    if not isinstance(repository, str) or is_url(repository):
        return None
    history = first_parent_history(scene.folder / repository, delta.good, delta.bad)
    source = StepSource.COMMITS if len(history.steps) > 2 else StepSource.FLAG
    return Proposal(Axis(delta.key, history.steps, source), history.notes)


@dataclass(frozen=True, slots=True)
class History:
    """Steps from the good revision to the bad one."""

    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()


def first_parent_history(folder: Path, good: str, bad: str) -> History:
    """The commits from ``good`` to ``bad``, each with its commit date and subject."""
    try:
        import git
    except ImportError as problem:
        raise EnvironmentFailure(
            "[code] rev needs git, which this machine does not have", "install git (apt-get install git)"
        ) from problem
    try:
        repo = git.Repo(folder, search_parent_directories=True)
    except (git.InvalidGitRepositoryError, git.NoSuchPathError) as problem:
        raise UsageError(
            f"[code] repo: {folder} is no Git repository", "name the folder that holds the program's .git"
        ) from problem
    with repo:
        return _history(repo, good, bad)


def _history(repo: Repo, good: str, bad: str) -> History:
    first, last = _commit(repo, good), _commit(repo, bad)
    if first == last:
        return History((_end(repo, good, first), _end(repo, bad, last)), (f"{good} and {bad} are one commit",))
    bases = str(repo.git.execute(["git", "merge-base", first, last], with_exceptions=False)).split()
    ends = _end(repo, good, first), _end(repo, bad, last)
    if not bases:
        return History(ends, (f"{good} and {bad} have no common history: nothing is known between them",))
    base = bases[0]
    if base == first:
        return History((ends[0], *_between(repo, first, last), ends[1]))
    if base == last:  # a downgrade: the same ladder, walked down
        return History((ends[0], *reversed(_between(repo, last, first)), ends[1]))
    between = [_step(repo, base, base, "merge base"), *_between(repo, base, last)]
    note = f"{good} and {bad} have diverged: their merge base {base[:12]} is tried between them"
    return History((ends[0], *between, ends[1]), (note,))


def _commit(repo: Repo, rev: str) -> str:
    from git import GitCommandError

    try:
        if rev.startswith("-"):
            raise ValueError(rev)
        return str(repo.git.rev_parse("--verify", "--quiet", rev + "^{commit}"))
    except (GitCommandError, ValueError) as problem:
        where = repo.working_dir or repo.git_dir
        raise UsageError(
            f"[code] rev: {rev!r} is no commit of {where}", "check the name, or fetch it (git fetch --unshallow)"
        ) from problem


def _between(repo: Repo, older: str, newer: str) -> list[Step]:
    """First-parent commits strictly between, oldest first."""
    text = str(repo.git.log("--first-parent", "--reverse", _FORMAT, f"{older}..{newer}"))
    steps = [_parse(line) for line in text.splitlines()]
    return [step for step in steps if step.value != newer]


def _end(repo: Repo, rev: str, sha: str) -> Step:
    """An end keeps the manifest's own abbreviation; a branch or tag, which may move, becomes its commit."""
    if sha.startswith(rev):
        return _step(repo, sha, rev)
    return _step(repo, sha, sha, rev)


def _step(repo: Repo, sha: str, value: str, prefix: str = "") -> Step:
    step = _parse(str(repo.git.log("-1", _FORMAT, sha)))
    return Step(value, step.date, f"{prefix}: {step.note}" if prefix else step.note)


def _parse(line: str) -> Step:
    sha, date, subject = line.split("\0", 2)
    return Step(sha, date, subject)

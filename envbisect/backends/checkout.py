"""``[code]``: the user's program at a revision, in a clone of our own; the user's repository is never touched.

A local repository is cloned with ``--shared``: nothing is copied but the files of the revision, nothing is written to
the origin (``git worktree`` would register there). A remote one is mirrored once for the session, then the same.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from envbisect.backends.interface import InfrastructureFault, Unbuildable
from envbisect.errors import UsageError
from envbisect.manifest.stack import Stack
from envbisect.process.run import run_group

GIT_TIMEOUT_S: Final = 1800.0
# Of GIT_* only what helps to reach a server is kept: GIT_DIR and its like, set inside hooks, mean another repository.
_KEPT = ("GIT_SSH", "GIT_SSL", "GIT_ASKPASS", "GIT_PROXY", "GIT_CONFIG", "GIT_HTTP")
_NETWORK = (
    "Could not resolve host",
    "unable to access",
    "Connection refused",
    "Connection timed out",
    "Network is unreachable",
    "Could not read from remote repository",
    "early EOF",
    "unexpected disconnect",
    "could not read Username",
    "No space left on device",
    "Read-only file system",
)


@dataclass(frozen=True, slots=True)
class Source:
    """A program or package in Git, as pinned. ``folder`` is what a relative ``url`` or patch path means."""

    url: str
    rev: str
    patches: tuple[Path, ...]
    folder: Path

    @property
    def local(self) -> Path | None:
        """The repository's folder if it is on this machine."""
        path = self.url.removeprefix("file://")
        if "://" in path or (":" in path.partition("/")[0] and not (self.folder / path).exists()):
            return None  # https://…, or git@host:path
        return (self.folder / path).resolve()


def code_of(stack: Stack) -> Source | None:
    """The ``[code]`` of a stack; None if it pins no revision (then the test runs where its manifest lies)."""
    code = stack.table("code")
    rev = code.get("rev")
    if rev is None:
        return None
    patch = code.get("dirty_patch")
    patches = (stack.folder / str(patch),) if patch is not None else ()
    return Source(str(code.get("repo") or "."), str(rev), patches, stack.folder)


class Checkouts:
    """Clones below ``root``, one a (revision, patches, variant); asked for twice, made once."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self.root = root
        self._lock = threading.Lock()
        self._environ = {
            name: value for name, value in environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)
        } | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}

    def get(self, source: Source, variant: str = "") -> tuple[Path, str, bool]:
        """The folder of the checkout, its key, and whether it was there already.

        ``variant`` tells checkouts of one revision apart into which different files are put afterwards.

        Raises:
            UsageError: no such repository, revision or patch file.
            Unbuildable: a patch does not apply to this revision.
            InfrastructureFault: the repository cannot be reached, or the disk is full.
        """
        with self._lock:
            return self._get(source, variant)

    def place_of(self, source: Source, checkout: Path) -> Path:
        """Where the manifest's folder is in ``checkout``; the checkout itself if the manifest lies elsewhere.

        Raises:
            Unbuildable: this revision has no such folder.
        """
        if source.local is None:
            return checkout
        top = Path(self._git(source, ["rev-parse", "--show-toplevel"], source.local, missing_ok=True) or source.local)
        folder = source.folder.resolve()
        if not folder.is_relative_to(top):
            return checkout
        place = checkout / folder.relative_to(top)
        if not place.is_dir():
            raise Unbuildable(f"revision {source.rev} of {source.url} has no folder {folder.relative_to(top)}")
        return place

    def _get(self, source: Source, variant: str) -> tuple[Path, str, bool]:
        digests = []
        for patch in source.patches:
            if not patch.is_file():
                raise UsageError(f"the patch {patch} does not exist", "paths of patches are relative to their manifest")
            digests.append(hashlib.sha256(patch.read_bytes()).hexdigest())
        origin = self._origin(source)
        commit = self._commit(source, origin)
        key = hashlib.sha256("\n".join([str(origin), commit, *digests, variant]).encode()).hexdigest()[:16]
        target, done = self.root / key, self.root / f"{key}.done"
        if done.exists():
            return target, key, True
        shutil.rmtree(target, ignore_errors=True)
        self.root.mkdir(parents=True, exist_ok=True)
        self._git(source, ["clone", "--quiet", "--shared", "--no-checkout", str(origin), str(target)], self.root)
        self._git(source, ["checkout", "--quiet", "--detach", commit], target)
        if (target / ".gitmodules").exists():
            self._git(source, ["submodule", "--quiet", "update", "--init", "--recursive"], target)
        for patch in source.patches:
            self._apply(source, patch.resolve(), target)
        done.touch()
        return target, key, False

    def _origin(self, source: Source) -> Path:
        """The local repository, or the session's mirror of a remote one."""
        if source.local is not None:
            if not source.local.exists():
                raise UsageError(f"there is no repository {source.local}", "repo is relative to its manifest")
            return source.local
        mirror = self.root / f"{hashlib.sha256(source.url.encode()).hexdigest()[:16]}.git"
        if not (mirror / "HEAD").exists():
            self.root.mkdir(parents=True, exist_ok=True)
            partial = mirror.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            self._git(source, ["clone", "--quiet", "--mirror", source.url, str(partial)], self.root)
            partial.rename(mirror)
        return mirror

    def _commit(self, source: Source, origin: Path) -> str:
        revision = f"{source.rev}^{{commit}}"
        arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", revision]
        commit = self._git(source, arguments, origin, missing_ok=True)
        if not commit:
            raise UsageError(
                f"{source.url} has no revision {source.rev}", "give a commit, tag or branch that is there (git log)"
            )
        return commit.splitlines()[-1]

    def _apply(self, source: Source, patch: Path, target: Path) -> None:
        code, output = self._run(["apply", "--whitespace=nowarn", str(patch)], target)
        if code:
            raise Unbuildable(f"{patch.name} does not apply to {source.url} at {source.rev}", output)

    def _git(self, source: Source, arguments: Sequence[str], cwd: Path, missing_ok: bool = False) -> str:
        code, output = self._run(arguments, cwd)
        if code == 0:
            return output.strip()
        reason = next((line for line in reversed(output.splitlines()) if line.strip()), f"exit code {code}")
        message = f"git {arguments[0]} of {_masked(source.url)} failed: {_masked(reason)}"
        if any(sign in output for sign in _NETWORK):
            raise InfrastructureFault(message, "check the network, the address and the disk, then resume")
        if missing_ok:
            return ""
        raise UsageError(message, "is it a Git repository that you may read?")

    def _run(self, arguments: Sequence[str], cwd: Path) -> tuple[int, str]:
        """Exit code and whole output; hooks and prompts of the user's configuration are kept out."""
        import tempfile

        command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false", *arguments]
        with tempfile.TemporaryDirectory(prefix="envbisect-") as folder:
            log = Path(folder) / "git.log"
            try:
                finished = run_group(
                    command,
                    environ=self._environ,
                    cwd=cwd,
                    stdout=log,
                    stderr=log,
                    deadline_s=GIT_TIMEOUT_S,
                    scratch=log.parent,
                )
            except FileNotFoundError as error:
                if error.filename != "git":
                    raise UsageError(f"there is no folder {cwd}", "repo is relative to its manifest") from error
                raise InfrastructureFault("git is not installed", "install git; [code] needs it") from error
            return finished.exit_code, log.read_text(errors="replace")


def _masked(text: str) -> str:
    """Without the password of any URL in it."""
    return re.sub(r"(\w+://)[^/@\s]+@", r"\1***@", text)

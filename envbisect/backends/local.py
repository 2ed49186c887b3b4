"""Runtime ``local``: an interpreter as it is; what moves is environment variables, flags, code and inputs."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from envbisect.backends.checkout import Checkouts, code_of
from envbisect.backends.environ import process_environ
from envbisect.backends.inputs import Inputs
from envbisect.backends.interface import Environment, ProbeRun
from envbisect.backends.interpreter import Choice, Facts
from envbisect.backends.probe import run_payload
from envbisect.errors import UsageError
from envbisect.keys.spec import Mover
from envbisect.manifest.stack import Stack
from envbisect.process.supervisor import remove_tree

MOVES: Final = frozenset({Mover.ENV, Mover.TORCH, Mover.DATALOADER, Mover.LAUNCH, Mover.CODE, Mover.INPUTS})


class Workplace:
    """Where a test runs: the manifest's folder, or its place in a checkout of ``[code]``, with ``[inputs]`` checked."""

    def __init__(self, session: Path, environ: Mapping[str, str], input_folders: Sequence[Path] = ()) -> None:
        self._checkouts = Checkouts(session / "code", environ)
        self._inputs = Inputs(input_folders)

    def prepare(self, stack: Stack) -> tuple[Path, str, bool]:
        """The working directory, a key of the code's content (empty without ``[code]``), and whether it was there.

        Raises:
            UsageError, Unbuildable, InfrastructureFault: see ``Checkouts`` and ``Inputs``.
        """
        source = code_of(stack)
        if source is None:
            if not stack.folder.is_dir():
                raise UsageError(f"the manifest's folder {stack.folder} does not exist", "put it back, then resume")
            place, key, reused = stack.folder, "", True
        else:
            variant = json.dumps(stack.table("inputs"), sort_keys=True)
            checkout, key, reused = self._checkouts.get(source, variant)
            place = self._checkouts.place_of(source, checkout)
        self._inputs.check(stack, place, ours=source is not None)
        return place, key, reused


class LocalRuntime:
    """See the module's docstring. ``choice`` is the interpreter and the sentence that says why it was taken."""

    name = "local"
    moves = MOVES

    def __init__(
        self,
        *,
        session: Path,
        entry: Path,
        choice: Choice,
        managed_env: Collection[str] = (),
        inherited: Mapping[str, str] | None = None,
        input_folders: Sequence[Path] = (),
    ) -> None:
        """Ready to prepare.

        Args:
            session: the session's folder; checkouts go below it.
            entry: the payload's script.
            choice: the interpreter.
            managed_env: the variables that are pinned at either end of the comparison.
            inherited: the environment to start from; this process's own by default.
            input_folders: the folders of all manifests, where pinned inputs may be found.
        """
        session = session.absolute()  # a test runs in another folder
        self.choice = choice
        self._entry = entry
        self._managed = frozenset(managed_env)
        self._inherited = dict(os.environ if inherited is None else inherited)
        self._workplace = Workplace(session, self._inherited, input_folders)
        self._shims = session / "bin"
        self._code = session / "code"

    def prepare(self, stack: Stack) -> Environment:
        """Nothing is built but the checkout of ``[code]``, if there is one; see ``Runtime.prepare``."""
        started = time.monotonic()
        cwd, code_key, reused = self._workplace.prepare(stack)
        facts = self.choice.facts
        environ = process_environ(
            stack,
            self._inherited,
            managed=self._managed,
            path_first=path_of(facts, self._inherited, self._shims),
            virtual_env=facts.prefix if facts.in_venv else None,
            built=False,
        )
        key = hashlib.sha256(f"{facts.executable}\n{facts.version}\n{code_key}".encode()).hexdigest()[:16]
        build_s = 0.0 if reused else time.monotonic() - started
        return Environment(key, facts.executable, build_s, reused, cwd, environ)

    def run(self, environment: Environment, request: Mapping[str, object], folder: Path, deadline_s: float) -> ProbeRun:
        """See ``Runtime.run``."""
        return run_payload(environment, self._entry, request, folder, deadline_s)

    def close(self) -> None:
        """Remove the checkouts and the shims."""
        remove_tree(self._code)
        remove_tree(self._shims)


def path_of(facts: Facts, inherited: Mapping[str, str], shims: Path) -> tuple[Path, ...]:
    """What has to stand before PATH so that ``python`` and the interpreter's own scripts are the chosen ones.

    A virtual environment brings its folder. Any other interpreter may lie in /usr/bin, which must not jump ahead of
    the user's PATH: a folder with nothing but ``python`` goes first, its names being scripts and not links, because a
    link to an interpreter can change its prefix.
    """
    if facts.in_venv:
        return (facts.executable.parent,)
    found = shutil.which("python", path=inherited.get("PATH"))
    if found is not None and Path(found).resolve() == facts.executable.resolve():
        return ()
    shims.mkdir(parents=True, exist_ok=True)
    major, minor, _patch = facts.version.split(".")
    for name in ("python", f"python{major}", f"python{major}.{minor}"):
        shim = shims / name
        shim.write_text(f'#!/bin/sh\nexec {_quoted(facts.executable)} "$@"\n')
        shim.chmod(0o755)
    on_path = str(facts.scripts) in inherited.get("PATH", "").split(":")
    return (shims,) if on_path else (shims, facts.scripts)


def _quoted(path: Path) -> str:
    import shlex

    return shlex.quote(str(path))

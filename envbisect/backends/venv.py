"""Runtime ``venv``: every closure gets a virtual environment of its own, built with uv and kept for the session.

An environment is reused while only flags and variables move. A test that changes files of its environment is noticed
before the next use (size, times and inode of every file outside byte-code folders), and the environment is built anew:
the cache cannot have been damaged, see ``uvinstall``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from envbisect.backends.checkout import Checkouts, Source
from envbisect.backends.environ import process_environ
from envbisect.backends.interface import Environment, InfrastructureFault, ProbeRun, Unbuildable
from envbisect.backends.interpreter import same_version
from envbisect.backends.local import MOVES as LOCAL_MOVES
from envbisect.backends.local import Workplace
from envbisect.backends.probe import run_payload
from envbisect.backends.uvinstall import Installer, Order
from envbisect.errors import UsageError
from envbisect.keys.spec import Mover
from envbisect.manifest.stack import Closure, Pin, Stack
from envbisect.process.supervisor import remove_tree

MOVES: Final = LOCAL_MOVES | {Mover.PYTHON, Mover.PACKAGES}
MIN_FREE_BYTES: Final = 2 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is kept: beyond it the environment that was unused longest goes, and is built again when asked for."""

    environments: int = 40
    min_free_bytes: int = MIN_FREE_BYTES


class VenvRuntime:
    """See the module's docstring."""

    name = "venv"
    moves = MOVES

    def __init__(
        self,
        *,
        session: Path,
        entry: Path,
        uv: Path,
        uv_environ: Mapping[str, str],
        find_python: Callable[[str], Path | None],
        cache: Path | None = None,
        managed_env: Collection[str] = (),
        inherited: Mapping[str, str] | None = None,
        input_folders: Sequence[Path] = (),
        limits: Limits = Limits(),
    ) -> None:
        """Ready to prepare.

        Args:
            session: the session's folder; environments and checkouts go below it.
            entry: the payload's script.
            uv: uv's executable.
            uv_environ: the complete environment to run uv in, with where packages come from.
            find_python: an interpreter for a version, None if there is none.
            cache: our own package cache; default ``$XDG_CACHE_HOME/envbisect``.
            managed_env: the variables that are pinned at either end of the comparison.
            inherited: the environment that a test starts from; this process's own by default.
            input_folders: the folders of all manifests, where pinned inputs may be found.
        """
        session = session.absolute()  # uv runs in another folder
        self._entry = entry
        self._find_python = find_python
        self._managed = frozenset(managed_env)
        self._inherited = dict(os.environ if inherited is None else inherited)
        self._installer = Installer(uv, cache or default_cache(), uv_environ)
        self._workplace = Workplace(session, self._inherited, input_folders)
        self._sources = Checkouts(session / "sources", self._inherited)
        self._session = session
        self._folder = session / "environments"
        self._limits = limits
        self._used: OrderedDict[str, None] = OrderedDict()  # oldest first
        self._running: Counter[str] = Counter()
        self._lock = threading.Lock()

    def prepare(self, stack: Stack) -> Environment:
        """Build, or reuse, the environment of ``stack``; see ``Runtime.prepare``.

        Raises also UsageError: nothing is pinned, the Python is not on this machine, code or inputs are missing.
        """
        closure = stack.closure
        if closure is None:
            raise UsageError(
                "the venv runtime builds from [python.packages], and nothing is pinned there",
                "pin packages, or use --backend local with the interpreter that has them",
            )
        cwd, code_key, _ = self._workplace.prepare(stack)
        key = closure.identity()[:16]
        try:
            with self._lock:
                build_s = self._ensure(key, closure, stack.folder)
        except OSError as error:
            raise InfrastructureFault(
                f"no environment can be made in {self._folder}: {error.strerror}",
                "check its permissions and the disk, then resume",
            ) from error
        target = self._folder / key
        environ = process_environ(
            stack,
            self._inherited,
            managed=self._managed,
            path_first=(target / "bin",),
            virtual_env=target,
            built=True,
        )
        name = f"{key}-{code_key}" if code_key else key
        return Environment(name, target / "bin" / "python", build_s or 0.0, build_s is None, cwd, environ)

    def run(self, environment: Environment, request: Mapping[str, object], folder: Path, deadline_s: float) -> ProbeRun:
        """See ``Runtime.run``."""
        key = environment.python.parent.parent.name
        with self._lock:
            self._running[key] += 1
        try:
            return run_payload(environment, self._entry, request, folder, deadline_s)
        finally:
            with self._lock:
                self._running[key] -= 1

    def close(self) -> None:
        """Remove the environments and checkouts; the package cache stays."""
        for name in ("environments", "sources", "code"):
            remove_tree(self._session / name)

    def _ensure(self, key: str, closure: Closure, folder: Path) -> float | None:
        """Have the environment; the seconds that its build took, None if it was there."""
        started = time.monotonic()
        reused = self._is_whole(self._folder / key)
        if not reused:
            self._make_room(key)
            self._build(closure, folder, self._folder / key)
        self._used[key] = None
        self._used.move_to_end(key)
        return None if reused else time.monotonic() - started

    def _build(self, closure: Closure, folder: Path, target: Path) -> None:
        python = self._find_python(closure.python)
        if python is None:
            raise UsageError(
                f"Python {closure.python} is not on this machine",
                f"install it, for example with: uv python install {closure.python}",
            )
        order = self._order(closure, python, folder)
        remove_tree(target)
        target.with_suffix(".json").unlink(missing_ok=True)
        whole = False
        try:
            self._installer.install(order, target, target.with_suffix(".log"))
            _check_installed(closure, target)
            whole = True
        finally:  # also after Ctrl-C: half an environment must not be taken for one
            if not whole:
                remove_tree(target)
        target.with_suffix(".json").write_text(json.dumps({"schema": 1, "fingerprint": fingerprint(target)}))

    def _order(self, closure: Closure, python: Path, folder: Path) -> Order:
        """Index packages as pins; Git packages as folders at their revision with their patches."""
        lines, builds = [], False
        for pin in closure.pins:
            if pin.git is None:
                lines.append(pin.requirement())
                continue
            source = Source(pin.git.url.removeprefix("git+"), pin.git.rev, pin.git.patches, folder)
            checkout, _, _ = self._sources.get(source)
            lines.append(f"{pin.name} @ {checkout.absolute().as_uri()}")
            builds = True
        return Order(tuple(lines), python, closure.exclude_newer, builds)

    def _is_whole(self, target: Path) -> bool:
        """Whether ``target`` was finished and nobody has changed it since."""
        try:
            document = json.loads(target.with_suffix(".json").read_text())
        except (OSError, ValueError):
            return False
        return isinstance(document, dict) and document.get("fingerprint") == fingerprint(target)

    def _make_room(self, wanted: str) -> None:
        """Remove what was unused longest until the limits hold.

        Raises:
            InfrastructureFault: the disk is full of other things.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        for key in [key for key in self._used if key != wanted and not self._running[key]]:
            free = shutil.disk_usage(self._folder).free
            if len(self._used) < self._limits.environments and free >= self._limits.min_free_bytes:
                return
            del self._used[key]
            (self._folder / f"{key}.json").unlink(missing_ok=True)
            remove_tree(self._folder / key)
        if shutil.disk_usage(self._folder).free < self._limits.min_free_bytes // 20:
            raise InfrastructureFault(f"the disk of {self._folder} is full", "make room, then resume")


def default_cache() -> Path:
    """Our own package cache, apart from the user's: ``$XDG_CACHE_HOME/envbisect``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "envbisect"


def fingerprint(folder: Path) -> str:
    """Changes when any file below ``folder`` is written, replaced, added or removed; byte code does not count."""
    digest = hashlib.sha256()
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in {"__pycache__", "pycache"})
        for name in sorted(files):
            path = Path(root) / name
            status = path.lstat()
            entry = (str(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
            digest.update(repr(entry).encode())
    return digest.hexdigest()


def _check_installed(closure: Closure, target: Path) -> None:
    """What is installed is the closure, no more and no less.

    Raises:
        Unbuildable: it is not; a package that names itself otherwise, for example.
    """
    from packaging.utils import canonicalize_name

    found: dict[str, str] = {}
    for info in target.glob("lib/python*/site-packages/*.dist-info"):
        name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
        found[canonicalize_name(name)] = version
    wanted = {pin.name: pin for pin in closure.pins}
    if surplus := sorted(found.keys() - wanted.keys()):
        raise Unbuildable(f"the environment also has {', '.join(surplus)}, which nothing asked for")

    def differs(pin: Pin) -> bool:
        there = found.get(pin.name)
        return there is None or bool(pin.version and not same_version(pin.version, there))

    if wrong := [pin for pin in closure.pins if differs(pin)]:
        said = ", ".join(f"{pin.requirement()} ({found.get(pin.name, 'missing')})" for pin in wrong)
        raise Unbuildable(f"installed is not what was asked for: {said}", "", tuple(p.requirement() for p in wrong))

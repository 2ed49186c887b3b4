"""Install a closure with uv into a fresh virtual environment, without anything hidden in a cache.

**What a test writes into its environment must never reach the cache.** uv hardlinks by default: measured on ext4, an
append to an installed file changes the cached one and every later environment, and neither hashes nor ``uv pip check``
notice; "clone" falls back to hardlinks without a word where the file system cannot reflink. So files are *copied*, or
cloned where a trial of the FICLONE ioctl between cache and environment succeeds. Price, numpy + scipy + scikit-learn
(3 400 files, 229 MB) on two cores: 0.8 to 1.5 s copied, 0.4 to 0.6 s hardlinked. The cache is our own, so that
nobody else's environments share files with it either.

**What was built once must not answer for other build inputs.** uv keeps the wheel that it built from an sdist and uses
it again after the build tools have moved on: built once with Cython < 3, it "builds" for ever. Wheels of the index are
therefore installed first with ``--no-build`` from a common cache; only a closure that needs a build goes to a second
cache, one for each (exclude_newer, Python, compiler settings), which shares downloads with the first by links.

``exclude_newer`` reaches build dependencies only: the pins themselves are exact. A version that has vanished from the
index makes the stack unbuildable: nobody with this index can build it, however often. ``[env]`` of a manifest is the
test's environment and does not reach builds.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn, assert_never

from envbisect.backends.interface import InfrastructureFault, Unbuildable
from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.packages import uvtext
from envbisect.packages.config import read_config
from envbisect.packages.simple import PackageIndex
from envbisect.packages.sources import masked
from envbisect.packages.transport import SILENT_RETRIES
from envbisect.packages.uvtext import Failure
from envbisect.process.run import Finished, run_group

BUILD_DEADLINE_S: Final = 3600.0
FICLONE: Final = 0x40049409  # linux/fs.h
COMPILER_SETTINGS: Final = (
    *("CC", "CXX", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS", "CMAKE_ARGS", "SETUPTOOLS_USE_DISTUTILS", "ARCHFLAGS"),
    *("CUDA_HOME", "TORCH_CUDA_ARCH_LIST", "SETUPTOOLS_SCM_PRETEND_VERSION", "CARGO_BUILD_TARGET", "RUSTFLAGS"),
)
# Variables that would point uv or a build backend at another environment; constraints would contradict exact pins.
_NOT_FOR_UV: Final = (
    *("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "UV_CONSTRAINT", "UV_LINK_MODE", "UV_CACHE_DIR"),
)


@dataclass(frozen=True, slots=True)
class Order:
    """What to install: ``lines`` are exact requirements, ``exclude_newer`` is RFC 3339 or empty.

    ``builds`` is true if a line is a folder, which has to be built whatever the index has.
    """

    lines: tuple[str, ...]
    python: Path
    exclude_newer: str = ""
    builds: bool = False


class Installer:
    """Makes environments; ``cache`` is our own cache folder, ``environ`` the complete environment that uv runs in."""

    def __init__(self, uv: Path, cache: Path, environ: Mapping[str, str]) -> None:
        self._uv = uv
        self._cache = cache
        self._environ = {name: value for name, value in environ.items() if name not in _NOT_FOR_UV}
        self._environ["GIT_TERMINAL_PROMPT"] = "0"
        self._environ.setdefault("UV_HTTP_RETRIES", str(SILENT_RETRIES))  # whoever builds tries again as a whole
        self._wheelless: set[tuple[str, Path]] = set()  # pins that have to be built, by interpreter

    def install(self, order: Order, target: Path, log: Path) -> None:
        """Make the virtual environment ``target`` (what is there goes) and fill it; ``log`` gets uv's words.

        Raises:
            Unbuildable: the stack cannot be built, tried twice.
            InfrastructureFault: network, disk, permissions, or uv failed in a way that is not understood.
        """
        target, log = target.absolute(), log.absolute()
        shared = self._cache.absolute() / "uv"
        try:
            shared.mkdir(parents=True, exist_ok=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            mode = "clone" if reflinks(shared, target.parent) else "copy"
        except OSError as error:
            raise InfrastructureFault(
                f"no environment can be made in {target.parent}: {error.strerror}", "check its permissions and the disk"
            ) from error
        # --clear: what a killed process left there, where it could not be removed
        end = self._run(["venv", "--clear", "--no-project", "--python", str(order.python), str(target)], shared, log)
        if end.exit_code:
            self._refuse(end, log, order)
        if not order.lines:
            return
        requirements = log.with_suffix(".txt")
        requirements.write_text("".join(f"{line}\n" for line in order.lines))
        install = ["pip", "install", "--no-deps", "--link-mode", mode, "--python", str(target / "bin" / "python")]
        install += ["--requirements", str(requirements)]
        if not self._needs_build(order):
            end = self._online_first([*install, "--no-build"], shared, log)
            if end.exit_code == 0:
                return
            wheelless = wheelless_pins(_text(log))
            if not wheelless:
                self._refuse(end, log, order)
            self._wheelless |= {(pin, order.python) for pin in wheelless}
        self._build(order, install, shared, log)

    def _needs_build(self, order: Order) -> bool:
        return order.builds or any((line, order.python) in self._wheelless for line in order.lines)

    def _build(self, order: Order, install: list[str], shared: Path, log: Path) -> None:
        cache = self._build_cache(order, shared)
        if order.exclude_newer:
            install += ["--exclude-newer", order.exclude_newer]
        end = self._online_first(install, cache, log)
        if end.exit_code and (dateless := uvtext.undated(_text(log))):
            # An index without upload times would be empty under a date; its packages are exempt.
            names = dict.fromkeys(name.partition("-")[0].lower() for name in dateless)
            install += [part for name in names for part in ("--exclude-newer-package", f"{name}=false")]
            end = self._online_first(install, cache, log)
        if end.exit_code and uvtext.classify(_text(log)).failure is Failure.BUILD:
            end = self._online_first(install, cache, log)  # one failed build is not yet "unbuildable"
        if end.exit_code:
            self._refuse(end, log, order)

    def _online_first(self, arguments: Sequence[str], cache: Path, log: Path) -> Finished:
        """Without a network, what is in the cache may be all that is needed."""
        end = self._run(arguments, cache, log)
        if end.exit_code and uvtext.classify(_text(log)).failure is Failure.NETWORK:
            online = _text(log)
            end = self._run([*arguments, "--offline"], cache, log)
            if end.exit_code:
                log.write_text(online)
        return end

    def _build_cache(self, order: Order, shared: Path) -> Path:
        """The cache for builds with these inputs; all but builds is linked from the common cache."""
        settings = [f"{name}={self._environ.get(name, '')}" for name in COMPILER_SETTINGS]
        inputs = "\n".join([order.exclude_newer, str(order.python), *settings])
        cache = self._cache / "uv-builds" / hashlib.sha256(inputs.encode()).hexdigest()[:16]
        cache.mkdir(parents=True, exist_ok=True)
        for folder in shared.iterdir():
            link = cache / folder.name
            if folder.is_dir() and not folder.name.startswith(("sdists-", "builds-")) and not os.path.lexists(link):
                link.symlink_to(folder.absolute())
        return cache

    def _run(self, arguments: Sequence[str], cache: Path, log: Path) -> Finished:
        command = [str(self._uv), *arguments, "--no-python-downloads", "--color", "never", "--no-progress"]
        try:
            end = run_group(
                command,
                environ={**self._environ, "UV_CACHE_DIR": str(cache.absolute())},
                cwd=log.parent,  # not the user's folder: a pyproject.toml there may configure uv
                stdout=log,
                stderr=log,
                deadline_s=BUILD_DEADLINE_S,
            )
        except OSError as error:
            raise InfrastructureFault(f"uv cannot be run: {error}", "install uv again; check the disk") from error
        if end.timed_out:
            raise InfrastructureFault(
                f"uv did not finish within {BUILD_DEADLINE_S:.0f} s (see {log})", "does a build wait for something?"
            )
        return end

    def _refuse(self, end: Finished, log: Path, order: Order) -> NoReturn:
        """Raise what a failed run of uv means."""
        text = masked(uvtext.plain(_text(log)))
        verdict = uvtext.classify(text)
        words = uvtext.reason(text) or f"exit code {end.exit_code}"
        match verdict.failure:
            case Failure.BUILD:
                raise Unbuildable(
                    f"{verdict.subjects[0]} does not build: {_last_words(text, words)}", text, verdict.subjects
                )
            case Failure.NO_VERSION | Failure.NO_PACKAGE:
                self._ask_the_index(verdict.subjects)
                raise Unbuildable(f"the index has no {', '.join(verdict.subjects)}", text, _pins(verdict, order))
            case Failure.CONFLICT | Failure.INPUT:
                raise Unbuildable(f"cannot be installed: {words}", text, _pins(verdict, order))
            case Failure.NETWORK | Failure.OFFLINE:
                raise InfrastructureFault(f"the index cannot be reached: {words}", "check the network, then resume")
            case Failure.MACHINE:
                raise InfrastructureFault(
                    f"the machine cannot build: {words}", "make room or check permissions, then resume"
                )
            case Failure.UNKNOWN if broken := re.search(r"Failed to install: \S+ \(([^)\s]+)\)", text):
                raise Unbuildable(f"{broken[1]} cannot be installed: {words}", text, (broken[1],))
            case Failure.UNKNOWN:
                raise InfrastructureFault(f"uv failed: {words}", f"its whole output is in {log}")
            case _:
                assert_never(verdict.failure)

    def _ask_the_index(self, subjects: Sequence[str]) -> None:
        """Denied, garbled and absent are one to uv; only absent says something about the stack.

        Raises:
            InfrastructureFault: the index does not answer for one of ``subjects`` ("name" or "name==version").
        """
        index = PackageIndex(read_config(environ=self._environ), self._cache / "pages")
        try:
            for subject in subjects:
                with contextlib.suppress(UsageError):  # truly not there
                    index.project(subject.partition("==")[0])
        except EnvironmentFailure as error:
            raise InfrastructureFault(error.message, error.hint) from error
        finally:
            index.close()


def wheelless_pins(text: str) -> tuple[str, ...]:
    """The pins of which uv says under ``--no-build`` that they have no wheel for this interpreter."""
    return tuple(dict.fromkeys(re.findall(r"(?:^|\s)(\S+==\S+) has no usable wheels", text)))


def reflinks(one: Path, other: Path) -> bool:
    """Whether a file in folder ``one`` can be cloned into folder ``other``: both share blocks until one is written."""
    with tempfile.TemporaryFile(dir=one) as source, tempfile.TemporaryFile(dir=other) as target:
        source.write(b"0" * 4096)
        source.flush()
        try:
            fcntl.ioctl(target.fileno(), FICLONE, source.fileno())
        except OSError:  # EOPNOTSUPP, EXDEV, EINVAL, ENOTTY: each means no
            return False
        return True


def _last_words(text: str, otherwise: str) -> str:
    """The last line that a build backend wrote before it failed: that is where its exception stands."""
    log = text.rpartition("[stderr]")[2].partition("\nhint:")[0] if "[stderr]" in text else ""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return lines[-1][:300] if lines else otherwise


def _pins(verdict: uvtext.Verdict, order: Order) -> tuple[str, ...]:
    """The subjects of a verdict as pins of the order, where a name is all that is known."""
    names = {line.partition("==")[0]: line for line in order.lines if "==" in line}
    return tuple(names.get(subject, subject) for subject in verdict.subjects)


def _text(log: Path) -> str:
    return log.read_text("utf-8", "replace")

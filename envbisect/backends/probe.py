"""One run of the payload in a finished environment: the part that all runtimes on this machine share."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import signal
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from envbisect.backends.interface import Environment, InfrastructureFault, ProbeRun
from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.process.run import run_group
from envbisect.process.supervisor import remove_tree

MAX_RESULT_BYTES: Final = 256 << 20
_PREFIX: Final = "envbisect-"
MAX_VARIABLE_BYTES: Final = (128 << 10) - 64  # Linux: MAX_ARG_STRLEN, less the name


def run_payload(
    environment: Environment, entry: Path, request: Mapping[str, object], folder: Path, deadline_s: float
) -> ProbeRun:
    """Run ``entry`` with ``request``; logs and the result stay in ``folder``, the scratch folder does not.

    The test sees ENVBISECT_PROBE, ENVBISECT_CONFIGURATION (JSON) and a TMPDIR of its own, where compilers that cache
    (inductor by its default, Triton by TRITON_CACHE_DIR) find nothing from another probe.

    Raises:
        InfrastructureFault: the payload could not be started or watched, or ``folder`` cannot be written.
    """
    folder = folder.absolute()
    log, request_file, result_file = folder / "payload.log", folder / "request.json", folder / "result.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        result_file.unlink(missing_ok=True)  # of a probe that was in flight when we were killed
        request_file.write_text(json.dumps(request))
        with scratch_folder(environment.environ, folder / "scratch.txt") as scratch:
            finished = run_group(
                [str(path) for path in (environment.python, entry.absolute(), request_file, result_file)],
                environ={**environment.environ, **per_probe(request, scratch)},
                cwd=environment.cwd,
                stdout=log,
                stderr=log,
                deadline_s=deadline_s,
                scratch=scratch,
            )
    except OSError as error:
        raise InfrastructureFault(
            f"the probe could not be run: {error.strerror}: {error.filename or folder}",
            "check the disk and that nobody removed the session's folder, then resume",
        ) from error
    except EnvironmentFailure as error:  # the supervisor was killed, or a process cannot be
        raise InfrastructureFault(error.message, error.hint) from error
    result = read_result(result_file)
    if result is None and not finished.timed_out:
        _explain(log, entry, result_file, finished.exit_code)
    return ProbeRun(result, finished.exit_code, finished.timed_out, finished.seconds, log)


def _explain(log: Path, entry: Path, result_file: Path, exit_code: int) -> None:
    """Let the log end with the reason why there is no result, where the process itself could not say it."""
    if not entry.exists():
        reason = f"the burn-in's own program {entry} is gone"
    elif result_file.exists():
        reason = "its result is cut off, too long or no JSON object"
    elif exit_code < 0:
        reason = f"killed by {_signal_name(-exit_code)}"
    elif not log.read_bytes().strip():
        reason = f"it ended with exit code {exit_code} and said nothing"
    else:
        return
    with log.open("a") as file:
        file.write(f"\n[envbisect: {reason}]\n")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def per_probe(request: Mapping[str, object], scratch: Path) -> dict[str, str]:
    """The variables that differ from probe to probe.

    Raises:
        UsageError: the configuration does not fit into a variable.
    """
    configuration = json.dumps(request.get("configuration", {}), sort_keys=True)
    if len(configuration.encode()) > MAX_VARIABLE_BYTES:
        raise UsageError(
            f"the configuration has {len(configuration)} characters, too many for the variable ENVBISECT_CONFIGURATION",
            "split the manifests: compare fewer components at a time",
        )
    return {
        "ENVBISECT_PROBE": str(request.get("probe", "")),
        "ENVBISECT_CONFIGURATION": configuration,
        "TMPDIR": str(scratch),
        "TRITON_CACHE_DIR": str(scratch / "triton"),
    }


@contextlib.contextmanager
def scratch_folder(environ: Mapping[str, str], record: Path) -> Iterator[Path]:
    """A fresh folder for one probe, removed afterwards whatever the test left in it.

    It lies in the test's own temporary folder and not in the session's: sockets have paths of at most 107 bytes.
    ``record`` names it as long as it is there, so that a probe that is repeated after a SIGKILL removes it.
    """
    _remove_recorded(record)
    parent = environ.get("TMPDIR") or ""
    place = Path(parent if Path(parent).is_dir() and parent else tempfile.gettempdir()).absolute()
    scratch = place / f"{_PREFIX}{secrets.token_hex(4)}"
    record.write_text(str(scratch))  # before it exists: a name without a folder does no harm
    scratch.mkdir(stat.S_IRWXU)
    try:
        yield scratch
    finally:
        remove_tree(scratch)
        record.unlink(missing_ok=True)


def _remove_recorded(record: Path) -> None:
    try:
        left = Path(record.read_text())
    except (OSError, ValueError):
        return
    # Whoever can write into the session must not make us remove something else.
    if re.fullmatch(rf"{_PREFIX}[0-9a-f]{{8}}", left.name) and left.is_dir() and not left.is_symlink():
        remove_tree(left)


def read_result(file: Path) -> dict[str, object] | None:
    """The payload's document; None if it is missing, cut off, too long, or no JSON object."""
    try:
        if file.stat().st_size > MAX_RESULT_BYTES:
            return None
        document = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None

"""One run of the payload in a finished environment: the part that all runtimes on this machine share."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from envbisect.backends.interface import Environment, InfrastructureFault, ProbeRun
from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.process.run import run_group

MAX_RESULT_BYTES: Final = 256 << 20
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
    log, request_file, result_file = folder / "payload.log", folder / "request.json", folder / "result.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        result_file.unlink(missing_ok=True)  # of a probe that was in flight when we were killed
        request_file.write_text(json.dumps(request))
        with scratch_folder(environment.environ) as scratch:
            finished = run_group(
                [str(environment.python), str(entry), str(request_file.absolute()), str(result_file.absolute())],
                environ={**environment.environ, **per_probe(request, scratch)},
                cwd=environment.cwd,
                stdout=log,
                stderr=log,
                deadline_s=deadline_s,
            )
    except OSError as error:
        raise InfrastructureFault(
            f"the probe could not be run: {error.strerror}: {error.filename or folder}",
            "check the disk and that nobody removed the session's folder, then resume",
        ) from error
    except EnvironmentFailure as error:  # the supervisor was killed, or a process cannot be
        raise InfrastructureFault(error.message, error.hint) from error
    return ProbeRun(read_result(result_file), finished.exit_code, finished.timed_out, finished.seconds, log)


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
def scratch_folder(environ: Mapping[str, str]) -> Iterator[Path]:
    """A fresh folder for one probe, removed afterwards whatever the test left in it.

    It lies in the test's own temporary folder and not in the session's: sockets have paths of at most 107 bytes.
    """
    parent = environ.get("TMPDIR") or None
    scratch = Path(tempfile.mkdtemp(prefix="envbisect-", dir=parent if parent and Path(parent).is_dir() else None))
    try:
        yield scratch
    finally:
        remove_tree(scratch)


def remove_tree(folder: Path) -> None:
    """Remove a folder, also where a test took its own right to write away; what even so stays is left in peace."""
    for root, _folders, _files in os.walk(folder):
        with contextlib.suppress(OSError):
            Path(root).chmod(stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)


def read_result(file: Path) -> dict[str, object] | None:
    """The payload's document; None if it is missing, cut off, too long, or no JSON object."""
    try:
        if file.stat().st_size > MAX_RESULT_BYTES:
            return None
        document = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None

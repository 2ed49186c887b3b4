"""What one Python process of a test leaves behind: its flags, its loaders, its first uncaught exception.

The file is ``process-PID-NANOSECONDS.json`` in ``$ENVBISECT_REPORT_DIR``. It is written when something is known and
again at exit, so a process that is killed has still told what it knew.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Dict, List, Optional

FOLDER = "ENVBISECT_REPORT_DIR"
METRICS = "ENVBISECT_METRICS"


class ProcessRecord:
    """Facts of this process, and of it alone: a fork starts an empty one."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._begin()

    def _begin(self) -> None:
        self._name = "process-%d-%d.json" % (os.getpid(), time.time_ns())
        self._owner = os.getpid()
        self.facts: Dict[str, Any] = {
            "pid": os.getpid(),
            "ppid": os.getppid(),
            "rank": rank_of(os.environ),
            "started": time.time(),
            "ended": None,
            "torch": None,
            "flags": [],
            "dataloaders": 0,
            "exception": None,
            "failed_at": None,
            "thread_exception": None,
            "failures": [],
            "faults": [],
        }

    def exception(self, error: BaseException, rank: Optional[int] = None) -> None:
        """Keep the first uncaught exception; a launcher's own says how its ranks ended."""
        self._mine()
        if self.facts["exception"] is not None or isinstance(error, (SystemExit, GeneratorExit)):
            return
        from ..failure import describe_exception

        self.facts["failed_at"] = time.time()
        self.facts["exception"] = describe_exception(error)
        if rank is not None:
            self.facts["rank"] = rank
        self.facts["failures"] = launcher_failures(error)
        self.write()

    def thread_exception(self, error: BaseException) -> None:
        """Keep the first exception that ended a thread: it ends the program only if the program sees to that."""
        self._mine()
        if self.facts["thread_exception"] is None:
            from ..failure import describe_exception

            self.facts["thread_exception"] = describe_exception(error)
            self.write()

    def fault(self, message: str) -> None:
        """A problem of the hook itself."""
        self._mine()
        self.facts["faults"].append(message)
        self.write()

    def torch(self, version: str, settings: List[Dict[str, Any]]) -> None:
        """The flags as set right after ``import torch``."""
        self._mine()
        self.facts["torch"], self.facts["flags"] = version, settings
        self.write()

    def dataloader(self) -> None:
        """Another DataLoader was made."""
        self._mine()
        self.facts["dataloaders"] += 1
        if self.facts["dataloaders"] == 1:
            self.write()

    def at_exit(self) -> None:
        """The last word. ``sys.last_value`` is set even when the program replaced ``sys.excepthook``."""
        try:
            self._mine()
            last = getattr(sys, "last_value", None)
            if isinstance(last, BaseException):
                self.exception(last)
            self.facts["ended"] = time.time()
            self.write()
        except Exception:  # a program may leave its interpreter in any state; its output must not change for it
            return

    def write(self) -> None:
        """Replace the record's file; a test that removed the folder or filled the disk is not disturbed."""
        import json

        path = os.path.join(self._folder, self._name)
        try:
            with open(path + ".tmp", "w", encoding="utf-8") as stream:
                json.dump(self.facts, stream)
            os.replace(path + ".tmp", path)
        except OSError:
            pass

    def _mine(self) -> None:
        if os.getpid() != self._owner:
            self._begin()


def rank_of(environ: Any) -> Optional[int]:
    """The rank as torchrun and most launchers say it, else None."""
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "LOCAL_RANK"):
        text = environ.get(name, "")
        if text.isdigit():
            return int(text)
    return None


def launcher_failures(error: BaseException) -> List[Dict[str, Any]]:
    """How ranks ended, if ``error`` is torchrun's ChildFailedError: rank, exit code (negative for a signal), time."""
    failures = getattr(error, "failures", None)
    if type(error).__name__ != "ChildFailedError" or not isinstance(failures, dict):
        return []
    found = []
    for rank, failure in failures.items():
        facts = {"rank": rank, "exit_code": failure.exitcode, "ended": float(failure.timestamp)}
        found.append(facts)
    return found


def own_metrics_file(environ: Any) -> None:
    """Give a rank a metrics file of its own: ``$ENVBISECT_METRICS`` gets the suffix ``.rankN``, once."""
    path, rank = environ.get(METRICS), rank_of(environ)
    if path and rank is not None and ".rank" not in os.path.basename(path):
        environ[METRICS] = "%s.rank%d" % (path, rank)

"""Other people's tools, installed from the package index into an environment of their own, and driven there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from searching.worlds import CONFIDENCE, Found, Row

PACKAGES: Final = ("git-bayesect", "picire")
WORKERS: Final = Path(__file__).parents[1] / "workers"
PATIENCE_S: Final = 900.0


class ToolError(Exception):
    """A tool could not be installed, or did not do what it was asked to."""


@dataclass(frozen=True, slots=True)
class Tools:
    """An environment with the other tools, below ``folder``."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def install(self) -> None:
        """Make the environment and install what is missing, as pip is configured here.

        Raises:
            ToolError: pip could not.
        """
        if not self.python.exists():
            venv.create(self.folder, with_pip=True)
        command = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise ToolError(
                f"pip cannot install {' and '.join(PACKAGES)} into {self.folder}: {last}; "
                "mend pip's configuration, or leave these tools out with --without bayesect,picire"
            )

    def ask(self, worker: str, question: dict[str, Any]) -> dict[str, Any]:
        """What a worker script answers: one JSON document in, one out.

        Raises:
            ToolError: it ended with an error, or not at all.
        """
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
            "PYTHONPATH": str(WORKERS.parent),
            "OMP_NUM_THREADS": "1",
        }
        command = [str(self.python), str(WORKERS / f"{worker}.py")]
        try:
            done = subprocess.run(
                command,
                input=json.dumps(question),
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE_S,
            )
        except subprocess.TimeoutExpired as fault:
            raise ToolError(
                f"the worker {worker} did not end within {PATIENCE_S:.0f} s; ask for fewer searches"
            ) from fault
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise ToolError(
                f"the worker {worker} failed in {self.folder}: {last}; remove that folder to install it anew"
            )
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def versions(self) -> dict[str, str]:
        """Version by package."""
        listing = (
            "import importlib.metadata as m, json; print(json.dumps({n: m.version(n) for n in " + repr(PACKAGES) + "}))"
        )
        done = subprocess.run([str(self.python), "-c", listing], capture_output=True, text=True, check=True)
        found: dict[str, str] = json.loads(done.stdout)
        return found

    def play(self, worker: str, row: Row, seeds: Sequence[int], **more: Any) -> list[Found]:
        """A worker's searches on a row."""
        fields = {name: getattr(row, name) for name in ("key", "title", "sizes", "order", "sets", "p", "q", "patience")}
        question = {"row": fields, "seeds": list(seeds), "confidence": CONFIDENCE, **more}
        return [Found(**each) for each in self.ask(worker, question)["found"]]


def default_folder() -> Path:
    """Where the tools are kept from one run to the next."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    tag = f"cpython-{sys.version_info.major}.{sys.version_info.minor}"
    return Path(cache, "envbisect-benchmarks", tag)

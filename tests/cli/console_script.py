"""The installed console script, run as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = Path(sys.executable).with_name("envbisect")


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Stdout as exactly one JSON document."""
        return json.loads(self.out)


def envbisect(*words: str, cwd: Path, environ: dict[str, str] | None = None, timeout_s: float = 60) -> Ran:
    done = subprocess.run(
        [SCRIPT, *words],
        cwd=cwd,
        env={**os.environ, **(environ or {})},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)

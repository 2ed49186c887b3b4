"""A real ``git bisect run`` on a generated repository, with a test script that fails by rates."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from searching.bisection import Votes, fails
from searching.worlds import Found, Row, culprits

SCRIPT: Final = """\
step=$(cat step)
runs=0 bad=0
for fails in $(sed -n "$((step + 1))p" "{table}"); do
  echo "$step" >> "{log}"
  runs=$((runs + 1)) bad=$((bad + fails))
  if [ $bad -ge {needed} ]; then exit 1; fi
  if [ $((runs - bad)) -gt {allowed} ]; then exit 0; fi
done
"""


class Repository:
    """A straight history in a new folder, commit n holding the number n in the file ``step``; commit 0 is good."""

    def __init__(self, folder: Path, steps: int) -> None:
        self.folder, self.steps = folder, steps
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("fast-import", "--quiet", told=_history(steps))
        self.git("reset", "--hard", "--quiet", "main")
        # From newest to oldest: the commit of step n is at steps - n.
        self.commits = self.git("rev-list", "main").split()

    def git(self, *arguments: str, told: str = "") -> str:
        """What git prints; nobody's own configuration has a part in it."""
        quiet = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=quiet, check=True, capture_output=True, text=True, input=told
        )
        return done.stdout.strip()

    def first_bad(self, test: str) -> tuple[int, float]:
        """The step that ``git bisect run sh -c test`` calls the first bad one, and its wall-clock seconds."""
        begun = time.perf_counter()
        self.git("bisect", "start", "main", f"main~{self.steps}")
        self.git("bisect", "run", "sh", "-c", test)
        seconds = time.perf_counter() - begun
        named = self.git("rev-parse", "refs/bisect/bad")
        self.git("bisect", "reset")
        return self.steps - self.commits.index(named), seconds


def real(row: Row, seeds: Sequence[int], votes: Votes) -> list[Found]:
    """Real searches on a ladder, in one repository that is thrown away."""
    (steps,) = row.sizes
    out = []
    with tempfile.TemporaryDirectory(prefix="envbisect-git-bisect-") as name:
        repository = Repository(Path(name, "repository"), steps)
        table, log = Path(name, "table"), Path(name, "log")
        test = SCRIPT.format(table=table, log=log, needed=votes.needed, allowed=votes.runs - votes.needed)
        for seed in seeds:
            ((first_bad,),) = culprits(row, seed)
            lines = (
                " ".join(str(int(fails(row, seed, first_bad, step, run))) for run in range(votes.runs))
                for step in range(steps + 1)
            )
            table.write_text("\n".join(lines) + "\n", encoding="utf-8")
            log.write_text("", encoding="utf-8")
            named, seconds = repository.first_bad(test)
            tested = log.read_text(encoding="utf-8").split()
            out.append(
                Found(len(tested), len(set(tested)), "first bad", True, named == first_bad, len(tested), seconds)
            )
    return out


def version() -> str:
    """``git version 2…``."""
    return subprocess.run(["git", "--version"], check=True, capture_output=True, text=True).stdout.strip()


def _history(steps: int) -> str:
    """A fast-import stream: commit n holds the number n in the file ``step``."""
    commits = []
    for step in range(steps + 1):
        who, content = f"committer nobody <nobody@localhost> {1_000_000_000 + step} +0000", str(step)
        commits.append(f"commit refs/heads/main\n{who}\ndata 0\n")
        commits.append(f"M 644 inline step\ndata {len(content)}\n{content}\n")
    return "\n".join(commits)

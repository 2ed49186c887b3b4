"""What ``envbisect --help`` costs beside a bare Typer application with as many commands.

Both are started in turn, so that a busy machine slows both. Run: ``python benchmarks/help.py [ROUNDS]``; the exit code
is 1 if the ratio of the medians is above 1.5.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from envbisect.cli.app import COMMANDS

LIMIT: Final = 1.5
ROUNDS: Final = 15

BARE: Final = """\
import typer

app = typer.Typer()
{commands}
app()
"""
COMMAND: Final = '''
@app.command("command-{number}")
def command_{number}(argument: str) -> None:
    """Do what command {number} does."""
'''
ENVBISECT: Final = """\
import sys

from envbisect.cli.main import main

sys.exit(main())
"""


def seconds(script: Path) -> float:
    """Wall-clock seconds of ``python script --help``."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, script, "--help"], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def ratio(rounds: int) -> tuple[float, float, float]:
    """Median seconds of the bare application and of envbisect, and envbisect's over the bare one's."""
    with tempfile.TemporaryDirectory() as folder:
        bare, ours = Path(folder, "bare.py"), Path(folder, "ours.py")
        bare.write_text(BARE.format(commands="".join(COMMAND.format(number=n) for n in range(len(COMMANDS)))))
        ours.write_text(ENVBISECT)
        for script in (bare, ours):
            seconds(script)  # byte code and disk cache
        times = [(seconds(bare), seconds(ours)) for _ in range(rounds)]
    medians = [statistics.median(column) for column in zip(*times, strict=True)]
    return medians[0], medians[1], medians[1] / medians[0]


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    bare, ours, times = ratio(rounds)
    print(f"bare Typer {bare * 1000:.0f} ms, envbisect {ours * 1000:.0f} ms: {times:.2f} (limit {LIMIT})")
    return int(times > LIMIT)


if __name__ == "__main__":
    sys.exit(main())

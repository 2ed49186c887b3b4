"""Stacks and a payload for the tests of runtimes: small, real, without torch and without the network."""

from __future__ import annotations

import subprocess
from pathlib import Path

from envbisect.manifest.stack import Closure, Pin, Stack, Value

ENTRY = """\
import json, os, shutil, sys, time
request = json.load(open(sys.argv[1]))
options = request.get("options", {})
open(os.path.join(os.environ["TMPDIR"], "litter"), "w").close()
if "sleep_s" in options:
    print("sleeping", flush=True)
    time.sleep(options["sleep_s"])
if "signal" in options:
    os.kill(os.getpid(), options["signal"])
if "exit" in options:
    sys.exit(options["exit"])
if "edit" in options:  # what a careless test does to its environment
    import importlib
    with open(importlib.import_module(options["edit"]).__file__, "a") as file:
        file.write("\\nPOISON = 1\\n")
document = {
    "schema": 1, "python": sys.version.split()[0], "executable": sys.executable, "prefix": sys.prefix,
    "cwd": os.getcwd(), "environ": dict(os.environ), "which": shutil.which("python"), "files": sorted(os.listdir(".")),
}
for name in options.get("import", []):
    module = __import__(name)
    document[name] = {"file": module.__file__, "poisoned": hasattr(module, "POISON")}
text = json.dumps(document)
open(sys.argv[2], "w").write(text[:40] if options.get("cut") else text)
print("done")
"""


def write_entry(folder: Path) -> Path:
    """The payload's script."""
    entry = folder / "entry.py"
    entry.write_text(ENTRY)
    return entry


def stack(folder: Path, components: dict[str, Value] | None = None, pins: tuple[str, ...] = ()) -> Stack:
    """A stack for Python 3.11 with exact ``pins`` ("six==1.16.0")."""
    closure = Closure.of("3.11", (Pin(pin.partition("==")[0], pin.partition("==")[2]) for pin in pins))
    return Stack(components or {}, closure, folder)


def request(probe: int = 1, /, **options: object) -> dict[str, object]:
    """A burn-in request that the payload above understands."""
    return {"schema": 1, "probe": probe, "configuration": {"env.ALGO": "Ring"}, "options": options}


def git(folder: Path, *arguments: str) -> str:
    """Run git in ``folder`` as a nameless author; its output."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()

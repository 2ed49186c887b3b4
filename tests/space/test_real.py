"""Real packages from the configured index: ladders, bundles, conflicts, and closures that uv agrees to install."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from envbisect.keys.spec import Mover
from envbisect.manifest.stack import Closure
from envbisect.packages.config import read_config, uv_environ
from envbisect.packages.uv import find_uv
from envbisect.space import build_space, overview
from envbisect.space.lattice import Lattice
from envbisect.space.model import Realised
from envbisect.space.uvsource import UvPackages
from tests.space.worlds import manifest

pytestmark = [pytest.mark.network, pytest.mark.slow]
MOMENT = "2025-06-01T00:00:00Z"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> UvPackages:
    return UvPackages(read_config(), tmp_path_factory.mktemp("index"))


def build(folder: Path, source: UvPackages, good: dict[str, str], bad: dict[str, str]) -> Lattice:
    ends = manifest(folder, "good", good), manifest(folder, "bad", bad)
    return build_space(*ends, movers=frozenset(Mover), moment=MOMENT, index=source)


def check_installable(closure: Closure, source: UvPackages, folder: Path) -> None:
    """uv would install exactly these, resolving what they require."""
    listed = folder / "requirements.txt"
    listed.write_text("".join(f"{pin.requirement()}\n" for pin in closure.pins))
    python = source.find_python(closure.python)
    assert python is not None
    command = [str(find_uv()), "pip", "install", "--dry-run", "--python", str(python), "-r", str(listed)]
    command += ["--target", str(folder / "nowhere")]
    environ = {**os.environ, **uv_environ(read_config()), "UV_CACHE_DIR": str(folder / "uv")}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"Would install {len(closure.pins)} package" in done.stderr


def test_a_bundle_and_its_companions(tmp_path: Path, source: UvPackages) -> None:
    space = build(tmp_path, source, {"pydantic": "2.6.4"}, {"pydantic": "2.8.2"})
    names = [axis.key.removeprefix("python.packages.") for axis in space.axes]
    assert names[:2] == ["pydantic", "pydantic-core"]
    assert overview(space).bundles == (("python.packages.pydantic", "python.packages.pydantic-core"),)
    ladder = [step.value for step in space.axes[0].steps]
    assert ladder == ["2.6.4", "2.7.0", "2.7.1", "2.7.2", "2.7.3", "2.7.4", "2.8.0", "2.8.1", "2.8.2"]
    assert any(line.startswith("2.7.0b1: a pre-release") for line in space.axes[0].off_ladder)
    assert all(step.date for step in space.axes[0].steps)
    outcome = space.realise((1, *(0 for _ in space.sizes[1:])))
    assert isinstance(outcome, Realised)
    assert outcome.stack.closure is not None
    assert (outcome.stack.closure.version("pydantic"), outcome.stack.closure.version("pydantic-core")) == (
        "2.7.0",
        "2.18.1",
    )


def test_random_points_are_installable(tmp_path: Path, source: UvPackages) -> None:
    """starlette and anyio conflict with old fastapi and httpx in many combinations."""
    good = {"fastapi": "0.95.2", "starlette": "0.27.0", "httpx": "0.23.3", "anyio": "3.6.2"}
    bad = {"fastapi": "0.110.3", "starlette": "0.37.2", "httpx": "0.27.0", "anyio": "4.3.0"}
    space = build(tmp_path, source, good, bad)
    assert overview(space).infeasible_pairs > 0
    chosen = random.Random(0)
    snapped = 0
    for number in range(12):
        asked = tuple(chosen.randint(0, size) for size in space.sizes)
        outcome = space.realise(asked)
        assert isinstance(outcome, Realised), outcome
        snapped += outcome.point != asked
        assert outcome.stack.closure is not None
        for axis, step in zip(space.axes, outcome.point, strict=True):
            assert outcome.stack.closure.version(axis.key.removeprefix("python.packages.")) == axis.steps[step].value
        if number % 4 == 0:
            check_installable(outcome.stack.closure, source, tmp_path)
    assert snapped > 0
    for end in (tuple(0 for _ in space.sizes), space.sizes):
        outcome = space.realise(end)
        assert isinstance(outcome, Realised)
        assert outcome.stack.closure is not None
        check_installable(outcome.stack.closure, source, tmp_path)

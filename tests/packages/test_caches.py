"""Builds are kept apart by their inputs, downloads are not: with the real uv."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from envbisect.packages.caches import build_cache_dir
from envbisect.packages.uv import find_uv
from tests.packages.local_index import metadata_text, publish, sdist, wheel

BACKEND = """
import os, zipfile
def get_requires_for_build_wheel(settings=None):
    return ["helper"]
def build_wheel(folder, settings=None, metadata=None):
    import helper
    name = "soft-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        archive.writestr("soft.py", "built_with = %r\\n" % helper.__version__)
        info = "soft-1.0.dist-info/"
        archive.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: soft\\nVersion: 1.0\\n")
        archive.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(info + "RECORD", "soft.py,,\\n")
    return name
"""
PROJECT = '[build-system]\nrequires = ["helper"]\nbuild-backend = "backend"\nbackend-path = ["."]\n'


@pytest.fixture
def index(tmp_path: Path) -> str:
    """``soft`` is a source that remembers which ``helper`` (1.0 or 2.0) it was built with."""
    files = tmp_path / "files"
    source = sdist(
        files,
        "soft",
        "1.0",
        {"pyproject.toml": PROJECT, "backend.py": BACKEND, "PKG-INFO": metadata_text("soft", "1.0")},
    )
    return publish(tmp_path / "simple", [wheel(files, "helper", "1.0"), wheel(files, "helper", "2.0"), source])


def installed_with(index: str, cache: Path, target: Path, *, constraint: str = "") -> str:
    """The helper that ``soft`` was built with, as an installation from ``cache`` has it."""
    limits = target.with_suffix(".txt")
    limits.write_text(constraint)
    command = [str(find_uv()), "pip", "install", "-q", "--no-config", "--python", "3.11", "--target", str(target)]
    command += ["--cache-dir", str(cache), "--default-index", index, "--build-constraints", str(limits), "soft"]
    subprocess.run(command, check=True, timeout=60)
    return (target / "soft.py").read_text().split("'")[1]


def test_a_build_is_not_served_to_other_build_inputs(tmp_path: Path, index: str) -> None:
    root = tmp_path / "cache"
    old = build_cache_dir(root, python="3.11", build_constraints=["helper<2"])
    assert installed_with(index, old, tmp_path / "a", constraint="helper<2") == "1.0"
    new = build_cache_dir(root, python="3.11")
    assert installed_with(index, new, tmp_path / "b") == "2.0"
    assert installed_with(index, old, tmp_path / "c", constraint="helper<2") == "1.0"


def test_downloads_are_shared(tmp_path: Path, index: str) -> None:
    root = tmp_path / "cache"
    first = build_cache_dir(root, python="3.11")
    installed_with(index, first, tmp_path / "a")
    second = build_cache_dir(root, python="3.11", exclude_newer="2026-01-01")
    links = {path.name.partition("-")[0]: path.resolve().parent for path in second.iterdir()}
    assert links["archive"] == links["wheels"] == first.resolve()
    assert "sdists" not in links
    assert "builds" not in links


def test_the_key_is_the_build_inputs(tmp_path: Path) -> None:
    same = build_cache_dir(tmp_path, python="3.11.7", build_constraints=["a<1", "b<2"])
    assert build_cache_dir(tmp_path, python="3.11", build_constraints=["b<2", "a<1"]) == same
    assert build_cache_dir(same, python="3.11", build_constraints=["b<2", "a<1"]) == same
    others = {
        build_cache_dir(tmp_path, python="3.10", build_constraints=["a<1", "b<2"]),
        build_cache_dir(tmp_path, python="3.11", build_constraints=["a<1"]),
        build_cache_dir(tmp_path, python="3.11", build_constraints=["a<1", "b<2"], exclude_newer="2026-01-01"),
    }
    assert len(others | {same}) == 4


def test_a_removed_owner_leaves_no_dangling_link(tmp_path: Path) -> None:
    owner, other = build_cache_dir(tmp_path, python="3.10"), build_cache_dir(tmp_path, python="3.11")
    (owner / "wheels-v9").mkdir()
    assert (build_cache_dir(tmp_path, python="3.11") / "wheels-v9").is_dir()
    (owner / "wheels-v9").rmdir()
    assert not (build_cache_dir(tmp_path, python="3.11") / "wheels-v9").is_symlink()
    assert other.is_dir()

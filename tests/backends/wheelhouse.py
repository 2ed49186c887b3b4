"""A package index in a folder, made on the spot: real wheels and sdists, no network."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

from envbisect.packages.config import IndexConfig, uv_environ

BACKEND = """\
import os, zipfile
NAME, VERSION = {name!r}, {version!r}
def build_wheel(folder, config=None, metadata=None):
    {body}
    file = f"{{NAME}}-{{VERSION}}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, file), "w") as wheel:
        source = open(NAME + ".py").read() if os.path.exists(NAME + ".py") else ""
        wheel.writestr(NAME + ".py", source + f"\\nBUILT_FROM_SOURCE = True\\n")
        info = f"{{NAME}}-{{VERSION}}.dist-info"
        wheel.writestr(info + "/METADATA", f"Metadata-Version: 2.1\\nName: {{NAME}}\\nVersion: {{VERSION}}\\n")
        tag = "Root-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nGenerator: t\\n" + tag)
        files = [NAME + ".py", *(info + "/" + each for each in ("METADATA", "WHEEL", "RECORD"))]
        wheel.writestr(info + "/RECORD", "".join(each + ",,\\n" for each in files))
    return file
"""
PYPROJECT = (
    '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "{name}"\n'
)


def offline_environ(folder: Path) -> dict[str, str]:
    """What uv runs in when ``folder`` is all that there is."""
    return uv_environ(IndexConfig(no_index=True, find_links=(str(folder),)))


def add_wheel(folder: Path, name: str, version: str, tag: str = "py3-none-any", source: str = "") -> Path:
    """A wheel with one module."""
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", source or f"VERSION = {version!r}\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: {tag}\n")
        wheel.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return path


def source_files(name: str, version: str, body: str = "pass") -> dict[str, str]:
    """A source tree whose build runs ``body`` first."""
    return {
        "pyproject.toml": PYPROJECT.format(name=name) + f'version = "{version}"\n',
        "backend.py": BACKEND.format(name=name, version=version, body=body),
        f"{name}.py": f"VERSION = {version!r}\n",
        "PKG-INFO": f"Metadata-Version: 2.2\nName: {name}\nVersion: {version}\n",
    }


def add_sdist(folder: Path, name: str, version: str, body: str = "pass") -> Path:
    """A source distribution whose build runs ``body`` first, with a backend of its own and no dependencies."""
    path = folder / f"{name}-{version}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for file, text in source_files(name, version, body).items():
            data = text.encode()
            member = tarfile.TarInfo(f"{name}-{version}/{file}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path

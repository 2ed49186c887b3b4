"""``pip freeze`` as a stack: complete and exact for packages, unknown for all else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from envbisect.errors import ManifestError
from envbisect.manifest import Manifest, read_freeze
from envbisect.manifest.freeze import looks_like_freeze

Read = Callable[[str], Manifest]


@pytest.fixture
def freeze(tmp_path: Path) -> Read:
    def _freeze(text: str) -> Manifest:
        path = tmp_path / "freeze.txt"
        path.write_text(text)
        return read_freeze(path)

    return _freeze


def test_pins_are_canonical_complete_and_exact(freeze: Read) -> None:
    manifest = freeze("# comment\nNumPy==1.24.1\nruamel.yaml==0.18.6  # why\n\ntorch==2.1.0+cu121\n")

    assert manifest.components() == {
        "python.packages.numpy": "1.24.1",
        "python.packages.ruamel-yaml": "0.18.6",
        "python.packages.torch": "2.1.0+cu121",
    }
    assert manifest.python.complete
    assert manifest.python.packages == {"numpy": "1.24.1", "ruamel-yaml": "0.18.6", "torch": "2.1.0+cu121"}
    assert manifest.name == "freeze"
    assert manifest.place("python.packages.torch").line == 5


def test_what_a_freeze_does_not_speak_of_is_unknown_not_absent(freeze: Read) -> None:
    manifest = freeze("numpy==1.24.1\nsetuptools==68.0\n")

    unknown = ["env.NCCL_ALGO", "host.sysctl.kernel.x", "torch.threads", "python.version", "python.packages.pip"]
    assert all(manifest.is_unknown(key) for key in unknown)
    known = ["python.packages.numpy", "python.packages.scipy", "python.packages.setuptools"]
    assert not any(manifest.is_unknown(key) for key in known)


def test_the_interpreter_may_be_told(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_text("six==1.16.0\n")

    manifest = read_freeze(path, python="3.11.7")

    assert manifest.python.version == "3.11.7"
    assert manifest.components()["python.version"] == "3.11.7"
    assert not manifest.is_unknown("python.version")


APEX = "git+https://github.com/NVIDIA/apex.git@a7de60e57f0534266841e1736c5b2d44b8b7d1a0"


@pytest.mark.parametrize("line", [f"apex @ {APEX}", f"-e {APEX}#egg=apex"])
def test_git_installs_are_git_pins(freeze: Read, line: str) -> None:
    assert freeze(line).components() == {
        "python.packages.apex": {
            "git": "https://github.com/NVIDIA/apex.git",
            "rev": "a7de60e57f0534266841e1736c5b2d44b8b7d1a0",
            "patches": [],
        }
    }


@pytest.mark.parametrize("line", [f"apex @ {APEX}#subdirectory=x", f"-e {APEX}#egg=apex&subdirectory=x"])
def test_a_part_of_a_repository_is_not_the_repository(freeze: Read, line: str) -> None:
    manifest = freeze(line)

    assert manifest.is_unknown("python.packages.apex")
    assert "whole repository" in manifest.notes[0]


def test_git_over_ssh_keeps_its_user(freeze: Read) -> None:
    pin = freeze("x @ git+ssh://git@example.org/x.git@abc123\n").components()["python.packages.x"]

    assert pin == {"git": "ssh://git@example.org/x.git", "rev": "abc123", "patches": []}


def test_a_wheel_by_url_tells_its_version(freeze: Read) -> None:
    manifest = freeze(
        "torch @ https://download.pytorch.org/whl/cu121/torch-2.1.0%2Bcu121-cp311-cp311-linux_x86_64.whl#sha256=00\n"
    )

    assert manifest.components() == {"python.packages.torch": "2.1.0+cu121"}
    assert "download.pytorch.org" in manifest.notes[0]


@pytest.mark.parametrize(
    "text",
    [
        "foo @ file:///croot/foo_1678317441234/work\n",
        "# Editable install with no version control (foo==0.1)\n-e /home/me/foo\n",
        "# Editable Git install with no remote (foo==0.1)\n-e /home/me/foo\n",
        "foo===2019-a!b\n",
    ],
)
def test_what_cannot_be_installed_again_is_unknown_and_said(freeze: Read, text: str) -> None:
    manifest = freeze(text + "six==1.16.0\n")

    assert manifest.components() == {"python.packages.six": "1.16.0"}
    assert manifest.is_unknown("python.packages.foo")
    assert len(manifest.notes) == 1
    assert "foo" in manifest.notes[0]


def test_a_nameless_editable_install_is_said(freeze: Read) -> None:
    assert "left out" in freeze("-e /home/me/foo\nsix==1.16.0\n").notes[0]


def test_hashes_and_an_index_are_read_over(freeze: Read) -> None:
    manifest = freeze(
        "--index-url https://pypi.example.org/simple\n"
        "six==1.16.0 \\\n    --hash=sha256:1e61 \\\n    --hash=sha256:8abb\nidna==3.4 --hash=sha256:90\n"
    )

    assert manifest.components() == {"python.packages.idna": "3.4", "python.packages.six": "1.16.0"}
    assert manifest.python.index == ("https://pypi.example.org/simple",)


def test_every_unreadable_line_is_a_fault(freeze: Read) -> None:
    with pytest.raises(ManifestError) as raised:
        freeze("six==1.16.0\nnumpy>=1.2\n-r other.txt\nidna==3.4 ; python_version < '3'\nsix==1.15\nWARNING: old pip\n")

    assert [fault.line for fault in raised.value.faults] == [2, 3, 4, 5, 6]
    assert "twice" in raised.value.faults[3].message


@pytest.mark.parametrize(
    "text", ["", "\n# only a comment\n", "schema = 1\n", "[python]\n", "{}", "PyTorch version: 2.1\n"]
)
def test_other_texts_do_not_look_like_a_freeze(text: str) -> None:
    assert not looks_like_freeze(text)


def test_the_freeze_of_this_very_environment_is_read(tmp_path: Path) -> None:
    out = subprocess.run([sys.executable, "-m", "pip", "freeze"], capture_output=True, text=True, check=True)
    path = tmp_path / "real.txt"
    path.write_text(out.stdout)

    manifest = read_freeze(path)

    assert looks_like_freeze(out.stdout)
    assert manifest.components()["python.packages.pydantic"] == version("pydantic")
    assert len(manifest.components()) + len(manifest.notes) >= out.stdout.count("==")

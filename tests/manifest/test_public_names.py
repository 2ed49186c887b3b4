"""The package's public names: all there, and none paid for before it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import envbisect.manifest


@pytest.mark.parametrize("name", envbisect.manifest.__all__)
def test_every_public_name_is_what_its_module_defines(name: str) -> None:
    assert getattr(envbisect.manifest, name) is not None
    module = sys.modules[f"envbisect.manifest.{envbisect.manifest._HOME[name]}"]
    assert getattr(envbisect.manifest, name) is getattr(module, name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        _ = envbisect.manifest.nothing_of_that_name


def test_the_shared_stack_costs_no_pydantic() -> None:
    script = "import sys, envbisect.manifest.stack; print('pydantic' in sys.modules, 'packaging' in sys.modules)"
    root = Path(envbisect.manifest.__file__).parents[2]

    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root)

    assert out.stdout.split() == ["False", "False"]

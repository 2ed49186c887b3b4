"""The process environment of a test: what is inherited, what is pinned, and what would be a hidden input.

A test inherits the environment of whoever started envbisect, because that is where "it fails" was seen. Then:

* a variable that a manifest pins has the value of this configuration, and is *unset* where this configuration says
  absent, whatever the user's shell has;
* what belongs to another interpreter goes: PYTHONHOME, PYTHONEXECUTABLE, __PYVENV_LAUNCHER__, and VIRTUAL_ENV (set
  again if the interpreter is in a virtual environment);
* variables of envbisect itself (ENVBISECT_*) go, so that a probe inside a probe is an ordinary test;
* in a built environment PYTHONPATH, PYTHONUSERBASE, CONDA_PREFIX and PYTHONDONTWRITEBYTECODE go too: the first two
  would shadow the pinned packages, the last would make every import compile anew. Byte code goes below the environment
  (PYTHONPYCACHEPREFIX), so a stale .pyc beside the user's sources is neither read nor written;
* an interpreter that is taken as it is keeps them: they are part of what it is, and equal in every configuration.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from envbisect.errors import UsageError
from envbisect.manifest.stack import Stack

OF_ANOTHER_INTERPRETER: Final = frozenset({"PYTHONHOME", "PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__", "VIRTUAL_ENV"})
HIDDEN_INPUTS_OF_A_BUILD: Final = frozenset(
    {"PYTHONPATH", "PYTHONUSERBASE", "PYTHONNOUSERSITE", "CONDA_PREFIX", "PYTHONDONTWRITEBYTECODE"}
)


def process_environ(
    stack: Stack,
    inherited: Mapping[str, str],
    *,
    managed: Collection[str],
    path_first: tuple[Path, ...],
    virtual_env: Path | None,
    built: bool,
) -> dict[str, str]:
    """The complete environment for ``stack``, without per-probe variables.

    Args:
        managed: names that are pinned at either end; absent in ``stack`` means unset.
        path_first: folders before the inherited PATH, so that ``python`` is the chosen interpreter.
        virtual_env: the virtual environment that the interpreter belongs to, if it does.
        built: the environment was built by a runtime, so that nothing inherited may shadow it.

    Raises:
        UsageError: a pinned value cannot be a variable.
    """
    dropped = OF_ANOTHER_INTERPRETER | (HIDDEN_INPUTS_OF_A_BUILD if built else frozenset())
    environ = {
        name: value
        for name, value in inherited.items()
        if name not in managed and name not in dropped and not name.startswith("ENVBISECT_")
    }
    if virtual_env is not None:
        environ["VIRTUAL_ENV"] = str(virtual_env)
    if built and virtual_env is not None:
        environ["PYTHONPYCACHEPREFIX"] = str(virtual_env / "pycache")
    for name, value in stack.table("env").items():
        if value is None:
            environ.pop(name, None)
        else:
            environ[name] = _text(name, value)
    environ["PATH"] = ":".join([*(str(folder) for folder in path_first), *filter(None, [environ.get("PATH")])])
    return environ


def _text(name: str, value: object) -> str:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise UsageError(f"env.{name} = {value!r} cannot be a variable of the environment", "write it as a string")
    text = str(value)
    if "\0" in text or "=" in name or not name:
        raise UsageError(f"env.{name} holds a character that no variable may have", "remove the NUL or the '='")
    return text

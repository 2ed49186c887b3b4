"""The hook in the processes of a user's test: flags, DataLoader defaults, exceptions, and no trace otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from envbisect.burnin.result import CheckStatus, FailureKind
from tests.payload.conftest import Run, Script, needs_torch

FLAGS = {"threads": 1, "deterministic": True}


@needs_torch
@pytest.mark.torch
def test_flags_are_set_right_after_the_program_imports_torch(run: Run, script: Script) -> None:
    program = (
        "import torch\n"
        "assert torch.get_num_threads() == 1 and torch.are_deterministic_algorithms_enabled()\n"
        "torch.set_num_threads(2)\n"
        "import importlib; importlib.import_module('torch')\n"
        "assert torch.get_num_threads() == 2, 'the program has the last word'\n"
    )
    ran = run(command=script(program), torch=FLAGS)
    assert ran.only().status is CheckStatus.PASS, ran.only().output_tail
    assert {name: state.read_back for name, state in ran.result.flags.items()} == FLAGS
    assert ran.result.torch
    assert ran.faults() == []


def test_flags_without_torch_are_said_to_have_no_effect(run: Run, script: Script) -> None:
    ran = run(command=script("print(1)"), torch=FLAGS, dataloader={"num_workers": 2})
    assert ran.only().status is CheckStatus.PASS
    assert ran.faults() == [
        "hook: [torch] had no effect: no Python process of the test imported torch",
        "hook: [dataloader] had no effect: the test made no DataLoader",
    ]


@needs_torch
@pytest.mark.torch
def test_loader_defaults_hold_only_where_the_program_gives_none(run: Run, script: Script) -> None:
    program = (
        "from torch.utils.data import DataLoader\n"
        "data = list(range(4))\n"
        "a = DataLoader(data)\n"
        "assert (a.num_workers, a.prefetch_factor, a.persistent_workers) == (1, 3, True), vars(a)\n"
        "assert a.multiprocessing_context.get_start_method() == 'fork'\n"
        "b = DataLoader(data, 2, num_workers=0)\n"
        "assert (b.batch_size, b.num_workers, b.prefetch_factor) == (2, 0, None)\n"
        "class Mine(DataLoader): pass\n"
        "c = Mine(data, 1, False, None, None, 2, prefetch_factor=5)\n"
        "assert (c.num_workers, c.prefetch_factor) == (2, 5)\n"
        "assert [int(x) for x in a] == data\n"
        "try:\n"
        "    DataLoader(data, batch=1)\n"
        "except TypeError as error:\n"
        "    assert '__init__() got an unexpected keyword argument' in str(error), error\n"
    )
    table = {"num_workers": 1, "prefetch_factor": 3, "persistent_workers": True, "start_method": "fork"}
    ran = run(command=script(program), dataloader=table)
    assert ran.only().status is CheckStatus.PASS, ran.only().output_tail
    assert ran.faults() == []


def test_a_loader_argument_that_torch_does_not_have_is_a_fault(run: Run, script: Script, tmp_path: Path) -> None:
    package = tmp_path / "work" / "torch" / "utils" / "data"
    package.mkdir(parents=True)
    for folder in (package.parent.parent, package.parent, package):
        (folder / "__init__.py").write_text("__version__ = '1.2.0'\n")
    (package / "dataloader.py").write_text("class DataLoader:\n    def __init__(self, dataset, num_workers=0): ...\n")
    program = "from torch.utils.data.dataloader import DataLoader\nDataLoader([])\n"
    ran = run(command=script(program), dataloader={"prefetch_factor": 2})
    assert ran.only().status is CheckStatus.PASS
    assert "hook: torch.utils.data.dataloader: ValueError: DataLoader has no prefetch_factor" in ran.faults()


@needs_torch
@pytest.mark.torch
def test_an_exception_of_a_spawned_rank_is_the_signature_not_the_launchers(run: Run, script: Script) -> None:
    program = (
        "import time, torch.multiprocessing as mp\n"
        "def work(rank):\n"
        "    time.sleep(0.2 if rank == 1 else 2)\n"
        "    raise IndexError(rank)\n"
        "if __name__ == '__main__':\n"
        "    mp.start_processes(work, nprocs=2, start_method='fork')\n"
    )
    check = run(command=script(program)).only()
    assert check.failure is not None
    assert (check.failure.type, check.failure.rank) == ("IndexError", 1)
    assert check.failure.frames[-1] == "__main__:work"


def test_an_exception_of_a_multiprocessing_child_is_recorded(run: Run, script: Script) -> None:
    program = (
        "import multiprocessing, subprocess\n"
        "def work(): raise LookupError('x')\n"
        "if __name__ == '__main__':\n"
        "    child = multiprocessing.get_context('fork').Process(target=work)\n"
        "    child.start(); child.join()\n"
        "    raise subprocess.CalledProcessError(child.exitcode, 'child')\n"
    )
    failure = run(command=script(program)).only().failure
    assert failure is not None
    assert failure.type == "LookupError"


def test_a_thread_that_dies_does_not_change_how_the_program_ends(run: Run, script: Script) -> None:
    program = (
        "import threading, sys\n"
        "def work(): raise LookupError('x')\n"
        "t = threading.Thread(target=work); t.start(); t.join()\n"
        "sys.exit(int(sys.argv[1]))\n"
    )
    command = script(program)
    assert run(command=[*command, "0"]).only().status is CheckStatus.PASS


def test_a_failing_sitecustomize_of_the_user_fails_as_it_would_alone(run: Run, script: Script, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("raise RuntimeError('mine')\n")
    check = run(command=script("print('went on')"), environ={"PYTHONPATH": str(tmp_path / "own")}).only()
    assert check.status is CheckStatus.PASS
    assert "RuntimeError: mine" in (tmp_path / "command.log").read_text()


def test_an_import_that_fails_first_and_works_later_still_gets_its_flags(
    run: Run, script: Script, tmp_path: Path
) -> None:
    package = tmp_path / "work" / "torch"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import os\n"
        "if not os.path.exists('again'):\n    open('again', 'w').close()\n    raise OSError('not yet')\n"
        "__version__ = '9.9'\n_n = [7]\n"
        "def set_num_threads(n): _n[0] = n\n"
        "def get_num_threads(): return _n[0]\n"
    )
    program = "try:\n    import torch\nexcept OSError:\n    import torch\nassert torch.get_num_threads() == 3\n"
    ran = run(command=script(program), torch={"threads": 3})
    assert ran.only().status is CheckStatus.PASS, ran.only().output_tail
    assert ran.result.torch == "9.9"


def test_looking_for_torch_is_not_importing_it(run: Run, script: Script, tmp_path: Path) -> None:
    """Libraries ask ``find_spec("torch")`` before anybody imports it."""
    (tmp_path / "work" / "torch.py").write_text(
        "__version__ = '9.9'\n_n = [7]\ndef set_num_threads(n): _n[0] = n\ndef get_num_threads(): return _n[0]\n"
    )
    program = (
        "import importlib.machinery, importlib.util, inspect\n"
        "for _ in range(2):\n"
        "    assert importlib.util.find_spec('torch').origin.endswith('torch.py')\n"
        "import torch\n"
        "assert torch.get_num_threads() == 3\n"
        "assert type(torch.__loader__) is type(torch.__spec__.loader) is importlib.machinery.SourceFileLoader\n"
        "assert '_n = [7]' in inspect.getsource(torch)\n"
        "torch.set_num_threads(5)\n"
        "importlib.reload(torch)\n"
        "assert torch.get_num_threads() == 7, 'a reload is the program starting over'\n"
    )
    ran = run(command=script(program), torch={"threads": 3})
    assert ran.only().status is CheckStatus.PASS, ran.only().output_tail


def test_an_exec_of_another_program_keeps_the_verdict(run: Run, script: Script) -> None:
    program = "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'raise BufferError(1)'])\n"
    failure = run(command=script(program)).only().failure
    assert failure is not None
    assert (failure.kind, failure.type) == (FailureKind.EXCEPTION, "BufferError")

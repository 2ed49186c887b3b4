"""Where the output goes: colours on a terminal only, a closed pipe, a full disk, an encoding without arrows."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.console_script import SCRIPT, envbisect
from tests.cli.test_run import write_case

ESCAPE = "\x1b["
GOOD = 'schema = 1\nname = "good"\n[env]\nA = "été"\n'
BAD = 'schema = 1\nname = "bad"\n[env]\nA = "→"\nB = "1"\n'


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    (tmp_path / "good.toml").write_text(GOOD)
    (tmp_path / "bad.toml").write_text(BAD)
    return tmp_path


def on_terminal(*words: str, cwd: Path, **environ: str) -> str:
    """What a terminal of 80 columns receives on stdout and stderr together."""
    controller, terminal = pty.openpty()
    settings = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **environ}
    settings.pop("NO_COLOR", None) if "NO_COLOR" not in environ else None
    process = subprocess.Popen(
        [SCRIPT, *words], cwd=cwd, stdin=terminal, stdout=terminal, stderr=terminal, env=settings
    )
    os.close(terminal)
    received = b""
    while True:
        try:
            chunk = os.read(controller, 4096)
        except OSError:  # the last process closed the terminal
            break
        if not chunk:
            break
        received += chunk
    process.wait(30)
    os.close(controller)
    return received.decode()


@pytest.mark.parametrize("words", [("diff", "good.toml", "bad.toml"), ("lint", "missing.toml")])
def test_colours_appear_on_a_terminal_only(words: tuple[str, ...], pair: Path) -> None:
    assert ESCAPE in on_terminal(*words, cwd=pair)
    assert ESCAPE not in on_terminal(*words, cwd=pair, NO_COLOR="1")
    piped = envbisect(*words, cwd=pair, environ={"FORCE_COLOR": "1", "TERM": "xterm-256color"})
    assert ESCAPE not in piped.out + piped.err


def test_json_on_a_terminal_is_plain(pair: Path) -> None:
    assert ESCAPE not in on_terminal("diff", "good.toml", "bad.toml", "--json", cwd=pair)


@pytest.mark.parametrize("words", [("schema",), ("schema", "--json"), ("diff", "good.toml", "bad.toml")])
def test_a_reader_that_leaves_is_no_failure(words: tuple[str, ...], pair: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([SCRIPT, *words], cwd=pair, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this machine")
def test_a_full_disk_is_told_in_one_line(pair: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([SCRIPT, "schema"], cwd=pair, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("envbisect: No space left on device")
    assert done.stderr.count("\n") == 1


def test_an_encoding_without_arrows_prints_all_the_same(pair: Path) -> None:
    environ = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    text = envbisect("diff", "good.toml", "bad.toml", cwd=pair, environ=environ)
    assert text.code == 0
    assert r"\u2192" in text.out
    told = envbisect("diff", "good.toml", "bad.toml", "--json", cwd=pair, environ=environ)
    assert told.document["deltas"][0] == {"key": "env.A", "a": "été", "b": "→"}


@pytest.fixture
def noted(tmp_path: Path) -> Path:
    """A pair whose run has a note: which runtime was chosen, and why."""
    test = "import os, sys; sys.exit(os.environ['A'] == '2')"
    for name, value in (("good", "1"), ("bad", "2")):
        (tmp_path / f"{name}.toml").write_text(
            f'schema = 1\n[env]\nA = "{value}"\n[burnin]\ncommand = ["python", "-c", "{test}"]\n'
        )
    return tmp_path


def test_a_note_is_told_once_where_both_streams_end_in_one_place(noted: Path) -> None:
    run = ["run", "good.toml", "bad.toml"]
    together = on_terminal(*run, cwd=noted, NO_COLOR="1", TERM="dumb")
    assert together.count("note: local:") == 1
    piped = subprocess.run(
        [SCRIPT, *run], cwd=noted, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
    )
    assert piped.stdout.count("note: local:") == 1
    apart = envbisect(*run, cwd=noted)
    assert (apart.out.count("note: local:"), apart.err.count("note: local:")) == (1, 1)


def shell(words: str, redirection: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run by a shell, which can close a descriptor."""
    return subprocess.run(
        ["sh", "-c", f'exec "$0" {words} {redirection}', SCRIPT], cwd=cwd, capture_output=True, text=True, check=False
    )


FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this machine")


@pytest.mark.parametrize(
    "redirection", [pytest.param(">&-", id="closed"), pytest.param(">/dev/full", id="full", marks=FULL)]
)
@pytest.mark.parametrize("words", ["diff good.toml bad.toml", "diff good.toml bad.toml --json"])
def test_an_answer_that_cannot_be_written_is_one_line_and_exit_3(words: str, redirection: str, pair: Path) -> None:
    done = shell(words, redirection, pair)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("envbisect: ")
    assert done.stderr.count("\n") == 1
    assert "stdout" in done.stderr


@FULL
def test_a_failure_keeps_its_exit_code_where_its_document_cannot_be_written(pair: Path) -> None:
    done = shell("lint missing.toml --json", ">/dev/full", pair)
    assert done.returncode == 2
    assert done.stderr.startswith("envbisect: missing.toml: cannot be read")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "redirection", [pytest.param("2>&-", id="closed"), pytest.param("2>/dev/full", id="full", marks=FULL)]
)
def test_without_a_stderr_everything_but_the_progress_is_there(redirection: str, tmp_path: Path) -> None:
    write_case(tmp_path)
    as_document = shell("run good.toml bad.toml --session s --json", redirection, tmp_path)
    assert as_document.returncode == 0
    assert json.loads(as_document.stdout)["status"] == "culprit"
    assert (tmp_path / "s" / "journal.jsonl").read_bytes().startswith(b"{")
    for_people = shell("run good.toml bad.toml --session t", redirection, tmp_path)
    assert for_people.returncode == 0
    assert "env." in for_people.stdout
    failed = shell("lint missing.toml --json", redirection, tmp_path)
    assert failed.returncode == 2
    assert "error" in json.loads(failed.stdout)


def test_nothing_that_is_opened_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    code = "import os; from envbisect.cli import streams; streams.settle(); print(os.open('/etc/hostname', 0))"
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -c "$1" <&- 2>&-', sys.executable, code], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 2


def test_help_for_a_reader_that_leaves_is_no_answer(pair: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([SCRIPT, "--help"], cwd=pair, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_exit_code_is_the_answers_also_when_the_reader_left(tmp_path: Path) -> None:
    write_case(tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [SCRIPT, "run", "good.toml", "good.toml"],
        cwd=tmp_path,
        stdout=writer,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    os.close(writer)
    assert done.returncode == 1

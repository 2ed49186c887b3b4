"""One line on stderr for every error, the same as one JSON document, and the exit codes of the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from envbisect.cli.failure import document, fault_lines, headline
from envbisect.errors import EnvbisectError, EnvironmentFailure, Fault, ManifestError, UsageError
from tests.cli.console_script import envbisect


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("rnu", "a", "b"), "did you mean `envbisect run`?"),
        (("frobnicate",), "frobnicate"),
        (("run", "a.toml"), "BAD"),
        (("run", "a.toml", "b.toml", "--max-probes", "many"), "--max-probes"),
        (("run", "a.toml", "b.toml", "--no-such-option"), "--no-such-option"),
        (("run", "a.toml", "b.toml", "c.toml"), "c.toml"),
        (("run", "a.toml", "b.toml", "--known", "good=1"), "--known good=30/30"),
        (("run", "a.toml", "b.toml", "--checks", ","), "--checks"),
        (("run", "a.toml", "b.toml", "--"), "no test follows"),
        (("lint", "a.toml", "--", "python", "t.py"), "takes no test"),
        (("run", "a.toml", "b.toml", "--confidence", "1.5"), "confidence"),
        (("run", "a.toml", "b.toml", "--max-probes", "0"), "--max-probes 0"),
        ((), "--help"),
    ],
)
def test_usage_errors_are_one_line_and_one_document(words: tuple[str, ...], says: str, tmp_path: Path) -> None:
    plain = envbisect(*words, cwd=tmp_path)
    assert plain.code == 2
    assert plain.out == ""
    assert plain.err.startswith("envbisect: ")
    assert plain.err.count("\n") == 1
    assert says in plain.err

    cut = words.index("--") if "--" in words else len(words)
    told = envbisect(*words[:cut], "--json", *words[cut:], cwd=tmp_path)
    assert told.code == 2
    assert told.err == plain.err or not words
    assert told.document["schema"] == 1
    assert set(told.document["error"]) == {"message", "hint", "faults"}
    assert told.document["error"]["message"]


def test_json_after_two_dashes_belongs_to_the_test(tmp_path: Path) -> None:
    ran = envbisect("run", "missing.toml", "--", "python", "t.py", "--json", cwd=tmp_path)
    assert ran.code == 2
    assert ran.out == ""


def test_an_error_is_told_in_one_printable_line() -> None:
    error = UsageError("bad\nname \x1b[31mred\x1b[0m.", "fix\tit.")
    assert headline(error) == r"envbisect: bad name \x1b[31mred\x1b[0m (fix it)"
    assert "\x1b[1;31m" in headline(error, colour=True)


def test_every_fault_has_its_line_and_its_row() -> None:
    faults = (
        Fault("unknown table tourch", "a.toml", 3, "tourch", nearest="torch"),
        Fault("threads is no integer", "a.toml", 6, "torch.threads", expected="an integer from 1"),
    )
    error = ManifestError("a.toml has 2 faults", "mend them", faults)
    assert fault_lines(error) == [
        "  a.toml:3: unknown table tourch (did you mean torch?)",
        "  a.toml:6: threads is no integer (expected an integer from 1)",
    ]
    rows = document(error)["error"]
    assert isinstance(rows, dict)
    assert rows["faults"][0] == {
        "message": "unknown table tourch",
        "file": "a.toml",
        "line": 3,
        "key": "tourch",
        "expected": "",
        "nearest": "torch",
    }


def test_a_single_fault_is_the_headline() -> None:
    near = Fault("unknown key tourch", "a.toml", 3, "tourch", expected="one of thirty names", nearest="torch")
    error = ManifestError(str(near), "expected one of thirty names", [near])
    assert headline(error) == "envbisect: a.toml:3: unknown key tourch (did you mean torch?)"
    assert fault_lines(error) == []

    far = Fault("threads is 0", "a.toml", 6, "torch.threads", expected="an integer, at least 1")
    assert headline(ManifestError(str(far), "expected an integer, at least 1", [far])) == (
        "envbisect: a.toml:6: threads is 0 (expected an integer, at least 1)"
    )


def test_a_fault_below_another_message_has_its_own_line() -> None:
    fault = Fault("unknown key tourch", "a.toml", 3)
    error = ManifestError("good and bad are two tests", "give --burnin FILE", [fault])
    assert headline(error) == "envbisect: good and bad are two tests (give --burnin FILE)"
    assert fault_lines(error) == ["  a.toml:3: unknown key tourch"]


@pytest.mark.parametrize(
    ("error", "code"),
    [(UsageError("x"), 2), (ManifestError("x"), 2), (EnvironmentFailure("x"), 3), (EnvbisectError("x"), 3)],
)
def test_exit_codes_follow_the_kind_of_error(error: EnvbisectError, code: int) -> None:
    assert error.exit_code == code

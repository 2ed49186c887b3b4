"""Budgets, more and less confidence, and forgetting, as a user meets them."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from envbisect.cli.options import moment
from envbisect.errors import UsageError
from tests.cli.console_script import envbisect
from tests.cli.test_run import changes, write_case

FLAKES = """\
import os, pathlib, random, sys
counter = pathlib.Path(os.environ["COUNTER"])
number = int(counter.read_text() or 0) if counter.exists() else 0
counter.write_text(str(number + 1))
broken = int(os.environ["LEVEL"]) >= 3
sys.exit(1 if broken and random.Random(number * 7919 + 5).random() < 0.5 else 0)
"""


def write_flaky(folder: Path) -> dict[str, str]:
    (folder / "t.py").write_text(FLAKES)
    for name, level in (("good", 0), ("bad", 4)):
        (folder / f"{name}.toml").write_text(
            f'schema = 1\nname = "{name}"\n[env]\nLEVEL = "{level}"\n[burnin]\ncommand = ["python", "t.py"]\n'
            '[axes]\n"env.LEVEL" = ["0", "1", "2", "3", "4"]\n'
        )
    return {"COUNTER": str(folder / "count")}


def runs(folder: Path) -> int:
    return int((folder / "count").read_text())


def test_the_next_such_moment_is_within_a_day() -> None:
    evening = datetime(2026, 11, 3, 22, 30)
    assert moment("23:15", evening) == datetime(2026, 11, 3, 23, 15).astimezone().isoformat()
    assert moment("7:05", evening) == datetime(2026, 11, 4, 7, 5).astimezone().isoformat()
    assert moment("22:30", evening) == datetime(2026, 11, 4, 22, 30).astimezone().isoformat()
    assert moment(None) is None


@pytest.mark.parametrize("nonsense", ["25:00", "7", "07:60", "noon", "-1:00", "07:00:00", "7:5", "", "0x7:00", "٠٧:٠٠"])
def test_what_is_no_time_of_day_is_refused(nonsense: str) -> None:
    with pytest.raises(UsageError, match="is no time of day") as caught:
        moment(nonsense)
    assert "HH:MM" in caught.value.hint


def test_nonsense_is_one_line_and_exit_code_2_for_run_and_resume(tmp_path: Path) -> None:
    case = write_case(tmp_path)
    for words in (("run", "good.toml", "bad.toml", "--session", "s"), ("resume", "s")):
        ran = envbisect(*words, "--until", "25:99", cwd=case)
        assert ran.code == 2
        assert ran.err == (
            "envbisect: --until 25:99 is no time of day (write HH:MM in local time, for example --until 07:00)\n"
        )
    assert not (case / "s").exists()


@pytest.mark.slow
def test_a_session_goes_on_after_its_time_was_up(tmp_path: Path) -> None:
    case = write_case(tmp_path)
    (case / "t.py").write_text("import time\ntime.sleep(0.5)\n" + (case / "t.py").read_text())
    spent = ("run", "good.toml", "bad.toml", "--session", "s", "--max-hours", "0.0001", "--json")
    ran = envbisect(*spent, cwd=case)
    assert (ran.code, ran.document["status"]) == (1, "budget"), ran.err
    assert ran.document["reason"] == (
        "the budget of --max-hours is spent at the ends, after 1 of the good end and 0 of the bad one; "
        "go on with: envbisect resume s --max-hours H"
    )
    assert (ran.document["culprits"], ran.document["probes"]["total"]) == ([], 1)
    (case / "t.py").write_text((case / "t.py").read_text().replace("time.sleep(0.5)", ""))
    later = f"{datetime.now() + timedelta(hours=1):%H:%M}"
    more = envbisect("resume", "s", "--max-hours", "1", "--until", later, "--json", cwd=case)
    assert (more.code, more.document["status"]) == (0, "culprit"), more.err
    assert changes(more.document)["env.LEVEL"] == ("0", "2", "3", "4")
    assert more.document["probes"]["endpoints"] == 4


@pytest.mark.parametrize(
    "most", [1, 3, pytest.param(6, marks=pytest.mark.slow), pytest.param(9, marks=pytest.mark.slow)]
)
def test_never_more_probes_than_were_allowed(most: int, tmp_path: Path) -> None:
    case = write_case(tmp_path)
    ran = envbisect("run", "good.toml", "bad.toml", "--session", "s", "--max-probes", str(most), "--json", cwd=case)
    assert (ran.code, ran.document["status"]) == (1, "budget")
    assert ran.document["probes"]["total"] == most
    assert "go on with: envbisect resume s --max-probes N" in ran.document["reason"]
    for suspect in ran.document["suspects"]:
        assert 0 <= suspect["confidence"] < 1


@pytest.mark.slow
def test_less_confidence_answers_at_once_and_more_asks_only_what_is_missing(tmp_path: Path) -> None:
    environ = write_flaky(tmp_path)
    words = ("good.toml", "bad.toml", "--session", "s", "--confidence", "0.9", "--json")
    first = envbisect("run", *words, cwd=tmp_path, environ=environ)
    assert (first.code, first.document["status"]) == (0, "culprit"), first.err
    assert changes(first.document)["env.LEVEL"] == ("0", "2", "3", "4")
    assert first.document["symptoms"][0]["bad_rate"] < 1
    before = runs(tmp_path)

    less = envbisect("resume", "s", "--confidence", "0.7", "--json", cwd=tmp_path, environ=environ)
    assert (less.code, less.document) == (0, first.document)
    assert runs(tmp_path) == before

    more = envbisect("resume", "s", "--confidence", "0.99", cwd=tmp_path, environ=environ)
    assert more.code == 0, more.err
    assert f"note: going on from {before} runs that were made before; asked for confidence 0.99, after 0.9" in more.err
    told = envbisect("show", "s", "--json", cwd=tmp_path).document
    assert told["culprits"][0]["confidence"] >= 0.99 > first.document["culprits"][0]["confidence"]
    assert told["probes"]["total"] == runs(tmp_path) > before
    again = envbisect("resume", "s", "--confidence", "0.99", "--json", cwd=tmp_path, environ=environ)
    assert (again.document, runs(tmp_path)) == (told, told["probes"]["total"])


@pytest.mark.slow
def test_what_is_forgotten_is_run_again_and_the_rest_is_not(tmp_path: Path) -> None:
    case = write_case(tmp_path)
    first = envbisect("run", "good.toml", "bad.toml", "--session", "s", "--json", cwd=case).document
    total = first["probes"]["total"]
    again = envbisect("resume", "s", "--forget", "8", "--json", cwd=case)
    assert (again.code, changes(again.document)) == (0, changes(first)), again.err
    numbers = sorted(int(path.name) for path in (case / "s" / "probes").iterdir())
    assert again.document["probes"]["total"] - 7 == numbers[-1] - total > 0
    same = envbisect("resume", "s", "--json", cwd=case)
    assert same.document == again.document
    wrong = envbisect("resume", "s", "--forget", "500", cwd=case)
    assert wrong.code == 2
    assert wrong.err.startswith("envbisect: --forget 500 is no probe of this session")


@pytest.mark.slow
def test_a_statement_that_the_runs_contradict_is_named(tmp_path: Path) -> None:
    environ = write_flaky(tmp_path)
    (tmp_path / "t.py").write_text(FLAKES.replace("< 0.5", "< 0.1"))
    ran = envbisect(
        "run", "good.toml", "bad.toml", "--known", "bad=0/12", "--session", "s", "--json", cwd=tmp_path, environ=environ
    )
    assert ran.code == 1, ran.out
    (told,) = ran.document["contradictions"]
    assert (told["end"], told["known"]) == ("bad", {"good": 0, "bad": 12})
    assert told["seen"]["good"] + told["seen"]["bad"] >= 10
    assert told["probability"] < 0.01
    assert "--known says that the bad end passed 0 of 12 runs; here it passed" in ran.document["reason"]
    assert ran.document["probes"]["total"] <= 30
    text: Any = envbisect("show", "s", cwd=tmp_path).out
    assert "contradiction: --known says that the bad end passed 0 of 12 runs, here it passed" in text

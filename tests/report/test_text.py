"""The result document for people: everything that it says stands in the text, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from envbisect.report.text import render
from tests.report.printing import printed


def document(**other: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "status": "not-reproduced",
        "culprits": [],
        "suspects": [],
        "symptoms": [],
        "unmovable": [],
        "contradictions": [],
        "probes": {
            "total": 14, "good": 6, "bad": 7, "unresolved": 1, "built": 5, "endpoints": 4, "verification": 3,
        },
        "seconds": {"total": 131.2, "build": 9.8, "burnin": 20.1},
        "session": ".envbisect/one",
        **other,
    }  # fmt: skip


def pinned(level: str) -> dict[str, Any]:
    return {"torch.deterministic": False, "env.LEVEL": level}


CHANGES: list[dict[str, Any]] = [
    {"key": "torch.deterministic", "good": True, "bad": False, "last_good": True, "first_bad": False},
    {"key": "env.LEVEL", "good": "0", "bad": "4", "last_good": "2", "first_bad": "3"},
]
ENDS = (("good", "passes"), ("bad", "fails in 10 of 10 runs"))
CULPRIT = {
    "symptom": "repeat.index_put",
    "also": ["repeat.cumsum"],
    "confidence": 0.98765,
    "complete": False,
    "changes": CHANGES,
    "certificate": [
        {"role": "culprit", "configuration": pinned("3"), "good": 0, "bad": 4, "unresolved": 0},
        {"role": "neighbour", "configuration": pinned("2"), "good": 2, "bad": 0, "unresolved": 1},
    ],
    "reversal": {"all": "cures", "env.LEVEL": "does-not-cure"},
    "riders": [{"key": "python.packages.numpy", "good": "2.1.0", "bad": None}],
}


def text(**other: Any) -> str:
    return printed(lambda console: render(document(**other), console))


def words(report: str) -> list[str]:
    """The lines with their runs of blanks made one."""
    return [" ".join(line.split()) for line in report.splitlines()]


def test_a_culprit_is_told_with_its_evidence() -> None:
    lines = words(text(status="culprit", culprits=[CULPRIT]))
    assert lines[0] == "1 culprit found."
    assert (
        "Culprit of repeat.index_put (also repeat.cumsum): confidence 98.7 %, other culprits are not excluded" in lines
    )
    assert "torch.deterministic true → false true → false" in lines
    assert "env.LEVEL 0 → 4 2 → 3" in lines
    assert "culprit 0 4 0 torch.deterministic=false env.LEVEL=3" in lines
    assert "neighbour 2 0 1 torch.deterministic=false env.LEVEL=2" in lines
    assert "everything above cures" in lines
    assert "only env.LEVEL does not cure" in lines
    assert "came along: python.packages.numpy 2.1.0 → (not set)" in lines
    noted = words(text(status="culprit", culprits=[{**CULPRIT, "notes": ["undoing it uncovers\nanother failure"]}]))
    assert "note: undoing it uncovers another failure" in noted
    assert (
        "14 probes (6 good, 7 bad, 1 unresolved), 5 environments built, 2 min 11 s (build 9.8 s, burn-in 20 s)" in lines
    )
    assert "Session: .envbisect/one" in lines


def test_confidence_is_never_rounded_up() -> None:
    report = text(status="culprit", culprits=[{**CULPRIT, "confidence": 0.99999}])
    assert "confidence 99.9 %" in report


def test_suspects_name_what_cannot_be_tested() -> None:
    change = {"key": "python.packages.pyyaml", "good": "5.3", "bad": "6.0.1", "last_good": "5.3.1", "first_bad": "6.0"}
    suspect = {"symptom": "command", "confidence": 0.97, "changes": [{**change, "between": ["5.4", "5.4.1"]}]}
    lines = words(text(status="suspects", suspects=[suspect]))
    assert lines[0].startswith("1 suspect: ")
    assert "key good → bad last known good → first known bad" in lines
    assert "python.packages.pyyaml 5.3 → 6.0.1 5.3.1 → 6.0" in lines
    assert "cannot be tested: python.packages.pyyaml 5.4, 5.4.1" in lines


def test_not_reproduced_says_what_was_measured() -> None:
    symptom = {"id": "command", "status": "not-reproduced", "good_rate": 0.0, "bad_rate": 0.1, "bound": 0.3456}
    lines = words(text(symptoms=[symptom], reason="both ends passed"))
    assert lines[0].startswith("Not reproduced")
    assert lines[1] == "both ends passed"
    assert "symptom status fails in good in bad more often by at most" in lines
    assert "command not-reproduced 0 % 10 % 34.6 %" in lines
    counted = {**symptom, "good_failed": 0, "good_runs": 10, "bad_failed": 1, "bad_runs": 10}
    assert "command not-reproduced 0 of 10 1 of 10 34.6 %" in words(text(symptoms=[counted]))


def test_where_nothing_ran_nothing_was_compared() -> None:
    probes = dict.fromkeys(document()["probes"], 0)
    lines = words(text(probes=probes, reason="nothing that can be moved here differs between good and bad"))
    assert lines[:2] == ["Nothing that can be moved here differs.", ""]
    assert words(text(probes=probes, reason="they are equal"))[1] == "they are equal"


def test_a_number_is_told_with_its_medians_and_where_bad_begins() -> None:
    symptom = {"id": "command.p99_ms", "status": "culprit", "good_failed": 0, "good_runs": 5, "bad_failed": 4}
    numbers = {"good_median": 18.25, "bad_median": 203.0, "bad_above": 110.5, "bad_below": None}
    lines = words(text(status="culprit", symptoms=[{**symptom, "bad_runs": 5, **numbers}]))
    assert "command.p99_ms culprit 0 of 5 4 of 5" in lines
    assert "command.p99_ms: median 18.25 in good, 203 in bad; bad above 110.5" in lines
    assert not any("more often" in line for line in lines)


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ("good-fails", "What it printed: .envbisect/one/probes/0001/"),
        ("undecided", "What each run printed: .envbisect/one/probes/"),
    ],
)
def test_a_run_that_failed_unexpectedly_names_its_logs(status: str, line: str) -> None:
    assert words(text(status=status))[1] == line
    assert line not in text(status=status, probes={**document()["probes"], "total": 0})


def test_notes_that_were_said_before_are_not_said_again() -> None:
    report = printed(lambda console: render(document(notes=["one", "two"]), console, said={"one"}))
    assert "note: two" in report
    assert "note: one" not in report


@pytest.mark.parametrize("status", ["good-fails", "budget", "undecided", "interrupted", "a-status-of-a-newer-tool"])
def test_every_status_has_a_headline(status: str) -> None:
    headline = text(status=status).splitlines()[0]
    assert status.partition("-")[0] in headline.lower()


def test_what_stayed_and_what_contradicts_is_said() -> None:
    delta = {"key": "host.driver", "good": "535.1", "bad": "550.2", "stays": "535.1", "reason": "nobody moves it here"}
    lines = words(text(unmovable=[delta], contradictions=[{"below": {"env.A": "1"}}], notes=["the index has no dates"]))
    assert "not moved: host.driver 535.1 → 550.2, stays at 535.1: nobody moves it here" in lines
    assert 'contradiction: {"below": {"env.A": "1"}}' in lines
    pair = {"fails": {"env.A": "1"}, "passes": {"env.A": "1", "env.B": "2"}}
    assert "contradiction: fails with env.A=1, but passes with env.A=1 env.B=2" in words(text(contradictions=[pair]))
    assert "note: the index has no dates" in lines


def test_a_contradiction_is_told_with_its_runs_and_what_it_means() -> None:
    pair = {
        "fails": {"env.A": "1"},
        "passes": {"env.A": "1", "env.B": "2"},
        "fails_runs": {"good": 0, "bad": 3, "probes": [5, 9, 10]},
        "passes_runs": {"good": 2, "bad": 0, "probes": [7]},
    }
    lines = words(text(contradictions=[pair]))
    assert (
        "contradiction: fails with env.A=1 (0 of 3 runs pass; probes 5, 9, 10), "
        "but passes with env.A=1 env.B=2 (2 of 2 runs pass; probe 7)"
    ) in lines
    assert any("is not monotone" in line for line in lines)
    known = {"end": "bad", "known": {"good": 0, "bad": 12}, "seen": {"good": 9, "bad": 1}, "probability": 1e-5}
    lines = words(text(contradictions=[known]))
    assert "contradiction: --known says that the bad end passed 0 of 12 runs, here it passed 9 of 10 runs" in lines
    assert not any("monotone" in line for line in lines)


def test_drift_is_told_with_what_to_do_next() -> None:
    drift = {"end": "good", "before": {"good": 8, "bad": 0}, "after": {"good": 1, "bad": 5}, "since": 31}
    lines = words(text(status="undecided", drift=drift))
    assert any(line.startswith("drift: the good stack passed 8 of 8 runs at first and 1 of 6 runs") for line in lines)
    assert "envbisect resume .envbisect/one --forget 31" in lines
    unknown = words(text(status="undecided", drift={**drift, "since": None}))
    assert not any("--forget" in line for line in unknown)
    assert "Results are doubtful. Let the machine cool down or reset it, and run again." in unknown


def test_what_stays_where_nobody_knows_is_as_the_machine_has_it() -> None:
    delta = {"key": "host.driver", "good": "535.1", "bad": "550.2", "stays": None, "reason": "nobody moves it here"}
    lines = words(text(unmovable=[delta]))
    assert "not moved: host.driver 535.1 → 550.2, as this machine has it: nobody moves it here" in lines


def test_markup_in_values_is_no_markup() -> None:
    change = {**CHANGES[1], "good": "[red]x[/red]", "bad": "", "last_good": ":boom:", "first_bad": "a\nb"}
    report = text(
        status="culprit", culprits=[{**CULPRIT, "changes": [change], "certificate": [], "reversal": {}, "riders": []}]
    )
    assert "[red]x[/red]" in report
    assert '→ ""' in report
    assert ":boom:" in report
    assert r'→ "a\nb"' in report


def test_long_lines_stay_whole_outside_a_terminal() -> None:
    long = "/".join(["folder"] * 60)
    assert any(long in line for line in text(session=long).splitlines())


def test_the_report_ends_with_the_commands_to_reproduce_it() -> None:
    lines = [{"command": f"envbisect burnin {end}.toml", "expect": expect} for end, expect in ENDS]
    assert text(status="culprit", culprits=[CULPRIT], reproduce=lines).splitlines()[-3:] == [
        "Reproduce with:",
        "  envbisect burnin good.toml   # passes",
        "  envbisect burnin bad.toml   # fails in 10 of 10 runs",
    ]
    assert text(reproduce=[{"command": "envbisect burnin a.toml", "expect": ""}]).endswith("burnin a.toml")
    assert "Reproduce" not in text(status="culprit", culprits=[CULPRIT])

"""The commands that show a difference again, and what they can be expected to show."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Final

from envbisect.session.campaign import Answer, SymptomReport
from envbisect.session.options import RunOptions

PLACES: Final = ("good", "bad", "culprit", "neighbour")
"""Where ``envbisect burnin SESSION --at PLACE`` can run: the ends, and both sides of the boundary."""


def recipe(options: RunOptions, runtime: str, session: str, answer: Answer | None) -> list[dict[str, str]]:
    """Commands with what to expect of them; the boundary of the first culprit if there is one, else the ends."""
    if options.good == options.bad:
        return []
    report = answer.reports[0] if answer is not None and answer.reports else None
    if report is not None and any(finding.certificate for finding in report.findings):
        certificate = next(finding.certificate for finding in report.findings if finding.certificate)
        lines = []
        for place in ("neighbour", "culprit"):
            row = next((row for row in certificate if row.role.value == place), None)
            if row is not None:
                counts = (row.counts.bad, row.counts.bad + row.counts.good)
                lines.append({"command": _at(session, place), "expect": _expected(report, *counts)})
        return lines
    ends = [(options.good, report.good if report else None), (options.bad, report.bad if report else None)]
    return [
        {
            "command": _manifest(options, runtime, path),
            "expect": _expected(report, *counts) if report and counts else "",
        }
        for path, counts in ends
    ]


def _expected(report: SymptomReport, failed: int, runs: int) -> str:
    """What happened there: "fails (9 of 10 runs)"; for a number, on which side of which limit."""
    rule = report.symptom.metric
    if rule is not None:
        limit = f"{rule.above:g}" if rule.above is not None else f"{rule.below:g}"
        bad, good = ("above", "at most") if rule.above is not None else ("below", "at least")
        return f"{rule.name} {bad} {limit} in {failed} of {runs} runs" if failed else f"{rule.name} {good} {limit}"
    if not failed:
        return f"passes ({runs} of {runs} runs)"
    return f"fails ({failed} of {runs} runs)"


def _at(session: str, place: str) -> str:
    return shlex.join(["envbisect", "burnin", session, "--at", place])


def _manifest(options: RunOptions, runtime: str, path: str) -> str:
    rest: Sequence[str] = [
        f"--backend={runtime}",
        *([f"--python={options.python}"] if options.python else []),
        *([f"--burnin={_shown(options.burnin)}"] if options.burnin else []),
        *([f"--checks={','.join(options.checks)}"] if options.checks else []),
        *(["--", *options.command] if options.command else []),
    ]
    return shlex.join(["envbisect", "burnin", _shown(path), *rest])


def _shown(path: str) -> str:
    """A path as a user in this folder writes it."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative

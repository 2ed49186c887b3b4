"""The result document (``run --json``, schema 1) from a campaign's answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from envbisect.burnin.symptoms import SymptomState
from envbisect.manifest.stack import Value
from envbisect.search import Outcome, Status
from envbisect.session.ask import NotBuilt, NotFeasible, Purpose, Ran
from envbisect.session.campaign import Answer, Campaign, SymptomReport
from envbisect.session.doubts import Doubts
from envbisect.session.finding import CertificateRow, Change, Finding
from envbisect.session.history import Entry, History
from envbisect.session.oracle import Symptom, failed
from envbisect.space.model import Rider, Unmovable

SCHEMA: Final = 1
INTERRUPTED: Final = "interrupted"


@dataclass(frozen=True, slots=True)
class Frame:
    """What the document says beside the answer."""

    session: str
    good: str
    bad: str
    unmovable: tuple[Unmovable, ...]
    notes: tuple[str, ...]
    built: int
    total_s: float
    reproduce: tuple[Mapping[str, str], ...] = ()
    numbers: tuple[int, ...] = ()  # of the probes, one for each entry of the history


def result_document(campaign: Campaign, answer: Answer | None, frame: Frame) -> dict[str, Any]:
    """The document of a finished run, or of an interrupted one (``answer`` None)."""
    reports = answer.reports if answer else ()
    doubts = Doubts(campaign, answer, frame.numbers)
    return {
        "schema": SCHEMA,
        "status": answer.status.value if answer else INTERRUPTED,
        "reason": _reason(campaign, answer, frame),
        "culprits": _culprits(reports),
        "suspects": _suspects(reports),
        "symptoms": [_symptom(report) for report in reports],
        "unmovable": [_unmovable(entry) for entry in frame.unmovable],
        "contradictions": doubts.contradictions(),
        "drift": doubts.drift(),
        "probes": _probes(campaign.history, campaign.symptoms, frame.built),
        "seconds": _seconds(campaign.history, frame.total_s),
        "session": frame.session,
        "inputs": {"good": frame.good, "bad": frame.bad},
        "notes": list(frame.notes),
        "reproduce": [dict(line) for line in frame.reproduce],
    }


GO_ON: Final = {"--max-probes": "--max-probes N", "--max-hours": "--max-hours H", "--until": "--until HH:MM"}


def _reason(campaign: Campaign, answer: Answer | None, frame: Frame) -> str:
    resume = f"go on with: envbisect resume {frame.session}"
    if answer is None:
        return f"interrupted; {resume}"
    if answer.status is Status.BUDGET and campaign.out_of:
        return f"{answer.reason}; {resume} {GO_ON[campaign.out_of]}"
    return answer.reason


def _culprits(reports: Sequence[SymptomReport]) -> list[dict[str, Any]]:
    """One entry a culprit; symptoms that share one are grouped under the first ("also")."""
    found: dict[tuple[Change, ...], dict[str, Any]] = {}
    for report in reports:
        for finding in report.findings:
            if finding.status is not Status.CULPRIT:
                continue
            if finding.changes in found:
                also = found[finding.changes]["also"]
                if report.symptom.id not in (found[finding.changes]["symptom"], *also):
                    also.append(report.symptom.id)
            else:
                found[finding.changes] = _culprit(report.symptom, finding)
    return list(found.values())


def _culprit(symptom: Symptom, finding: Finding) -> dict[str, Any]:
    return {
        "symptom": symptom.id,
        "also": [],
        "confidence": round(finding.confidence, 4),
        "complete": finding.complete,
        "changes": [_change(change) for change in finding.changes],
        "certificate": [_row(row) for row in finding.certificate],
        "reversal": {name: cure.value for name, cure in finding.reversal.items()},
        "riders": [_rider(rider) for rider in finding.riders],
        "notes": list(finding.notes),
    }


def _suspects(reports: Sequence[SymptomReport]) -> list[dict[str, Any]]:
    return [
        {
            "symptom": report.symptom.id,
            "confidence": round(finding.confidence, 4),
            "changes": [{**_change(change), "between": list(change.between)} for change in group],
        }
        for report in reports
        for finding in report.findings
        for group in finding.suspects
    ]


def _change(change: Change) -> dict[str, Value]:
    note: dict[str, Value] = {"note": change.note} if change.note else {}
    return note | {
        "key": change.key,
        "good": change.good,
        "bad": change.bad,
        "last_good": change.last_good,
        "first_bad": change.first_bad,
    }


def _row(row: CertificateRow) -> dict[str, Any]:
    return {
        "role": row.role.value,
        "configuration": dict(row.configuration),
        "good": row.counts.good,
        "bad": row.counts.bad,
        "unresolved": row.counts.unresolved,
    }


def _rider(rider: Rider) -> dict[str, Value]:
    return {"key": rider.key, "good": rider.good, "bad": rider.bad}


def _unmovable(entry: Unmovable) -> dict[str, Value]:
    return {"key": entry.key, "good": entry.good, "bad": entry.bad, "stays": entry.stays, "reason": entry.reason}


def _symptom(report: SymptomReport) -> dict[str, Any]:
    document: dict[str, Any] = {
        "id": report.symptom.id,
        "status": report.status.value,
        "good_rate": _rate(*report.good),
        "bad_rate": _rate(*report.bad),
        "good_failed": report.good[0],
        "good_runs": report.good[1],
        "bad_failed": report.bad[0],
        "bad_runs": report.bad[1],
    }
    if report.bound is not None:
        document["bound"] = round(report.bound, 4)
    if report.symptom.signatures is not None:
        document["signatures"] = sorted(str(signature) for signature in report.symptom.signatures)
    if report.symptom.metric is not None:
        if report.medians is not None:
            document["good_median"], document["bad_median"] = (round(value, 6) for value in report.medians)
        document["bad_above"], document["bad_below"] = report.symptom.metric.above, report.symptom.metric.below
    return document


def _rate(bad: int, runs: int) -> float:
    return round(bad / runs, 4) if runs else 0.0


def _probes(history: History, symptoms: Sequence[Symptom], built: int) -> dict[str, int]:
    outcomes = [_outcome(entry, symptoms) for entry in history.entries if not isinstance(entry.reply, NotFeasible)]
    return {
        "total": len(outcomes),
        "good": outcomes.count(Outcome.GOOD),
        "bad": outcomes.count(Outcome.BAD),
        "unresolved": outcomes.count(Outcome.UNRESOLVED),
        "built": built,
        "endpoints": history.purpose(Purpose.ENDPOINT),
        "verification": history.purpose(Purpose.NEIGHBOUR, Purpose.REVERSAL, Purpose.NAMING),
    }


def _outcome(entry: Entry, symptoms: Sequence[Symptom]) -> Outcome:
    """The outcome for the primary symptom; before there is one, whether anything failed."""
    match entry.reply:
        case Ran():
            if symptoms:
                return symptoms[0].judge(entry.reply.observation).outcome
            observation = entry.reply.observation
            if failed(observation):
                return Outcome.BAD
            told = any(seen.state is SymptomState.PASS for seen in observation.symptoms)
            return Outcome.GOOD if told else Outcome.UNRESOLVED
        case NotBuilt() | NotFeasible():
            return Outcome.UNRESOLVED


def _seconds(history: History, total_s: float) -> dict[str, float]:
    runs = [entry.reply for entry in history.entries if isinstance(entry.reply, Ran)]
    return {
        "total": round(total_s, 1),
        "build": round(sum(run.build_s for run in runs), 1),
        "burnin": round(sum(run.run_s for run in runs), 1),
    }

"""What is decided beside the posterior: by drift, by a test that is not monotone, or by holes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from envbisect.search.assess import Assessment
from envbisect.search.certificate import Classes, certificate, excludes_others
from envbisect.search.descent import Descent, own_certificate
from envbisect.search.evidence import Evidence
from envbisect.search.suspects import Finish
from envbisect.search.words import Configuration, Proof, Result, Status


@dataclass(frozen=True, slots=True)
class Ruling:
    """A status with what belongs to it; BUDGET as long as ``asks`` are to be run first."""

    status: Status
    asks: tuple[Configuration, ...] = ()
    culprit: Configuration | None = None
    confidence: float = 0.0
    suspects: tuple[Configuration, ...] = ()
    complete: bool = False
    certificate: tuple[Proof, ...] = ()
    last_look: bool = False  # the one question is whether the machine is still the same

    def applied(self, base: Result) -> Result:
        """The result with this ruling."""
        return replace(
            base,
            status=self.status,
            culprit=self.culprit,
            confidence=self.confidence,
            suspects=self.suspects,
            complete=self.complete,
            certificate=self.certificate,
        )


def proven(culprit: Configuration, confidence: float, evidence: Evidence) -> Ruling:
    """A culprit whose certificate is complete."""
    return Ruling(
        Status.CULPRIT,
        culprit=culprit,
        confidence=confidence,
        complete=excludes_others(culprit, evidence),
        certificate=certificate(culprit, evidence),
    )


def by_posterior(state: Assessment, evidence: Evidence) -> Ruling:
    """What the posterior says: its culprit, or what nothing testable tells from it."""
    match state.status:
        case Status.CULPRIT if state.leader is not None:
            return proven(state.leader, state.confidence, evidence)
        case Status.SUSPECTS:
            shown = Classes(evidence).ceiling(state.members) or evidence.lattice.top
            return Ruling(
                Status.SUSPECTS,
                confidence=state.confidence,
                suspects=tuple(sorted(state.members)),
                certificate=certificate(shown, evidence),
            )
        case _:
            return Ruling(state.status or Status.BUDGET, confidence=state.confidence)


def not_monotone(descent: Descent, confidence: float, evidence: Evidence) -> Ruling:
    """A configuration that fails while each one right below it passes, by their own runs."""
    if descent.ask is not None:
        return Ruling(Status.BUDGET, (descent.ask,))
    if descent.culprit is None or descent.confidence < confidence:
        return Ruling(Status.UNDECIDED, confidence=descent.confidence)
    return Ruling(
        Status.CULPRIT,
        culprit=descent.culprit,
        confidence=descent.confidence,
        certificate=own_certificate(descent.culprit, evidence),
    )


def with_holes(finish: Finish, evidence: Evidence) -> Ruling:
    """A culprit that is proven all the same, or the smallest set that must hold one."""
    left = finish.left
    if finish.asks:
        return Ruling(Status.BUDGET, finish.asks, confidence=finish.confidence)
    if left.culprit:
        return proven(left.ceiling, finish.confidence, evidence)
    return Ruling(
        Status.SUSPECTS,
        confidence=finish.confidence,
        suspects=left.members,
        certificate=certificate(left.ceiling, evidence),
    )

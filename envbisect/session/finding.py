"""What a search came to, in the words of the result document. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from envbisect.manifest.stack import Value
from envbisect.search import Status
from envbisect.session.history import Counts
from envbisect.space.model import Rider


class Cure(StrEnum):
    """What undoing a change in the bad stack does."""

    CURES = "cures"
    DOES_NOT_CURE = "does-not-cure"
    UNRESOLVED = "unresolved"


class Role(StrEnum):
    """A row's part in the certificate."""

    CULPRIT = "culprit"
    NEIGHBOUR = "neighbour"
    REVERSAL = "reversal"


@dataclass(frozen=True, slots=True)
class Change:
    """One member of a culprit. ``last_good`` and ``first_bad`` are neighbouring steps unless ``between`` is filled."""

    key: str
    good: Value
    bad: Value
    last_good: Value
    first_bad: Value
    between: tuple[Value, ...] = ()
    note: str = ""  # what is known of the first bad step: a commit's subject

    def rider(self) -> Rider:
        """The same movement as something that had to come along."""
        return Rider(self.key, self.good, self.first_bad)


@dataclass(frozen=True, slots=True)
class CertificateRow:
    """Observations at one configuration."""

    role: Role
    configuration: Mapping[str, Value]
    counts: Counts


@dataclass(frozen=True, slots=True)
class Contradiction:
    """``fails`` fails although ``passes``, which has all its changes and more, passes; each with its own runs."""

    fails: Mapping[str, Value]
    passes: Mapping[str, Value]
    fails_counts: Counts = field(default_factory=Counts)
    passes_counts: Counts = field(default_factory=Counts)


@dataclass(frozen=True, slots=True)
class Drifted:
    """One end answered otherwise late than early, so something changed that is no axis.

    Attributes:
        end: good or bad.
        before, after: its runs up to the change and since.
        probability: the chance of so large a change if there was none.
        since: number of the probe from which on results are doubtful, 0 if that is not known.
    """

    end: str
    configuration: Mapping[str, Value]
    before: Counts
    after: Counts
    probability: float
    since: int = 0


@dataclass(frozen=True, slots=True)
class KnownClash:
    """What ``--known`` says of an end does not agree with its runs here; ``probability`` is that of so large a gap."""

    end: str
    known: Counts
    seen: Counts
    probability: float


@dataclass(frozen=True, slots=True)
class Finding:
    """What a search came to. ``lowered``: for each axis of the culprit, by its number, the last good step."""

    status: Status
    changes: tuple[Change, ...] = ()
    confidence: float = 0.0
    complete: bool = False
    certificate: tuple[CertificateRow, ...] = ()
    reversal: Mapping[str, Cure] = field(default_factory=dict)
    riders: tuple[Rider, ...] = ()
    suspects: tuple[tuple[Change, ...], ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    lowered: Mapping[int, int] = field(default_factory=dict)
    drift: Drifted | None = None
    clash: KnownClash | None = None
    notes: tuple[str, ...] = ()
    bound: float | None = None

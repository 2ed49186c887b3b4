"""Whether what the user says of an end (``--known``) agrees with its runs here. Pure."""

from __future__ import annotations

from typing import Final

from envbisect.search.drift import fisher
from envbisect.session.finding import KnownClash
from envbisect.session.history import Counts

DISAGREE: Final = 0.01
"""Probability below which known and seen runs are not of one failure rate."""


def clash(end: str, known: Counts, seen: Counts) -> KnownClash | None:
    """The disagreement of an end's known runs with those seen, None if both may have one failure rate."""
    probability = one_rate(known, seen)
    return KnownClash(end, known, seen, probability) if probability < DISAGREE else None


def one_rate(one: Counts, other: Counts) -> float:
    """P(counts at least as far apart | one failure rate), whichever of both fails more (Fisher's exact test)."""
    runs, more = one.good + one.bad, other.good + other.bad
    return fisher(one.bad, one.bad + other.bad, runs, runs + more)


def in_words(found: KnownClash) -> str:
    """One line for people."""
    known, seen = found.known, found.seen
    return (
        f"--known says that the {found.end} end passed {known.good} of {known.good + known.bad} runs; here it passed "
        f"{seen.good} of {seen.good + seen.bad}, which hardly goes together: leave --known out if those runs were made "
        f"elsewhere, or see what differs here"
    )

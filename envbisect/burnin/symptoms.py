"""From a burn-in result to what each symptom showed: pure, the same document always gives the same answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Final, assert_never

from envbisect.burnin.result import BurninResult, CheckResult, CheckStatus, Failure, FailureKind

LAST_LINE: Final = 200
"""Characters of a test's last line that go into one line for people."""


class SymptomState(StrEnum):
    """What one symptom showed in one probe."""

    PASS = "pass"
    FAIL = "fail"
    CANNOT_TELL = "cannot-tell"
    ABSENT = "absent"  # the check did not run


@dataclass(frozen=True, slots=True)
class Signature:
    """What identifies a failure, run after run: no message, no number, no line, no rank.

    ``function`` is the raising function as ``package:function``: the module inside a package moves between releases.
    Fields that do not belong to the kind are None.
    """

    kind: FailureKind
    type: str | None = None
    function: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    pattern: str | None = None

    def document(self) -> dict[str, str | int | None]:
        """As JSON; :meth:`read` gives an equal signature back."""
        return {**asdict(self), "kind": self.kind.value}

    @classmethod
    def read(cls, document: Mapping[str, object]) -> Signature:
        """From :meth:`document`; fields of a later version are left out.

        Raises:
            KeyError, ValueError: it is no signature.
        """
        texts = {name: _text(document.get(name)) for name in ("type", "function", "signal", "pattern")}
        code = document.get("exit_code")
        return cls(kind=FailureKind(str(document["kind"])), exit_code=code if isinstance(code, int) else None, **texts)

    def __str__(self) -> str:
        match self.kind:
            case FailureKind.EXCEPTION:
                return f"{self.type} raised in {self.function}" if self.function else str(self.type)
            case FailureKind.EXIT:
                return f"exit code {self.exit_code}"
            case FailureKind.SIGNAL:
                return str(self.signal)
            case FailureKind.HANG:
                return "hang"
            case FailureKind.PATTERN:
                return f"output matches {self.pattern}"
            case FailureKind.VALUE:
                return "wrong or unstable value"
            case _:
                assert_never(self.kind)


@dataclass(frozen=True, slots=True)
class SymptomObservation:
    """One symptom in one probe. ``signature`` is set exactly when ``state`` is FAIL; ``metrics`` by plain name."""

    id: str
    state: SymptomState
    signature: Signature | None = None
    detail: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observation:
    """What one probe showed. ``faults`` are problems of the burn-in itself, one line each."""

    symptoms: tuple[SymptomObservation, ...]
    faults: tuple[str, ...] = ()

    def of(self, symptom: str) -> SymptomObservation:
        """One symptom; ABSENT if its check did not run."""
        found = (observed for observed in self.symptoms if observed.id == symptom)
        return next(found, SymptomObservation(symptom, SymptomState.ABSENT))


def observe(result: BurninResult | None, *, exit_code: int, timed_out: bool) -> Observation:
    """Judge a probe. ``exit_code`` (negative for a signal) and ``timed_out`` are the payload's, as the runtime saw.

    A payload that died or was ended makes the check in flight fail by signal or hang. A flag that did not take effect
    makes everything undecidable: what ran was not the configuration that was asked for.
    """
    if result is None:
        how = "the deadline passed" if timed_out else f"exit code {exit_code}"
        return Observation((), (f"the payload left no result ({how})",))
    faults = tuple(f"{fault.kind}: {fault.message}" for fault in result.faults)
    symptoms = [_observed(check) for check in result.checks]
    if result.in_flight is not None and result.check(result.in_flight) is None:
        symptoms.append(_unfinished(result, exit_code, timed_out))
    without_effect = [fault.message for fault in result.faults if fault.kind == "flag"]
    if without_effect:
        symptoms = [_undecidable(symptom, without_effect[0]) for symptom in symptoms]
    return Observation(tuple(symptoms), faults)


def _observed(check: CheckResult) -> SymptomObservation:
    match check.status:
        case CheckStatus.PASS:
            return SymptomObservation(check.id, SymptomState.PASS, None, check.detail, check.metrics)
        case CheckStatus.FAIL | CheckStatus.ERROR | CheckStatus.HANG:
            if check.failure is None:
                return SymptomObservation(check.id, SymptomState.CANNOT_TELL, None, "failed without saying how")
            signature = signature_of(check.failure)
            return SymptomObservation(check.id, SymptomState.FAIL, signature, _in_words(check), check.metrics)
        case CheckStatus.REFUSED | CheckStatus.SKIPPED | CheckStatus.CANNOT_TELL:
            return SymptomObservation(check.id, SymptomState.CANNOT_TELL, None, check.detail, check.metrics)
        case _:
            assert_never(check.status)


def _in_words(check: CheckResult) -> str:
    """A bare exit code says little: the last thing that the test printed goes with it."""
    if check.failure is None or check.failure.kind is not FailureKind.EXIT:
        return check.detail
    printed = [line.strip() for line in (check.output_tail or "").splitlines() if line.strip()]
    last = "".join(char for char in printed[-1] if char.isprintable())[:LAST_LINE] if printed else ""
    return f"{check.detail}: {last}" if last and last not in check.detail else check.detail


def signature_of(failure: Failure) -> Signature:
    """What of a failure is the same when it happens again."""
    match failure.kind:
        case FailureKind.EXCEPTION:
            return Signature(failure.kind, type=failure.type, function=_function(failure.frames))
        case FailureKind.EXIT:
            return _exit(failure.exit_code)
        case FailureKind.SIGNAL:
            return Signature(failure.kind, signal=failure.signal)
        case FailureKind.PATTERN:
            return Signature(failure.kind, pattern=failure.pattern)
        case FailureKind.VALUE | FailureKind.HANG:
            return Signature(failure.kind)
        case _:
            assert_never(failure.kind)


def _exit(code: int | None) -> Signature:
    return Signature(FailureKind.EXIT, exit_code=code)


def _function(frames: tuple[str, ...]) -> str | None:
    if not frames:
        return None
    module, _, function = frames[-1].rpartition(":")
    return f"{module.partition('.')[0]}:{function}"


def _unfinished(result: BurninResult, exit_code: int, timed_out: bool) -> SymptomObservation:
    """The check that was running when the payload ended without a word."""
    check = str(result.in_flight)
    if timed_out:
        return SymptomObservation(
            check, SymptomState.FAIL, Signature(FailureKind.HANG), "the deadline passed while it ran"
        )
    if any(fault.kind == "interrupted" for fault in result.faults):
        return SymptomObservation(check, SymptomState.CANNOT_TELL, None, "interrupted while it ran")
    if exit_code < 0:
        name = _signal(-exit_code)
        if name in _FROM_OUTSIDE:
            detail = f"the payload was ended by {name} from outside while it ran"
            return SymptomObservation(check, SymptomState.CANNOT_TELL, None, detail)
        signature = Signature(FailureKind.SIGNAL, signal=name)
        return SymptomObservation(check, SymptomState.FAIL, signature, f"the payload died of {name} while it ran")
    detail = f"the payload ended with exit code {exit_code} while it ran"
    return SymptomObservation(check, SymptomState.FAIL, _exit(exit_code), detail)


_FROM_OUTSIDE: Final = frozenset({"SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"})
"""Somebody, or the kernel's out-of-memory killer, ended the payload: no evidence about the check."""


def _undecidable(symptom: SymptomObservation, why: str) -> SymptomObservation:
    return SymptomObservation(symptom.id, SymptomState.CANNOT_TELL, None, why)


def _signal(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None

"""Asks and replies as journal data and back. Old journals stay readable: names here change only with the schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from envbisect.burnin.symptoms import Observation, Signature, SymptomObservation, SymptomState
from envbisect.session.ask import Ask, NotBuilt, NotFeasible, Purpose, Ran, Reply
from envbisect.space.model import Rider


def ask_data(ask: Ask) -> dict[str, Any]:
    """What was asked, without the estimate."""
    data: dict[str, Any] = {"purpose": ask.purpose.value, "configuration": list(ask.configuration)}
    if ask.changes:
        data["changes"] = dict(ask.changes)
    return data


def ask_of(data: Mapping[str, Any]) -> Ask:
    """The ask that ``ask_data`` wrote."""
    return Ask(tuple(data["configuration"]), Purpose(data["purpose"]), data.get("changes", {}))


def reply_data(reply: Reply) -> dict[str, Any]:
    """What was observed."""
    match reply:
        case Ran():
            return {
                "kind": "ran",
                "point": list(reply.point),
                "observation": _observation_data(reply.observation),
                "components": dict(reply.components),
                "riders": [[rider.key, rider.good, rider.bad] for rider in reply.riders],
                "build_s": round(reply.build_s, 3),
                "run_s": round(reply.run_s, 3),
            }
        case NotBuilt():
            return {
                "kind": "not-built",
                "point": list(reply.point),
                "reason": reply.reason,
                "blamed": list(reply.blamed),
            }
        case NotFeasible():
            return {"kind": "not-feasible", "reason": reply.reason}
        case _:
            assert_never(reply)


def reply_of(data: Mapping[str, Any]) -> Reply:
    """The reply that ``reply_data`` wrote, as the campaign hears it (rounded: a replay must see the same)."""
    match data["kind"]:
        case "ran":
            return Ran(
                tuple(data["point"]),
                _observation_of(data["observation"]),
                data["components"],
                tuple(Rider(*rider) for rider in data["riders"]),
                data["build_s"],
                data["run_s"],
            )
        case "not-built":
            return NotBuilt(tuple(data["point"]), data["reason"], tuple(data.get("blamed", ())))
        case "not-feasible":
            return NotFeasible(data["reason"])
        case kind:
            raise ValueError(f"a journal of schema 1 holds no reply of kind {kind!r}")


def _observation_data(observation: Observation) -> dict[str, Any]:
    return {
        "symptoms": [
            {
                "id": seen.id,
                "state": seen.state.value,
                "signature": seen.signature.document() if seen.signature else None,
                "detail": seen.detail,
                "metrics": dict(seen.metrics),
            }
            for seen in observation.symptoms
        ],
        "faults": list(observation.faults),
    }


def _observation_of(data: Mapping[str, Any]) -> Observation:
    return Observation(
        tuple(
            SymptomObservation(
                seen["id"],
                SymptomState(seen["state"]),
                Signature.read(seen["signature"]) if seen["signature"] else None,
                seen["detail"],
                seen["metrics"],
            )
            for seen in data["symptoms"]
        ),
        tuple(data["faults"]),
    )

"""The append-only journal: one checksummed JSON record a line, durable before the next probe begins.

The journal is the only state of a session. A torn last line (kill -9, full disk) is what "the probe in flight" looks
like and is cut off when the journal is opened again; damage anywhere else is an error, because an answer must never be
built on evidence that changed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from envbisect.errors import EnvironmentFailure, UsageError

SCHEMA: Final = 1


class RecordType(StrEnum):
    """What a record tells."""

    OPENED = "opened"  # a process took the session: tool version, started or resumed
    STARTED = "probe-started"  # what is asked, and what it was realised to
    FINISHED = "probe-finished"  # what was observed
    FAULT = "infrastructure-fault"  # retried, never evidence
    FORGOTTEN = "forgotten"  # what was observed from a probe on counts no more: the user's word
    DECIDED = "decided"  # the answer, for people who read the journal


@dataclass(frozen=True, slots=True)
class Record:
    """One event. ``seq`` counts from 0 without gaps."""

    seq: int
    type: RecordType
    data: Mapping[str, Any]

    def line(self) -> bytes:
        body = {"schema": SCHEMA, "seq": self.seq, "type": self.type.value, "data": self.data}
        return json.dumps({**body, "check": _checksum(body)}, separators=(",", ":")).encode() + b"\n"


class Journal:
    """Appends records with fsync. Open it while holding the session's lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.records: list[Record] = []
        try:
            content = path.read_bytes() if path.exists() else b""
            good_bytes = 0
            for record, end in _parse(content, path):
                self.records.append(record)
                good_bytes = end
            self._file = path.open("ab", buffering=0)
            if good_bytes != len(content):
                self._file.truncate(good_bytes)
        except OSError as error:
            raise _unwritable(path, error) from error

    def append(self, type_: RecordType, data: Mapping[str, Any]) -> Record:
        """Add a record; it is on the disk when this returns.

        Raises:
            EnvironmentFailure: the disk is full or the folder cannot be written.
        """
        record = Record(len(self.records), type_, data)
        try:
            line = record.line()
            if self._file.write(line) != len(line):
                raise OSError(28, "No space left on device")
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _unwritable(self._path, error) from error
        self.records.append(record)
        return record

    def of(self, type_: RecordType) -> Iterator[Record]:
        """All records of one type, in order."""
        return (record for record in self.records if record.type is type_)

    def observed(self) -> list[Record]:
        """The finished probes that count, in order."""
        kept: list[Record] = []
        for record in self.records:
            if record.type is RecordType.FINISHED:
                kept.append(record)
            elif record.type is RecordType.FORGOTTEN:
                kept = [each for each in kept if each.data["number"] < record.data["since"]]
        return kept

    def close(self) -> None:
        self._file.close()


def read(path: Path) -> list[Record]:
    """The journal's records, without opening it for writing; a torn last line is left out."""
    return [record for record, _ in _parse(path.read_bytes(), path)]


def _parse(content: bytes, path: Path) -> Iterator[tuple[Record, int]]:
    """Yield each valid record with the offset of its end; stop at a torn last line."""
    offset = 0
    lines = content.split(b"\n")
    for number, line in enumerate(lines[:-1]):
        record = _record(line)
        if record is None and number == len(lines) - 2:
            return  # torn by a crash in the middle of a write
        if record is None or record.seq != number:
            raise UsageError(
                f"{path}:{number + 1}: this record was changed or damaged after it was written",
                "restore the session folder from a backup, or start anew with another --session",
            )
        offset += len(line) + 1
        yield record, offset


def _record(line: bytes) -> Record | None:
    try:
        body = json.loads(line)
        check = body.pop("check")
        if check != _checksum(body):
            return None
        return Record(body["seq"], RecordType(body["type"]), body["data"])
    except (ValueError, KeyError, AttributeError, TypeError):
        return None


def _checksum(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, separators=(",", ":"), sort_keys=True).encode()).hexdigest()[:16]


def _unwritable(path: Path, error: OSError) -> EnvironmentFailure:
    return EnvironmentFailure(
        f"{path}: the journal cannot be written: {error.strerror or error}",
        "free some disk space or make the folder writable, then: envbisect resume " + str(path.parent),
    )

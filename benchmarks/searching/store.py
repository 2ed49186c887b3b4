"""The raw figures in a JSON file: what is finished is kept, what its sources changed under is measured again."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from searching import speed
from searching.measurements import Figures, Measurement

SCHEMA: Final = 1


class StoreError(Exception):
    """A file of figures that cannot be read."""


class Store:
    """The figures by measurement; written after each of them where a path is given."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._document: dict[str, Any] = {"schema": SCHEMA, "versions": {}, "measurements": {}, "speed": {}}
        if path is not None and path.is_file():
            self._document = _read(path)

    @property
    def versions(self) -> dict[str, str]:
        """What was compared, by name."""
        versions: dict[str, str] = self._document["versions"]
        return versions

    def figures(self, measurement: Measurement) -> Figures | None:
        """What is known of a measurement, of whatever age."""
        entry = self._document["measurements"].get(measurement.name)
        return Figures(**entry["figures"]) if entry is not None else None

    def is_fresh(self, measurement: Measurement, searches: int) -> bool:
        """Whether it was measured with the sources of now and as many searches."""
        entry = self._document["measurements"].get(measurement.name)
        if entry is None:
            return False
        same = entry["digest"] == measurement.digest()
        return same and int(entry["figures"]["searches"]) == len(measurement.seeds(searches))

    def is_stale(self, measurement: Measurement) -> bool:
        """Whether it was measured, but with other sources."""
        entry = self._document["measurements"].get(measurement.name)
        return entry is not None and entry["digest"] != measurement.digest()

    def keep(self, measurement: Measurement, figures: Figures, digest: str) -> None:
        """Store what was measured with sources of this digest."""
        entry = {"digest": digest, "figures": asdict(figures)}
        self._document["measurements"][measurement.name] = entry
        self._write()

    @property
    def thinking(self) -> list[speed.Thinking]:
        """The times a probe, of whatever age."""
        return [speed.Thinking(**each) for each in self._document["speed"].get("points", [])]

    def is_thinking_fresh(self) -> bool:
        """Whether the times a probe are those of the sources of now."""
        return bool(self._document["speed"].get("digest") == speed.digest())

    def keep_thinking(self, points: Sequence[dict[str, Any]], digest: str) -> None:
        """Store the times a probe of sources of this digest."""
        self._document["speed"] = {"digest": digest, "points": list(points)}
        self._write()

    def keep_versions(self, versions: dict[str, str]) -> None:
        """Store what was compared."""
        machine = {"python": platform.python_version(), "cores": str(os.cpu_count())}
        self._document["versions"] = {**self.versions, **machine, **versions}
        self._write()

    def prune(self, names: Sequence[str]) -> None:
        """Forget measurements that no longer exist."""
        kept = {name: entry for name, entry in self._document["measurements"].items() if name in set(names)}
        self._document["measurements"] = {name: kept[name] for name in names if name in kept}
        self._write()

    def _write(self) -> None:
        if self.path is None:
            return
        new = self.path.with_name(f".{self.path.name}.new")
        new.write_text(json.dumps(self._document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        new.replace(self.path)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as fault:
        raise StoreError(f"{path} is no JSON ({fault}); remove it to measure everything again") from fault
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise StoreError(f"{path} is no file of figures, schema {SCHEMA}; remove it to measure everything again")
    return document

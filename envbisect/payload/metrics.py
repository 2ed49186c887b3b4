"""Numbers that a user's test reports: in ``$ENVBISECT_METRICS``, or as a JSON object on the last line of its output.

The file is one JSON object or JSON lines of objects; of a number that comes several times the last one counts, and
all of them are kept as samples. Each rank has a file of its own, the name with ``.rankN`` added; the ranks' numbers
are put together as the manifest says: the largest (``max``) or that of rank 0 (``rank0``).
"""

from __future__ import annotations

import json
import math
import os
import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

SAMPLES_KEPT = 4096
FILE_BYTES = 64 * 1024 * 1024


class Reported(NamedTuple):
    """The numbers of a whole test, the series that they are the last of, and what could not be read."""

    values: Dict[str, float]
    samples: Dict[str, List[float]]
    faults: List[str]


def collect(path: str, last_lines: Sequence[Tuple[Optional[int], str]], aggregates: Dict[str, str]) -> Reported:
    """Everything that was reported. ``last_lines`` has a (rank, line) pair for every standard output.

    A name that stands in the file and on the last line is taken from the file.
    """
    faults: List[str] = []
    series: Dict[Tuple[str, Optional[int]], List[float]] = {}
    for rank, line in last_lines:
        for name, value in numbers_in(line).items():
            series[name, rank] = [value]
    for rank, file in metrics_files(path):
        for name, reported in _read(file, faults).items():
            series[name, rank] = reported
    names = sorted({name for name, _ in series})
    values = {name: _aggregate(name, series, aggregates.get(name, "max")) for name in names}
    samples = {name: _longest(name, series)[-SAMPLES_KEPT:] for name in names}
    return Reported(values, {name: kept for name, kept in samples.items() if len(kept) > 1}, faults)


def metrics_files(path: str) -> List[Tuple[Optional[int], str]]:
    """The file itself and those of ranks, with the rank."""
    folder, name = os.path.split(path)
    pattern = re.compile(re.escape(name) + r"(?:\.rank(\d+))?$")
    found: List[Tuple[Optional[int], str]] = []
    for entry in sorted(os.listdir(folder)):
        match = pattern.match(entry)
        if match:
            found.append((int(match.group(1)) if match.group(1) else None, os.path.join(folder, entry)))
    return found


def numbers_in(line: str) -> Dict[str, float]:
    """The finite numbers of a JSON object; empty if ``line`` is anything else. Booleans are no numbers."""
    if not line.lstrip().startswith("{"):
        return {}
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return _finite(document) if isinstance(document, dict) else {}


def _finite(document: Dict[str, Any]) -> Dict[str, float]:
    numbers = {name: value for name, value in document.items() if type(value) in (int, float)}
    return {name: float(value) for name, value in numbers.items() if abs(value) < 1e300 and math.isfinite(value)}


def _read(file: str, faults: List[str]) -> Dict[str, List[float]]:
    with open(file, encoding="utf-8", errors="replace") as stream:
        text = stream.read(FILE_BYTES)
    series: Dict[str, List[float]] = {}
    try:
        documents = [json.loads(text)]
    except (ValueError, RecursionError):
        documents = []
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                documents += _line(file, number, line, faults)
    for document in documents:
        if not isinstance(document, dict):
            faults.append("%s: a JSON object of numbers is expected" % os.path.basename(file))
            continue
        for name, value in _finite(document).items():
            series.setdefault(name, []).append(value)
    return series


def _line(file: str, number: int, line: str, faults: List[str]) -> List[Any]:
    try:
        return [json.loads(line)]
    except (ValueError, RecursionError):
        faults.append("%s:%d: not JSON" % (os.path.basename(file), number))
        return []


def _aggregate(name: str, series: Dict[Tuple[str, Optional[int]], List[float]], how: str) -> float:
    last = {rank: values[-1] for (other, rank), values in series.items() if other == name}
    if how == "rank0" and (0 in last or None in last):
        return last[0] if 0 in last else last[None]
    return max(last.values())


def _longest(name: str, series: Dict[Tuple[str, Optional[int]], List[float]]) -> List[float]:
    return max((values for (other, _), values in series.items() if other == name), key=len)

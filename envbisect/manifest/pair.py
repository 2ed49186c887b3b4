"""What must hold between two manifests before anything is compared: one test, and axes that join the two ends."""

from __future__ import annotations

import json
from collections.abc import Iterator

from envbisect.errors import Fault, ManifestError
from envbisect.keys import ValueType, spec_for
from envbisect.manifest.axes import same
from envbisect.manifest.burnin import Burnin
from envbisect.manifest.model import Manifest
from envbisect.manifest.packages import is_exact
from envbisect.manifest.stack import Value
from envbisect.manifest.wrong import shown


def check_pair(good: Manifest, bad: Manifest) -> dict[str, tuple[Value, ...]]:
    """Check that good and bad describe the same test and agree on their axes.

    Returns:
        The steps of each axis whose ends differ, from good's value to bad's: a part of the list if the ends lie
        within it, reversed for a downgrade.

    Raises:
        ManifestError: the tests differ, or an axis is listed in two ways or without an end.
    """
    _check_same_test(good, bad)
    steps: dict[str, tuple[Value, ...]] = {}
    faults: list[Fault] = []
    for key in sorted({*good.axes, *bad.axes}):
        found = _steps(key, good, bad)
        if isinstance(found, Fault):
            faults.append(found)
        elif found:
            steps[key] = found
    if len(faults) == 1:
        raise ManifestError(str(faults[0]), f"expected {faults[0].expected}", faults)
    if faults:
        raise ManifestError(
            f"{len(faults)} axes do not join {good.path} and {bad.path}", "list every step once", faults
        )
    return steps


def _check_same_test(good: Manifest, bad: Manifest) -> None:
    differing = list(_differences(good.burnin, bad.burnin))
    if not differing:
        return
    names = ", ".join(name for name, _, _ in differing)
    faults = [
        Fault(
            f"{name} is {one} in {good.path} and {other} in {bad.path}",
            file=str(bad.path),
            key=f"burnin.{name}",
            expected=one,
        )
        for name, one, other in differing
    ]
    raise ManifestError(
        f"{good.path} and {bad.path} describe different tests: {names}",
        f"give both the same [burnin], or settle it with `--burnin {good.path}`",
        faults,
    )


def _differences(good: Burnin, bad: Burnin) -> Iterator[tuple[str, str, str]]:
    one, other = good.model_dump(mode="json"), bad.model_dump(mode="json")
    for name in one:
        if one[name] != other[name]:
            yield name, json.dumps(one[name]), json.dumps(other[name])


def _steps(key: str, good: Manifest, bad: Manifest) -> tuple[Value, ...] | Fault:
    place = (good if key in good.axes else bad).axis_place(key)
    if key in good.axes and key in bad.axes and not same([*good.axes[key]], [*bad.axes[key]]):
        return bad.axis_place(key).fault(
            f"the axis {key} has other steps than in {good.path}",
            key=f"axes.{key}",
            expected="the same list, or one list",
        )
    listed = good.axes.get(key) or bad.axes[key]
    ends = good.pins.get(key), bad.pins.get(key)
    if same(*ends) or _floats(key, ends):
        return ()
    for side, end in zip((good, bad), ends, strict=True):
        if end is None:
            return place.fault(
                f"the axis {key} needs a value in {side.path}, where it is not set",
                key=f"axes.{key}",
                expected="both ends",
            )
        if not any(same(end, step) for step in listed):
            return place.fault(
                f"the axis {key} lacks {shown(end)}, the value in {side.path}",
                key=f"axes.{key}",
                expected="both ends in it",
            )
    first, last = (next(i for i, step in enumerate(listed) if same(end, step)) for end in ends)
    return listed[first : last + 1] if first < last else listed[last : first + 1][::-1]


def _floats(key: str, ends: tuple[Value, Value]) -> bool:
    """Whether the ends are known only when packages are resolved: a dependency or a specifier."""
    spec = spec_for(key)
    return spec is not None and spec.type is ValueType.PACKAGE and not all(is_exact(end) for end in ends)

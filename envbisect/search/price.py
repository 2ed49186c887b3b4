"""What a probe costs, given what was built already."""

from __future__ import annotations

from envbisect.search.words import Configuration, Costs


class Prices:
    """Seconds of the next probe of a configuration: the run, and each group of axes whose projection is new."""

    def __init__(self, costs: Costs | tuple[float, float]) -> None:
        if isinstance(costs, Costs):
            self.run_s = costs.run_s
            self._groups = [(tuple(axes), build_s) for axes, build_s in costs.groups]
            self._whole_s = 0.0
        else:
            self._whole_s, self.run_s = costs
            self._groups = []
        self._built: list[set[Configuration]] = [set() for _ in self._groups]
        self._seen: dict[Configuration, None] = {}

    def built(self, configuration: Configuration) -> None:
        """Its projections are built from now on."""
        self._seen[configuration] = None
        for (axes, _), projections in zip(self._groups, self._built, strict=True):
            projections.add(tuple(configuration[axis] for axis in axes))

    def of(self, configuration: Configuration) -> float:
        """Seconds of one probe now, at least a millisecond."""
        total = self.run_s + (0.0 if configuration in self._seen else self._whole_s)
        for (axes, build_s), projections in zip(self._groups, self._built, strict=True):
            if tuple(configuration[axis] for axis in axes) not in projections:
                total += build_s
        return max(total, 1e-3)

    def seen(self) -> tuple[Configuration, ...]:
        """What was built already, oldest first."""
        return tuple(self._seen)

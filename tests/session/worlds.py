"""Simulated worlds for the campaign: a lattice, a truth and a snapping rule, without a process or a file."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from envbisect.burnin.result import FailureKind
from envbisect.burnin.symptoms import Observation, Signature, SymptomObservation, SymptomState
from envbisect.manifest.stack import Value
from envbisect.session.ask import Ask, NotBuilt, NotFeasible, Ran, Reply
from envbisect.session.campaign import Answer, Campaign, CampaignPlan
from envbisect.session.endpoints import EndpointPolicy
from envbisect.space.model import Axis, Configuration, Step, StepSource

OURS = Signature(kind=FailureKind.EXCEPTION, type="ValueError", function="train", exit_code=1)
OTHER = Signature(kind=FailureKind.EXCEPTION, type="ImportError", function="<module>", exit_code=1)


def passed(**metrics: float) -> Observation:
    return Observation((SymptomObservation("command", SymptomState.PASS, None, "ok", metrics),))


def failed(signature: Signature = OURS) -> Observation:
    return Observation((SymptomObservation("command", SymptomState.FAIL, signature, "failed"),))


def cannot_tell() -> Observation:
    return Observation((SymptomObservation("command", SymptomState.CANNOT_TELL, None, "125"),))


UNBUILDABLE = "unbuildable"
Truth = Callable[[Configuration], "Observation | str"]


@dataclass
class World:
    """``truth`` says what a configuration shows; ``snap`` what an asked one is realised to (None: not feasible)."""

    sizes: tuple[int, ...]
    truth: Truth
    snap: Callable[[Configuration], Configuration | None] = lambda point: point
    asks: list[Ask] = field(default_factory=list)
    keys: tuple[str, ...] = ()
    exact: Callable[[dict[str, Value]], Observation] | None = None  # what an exact install shows
    riders: Callable[[Configuration], dict[str, Value]] = lambda point: {}

    @property
    def axes(self) -> tuple[Axis, ...]:
        return tuple(
            Axis(
                self.keys[n] if self.keys else f"env.A{n}",
                tuple(Step(str(step)) for step in range(size + 1)),
                StepSource.DECLARED,
            )
            for n, size in enumerate(self.sizes)
        )

    def plan(self, **options: object) -> CampaignPlan:
        policy = EndpointPolicy(any_failure=False, metrics={}, confidence=0.95)
        defaults: dict[str, object] = {
            "axes": self.axes,
            "confidence": 0.95,
            "seed": 0,
            "policy": policy,
            "feasible": lambda point: self.snap(point) == point,
        }
        return CampaignPlan(**{**defaults, **options})  # type: ignore[arg-type]

    def reply(self, ask: Ask) -> Reply:
        self.asks.append(ask)
        if ask.changes:
            return self._exactly(ask)
        point = self.snap(ask.configuration)
        if point is None:
            return NotFeasible("requirements contradict each other")
        shown = self.truth(point)
        if isinstance(shown, str):
            return NotBuilt(point, shown)
        return Ran(point, shown, self.components(point), (), 0.0, 1.0)

    def components(self, point: Configuration) -> dict[str, Value]:
        return {
            **{axis.key: axis.steps[step].value for axis, step in zip(self.axes, point, strict=True)},
            **self.riders(point),
        }

    def _exactly(self, ask: Ask) -> Reply:
        assert self.exact is not None
        components = {**self.components(ask.configuration), **ask.changes}
        return Ran(ask.configuration, self.exact(components), components, (), 0.0, 1.0)

    def solve(self, **options: object) -> tuple[Campaign, Answer]:
        campaign = Campaign(self.plan(**options))
        generator = campaign.run()
        try:
            ask = next(generator)
            while len(self.asks) < 500:
                ask = generator.send(self.reply(ask))
        except StopIteration as stop:
            return campaign, stop.value
        raise AssertionError("the campaign did not end within 500 probes")


def monotone(*minimal: Configuration) -> Callable[[Configuration], bool]:
    """The failing set above some minimal points."""
    return lambda point: any(all(a >= b for a, b in zip(point, least, strict=True)) for least in minimal)


def steady(fails: Callable[[Configuration], bool]) -> Truth:
    return lambda point: failed() if fails(point) else passed()


def flaky(fails: Callable[[Configuration], bool], p: float, q: float, seed: int) -> Truth:
    rng = random.Random(seed)
    return lambda point: failed() if rng.random() < (p if fails(point) else q) else passed()

"""``latency``: the tail of a tiny model's forward pass, in milliseconds, with a synchronisation after each call.

Closed loop, one process: one launch is one sample of ``p99_ms``, and launches are what a statistic compares, because
calls within a launch are not independent. Quantiles are order statistics; below the smallest n that bounds one
(exact binomial, one-sided 95 %: 299 for p99, 2995 for p999) the number is not given at all.
"""

from __future__ import annotations

import gc
import math
import time
from typing import Any, Callable, Dict, List, Optional, Sequence

from ..document import CheckResult, Status, make_result
from .context import Check, Context

CALLS = 4000
BUDGET_S = 4.0
SMALLEST_N = {"p99": 299, "p999": 2995}
SAMPLES_KEPT = 4000

_WINDOW = 25
_STEADY_WINDOWS = 4
_TOLERANCE = 0.05


def run_latency(context: Context) -> CheckResult:
    """Time the calls, drop the warm-up, and give the quantiles of what is left."""
    calls_ms = time_calls(_forward(context.torch, context.device))
    warm_up = steady_from(calls_ms)
    if warm_up is None:
        result = make_result("latency", Status.CANNOT_TELL, "no steady state in %d calls" % len(calls_ms))
    elif len(calls_ms) - warm_up < SMALLEST_N["p99"]:
        steady = len(calls_ms) - warm_up
        detail = "%d steady calls, p99 needs %d" % (steady, SMALLEST_N["p99"])
        result = make_result("latency", Status.CANNOT_TELL, detail)
    else:
        metrics = quantiles(calls_ms[warm_up:])
        detail = "p50 %.4g ms, p99 %.4g ms, max %.4g ms" % (metrics["p50_ms"], metrics["p99_ms"], metrics["max_ms"])
        result = make_result("latency", Status.PASS, "%s; warm-up %d calls" % (detail, warm_up), rounds=context.rounds)
        result["metrics"] = metrics
    result["samples"] = {"latency_ms": [round(call, 6) for call in calls_ms[:SAMPLES_KEPT]]}
    return result


def time_calls(call: Callable[[], None], calls: int = CALLS, budget_s: float = BUDGET_S) -> List[float]:
    """Duration of each call in ms, the first (cold) one included.

    The collector is off meanwhile: a collection of others' garbage would be in the tail of some launches.
    """
    durations_ms: List[float] = []
    clock = time.perf_counter_ns
    gc.collect()
    collecting = gc.isenabled()
    gc.disable()
    try:
        end = clock() + int(budget_s * 1e9)
        while len(durations_ms) < calls:
            begun = clock()
            call()
            ended = clock()
            durations_ms.append((ended - begun) / 1e6)
            if ended > end and len(durations_ms) >= 2 * SMALLEST_N["p99"]:
                break
    finally:
        if collecting:
            gc.enable()
    return durations_ms


def steady_from(calls_ms: Sequence[float]) -> Optional[int]:
    """Index of the first steady call: four consecutive medians of 25 calls within 5 % of the second half's median."""
    reference = _median(calls_ms[len(calls_ms) // 2 :])
    windows = [_median(calls_ms[i : i + _WINDOW]) for i in range(0, len(calls_ms) - _WINDOW + 1, _WINDOW)]
    near = [abs(window - reference) <= _TOLERANCE * reference for window in windows]
    for first in range(len(near) - _STEADY_WINDOWS + 1):
        if all(near[first : first + _STEADY_WINDOWS]):
            return first * _WINDOW
    return None


def quantiles(calls_ms: Sequence[float]) -> Dict[str, float]:
    """``p50_ms``, ``p99_ms``, ``p999_ms`` and ``max_ms``, as far as the number of calls carries them."""
    ordered = sorted(calls_ms)
    metrics = {"p50_ms": _median(ordered), "max_ms": ordered[-1]}
    for name, share in (("p99", 0.99), ("p999", 0.999)):
        if len(ordered) >= SMALLEST_N[name]:
            metrics[name + "_ms"] = ordered[math.ceil(share * len(ordered)) - 1]
    return {name: round(value, 6) for name, value in metrics.items()}


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _forward(torch: Any, device: Any) -> Callable[[], None]:
    torch.manual_seed(20260102)
    layers = torch.nn
    model = layers.Sequential(layers.Linear(256, 512), layers.ReLU(), layers.Linear(512, 256)).to(device).eval()
    rows = torch.randn(16, 256, device=device)
    synchronize = torch.cuda.synchronize if device.type == "cuda" else None

    def call() -> None:
        with torch.no_grad():
            model(rows)
        if synchronize is not None:
            synchronize()

    return call


CHECKS: List[Check] = [
    Check(
        "latency",
        run_latency,
        "Times a tiny forward pass with a synchronisation per call; gives p50_ms, p99_ms, p999_ms and max_ms after "
        "the warm-up, and cannot tell when there is no steady state.",
    )
]

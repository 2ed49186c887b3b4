"""``ladder``: the first steps that any training takes, each against a closed form, stopping at the first that fails.

All operands are small integers, so every result is exact in float32 and TF32 alike and the comparison needs no
tolerance, whatever the order of summation.
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from ..document import CheckResult, FailureKind, Status, make_failure, make_result
from .allreduce import run_allreduce
from .context import Check, Context

Matrix = List[List[int]]

_BATCH, _IN, _HIDDEN, _OUT = 5, 4, 8, 3


def run_roundtrip(context: Context) -> CheckResult:
    """One zero, then 1 MiB of a counter pattern: to the device and back, element by element equal."""
    torch, device = context.torch, context.device
    for _ in range(context.rounds):
        zero = torch.zeros(1).to(device).cpu().item()
        if zero != 0.0:
            return _wrong("ladder.roundtrip", "zeros(1) came back as %r" % zero)
        pattern = torch.arange(262_144, dtype=torch.int32) * 2_654_435 % 1_000_003
        back = pattern.clone().to(device).cpu()
        differing = int((back != pattern).sum().item())
        if differing:
            return _wrong("ladder.roundtrip", "%d of %d elements came back changed" % (differing, pattern.numel()))
    return _right("ladder.roundtrip", context, "to %s and back, equal" % device)


def run_forward(context: Context) -> CheckResult:
    """Linear, ReLU, Linear on integers, against the same in Python's integers."""
    return _forward_check("ladder.forward", context, None)


def run_backward(context: Context) -> CheckResult:
    """The gradients of that network, against the chain rule in Python's integers."""
    torch = context.torch
    expected = _gradients()
    for _ in range(context.rounds):
        rows, weights = _tensors(context)
        for weight in weights:
            weight.requires_grad_(True)
        _network(torch, rows, weights).sum().backward()
        for name, weight, wanted in zip(("first", "second"), weights, expected):
            if weight.grad.cpu().tolist() != wanted:
                return _wrong("ladder.backward", "the gradient of the %s layer differs from the closed form" % name)
    return _right("ladder.backward", context, "gradients equal the closed form")


def run_compiled(context: Context) -> CheckResult:
    """The forward pass through ``torch.compile`` with the pinned backend; skipped when none is pinned."""
    backend = context.flags.get("compile_backend")
    if backend is None:
        return make_result("ladder.compiled", Status.SKIPPED, "torch.compile_backend is not pinned")
    return _forward_check("ladder.compiled", context, backend)


def _forward_check(check: str, context: Context, backend: Optional[str]) -> CheckResult:
    torch = context.torch
    expected = _multiply(_hidden(), _transposed(_SECOND))

    def network(rows: Any, first: Any, second: Any) -> Any:
        return _network(torch, rows, (first, second))

    function = network if backend is None else torch.compile(network, backend=backend)
    for _ in range(context.rounds):
        rows, weights = _tensors(context)
        if function(rows, *weights).cpu().tolist() != expected:
            return _wrong(check, "the output differs from the closed form")
    return _right(check, context, "output equals the closed form")


# --- the network, twice: in torch and in Python's integers ---------------------------------------------------------


def _integers(rows: int, columns: int, seed: int) -> Matrix:
    """Small integers of both signs, from a formula: nothing to draw, nothing to store."""
    return [
        [(seed * (row + 1) * 7 + column * column * 5 + row * column) % 9 - 4 for column in range(columns)]
        for row in range(rows)
    ]


_ROWS, _FIRST, _SECOND = _integers(_BATCH, _IN, 3), _integers(_HIDDEN, _IN, 5), _integers(_OUT, _HIDDEN, 2)


def _tensors(context: Context) -> Tuple[Any, Tuple[Any, Any]]:
    rows, first, second = (
        context.torch.tensor(matrix, dtype=context.torch.float32, device=context.device)
        for matrix in (_ROWS, _FIRST, _SECOND)
    )
    return rows, (first, second)


def _network(torch: Any, rows: Any, weights: Sequence[Any]) -> Any:
    first, second = weights
    linear = torch.nn.functional.linear
    return linear(torch.relu(linear(rows, first)), second)


def _multiply(left: Matrix, right: Matrix) -> Matrix:
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*right)] for row in left]


def _transposed(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix)]


def _hidden() -> Matrix:
    return [[max(0, value) for value in row] for row in _multiply(_ROWS, _transposed(_FIRST))]


def _gradients() -> Tuple[Matrix, Matrix]:
    """Of the sum of all outputs, with respect to the first and the second weight."""
    hidden = _hidden()
    ones = [[1] * _OUT for _ in range(_BATCH)]
    through = _multiply(ones, _SECOND)
    before_relu = [[g if h > 0 else 0 for g, h in zip(gs, hs)] for gs, hs in zip(through, hidden)]
    return _multiply(_transposed(before_relu), _ROWS), _multiply(_transposed(ones), hidden)


def _right(check: str, context: Context, detail: str) -> CheckResult:
    return make_result(check, Status.PASS, "%d rounds: %s" % (context.rounds, detail), rounds=context.rounds)


def _wrong(check: str, detail: str) -> CheckResult:
    return make_result(check, Status.FAIL, detail, failure=make_failure(FailureKind.VALUE, detail))


CHECKS: List[Check] = [
    Check(
        "ladder.roundtrip",
        run_roundtrip,
        "Copies a zero and a counter pattern to the device and back; fails if an element changed.",
        gates=True,
    ),
    Check(
        "ladder.forward",
        run_forward,
        "Runs a tiny network on integers; fails if an output differs from the exact closed form.",
        gates=True,
    ),
    Check(
        "ladder.backward",
        run_backward,
        "Computes the gradients of that network; fails if one differs from the exact closed form.",
        gates=True,
    ),
    Check(
        "ladder.compiled",
        run_compiled,
        "Runs the network through torch.compile with torch.compile_backend; skipped when that is not pinned.",
    ),
    Check(
        "ladder.allreduce",
        run_allreduce,
        "All-reduces a rank-unique pattern between two or more processes (NCCL with two GPUs or more, else gloo); "
        "every rank checks every round against the closed form, and a missing rank is named.",
        needs_ranks=True,
        gates=True,
    ),
]

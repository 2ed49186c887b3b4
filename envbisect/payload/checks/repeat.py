"""``repeat``: one operation, run again and again from identical inputs, must give identical bits.

The operations are those known to be sensitive to the order in which they add (torch's own list at
``torch.use_deterministic_algorithms``, and measurements on an H200 and on a two-core CPU), together with a few that
are expected to be stable. On healthy hardware the sensitive ones differ when nothing pins their order, so this scan
tells two configurations apart; it does not reject a machine.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, List, NamedTuple, Tuple

from ..document import CheckResult, FailureKind, Status, make_failure, make_result
from .context import Check, Context

Tensors = Tuple[Any, ...]
Run = Callable[[], Tensors]


class Operation(NamedTuple):
    """One operation: ``build(torch, device)`` makes the inputs once and returns what is repeated.

    ``repeats`` is how often it runs in a round: more where one run is short or a difference is rare.
    """

    name: str
    build: Callable[[Any, Any], Run]
    summary: str
    repeats: int = 4


def run_operation(operation: Operation, context: Context) -> CheckResult:
    """Compare every repetition with the first, bit for bit (NaN payloads and signed zeros count)."""
    check = "repeat." + operation.name
    torch = context.torch
    torch.manual_seed(20260101)
    try:
        run = operation.build(torch, context.device)
        first = [_bits(torch, tensor) for tensor in run()]
        for _ in range(context.rounds * operation.repeats - 1):
            again = [_bits(torch, tensor) for tensor in run()]
            differing = sum(int((a != b).sum().item()) for a, b in zip(first, again))
            if differing:
                detail = "%d of %d elements differ between two runs" % (differing, sum(a.numel() for a in first))
                failure = make_failure(FailureKind.VALUE, "results differ from run to run")
                return make_result(check, Status.FAIL, detail, failure=failure, rounds=context.rounds)
    except RuntimeError as error:
        if "does not have a deterministic implementation" not in str(error):
            raise
        detail = "torch has no deterministic implementation of it and refuses"
        return make_result(check, Status.REFUSED, detail, rounds=context.rounds)
    detail = "%d runs, all bits equal" % (context.rounds * operation.repeats)
    return make_result(check, Status.PASS, detail, rounds=context.rounds)


def _bits(torch: Any, tensor: Any) -> Any:
    """The tensor's bytes as integers of the element size: old versions of torch cannot view anything else."""
    tensor = tensor.detach().contiguous()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.view(integers[tensor.element_size()])


# --- scattering: many values are added into few places ------------------------------------------------------------

_MANY = 2_000_000
"""Values that two CPU threads add into 50 bins, for longer than the scheduler keeps one of them waiting.

With 200 000 the second thread of a busy machine often starts when the first has ended, and the runs are equal: seen
in 15 of 60 pairs on one core. With two million all of 60 pairs differed, on one core as on two.
"""


def _index_put(torch: Any, device: Any) -> Run:
    index = torch.randint(0, 50, (_MANY,), device=device)
    values = torch.randn(_MANY, device=device)
    return lambda: (torch.zeros(50, device=device).index_put_((index,), values, accumulate=True),)


def _index_add(torch: Any, device: Any) -> Run:
    index = torch.randint(0, 50, (50_000,), device=device)
    values = torch.randn(50_000, device=device)
    return lambda: (torch.zeros(50, device=device).index_add_(0, index, values),)


def _scatter_add(torch: Any, device: Any) -> Run:
    index = torch.randint(0, 50, (50_000,), device=device)
    values = torch.randn(50_000, device=device)
    return lambda: (torch.zeros(50, device=device).scatter_add_(0, index, values),)


def _scatter_reduce(torch: Any, device: Any) -> Run:
    index = torch.randint(0, 50, (50_000,), device=device)
    values = torch.randn(50_000, device=device)
    return lambda: (torch.zeros(50, device=device).scatter_reduce(0, index, values, "sum"),)


def _put(torch: Any, device: Any) -> Run:
    index = torch.randint(0, 50, (_MANY,), device=device)
    values = torch.randn(_MANY, device=device)
    return lambda: (torch.zeros(50, device=device).put_(index, values, accumulate=True),)


def _bincount(torch: Any, device: Any) -> Run:
    index = torch.randint(0, 50, (50_000,), device=device)
    weights = torch.randn(50_000, device=device)
    return lambda: (torch.bincount(index, weights, minlength=50),)


def _cumsum(torch: Any, device: Any) -> Run:
    values = torch.randn(200_000, device=device)
    return lambda: (torch.cumsum(values, 0),)


def _sum(torch: Any, device: Any) -> Run:
    values = torch.randn(500_000, device=device)
    return lambda: (values.sum(), values.view(500, 1000).sum(0))


# --- backward passes ----------------------------------------------------------------------------------------------


def _gradients(torch: Any, forward: Callable[..., Any], *leaves: Any) -> Run:
    """Repeat forward and backward; what is compared are the gradients of all leaves."""
    for leaf in leaves:
        leaf.requires_grad_(True)
    output = forward(*leaves)
    weight = torch.randn(output.shape, device=output.device, dtype=output.dtype)
    return lambda: tuple(torch.autograd.grad(forward(*leaves), leaves, weight))


def _gather_backward(torch: Any, device: Any) -> Run:
    index = torch.randint(0, 50, (50_000,), device=device)
    return _gradients(torch, lambda source: source.gather(0, index), torch.randn(50, device=device))


def _embedding_backward(torch: Any, device: Any) -> Run:
    index = torch.randint(0, 20, (4096,), device=device)
    table = torch.randn(20, 64, device=device)
    return _gradients(torch, lambda weight: torch.nn.functional.embedding(index, weight), table)


def _embedding_bag_backward(torch: Any, device: Any) -> Run:
    index = torch.randint(0, 20, (256, 16), device=device)
    table = torch.randn(20, 64, device=device)
    bag = torch.nn.functional.embedding_bag
    return _gradients(torch, lambda weight: bag(index, weight, mode="max"), table)


def _image_backward(function: str, torch: Any, device: Any, **options: Any) -> Run:
    image = torch.randn(4, 8, 32, 32, device=device)
    operation = getattr(torch.nn.functional, function)
    return _gradients(torch, lambda source: operation(source, **options), image)


_bilinear = partial(_image_backward, "interpolate", scale_factor=2.5, mode="bilinear", align_corners=False)
_bicubic = partial(_image_backward, "interpolate", scale_factor=2.5, mode="bicubic", align_corners=False)
_reflection_pad = partial(_image_backward, "pad", pad=(3, 3, 3, 3), mode="reflect")
_replication_pad = partial(_image_backward, "pad", pad=(3, 3, 3, 3), mode="replicate")
_adaptive_max_pool = partial(_image_backward, "adaptive_max_pool2d", output_size=7)
_adaptive_avg_pool = partial(_image_backward, "adaptive_avg_pool2d", output_size=7)


def _grid_sample_backward(torch: Any, device: Any) -> Run:
    image = torch.randn(2, 8, 24, 24, device=device)
    grid = torch.rand(2, 64, 64, 2, device=device) * 2 - 1
    sample = torch.nn.functional.grid_sample
    return _gradients(torch, lambda source: sample(source, grid, align_corners=False), image)


def _max_pool3d_backward(torch: Any, device: Any) -> Run:
    volume = torch.randn(2, 4, 12, 12, 12, device=device)
    return _gradients(torch, lambda source: torch.nn.functional.max_pool3d(source, 3, stride=1), volume)


def _conv2d_backward(torch: Any, device: Any) -> Run:
    image, kernel = torch.randn(8, 8, 24, 24, device=device), torch.randn(16, 8, 3, 3, device=device)
    return _gradients(torch, torch.nn.functional.conv2d, image, kernel)


def _conv3d_backward(torch: Any, device: Any) -> Run:
    volume, kernel = torch.randn(2, 4, 10, 10, 10, device=device), torch.randn(8, 4, 3, 3, 3, device=device)
    return _gradients(torch, torch.nn.functional.conv3d, volume, kernel)


def _attention_backward(torch: Any, device: Any) -> Run:
    query, key, value = (torch.randn(2, 4, 64, 32, device=device) for _ in range(3))
    return _gradients(torch, torch.nn.functional.scaled_dot_product_attention, query, key, value)


def _layer_norm_backward(torch: Any, device: Any) -> Run:
    rows, scale = torch.randn(512, 128, device=device), torch.randn(128, device=device)
    return _gradients(torch, lambda x, w: torch.nn.functional.layer_norm(x, (128,), w), rows, scale)


def _matmul(torch: Any, device: Any) -> Run:
    left, right = torch.randn(192, 384, device=device), torch.randn(384, 192, device=device)
    return lambda: (left @ right,)


OPERATIONS: Tuple[Operation, ...] = (
    Operation("index_put", _index_put, "index_put_ with accumulate", repeats=8),
    Operation("index_add", _index_add, "index_add_", repeats=8),
    Operation("scatter_add", _scatter_add, "scatter_add_", repeats=8),
    Operation("scatter_reduce", _scatter_reduce, "scatter_reduce with sum", repeats=8),
    Operation("put", _put, "put_ with accumulate", repeats=8),
    Operation("bincount", _bincount, "bincount with weights", repeats=8),
    Operation("cumsum", _cumsum, "cumsum", repeats=8),
    Operation("sum", _sum, "sum of all and of columns"),
    Operation("matmul", _matmul, "float32 matrix product"),
    Operation("gather_backward", _gather_backward, "backward of gather", repeats=8),
    Operation("embedding_backward", _embedding_backward, "backward of embedding"),
    Operation("embedding_bag_backward", _embedding_bag_backward, "backward of embedding_bag with max"),
    Operation("bilinear_backward", _bilinear, "backward of bilinear interpolation"),
    Operation("bicubic_backward", _bicubic, "backward of bicubic interpolation"),
    Operation("grid_sample_backward", _grid_sample_backward, "backward of grid_sample"),
    Operation("reflection_pad_backward", _reflection_pad, "backward of reflection padding"),
    Operation("replication_pad_backward", _replication_pad, "backward of replication padding"),
    Operation("adaptive_max_pool_backward", _adaptive_max_pool, "backward of adaptive max pooling"),
    Operation("adaptive_avg_pool_backward", _adaptive_avg_pool, "backward of adaptive average pooling"),
    Operation("max_pool3d_backward", _max_pool3d_backward, "backward of 3d max pooling"),
    Operation("conv2d_backward", _conv2d_backward, "backward of conv2d"),
    Operation("conv3d_backward", _conv3d_backward, "backward of conv3d"),
    Operation("attention_backward", _attention_backward, "backward of scaled dot product attention"),
    Operation("layer_norm_backward", _layer_norm_backward, "backward of layer norm"),
)


def _check(operation: Operation) -> Check:
    documentation = "Repeats %s from identical inputs; fails if any bit differs between runs." % operation.summary
    return Check("repeat." + operation.name, partial(run_operation, operation), documentation)


CHECKS: List[Check] = [_check(operation) for operation in OPERATIONS]

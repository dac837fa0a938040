"""PyTorch's kernels of ops on a device, for tensors of any dtype, by op name.

They take a step or two, where the kernel for any array library takes more. A kernel returns None for cases that it does
not cover; the kernel for any array library runs then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from .fusion import compile_formula
from .host_kernels import KERNELS, scalar
from .indices import add_rows, are_below, keep_highest
from .kernels import by_channel, inverse_deviation, rows_of, shaped_like
from .namespace import INDEX_DTYPES, dtype_of, multiply_matrices

DEVICE_KERNELS: dict[str, Callable[..., Any]] = {
    # Functions take less time than Python's operators, and read sizes and axes in less time than methods.
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div,
    "reshape": lambda x, *, shape: keep_highest(x, torch.reshape(x, shape)),
    "broadcast_to": lambda x, *, shape: x.expand(*shape) if shape else x,
    "concat": lambda *xs, axis: torch.cat(xs, axis),
    "leaky_relu": lambda x, *, alpha: torch._C._nn.leaky_relu(x, alpha),
    "relu6": lambda x: torch.clamp(x, 0, 6),
    "zeros_like": torch.zeros_like,
}  # fmt: skip
Axes = tuple[int, ...]


def _kernel(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        DEVICE_KERNELS[name] = function
        return function

    return register


@_kernel("matmul")
def _matmul(a: Any, b: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    rank, other = a.ndim, b.ndim
    if rank < 2 or other < 2:
        return None  # an error
    a, b = a.mT if transpose_a else a, b.mT if transpose_b else b
    return torch.mm(a, b) if rank == other == 2 else multiply_matrices(a, b)


@_kernel("transpose")
def _transpose(x: Any, *, perm: Axes) -> Any:
    """A view, except of matrices whose batch axes change places, such as heads: each product would copy them again."""
    y = torch.permute(x, perm)
    is_copied = len(perm) > 3 and perm[-1] == len(perm) - 1 and 0 not in x.stride()
    return keep_highest(x, y.contiguous() if is_copied else y)


@_kernel("cast")
def _cast(x: Any, *, dtype: Any) -> Any:
    target = dtype_of(getattr(dtype, "numpy", dtype))
    if target.is_floating_point and not x.is_complex():
        return x.to(target)
    return None  # integers saturate, and complex numbers lose their imaginary part


@_kernel("sum")
def _sum(x: Any, *, axis: Axes, keepdims: bool = False) -> Any:
    if not axis:
        return None  # PyTorch would reduce all axes
    return x.sum(axis, keepdims) if x.is_floating_point() else x.sum(axis, keepdims, dtype=x.dtype)


@_kernel("half_square")
def _half_square(x: Any) -> Any:
    if x.dtype not in (torch.float32, torch.float64) or x.numel() >= 1 << 31:
        return None
    row = x if x.ndim == 1 else x.reshape(-1)
    return torch.dot(row, row).mul_(scalar(0.5, x.dtype))


@_kernel("gather_rows")
def _gather_rows(x: Any, indices: Any) -> Any:
    if x.ndim != 2 or not are_below(indices, x.shape[0]):
        return None
    return torch.embedding(x, indices)  # which takes less time to launch than other ways to index


@_kernel("scatter_add")
def _scatter_add(x: Any, indices: Any, *, shape: Axes, axis: int = 0, batch: int = 0) -> Any:
    if axis or batch or indices.dtype not in INDEX_DTYPES:
        return None
    rows = indices if indices.ndim == 1 else keep_highest(indices, indices.reshape(-1))
    return add_rows(x.new_zeros(shape), rows, x.reshape(rows.shape[0], *shape[1:]), 1)


@cache
def _axes_before_last(rank: int) -> Axes:
    return tuple(range(rank - 1))


def _suits_batch_norms(x: Any) -> bool:
    """Whether a GPU computes the moments of channels faster by the kernel of batch norms than by `var_mean`.

    For few rows, it takes one launch, and less time to prepare it; for many, two. Along channels, `var_mean` of a large
    tensor is slow.
    """
    count = x.numel()
    return (count >= 1 << 20 or count <= 1792 * x.shape[-1]) and x.dtype in (torch.float32, torch.float64)


@_kernel("moments")
def _moments(x: Any, *, axis: Axes, keepdims: bool = True) -> Any:
    if not axis or not x.is_floating_point() or not x.numel():
        return None
    if x.is_cuda and axis == _axes_before_last(x.ndim) and _suits_batch_norms(x):
        mean, variance = torch.batch_norm_update_stats(rows_of(x), None, None, 0.0)
        shape = (*(1,) * (x.ndim - 1), -1)
        return (mean.view(shape), variance.view(shape)) if keepdims else (mean, variance)
    variance, mean = torch.var_mean(x, axis, correction=0, keepdim=keepdims)
    return mean, variance


@_kernel("slice")
def _slice(x: Any, *, key: tuple[Any, ...]) -> Any:
    """Indexes with slices of negative steps, too, which PyTorch does not support: flips the axes afterwards."""
    found, flipped = forward_key(x, key)
    return keep_highest(x, x[found].flip(flipped) if flipped else x[found])


@_kernel("place")
def place(x: Any, *, key: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """Writes `x` at `key` into zeros."""
    y = torch.zeros(shape, dtype=x.dtype, device=x.device)
    found, flipped = forward_key(y, key)
    y[found] = x.flip(flipped) if flipped else x
    return y


def forward_key(x: Any, key: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int] | None]:
    """Returns a key into `x` without negative steps, and the axes of the result to flip afterwards, if any."""
    for k in key:
        if type(k) is slice and k.step is not None and k.step < 0:
            break
    else:
        return key, None
    found: list[Any] = []
    flipped: list[int] = []
    shape = x.shape
    axis = at = 0  # of the array and of what is selected
    rest = len(shape) - sum(k is not None and k is not Ellipsis for k in key)
    for k in key:
        if type(k) is slice and k.step is not None and k.step < 0:
            selected = range(*k.indices(shape[axis]))
            k = slice(selected[-1], selected[0] + 1, -k.step) if selected else slice(0, 0)
            flipped.append(at)
        found.append(k)
        axis += 0 if k is None else rest if k is Ellipsis else 1
        at += rest if k is Ellipsis else type(k) is not int
    return tuple(found), flipped


@_kernel("advance")
def _advance(state: Any, *, blocks: int) -> Any:
    """The words of a random generator's state, and the state advanced: see `ops/random/random.py`."""
    words = state.view(torch.int64)
    low = words[:1] + (blocks if blocks < 1 << 63 else blocks - (1 << 64))
    high = words[1:2] + ((low ^ -(1 << 63)) < (words[:1] ^ -(1 << 63))).to(torch.int64)
    return words.view(torch.uint64), torch.cat([low, high, words[2:]])


@_kernel("channel_affine")
def _channel_affine(x: Any, centre: Any, factor: Any, shift: Any) -> Any:
    if not x.is_cuda or not x.is_floating_point():
        return KERNELS["channel_affine"].function(torch, x, centre, factor, shift)
    return compile_formula("x c f s", "(x - c) * f + s", x.dtype)(x, centre, factor, shift)


@_kernel("normalization")
def _normalization(x: Any, mean: Any, variance: Any, scale: Any, shift: Any, *, epsilon: float) -> Any:
    if not x.is_cuda or not x.is_floating_point():
        return KERNELS["normalization"].function(torch, x, mean, variance, scale, shift, epsilon=epsilon)
    if mean.ndim == 1 and x.dtype in (torch.float32, torch.float64) and x.numel():
        rows, mean, scale, shift, r = by_channel(x, mean, scale, shift, inverse_deviation(variance, epsilon))
        return shaped_like(x, torch.batch_norm_elemt(rows, scale, shift, mean, r, epsilon))
    launch = compile_formula("x m v s b e", "(x - m) / sqrt(v + e) * s + b", x.dtype, e=0.0)
    return launch(x, mean, variance, scale, shift, e_=epsilon)

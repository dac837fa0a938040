"""PyTorch's kernels of ops that are not elementwise, by op name, each with the array size from which it is used.

A kernel `f(torch, *tensors, **attrs)` computes the op; a vjp `f(torch, g, <names>)` computes its cotangents from the
cotangent of the output and from residuals, which it names as the op's own rule does. Both return None for cases that
PyTorch computes differently; NumPy's kernel, or the rule, runs then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ..tuning import (
    DEVICES_ONLY,
    TORCH_ATTENTION,
    TORCH_FORMULAS,
    TORCH_PASSES,
    TORCH_PRODUCTS,
    TORCH_REDUCTIONS,
    TORCH_ROWS,
    TORCH_SCATTERS,
    TORCH_SOLVERS,
    TORCH_SUMS,
    TORCH_TRANSFORMS,
    TORCH_WINDOWS,
)  # fmt: skip
from .library import can_import, on_arrays, torch

Axes = tuple[int, ...]


class HostKernel(NamedTuple):
    """A kernel, and the number of elements of operand `operand` from which it is faster than NumPy's."""

    function: Callable[..., Any]
    min_elements: int
    operand: int
    dtypes: str = "fd"  # of that operand, as NumPy's characters


KERNELS: dict[str, HostKernel] = {}
VJPS: dict[str, HostKernel] = {}


def _register(
    table: dict[str, HostKernel], name: str, min_elements: int, operand: int, dtypes: str = "fd"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        table[name] = HostKernel(function, min_elements, operand, dtypes)
        return function

    return register


def _kernel(name: str, min_elements: int, operand: int = 0, dtypes: str = "fd") -> Any:
    return _register(KERNELS, name, min_elements, operand, dtypes)


def _vjp(name: str, min_elements: int, operand: int = 0) -> Any:
    """Registers the vjp of an op; `operand` counts the cotangent as 0."""
    return _register(VJPS, name, min_elements, operand)


def bind_kernel(kernel: HostKernel) -> Callable[..., Any]:
    """Returns a kernel on NumPy arrays; it returns None where PyTorch cannot compute it."""
    return on_arrays(partial(kernel.function, torch())) if can_import() else lambda *arrays, **attrs: None


@_kernel("cast", TORCH_FORMULAS, dtypes="ef")
def _cast(t: Any, x: Any, *, dtype: Any) -> Any:
    """From float16, and from float32 to float16: PyTorch uses the processor's conversions, and rounds float64 twice."""
    wanted = {"e": t.float16, "f": t.float32, "d": t.float64}.get(getattr(dtype, "numpy", dtype).char)
    return x.to(wanted) if t.float16 in (wanted, x.dtype) and wanted not in (None, x.dtype) else None


def _reduce(function: str, t: Any, x: Any, *, axis: Axes, keepdims: bool = False) -> Any:
    return getattr(t, function)(x, axis, keepdims) if axis else None  # PyTorch reduces all axes if given none


for _name, _function, _min_elements in (
    ("sum", "sum", TORCH_SUMS), ("mean", "mean", TORCH_SUMS), ("max", "amax", TORCH_REDUCTIONS),
    ("min", "amin", TORCH_REDUCTIONS), ("logsumexp", "logsumexp", TORCH_PASSES),
):  # fmt: skip
    _kernel(_name, _min_elements)(partial(_reduce, _function))


@_kernel("moments", TORCH_REDUCTIONS)
def _moments(t: Any, x: Any, *, axis: Axes, keepdims: bool = True) -> Any:
    if not axis or not x.numel():
        return None
    if axis == tuple(range(x.ndim - 1)):
        mean, variance = t.batch_norm_update_stats(x.reshape(-1, x.shape[-1]), None, None, 0.0)
        shape = (*(1,) * (x.ndim - 1), -1) if keepdims else (-1,)
        return mean.reshape(shape), variance.reshape(shape)
    if axis == (x.ndim - 1,):
        # A group norm of one group for each row: `var_mean` takes ten times as long.
        count, width = x.numel() // x.shape[-1], x.shape[-1]
        _, mean, r = t.native_group_norm(x.reshape(count, 1, width), None, None, count, 1, width, 1, 0.0)
        if t.isfinite(mean).all():  # it is NaN for a mean that is infinite
            shape = (*x.shape[:-1], 1) if keepdims else x.shape[:-1]
            return mean.reshape(shape), r.reciprocal_().square_().reshape(shape)
    mean = t.mean(x, axis, True)
    variance = t.mean((x - mean).square_(), axis, keepdims)
    return mean if keepdims else mean.reshape(variance.shape), variance


@_kernel("softmax", TORCH_ROWS)
def _softmax(t: Any, x: Any, *, axis: int) -> Any:
    return t.softmax(x, axis)


@_kernel("log_softmax", TORCH_ROWS)
def _log_softmax(t: Any, x: Any, *, axis: int) -> Any:
    return t.log_softmax(x, axis)


@_kernel("layer_norm", TORCH_ROWS)
def _layer_norm(t: Any, x: Any, scale: Any, shift: Any, *, epsilon: float) -> Any:
    return t.nn.functional.layer_norm(x, x.shape[-1:], scale, shift, epsilon)


@_kernel("layer_norm_back", TORCH_ROWS)
def _layer_norm_back(t: Any, cotangent: Any, x: Any, scale: Any, *, epsilon: float) -> Any:
    shape, shift = x.shape[-1:], t.zeros_like(scale)
    _, mean, deviation = t.native_layer_norm(x, shape, scale, shift, epsilon)
    return t.ops.aten.native_layer_norm_backward.default(
        cotangent, x, shape, mean, deviation, scale, shift, [True, True, True]
    )


@_kernel("scaled_dot_product_attention", TORCH_ATTENTION)
def _attention(
    t: Any, query: Any, key: Any, value: Any, *extras: Any, scale: float, causal: bool, biased: bool
) -> Any:  # fmt: skip
    if _stores_weights(query, key, value, causal and extras):
        return None
    y = _attend(t, query, key, value, extras, scale, causal, biased)
    return y if _is_finite(t, y) else None


@_kernel("scaled_dot_product_attention_back", TORCH_ATTENTION)
def _attention_back(
    t: Any, cotangent: Any, query: Any, key: Any, value: Any, *extras: Any, scale: float, causal: bool, biased: bool,
    of_bias: bool,
) -> Any:  # fmt: skip
    """Recomputes the forward pass under PyTorch's own tape, whose fused derivative needs more than the output."""
    if _stores_weights(query, key, value, causal and extras) or (of_bias and query.device.type == "cpu"):
        return None
    sources = [x.detach().requires_grad_() for x in (query, key, value, *extras[: int(of_bias)])]
    q, k, v, *bias = sources
    with t.enable_grad(), t.autograd.set_multithreading_enabled(False):
        y = _attend(t, q, k, v, (*bias, *extras[int(of_bias) :]), scale, causal, biased)
        found = t.autograd.grad(y, sources, cotangent)
    return found if all(_is_finite(t, x) for x in found) else None


def _is_finite(t: Any, x: Any) -> bool:
    """Whether a result on the host is finite: which of its numbers are NaN depends on the order of PyTorch's blocks."""
    return x.device.type != "cpu" or bool(t.isfinite(x).all())


def _stores_weights(query: Any, key: Any, value: Any, has_matrix: Any) -> bool:
    """Whether PyTorch has no fused attention on the host, or needs a large matrix: NumPy computes it in blocks."""
    if not key.numel() or query.device.type != "cpu":
        return not key.numel()
    return key.shape != value.shape or (has_matrix and query.shape[1] * key.shape[1] > query.numel())


def _attend(
    t: Any, query: Any, key: Any, value: Any, extras: tuple[Any, ...], scale: float, causal: bool, biased: bool
) -> Any:  # fmt: skip
    q, k, v = (x.transpose(1, 2) for x in (query, key, value))
    groups = q.shape[1] // k.shape[1]
    bias, mask = (extras[0] if biased else None), (extras[-1] if len(extras) > biased else None)
    if causal and extras:  # PyTorch takes a causal order or a bias, not both
        order = t.ones(q.shape[2], k.shape[2], dtype=t.bool, device=q.device).tril_()
        mask = order if mask is None else mask & order
    added = bias
    if mask is not None:
        lowest = 0.7 * t.finfo(q.dtype).min  # not infinite: a row of infinities would be NaN
        added = t.where(mask, t.zeros((), dtype=q.dtype, device=q.device) if bias is None else bias, lowest)
    y = t.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=added, is_causal=causal and not extras, scale=scale, enable_gqa=groups > 1
    )
    if mask is not None:  # a query without a key attends to all
        y = t.where(mask.any(-1, keepdim=True), y, v.mean(2, keepdim=True).repeat_interleave(groups, 1))
    return y.transpose(1, 2).contiguous()


@_kernel("matmul", TORCH_PRODUCTS)
def _matmul(t: Any, a: Any, b: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    return t.matmul(a.mT if transpose_a else a, b.mT if transpose_b else b) if a.ndim > 2 else None


def _kept(x: Any, y: Any, axis: Axes) -> Any:
    """Reshapes a reduced value to broadcast against `x`."""
    if y.ndim == x.ndim:
        return y
    return y.unsqueeze(axis[0]) if len(axis) == 1 else y.reshape([1 if i in axis else n for i, n in enumerate(x.shape)])


def _extreme_vjp(t: Any, g: Any, x: Any, y: Any, axis: Axes) -> Any:
    """Ties share the cotangent evenly."""
    reached = (x == _kept(x, y, axis)).to(x.dtype)
    return reached.mul_(_kept(x, g, axis) / reached.sum(axis, True)) if axis else None


_vjp("max", TORCH_PASSES, 1)(_extreme_vjp)
_vjp("min", TORCH_PASSES, 1)(_extreme_vjp)


@_vjp("logsumexp", TORCH_PASSES, 1)
def _logsumexp_vjp(t: Any, g: Any, x: Any, y: Any, axis: Axes) -> Any:
    if not axis:
        return None
    e = (x - _kept(x, y, axis)).exp_()
    return e.mul_(_kept(x, g, axis) / e.sum(axis, True))  # `y` is rounded where it is far from 0


@_vjp("softmax", TORCH_ROWS)
def _softmax_vjp(t: Any, g: Any, y: Any, axis: int) -> Any:
    return t._softmax_backward_data(g, y, axis, y.dtype)


@_vjp("log_softmax", TORCH_ROWS)
def _log_softmax_vjp(t: Any, g: Any, y: Any, axis: int) -> Any:
    return t._log_softmax_backward_data(g, y, axis, y.dtype)


@_kernel("cumsum", TORCH_PASSES)
def _cumsum(t: Any, x: Any, *, axis: int, exclusive: bool = False, reverse: bool = False) -> Any:
    x = x.flip(axis) if reverse else x
    if exclusive:
        y, count = t.zeros_like(x), max(x.shape[axis] - 1, 0)
        t.cumsum(x.narrow(axis, 0, count), axis, out=y.narrow(axis, x.shape[axis] - count, count))
    else:
        y = t.cumsum(x, axis)
    return y.flip(axis) if reverse else y


@_kernel("argsort", TORCH_REDUCTIONS)
def _argsort(t: Any, x: Any, *, axis: int, descending: bool = False) -> Any:
    return t.sort(x, dim=axis, descending=descending, stable=True).indices.to(t.int32)


@_vjp("sort", TORCH_PASSES, 1)
def _sort_vjp(t: Any, g: Any, x: Any, axis: int, descending: bool | None) -> Any:
    positions = t.sort(x, dim=axis, descending=bool(descending), stable=True).indices
    return t.empty_like(x).scatter_(axis, positions, g)


@_kernel("softmax_cross_entropy", TORCH_PASSES, 1)
def _softmax_cross_entropy(t: Any, labels: Any, logits: Any) -> Any:
    return t.log_softmax(logits, -1).mul_(labels).sum(-1).neg_()


@_vjp("softmax_cross_entropy", TORCH_PASSES, 3)
def _softmax_cross_entropy_vjp(t: Any, g: Any, need: list[bool], labels: Any, logits: Any) -> Any:
    column = g.unsqueeze(-1)
    of_labels = t.log_softmax(logits, -1).mul_(-column) if need[0] else None
    if not need[1]:
        return of_labels, None
    return of_labels, t.softmax(logits, -1).mul_(labels.sum(-1, True)).sub_(labels).mul_(column)


def _positions(t: Any, labels: Any, logits: Any) -> tuple[Any, Any]:
    """Returns class labels as positions along the last axis of the logits, and on a device a mask of invalid ones.

    On the host, a label that is out of range makes `gather` raise, so that NumPy's kernel reports it. On a GPU, it
    would end the use of the device.
    """
    labels = labels.to(t.int64)
    if labels.device.type == "cpu":
        return labels.unsqueeze(-1), None
    inside = labels.clamp(0, logits.shape[-1] - 1)
    return inside.unsqueeze(-1), labels != inside


@_kernel("sparse_softmax_cross_entropy", TORCH_PASSES, 1)
def _sparse_softmax_cross_entropy(t: Any, labels: Any, logits: Any) -> Any:
    positions, invalid = _positions(t, labels, logits)
    y = t.log_softmax(logits, -1).gather(-1, positions).squeeze(-1).neg_()
    return y if invalid is None else y.masked_fill_(invalid, math.nan)


@_kernel("sparse_softmax_slope", TORCH_PASSES, 1)
def _sparse_softmax_slope(t: Any, labels: Any, logits: Any) -> Any:
    positions, invalid = _positions(t, labels, logits)
    y = t.softmax(logits, -1)
    y.scatter_(-1, positions, y.gather(-1, positions).sub_(1))
    return y if invalid is None else y.masked_fill_(invalid.unsqueeze(-1), math.nan)


@_vjp("sparse_softmax_cross_entropy", TORCH_PASSES, 2)
def _sparse_softmax_cross_entropy_vjp(t: Any, g: Any, labels: Any, logits: Any) -> Any:
    return None, _sparse_softmax_slope(t, labels, logits).mul_(g.unsqueeze(-1))


def _by_channel(x: Any, *terms: Any) -> list[Any]:
    """Reshapes arrays and the terms of an affine map to the operands of a batch norm of inference.

    The terms are a number for each channel, the last axis, or, as a column, for each row: rows are channels then. The
    kernels ignore the terms' strides.
    """
    x = x.contiguous()
    if terms[0].ndim > 1:
        return [x.view(1, -1, x.shape[-1]), *[a.reshape(-1) for a in terms]]
    return [x if x.ndim == 2 else x.view(-1, x.shape[-1]), *[a.contiguous() for a in terms]]


@_kernel("channel_affine", TORCH_REDUCTIONS)
def _channel_affine(t: Any, x: Any, centre: Any, factor: Any, shift: Any) -> Any:
    """A batch norm of inference with a variance of 1."""
    if not x.numel():
        return None
    rows, mean, weight, bias = _by_channel(x, centre, factor, shift)
    return t.batch_norm(rows, weight, bias, mean, t.ones_like(mean), False, 0.0, 0.0, False).view(x.shape)


@_kernel("normalization", TORCH_REDUCTIONS)
def _normalization(t: Any, x: Any, mean: Any, variance: Any, scale: Any, shift: Any, *, epsilon: float) -> Any:
    """A batch norm of inference; of rows without scale and shift, which belong to channels."""
    if not x.numel():
        return None
    if mean.ndim == 1:
        rows, mean, variance, scale, shift = _by_channel(x, mean, variance, scale, shift)
        return t.batch_norm(rows, scale, shift, mean, variance, False, 0.0, epsilon, False).view(x.shape)
    rows, mean, variance = _by_channel(x, mean, variance)
    z = t.batch_norm(rows, None, None, mean, variance, False, 0.0, epsilon, False).view(x.shape)
    return t.addcmul(shift, z, scale)


def back_to_channels(
    t: Any, cotangent: Any, x: Any, mean: Any, variance: Any, r: Any, scale: Any, epsilon: float
) -> tuple[Any, Any, Any]:
    """Returns the cotangents of the input, scale and shift of a batch norm of inference; `r` is `1 / deviation`."""
    rows, mean, variance, r = _by_channel(x, mean, variance, r)
    # The kernel of the host reads the variance, that of a GPU `r`.
    of_x, of_scale, of_shift = t.ops.aten.native_batch_norm_backward.default(
        cotangent.contiguous().view(rows.shape), rows, scale.contiguous(), mean, variance, mean, r, False, epsilon,
        [True, True, True],
    )  # fmt: skip
    return of_x.view(x.shape), of_scale, of_shift


@_kernel("normalization_back", TORCH_REDUCTIONS)
def _normalization_back(
    t: Any, cotangent: Any, x: Any, mean: Any, variance: Any, scale: Any, *, epsilon: float
) -> Any:
    if not x.numel() or (mean.ndim > 1 and x.dtype not in (t.float32, t.float64)):
        return None
    r = t.rsqrt(variance + epsilon)
    if mean.ndim == 1:
        of_x, of_scale, of_shift = back_to_channels(t, cotangent, x, mean, variance, r, scale, epsilon)
        factor = r * scale
        return of_x, -factor * of_shift, (factor * r).mul_(of_scale).mul_(-0.5), of_scale, of_shift
    of_x, weighed, total = back_to_channels(
        t, cotangent * scale, x, mean, variance, r, t.ones_like(mean.reshape(-1)), epsilon
    )
    _, of_scale, of_shift = t.ops.aten.native_layer_norm_backward.default(
        cotangent.contiguous(), x.contiguous(), x.shape[-1:], mean.contiguous(), r.contiguous(), scale, scale,
        [False, True, True],
    )  # fmt: skip
    weighed, total = weighed.view(r.shape), total.view(r.shape)
    return of_x, total.mul_(r).neg_(), weighed.mul_(r).mul_(r).mul_(-0.5), of_scale, of_shift


@_kernel("top_k", TORCH_ROWS)
def _top_k(t: Any, x: Any, *, k: int) -> Any:
    """Of equal values, the first come first: rows in which `topk` had to choose among equal ones are sorted."""
    count = x.shape[-1]
    if not 0 < k < count or not x.numel() or not x.is_cpu:  # a GPU would wait for the answer
        return None
    values, places = t.topk(x, k + 1)
    earlier = values[..., :-1]
    is_tied = ((earlier == values[..., 1:]) | earlier.isnan()).any(-1)
    values, places = earlier.contiguous(), places[..., :-1].contiguous()
    if is_tied.any():
        ordered = t.sort(x[is_tied], dim=-1, descending=True, stable=True)
        values[is_tied], places[is_tied] = ordered.values[..., :k], ordered.indices[..., :k]
    return values, places.to(t.int32)


@_kernel("add_along", TORCH_SCATTERS)
def _add_along(t: Any, x: Any, indices: Any, *, axis: int, size: int) -> Any:
    """`scatter_add_` adds along an axis in order on the host, so that the sums are the same in every run."""
    if indices.shape != x.shape or not x.is_cpu:
        return None
    shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
    return x.new_zeros(shape).scatter_add_(axis, indices.to(t.int64), x)


@_vjp("cholesky", TORCH_PASSES)
def _cholesky_vjp(t: Any, g: Any, y: Any) -> Any:
    inner = (y.mT @ g).tril_()
    inner.diagonal(0, -2, -1).mul_(0.5)
    half = t.linalg.solve_triangular(y.mT, inner, upper=True)
    s = t.linalg.solve_triangular(y, half, upper=False, left=False)
    s = s.add(s.mT).tril_()
    s.diagonal(0, -2, -1).mul_(0.5)
    return s


@_kernel("fft", TORCH_TRANSFORMS, dtypes="FD")
def _fft(t: Any, x: Any, *, axis: Axes, norm: str) -> Any:
    return t.fft.fftn(x, dim=axis, norm=norm).contiguous() if x.numel() else None


@_kernel("ifft", TORCH_TRANSFORMS, dtypes="FD")
def _ifft(t: Any, x: Any, *, axis: Axes, norm: str) -> Any:
    return t.fft.ifftn(x, dim=axis, norm=norm).contiguous() if x.numel() else None


@_kernel("rfft", TORCH_TRANSFORMS)
def _rfft(t: Any, x: Any, *, axis: Axes, norm: str) -> Any:
    return t.fft.rfftn(x, dim=axis, norm=norm).contiguous() if x.numel() else None


@_kernel("irfft", TORCH_TRANSFORMS, dtypes="FD")
def _irfft(t: Any, x: Any, *, axis: Axes, length: int, norm: str) -> Any:
    if not x.numel() or not length:
        return None
    return t.fft.irfftn(x, s=[*[x.shape[i] for i in axis[:-1]], length], dim=axis, norm=norm).contiguous()


# A singular matrix makes `inv` and `solve` raise, so that NumPy's kernel reports it; so does it report NaN.


@_kernel("inv", TORCH_SOLVERS)
def _inv(t: Any, x: Any) -> Any:
    return None if x.is_cpu and t.isnan(x).any() else t.linalg.inv(x)


@_kernel("solve", TORCH_SOLVERS)
def _solve(t: Any, a: Any, b: Any) -> Any:
    if a.ndim != b.ndim or (a.is_cpu and t.isnan(a).any()):
        return None
    return t.linalg.solve(a, b)


class _Windows(NamedTuple):
    """The windows of a convolution or a pooling over one or two spatial axes, as PyTorch's functions take them.

    PyTorch pads both ends of an axis alike, and a pooling by at most half a window. An image that needs other padding
    is padded before: `extra` is that padding as pairs. A single spatial axis becomes the second of two.
    """

    strides: Axes
    paddings: Axes
    dilations: Axes
    extra: tuple[tuple[int, int], ...]
    lacks_axis: bool

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, strides: Axes, paddings: Any, dilations: Axes, most: Axes | None = None) -> _Windows | None:
        """Creates them; `most` is the padding that PyTorch accepts. None for other numbers of spatial axes."""
        if len(strides) not in (1, 2):
            return None
        lacks_axis = len(strides) == 1
        if lacks_axis:
            strides, paddings, dilations = (1, *strides), ((0, 0), *paddings), (1, *dilations)
            most = None if most is None else (0, *most)
        alike = all(a == b for a, b in paddings)
        if most is not None:
            alike = alike and all(a <= n for (a, _), n in zip(paddings, most, strict=True))
        both = tuple([a for a, _ in paddings]) if alike else (0, 0)
        return cls(strides, both, dilations, () if alike else tuple(paddings), lacks_axis)

    def image(self, t: Any, x: Any, value: float = 0.0) -> Any:
        """Returns an image `(examples, *space, channels)` as a view `(examples, channels, height, width)`, padded."""
        x = x.unsqueeze(1) if self.lacks_axis else x
        if self.extra:
            (top, bottom), (left, right) = self.extra
            x = t.nn.functional.pad(x, (0, 0, left, right, top, bottom), value=value)
        return x.contiguous().permute(0, 3, 1, 2)

    def result(self, y: Any) -> Any:
        """Returns `(examples, channels, height, width)` as a contiguous image with channels last."""
        y = y.permute(0, 2, 3, 1)
        return (y.squeeze(1) if self.lacks_axis else y).contiguous()

    def channels_first(self, x: Any) -> Any:
        """Returns an image `(examples, *space, channels)` as a view `(examples, channels, height, width)`."""
        return (x.unsqueeze(1) if self.lacks_axis else x).contiguous().permute(0, 3, 1, 2)

    def filter_result(self, w: Any) -> Any:
        """Returns `(outputs, inputs, height, width)` as a contiguous filter `(*window, inputs, outputs)`."""
        w = w.permute(2, 3, 1, 0).contiguous()
        return w.squeeze(0) if self.lacks_axis else w

    def padded_size(self, size: Axes) -> Axes:
        """Returns the spatial shape of a padded image."""
        size = (1, *size) if self.lacks_axis else size
        return tuple([n + sum(p) for n, p in zip(size, self.extra, strict=True)]) if self.extra else size

    def cotangent(self, x: Any) -> Any:
        """Returns the cotangent of an image from that of the padded image `(examples, channels, height, width)`."""
        for axis, (before, after) in enumerate(self.extra, 2):
            x = x.narrow(axis, before, x.shape[axis] - before - after)
        return self.result(x)


def _filter(w: Any, windows: _Windows) -> Any:
    """Returns a filter `(*window, inputs, outputs)` as a view `(outputs, inputs, height, width)`."""
    return (w.unsqueeze(0) if windows.lacks_axis else w).permute(3, 2, 0, 1)


@_kernel("conv", TORCH_WINDOWS)
def _conv(t: Any, x: Any, w: Any, *, strides: Axes, paddings: Any, dilations: Axes, groups: int) -> Any:
    windows = _Windows.of(strides, paddings, dilations)
    if windows is None or not x.numel() or not w.numel():
        return None
    kernel = _filter(w, windows)
    image = windows.image(t, x)
    return windows.result(t.convolution(
        image, kernel, None, windows.strides, windows.paddings, windows.dilations, False, (0, 0), groups
    ))  # fmt: skip


def _convolution_backward(t: Any, windows: _Windows, g: Any, x: Any, w: Any, groups: int, wanted: list[bool]) -> Any:
    return t.ops.aten.convolution_backward.default(
        g, x, w, None, windows.strides, windows.paddings, windows.dilations, False, (0, 0), groups, wanted
    )


@_kernel("conv_input", TORCH_WINDOWS)
def _conv_input(
    t: Any, a: Any, w: Any, *, size: Axes, strides: Axes, paddings: Any, dilations: Axes, groups: int
) -> Any:
    windows = _Windows.of(strides, paddings, dilations)
    if windows is None or not a.numel() or not w.numel():
        return None
    x = a.new_empty((len(a), *windows.padded_size(size), w.shape[-2] * groups)).permute(0, 3, 1, 2)
    given = windows.channels_first(a), x, _filter(w, windows)
    return windows.cotangent(_convolution_backward(t, windows, *given, groups, [True, False, False])[0])


@_kernel("conv_filter", TORCH_WINDOWS)
def _conv_filter(
    t: Any, x: Any, b: Any, *, size: Axes, strides: Axes, paddings: Any, dilations: Axes, groups: int
) -> Any:
    windows = _Windows.of(strides, paddings, dilations)
    if windows is None or not x.numel() or not b.numel():
        return None
    w = _filter(x.new_empty((*size, x.shape[-1] // groups, b.shape[-1])), windows)
    given = windows.channels_first(b), windows.image(t, x), w
    return windows.filter_result(_convolution_backward(t, windows, *given, groups, [False, True, False])[1])


@_vjp("conv", DEVICES_ONLY, 1)
def _conv_vjp(t: Any, g: Any, x: Any, w: Any, strides: Axes, paddings: Any, dilations: Axes, groups: int) -> Any:
    """Both cotangents in one call."""
    windows = _Windows.of(strides, paddings, dilations)
    if windows is None or not x.numel() or not w.numel():
        return None
    of_x, of_w, _ = _convolution_backward(
        t, windows, windows.channels_first(g), windows.image(t, x), _filter(w, windows), groups, [True, True, False]
    )
    return windows.cotangent(of_x), windows.filter_result(of_w)


def _pooling(window: Axes, strides: Axes, paddings: Any, dilations: Axes) -> tuple[Any, Axes]:
    """Returns the windows of a pooling, and the window's size along two axes."""
    windows = _Windows.of(strides, paddings, dilations, tuple([n // 2 for n in window]))
    return windows, (1, *window) if windows is not None and windows.lacks_axis else window


@_kernel("max_pool", TORCH_WINDOWS)
def _max_pool(t: Any, x: Any, *, window: Axes, strides: Axes, paddings: Any, dilations: Axes) -> Any:
    windows, window = _pooling(window, strides, paddings, dilations)
    if windows is None or not x.numel():
        return None
    image = windows.image(t, x, -math.inf)
    return windows.result(t.max_pool2d(image, window, windows.strides, windows.paddings, windows.dilations))


@_vjp("max_pool", TORCH_WINDOWS, 1)
def _max_pool_vjp(t: Any, g: Any, x: Any, window: Axes, strides: Axes, paddings: Any, dilations: Axes) -> Any:
    windows, window = _pooling(window, strides, paddings, dilations)
    if windows is None or not x.numel():
        return None
    image = windows.image(t, x, -math.inf)
    given = (window, windows.strides, windows.paddings, windows.dilations, False)
    _, positions = t._C._nn.max_pool2d_with_indices(image, *given)
    found = t.ops.aten.max_pool2d_with_indices_backward.default(windows.channels_first(g), image, *given, positions)
    return windows.cotangent(found)


@_kernel("window_sum", TORCH_WINDOWS)
def _window_sum(t: Any, x: Any, *, window: Axes, strides: Axes, paddings: Any, dilations: Axes) -> Any:
    windows, window = _pooling(window, strides, paddings, dilations)
    if windows is None or not x.numel() or max(dilations) > 1:
        return None
    image = windows.image(t, x)
    return windows.result(
        t.nn.functional.avg_pool2d(image, window, windows.strides, windows.paddings, divisor_override=1)
    )


@_kernel("window_spread", TORCH_WINDOWS)
def _window_spread(
    t: Any, x: Any, *, size: Axes, window: Axes, strides: Axes, paddings: Any, dilations: Axes
) -> Any:
    windows, window = _pooling(window, strides, paddings, dilations)
    if windows is None or not x.numel() or max(dilations) > 1:
        return None
    image = x.new_empty((len(x), *windows.padded_size(size), x.shape[-1])).permute(0, 3, 1, 2)
    return windows.cotangent(t.ops.aten.avg_pool2d_backward.default(
        windows.channels_first(x), image, window, windows.strides, windows.paddings, False, True, 1
    ))  # fmt: skip

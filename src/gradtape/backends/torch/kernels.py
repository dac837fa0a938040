"""PyTorch's kernels of ops that are not elementwise, by op name, each with the array size from which it is used.

A kernel `f(torch, *tensors, **attrs)` computes the op; a vjp `f(torch, g, <names>)` computes its cotangents from the
cotangent of the output and from residuals, which it names as the op's own rule does. Both return None for cases that
PyTorch computes differently; NumPy's kernel, or the rule, runs then.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..tuning import (
    LONG_TO_SORT,
    TORCH_ARITHMETIC,
    TORCH_ATTENTION,
    TORCH_FORMULAS,
    TORCH_MOMENTS,
    TORCH_PASSES,
    TORCH_REDUCTIONS,
    TORCH_ROW_NORMS,
    TORCH_ROWS,
    TORCH_SCATTERS,
    TORCH_SELECTIONS,
    TORCH_SOLVERS,
    TORCH_TRANSFORMS,
)  # fmt: skip
from . import windows  # which registers its kernels
from .host_kernels import cached_on, joint_vjp, kernel, kernel_with_residual, scalar, vjp
from .indices import are_below
from .library import aten, torch

Axes = tuple[int, ...]
_NO_LABEL = -(1 << 63)  # the label that a loss ignores; others that are out of range raise


@kernel("cast", TORCH_FORMULAS, dtypes="ef")
def _cast(t: Any, x: Any, *, dtype: Any) -> Any:
    """From float16, and from float32 to float16: PyTorch uses the processor's conversions, and rounds float64 twice."""
    wanted = {"e": t.float16, "f": t.float32, "d": t.float64}.get(getattr(dtype, "numpy", dtype).char)
    return x.to(wanted) if t.float16 in (wanted, x.dtype) and wanted not in (None, x.dtype) else None


def _reduce(function: str, t: Any, x: Any, *, axis: Axes, keepdims: bool = False) -> Any:
    return getattr(t, function)(x, axis, keepdims) if axis else None  # PyTorch reduces all axes if given none


for _name, _function, _min_elements in (
    ("sum", "sum", TORCH_ARITHMETIC), ("mean", "mean", TORCH_ARITHMETIC), ("max", "amax", TORCH_REDUCTIONS),
    ("min", "amin", TORCH_REDUCTIONS), ("logsumexp", "logsumexp", TORCH_PASSES),
):  # fmt: skip
    kernel(_name, _min_elements)(partial(_reduce, _function))


@lru_cache(maxsize=64)
def _neutral_affine(width: int, dtype: Any) -> tuple[Any, Any]:
    """Returns a scale of ones and a shift of zeros, which the caller does not change."""
    return torch().ones(width, dtype=dtype), torch().zeros(width, dtype=dtype)


@kernel("moments", TORCH_MOMENTS)
def _moments(t: Any, x: Any, *, axis: Axes, keepdims: bool = True) -> Any:
    if not axis or not x.numel():
        return None
    if axis == tuple(range(x.ndim - 1)):
        mean, variance = t.batch_norm_update_stats(x.reshape(-1, x.shape[-1]), None, None, 0.0)
        shape = (*(1,) * (x.ndim - 1), -1) if keepdims else (-1,)
        return mean.reshape(shape), variance.reshape(shape)
    if axis == (x.ndim - 1,):
        # A layer norm: `var_mean` takes ten times as long. Without scale and shift, it is not vectorized on the host.
        affine = _neutral_affine(x.shape[-1], x.dtype) if x.is_cpu else (None, None)
        _, mean, r = t.native_layer_norm(x, x.shape[-1:], *affine, 0.0)
        if math.isfinite(mean.sum().item()):  # it is NaN for a mean that is infinite
            variance = r.reciprocal_().square_()
            return (mean, variance) if keepdims else (mean.squeeze(-1), variance.squeeze(-1))
    mean = t.mean(x, axis, True)
    variance = t.mean((x - mean).square_(), axis, keepdims)
    return mean if keepdims else mean.reshape(variance.shape), variance


def _softmax(function: str, t: Any, x: Any, *, axis: int) -> Any:
    y = getattr(t, function)(x, axis)
    # PyTorch makes all values beside inf NaN, and one of each row tells. Reading it on a GPU would wait for the result.
    # NumPy takes 3 us, a third of what PyTorch takes.
    if y.is_cpu and y.numel():
        row = (y.float() if y.dtype is t.bfloat16 else y).numpy().take(0, axis)
        if math.isnan(np.vdot(row, row)):
            return None
    return y


kernel("softmax", TORCH_ROWS)(partial(_softmax, "softmax"))
kernel("log_softmax", TORCH_ROWS)(partial(_softmax, "log_softmax"))
vjp("softmax", TORCH_ROWS)(lambda t, g, y, axis: t._softmax_backward_data(g, y, axis, y.dtype))
vjp("log_softmax", TORCH_ROWS)(lambda t, g, y, axis: t._log_softmax_backward_data(g, y, axis, y.dtype))


@kernel_with_residual("layer_norm", TORCH_ROWS)
def _layer_norm(t: Any, x: Any, scale: Any, shift: Any, *, epsilon: float) -> Any:
    """A layer norm, and as the residual the mean and `1 / deviation` of each row."""
    y, *residual = t.native_layer_norm(x, x.shape[-1:], scale, shift, epsilon)
    return y, tuple(residual)


@vjp("layer_norm", TORCH_ROWS)
def _layer_norm_vjp(t: Any, g: Any, x: Any, scale: Any, epsilon: float, residual: Any) -> Any:
    """The cotangents of input, scale and shift."""
    shape, scale = x.shape[-1:], scale.contiguous()
    if residual is None:
        residual = t.native_layer_norm(x, shape, scale, scale, epsilon)[1:]
    given = g.contiguous(), x.contiguous(), shape, *residual, scale, scale
    return aten("native_layer_norm_backward")(*given, [True, True, True])


@kernel("layer_norm_back", TORCH_REDUCTIONS)
def _layer_norm_back(t: Any, cotangent: Any, x: Any, scale: Any, *, epsilon: float) -> Any:
    return _layer_norm_vjp(t, cotangent, x, scale, epsilon, None)


@kernel_with_residual("scaled_dot_product_attention", TORCH_ATTENTION)
def _attention(
    t: Any, query: Any, key: Any, value: Any, *extras: Any, scale: float, causal: bool, biased: bool
) -> Any:  # fmt: skip
    """The output, and for the host's fused derivative the output and the logarithms of the sums, by head."""
    if _stores_weights(query, key, value, causal and extras):
        return None
    residual = None
    if extras or not query.is_cpu or query.shape[2] != key.shape[2]:
        y = _attend(t, query, key, value, extras, scale, causal, biased)
    else:
        heads = [x.contiguous().transpose(1, 2) for x in (query, key, value)]
        residual = aten("_scaled_dot_product_flash_attention_for_cpu")(*heads, 0.0, causal, scale=scale)
        y = residual[0].transpose(1, 2).contiguous()
    return (y, residual) if _is_finite(t, y) else None


@vjp("scaled_dot_product_attention", TORCH_ATTENTION)
def _attention_vjp(
    t: Any, g: Any, query: Any, key: Any, value: Any, extras: Any, scale: float, causal: bool, residual: Any
) -> Any:  # fmt: skip
    if residual is None:
        return None
    heads = [x.contiguous().transpose(1, 2) for x in (g, query, key, value)]
    found = aten("_scaled_dot_product_flash_attention_for_cpu_backward")(*heads, *residual, 0.0, causal, scale=scale)
    found = [x.transpose(1, 2).contiguous() for x in found]
    return (*found, *[None] * len(extras)) if all(_is_finite(t, x) for x in found) else None


@kernel("scaled_dot_product_attention_back", TORCH_ATTENTION)
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


def _kept(x: Any, y: Any, axis: Axes) -> Any:
    """Reshapes a reduced value to broadcast against `x`."""
    if y.ndim == x.ndim:
        return y
    return y.unsqueeze(axis[0]) if len(axis) == 1 else y.reshape([1 if i in axis else n for i, n in enumerate(x.shape)])


def _extreme_vjp(t: Any, g: Any, x: Any, y: Any, axis: Axes) -> Any:
    """Ties share the cotangent evenly."""
    reached = (x == _kept(x, y, axis)).to(x.dtype)
    return reached.mul_(_kept(x, g, axis) / reached.sum(axis, True)) if axis else None


vjp("max", TORCH_REDUCTIONS, 1)(_extreme_vjp)
vjp("min", TORCH_REDUCTIONS, 1)(_extreme_vjp)


@vjp("logsumexp", TORCH_PASSES, 1)
def _logsumexp_vjp(t: Any, g: Any, x: Any, y: Any, axis: Axes) -> Any:
    if not axis or (y.is_cpu and not y.isfinite().all()):
        return None
    if len(axis) == 1:
        return t.softmax(x, axis[0]).mul_(_kept(x, g, axis))
    e = (x - _kept(x, y, axis)).exp_()
    return e.mul_(_kept(x, g, axis) / e.sum(axis, True))  # `y` is rounded where it is far from 0


@kernel("cumsum", TORCH_PASSES)
def _cumsum(t: Any, x: Any, *, axis: int, exclusive: bool = False, reverse: bool = False) -> Any:
    x = x.flip(axis) if reverse else x
    if exclusive:
        y, count = t.zeros_like(x), max(x.shape[axis] - 1, 0)
        t.cumsum(x.narrow(axis, 0, count), axis, out=y.narrow(axis, x.shape[axis] - count, count))
    else:
        y = t.cumsum(x, axis)
    return y.flip(axis) if reverse else y


@kernel("argsort", TORCH_REDUCTIONS)
def _argsort(t: Any, x: Any, *, axis: int, descending: bool = False) -> Any:
    return t.sort(x, dim=axis, descending=descending, stable=True).indices.to(t.int32)


@vjp("sort", TORCH_PASSES, 1)
def _sort_vjp(t: Any, g: Any, x: Any, axis: int, descending: bool | None) -> Any:
    positions = t.sort(x, dim=axis, descending=bool(descending), stable=True).indices
    return t.empty_like(x).scatter_(axis, positions, g)


@kernel("softmax_cross_entropy", TORCH_PASSES, 1)
def _softmax_cross_entropy(t: Any, labels: Any, logits: Any) -> Any:
    return t.log_softmax(logits, -1).mul_(labels).sum(-1).neg_()


@vjp("softmax_cross_entropy", TORCH_PASSES, 3)
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
    is_valid = labels.is_cpu or are_below(labels, logits.shape[-1])
    labels = labels.to(t.int64)
    if is_valid:
        return labels.unsqueeze(-1), None
    inside = labels.clamp(0, logits.shape[-1] - 1)
    return inside.unsqueeze(-1), labels != inside


@kernel_with_residual("sparse_softmax_cross_entropy", TORCH_PASSES, 1)
def _sparse_softmax_cross_entropy(t: Any, labels: Any, logits: Any) -> Any:
    """The losses, and as the residual the logarithms of the softmax."""
    logarithms = t.log_softmax(logits, -1)
    is_valid = are_below(labels, logits.shape[-1])
    if (is_valid or logits.is_cpu) and logits.ndim == 2:
        # The ignored label, which is also what NaN is cast to, raises as well.
        labels = labels.clamp_min(-1) if labels.dtype is t.int64 and not is_valid else labels.to(t.int64)
        return t._C._nn.nll_loss_nd(logarithms, labels, None, 0, _NO_LABEL), logarithms
    positions, invalid = _positions(t, labels, logits)
    y = logarithms.gather(-1, positions).squeeze(-1).neg_()
    return (y if invalid is None else y.masked_fill_(invalid, math.nan)), logarithms


@kernel("sparse_softmax_slope", TORCH_PASSES, 1)
def _sparse_softmax_slope(t: Any, labels: Any, logits: Any, logarithms: Any = None) -> Any:
    """The softmax, less 1 at the labels; `logarithms` is what the kernel of the losses has left."""
    positions, invalid = _positions(t, labels, logits)
    softmax = t.softmax(logits, -1) if logarithms is None else logarithms.exp()
    y = softmax.scatter_(-1, positions, -1.0, reduce="add")
    return y if invalid is None else y.masked_fill_(invalid.unsqueeze(-1), math.nan)


@vjp("sparse_softmax_cross_entropy", TORCH_PASSES, 2)
def _sparse_softmax_cross_entropy_vjp(t: Any, g: Any, labels: Any, logits: Any, residual: Any) -> Any:
    return None, _sparse_softmax_slope(t, labels, logits, residual).mul_(g.unsqueeze(-1))


def by_channel(x: Any, *terms: Any) -> list[Any]:
    """Reshapes arrays and the terms of an affine map to the operands of a batch norm of inference.

    The terms are a number for each channel, the last axis, or, as a column, for each row: rows are channels then. The
    kernels ignore the terms' strides.
    """
    if terms[0].ndim > 1:
        return [x.contiguous().view(1, -1, x.shape[-1]), *[a.reshape(-1) for a in terms]]
    return [rows_of(x), *[a.contiguous() for a in terms]]


def rows_of(x: Any) -> Any:
    """Returns `x` with the channels as its second axis: a matrix, or the tensor that an image is a view of."""
    known = getattr(x, windows.CHANNELS_FIRST, None)
    if known is not None:
        return known
    x = x.contiguous()
    return x if x.ndim == 2 else x.view(-1, x.shape[-1])


def rows_like(g: Any, rows: Any) -> Any:
    """Returns the cotangent of a tensor in the form that `rows_of` returned for it, `rows`."""
    return windows.channels_first(g) if rows.ndim == 4 else g.contiguous().view_as(rows)


def shaped_like(x: Any, y: Any) -> Any:
    """Returns a result for the rows of `x` in the shape of `x`."""
    if y.ndim == 4:
        return windows.channels_last(y)
    return y if y.ndim == x.ndim == 2 else y.view_as(x)


@kernel("channel_affine", TORCH_REDUCTIONS)
def _channel_affine(t: Any, x: Any, centre: Any, factor: Any, shift: Any) -> Any:
    """A batch norm of inference with a variance of 1."""
    if not x.numel():
        return None
    rows, mean, weight, bias = by_channel(x, centre, factor, shift)
    return shaped_like(x, t.batch_norm(rows, weight, bias, mean, t.ones_like(mean), False, 0.0, 0.0, False))


@kernel("normalization", TORCH_REDUCTIONS)
def _normalization(t: Any, x: Any, mean: Any, variance: Any, scale: Any, shift: Any, *, epsilon: float) -> Any:
    """A batch norm of inference; for rows without scale and shift, which belong to channels."""
    if not x.numel():
        return None
    if mean.ndim == 1:
        rows, mean, variance, scale, shift = by_channel(x, mean, variance, scale, shift)
        return shaped_like(x, t.batch_norm(rows, scale, shift, mean, variance, False, 0.0, epsilon, False))
    rows, mean, variance = by_channel(x, mean, variance)
    z = t.batch_norm(rows, None, None, mean, variance, False, 0.0, epsilon, False).view_as(x)
    return t.addcmul(shift, z, scale, out=z)


def inverse_deviation(variance: Any, epsilon: float) -> Any:
    """Returns `1 / sqrt(variance + epsilon)`."""
    if not variance.is_cuda:
        return (variance + scalar(epsilon, variance.dtype)).rsqrt_()
    from .fusion import compile_formula  # imports PyTorch

    compute = compile_formula("v e", "rsqrt(v + e)", variance.dtype, e=0.0)
    return cached_on(variance, "_inverse_deviation", epsilon, lambda: compute(variance, e_=epsilon))


@kernel("normalization_back", TORCH_REDUCTIONS)
def _normalization_back(t: Any, cotangent: Any, x: Any, mean: Any, variance: Any, scale: Any, *, epsilon: float) -> Any:
    """All cotangents of a norm whose moments are not those of its input, such as a batch norm of inference."""
    if not x.numel() or (mean.ndim > 1 and x.dtype not in (t.float32, t.float64)):
        return None
    r = inverse_deviation(variance, epsilon)
    if mean.ndim == 1:
        of_x, of_scale, of_shift = _back_to_channels(cotangent, x, mean, variance, r, scale, epsilon)
        factor = r * scale
        return of_x, -factor * of_shift, (factor * r).mul_(of_scale).mul_(-0.5), of_scale, of_shift
    ones = t.ones_like(mean.reshape(-1))
    of_x, weighed, total = _back_to_channels(cotangent * scale, x, mean, variance, r, ones, epsilon)
    _, of_scale, of_shift = aten("native_layer_norm_backward")(
        cotangent.contiguous(), x.contiguous(), x.shape[-1:], mean.contiguous(), r.contiguous(), scale, scale,
        [False, True, True],
    )  # fmt: skip
    weighed, total = weighed.view_as(r), total.view_as(r)
    return of_x, total.mul_(r).neg_(), weighed.mul_(r).mul_(r).mul_(-0.5), of_scale, of_shift


def _back_to_channels(cotangent: Any, x: Any, mean: Any, variance: Any, r: Any, scale: Any, epsilon: float) -> Any:
    """Returns the cotangents of the input, scale and shift of a batch norm of inference; `r` is `1 / deviation`."""
    rows, mean, variance, r = by_channel(x, mean, variance, r)
    # The kernel of the host reads the variance, that of a GPU `r`.
    of_x, of_scale, of_shift = aten("native_batch_norm_backward")(
        rows_like(cotangent, rows), rows, scale.contiguous(), mean, variance, mean, r, False, epsilon,
        [True, True, True],
    )  # fmt: skip
    return shaped_like(x, of_x), of_scale, of_shift


@joint_vjp("normalization", TORCH_REDUCTIONS, 1)
def _normalization_by_moments_vjp(t: Any, g: Any, x: Any, mean: Any, variance: Any, scale: Any, epsilon: float) -> Any:
    """The cotangents of input, scale and shift of a batch norm of channels."""
    if not x.numel() or x.dtype not in (t.float32, t.float64):
        return None
    rows, r = rows_of(x), inverse_deviation(variance, epsilon)
    of_x, *others = aten("native_batch_norm_backward")(
        rows_like(g, rows), rows, scale.contiguous(), None, None, mean.contiguous(), r.contiguous(), True, epsilon,
        [True, True, True],
    )  # fmt: skip
    return shaped_like(x, of_x), *others


@joint_vjp("row_normalization", TORCH_ROW_NORMS, 1)
def _row_normalization_vjp(t: Any, g: Any, x: Any, mean: Any, variance: Any, scale: Any, epsilon: float) -> Any:
    """The cotangents of input, scale and shift of a layer norm."""
    if not x.numel() or x.dtype not in (t.float32, t.float64):
        return None
    return _layer_norm_vjp(t, g, x, scale, epsilon, (mean.contiguous(), inverse_deviation(variance, epsilon)))


@kernel("top_k", TORCH_ROWS)
def _top_k(t: Any, x: Any, *, k: int) -> Any:
    """Of equal values, the first come first: rows in which `topk` had to choose among equal ones are sorted."""
    count = x.shape[-1]
    if not 0 < k < count or not x.numel() or not x.is_cpu:  # a GPU would wait for the answer
        return None
    if 8 * k < count <= LONG_TO_SORT and x.numel() < TORCH_SELECTIONS:
        return None
    values, places = t.topk(x, k + 1)
    falls = values.narrow(-1, 0, k) > values.narrow(-1, 1, k)  # not from or to NaN
    values, places = values.narrow(-1, 0, k).contiguous(), places.narrow(-1, 0, k).to(t.int32)
    if not falls.all().item():
        is_tied = ~falls.all(-1)
        ordered = t.sort(x[is_tied], dim=-1, descending=True, stable=True)
        values[is_tied], places[is_tied] = ordered.values[..., :k], ordered.indices[..., :k].to(t.int32)
    return values, places


@kernel("add_along", TORCH_SCATTERS)
def _add_along(t: Any, x: Any, indices: Any, *, axis: int, size: int) -> Any:
    """`scatter_add_` adds along an axis in order on the host, so that the sums are the same in every run."""
    if indices.shape != x.shape or not x.is_cpu:
        return None
    shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
    return x.new_zeros(shape).scatter_add_(axis, indices.to(t.int64), x)


@vjp("cholesky", TORCH_PASSES)
def _cholesky_vjp(t: Any, g: Any, y: Any) -> Any:
    inner = (y.mT @ g).tril_()
    inner.diagonal(0, -2, -1).mul_(0.5)
    half = t.linalg.solve_triangular(y.mT, inner, upper=True)
    s = t.linalg.solve_triangular(y, half, upper=False, left=False)
    s = s.add(s.mT).tril_()
    s.diagonal(0, -2, -1).mul_(0.5)
    return s


def _transform(name: str, t: Any, x: Any, *, axis: Axes, norm: str) -> Any:
    return getattr(t.fft, f"{name}n")(x, dim=axis, norm=norm).contiguous() if x.numel() else None


for _name, _dtypes in (("fft", "FD"), ("ifft", "FD"), ("rfft", "fd")):
    kernel(_name, TORCH_TRANSFORMS, dtypes=_dtypes)(partial(_transform, _name))


@kernel("irfft", TORCH_TRANSFORMS, dtypes="FD")
def _irfft(t: Any, x: Any, *, axis: Axes, length: int, norm: str) -> Any:
    if not x.numel() or not length:
        return None
    return t.fft.irfftn(x, s=[*[x.shape[i] for i in axis[:-1]], length], dim=axis, norm=norm).contiguous()


@kernel("cholesky", TORCH_SOLVERS)
def _cholesky(t: Any, x: Any) -> Any:
    y, failures = t.linalg.cholesky_ex(x)
    return None if failures.any() else y  # the general kernel decides what they give


# A singular matrix makes `inv` and `solve` raise, so that NumPy's kernel reports it; so does it report NaN.


@kernel("inv", TORCH_SOLVERS)
def _inv(t: Any, x: Any) -> Any:
    return None if x.is_cpu and t.isnan(x).any() else t.linalg.inv(x)


@kernel("solve", TORCH_SOLVERS)
def _solve(t: Any, a: Any, b: Any) -> Any:
    if a.ndim != b.ndim or (a.is_cpu and t.isnan(a).any()):
        return None
    return t.linalg.solve(a, b)

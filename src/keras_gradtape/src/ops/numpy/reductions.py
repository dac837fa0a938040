"""Reductions: sums, means, extrema, variances, and their variants that ignore NaN; cumulative sums and products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.api.experimental.numpy.elementwise import replace_nan
from gradtape.api.experimental.numpy.promotion import under_policy
from gradtape.api.experimental.numpy.statistics import weighted_average
from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops

from ... import sparse
from .elementwise import divide, isnan, maximum, minimum, not_equal
from .promotion import (
    KERAS,
    axes_of,
    axes_of_rank,
    axis_of,
    common,
    dtype_of,
    floating,
    numeric,
    on_bools,
    summed,
    tensor,
)  # fmt: skip
from .shared import all, ravel

__all__ = [
    "amax", "amin", "argmax", "argmin", "average", "count_nonzero", "max", "mean", "min", "nanargmax", "nanargmin",
    "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar", "prod", "std", "sum", "var",
]  # fmt: skip


def amax(x, axis=None, keepdims=False):
    return max(x, axis, keepdims)


def amin(x, axis=None, keepdims=False):
    return min(x, axis, keepdims)


def argmax(x, axis=None, keepdims=False):
    return _position(ops.argmax, x, axis, keepdims)


def argmin(x, axis=None, keepdims=False):
    return _position(ops.argmin, x, axis, keepdims)


def _position(op: Any, x: Any, axis: int | None, keepdims: bool) -> Tensor:
    """Returns the position of the extremum; NaN counts as one, and -0.0 is less than 0.0."""
    x = numeric(x, "uint8")
    rank = len(x.dims)
    if x.dtype.is_floating:
        x = tensor(x, common(x, "float32"))
        zero = ops.zeros_like(x)
        minus_zero = ops.logical_and(ops.equal(x, zero), ops.signbit(x))
        x = ops.where(minus_zero, tensor(-float(np.finfo(x.dtype.numpy).tiny), x.dtype), x)
        x = ops.where(ops.is_nan(x), tensor(np.inf if op is ops.argmax else -np.inf, x.dtype), x)
    flat = x if axis is not None else ravel(x)
    found = op(flat, axis=axis_of(flat, 0 if axis is None else axis), dtype=np.dtype("int32"))
    if not keepdims:
        return found
    shape = (1,) * rank if axis is None else tuple(1 if i == axis % rank else n for i, n in enumerate(x.dims))
    return ops.reshape(found, shape=shape)


def average(x, axis=None, weights=None):
    return mean(x, axis) if weights is None else _weighted_average(x, axis, weights)


_weighted_average = under_policy(weighted_average, KERAS)


def count_nonzero(x, axis=None):
    x = tensor(x)
    nonzero = not_equal(x, ops.zeros_like(x))
    return ops.sum(tensor(nonzero, "int32"), axis=axes_of(x, axis), keepdims=False)


def max(x, axis=None, keepdims=False, initial=None):
    return _extreme(ops.max, maximum, tensor(x), axis, keepdims, initial)


def min(x, axis=None, keepdims=False, initial=None):
    return _extreme(ops.min, minimum, tensor(x), axis, keepdims, initial)


def _extreme(op: Any, pair: Any, x: Tensor, axis: Any, keepdims: bool, initial: Any) -> Tensor:
    axes = axes_of(x, axis)
    if initial is None:
        if 0 in x.dims and not math.prod(x.dims[a] for a in axes):
            raise ValueError(f"An empty axis has no extreme: shape {x.dims}, axis={axis}. Give `initial`")
        return on_bools(op, x, axis=axes, keepdims=keepdims)
    return pair(on_bools(op, x, axis=axes, keepdims=keepdims), tensor(initial, x.dtype))


def mean(x, axis=None, keepdims=False):
    if sparse.is_sparse(x):
        dims = sparse.dims_of(x)
        count = math.prod(dims[a] for a in axes_of_rank(len(dims), axis))
        return divide(sum(x, axis, keepdims), count)
    x = floating(x)
    return _in_float32(lambda z: ops.mean(z, axis=axes_of(z, axis), keepdims=keepdims), x)


def _in_float32(f: Any, x: Tensor) -> Tensor:
    """Computes `f(x)` in float32 if x is narrower."""
    return f(x) if x.dtype.size >= 4 else tensor(f(tensor(x, "float32")), x.dtype)


def prod(x, axis=None, keepdims=False, dtype=None):
    x = summed(x) if dtype is None else tensor(x, dtype_of(dtype))
    return on_bools(ops.prod, x, axis=axes_of(x, axis), keepdims=keepdims)


def std(x, axis=None, keepdims=False):
    return ops.sqrt(var(x, axis, keepdims))


def sum(x, axis=None, keepdims=False):
    if type(x) is not Tensor and sparse.is_sparse(x):
        x = sparse.like(x, summed(x.values))
        return sparse.total(x, axes_of_rank(len(sparse.dims_of(x)), axis), keepdims, _plain_sum)
    x = summed(x)
    return ops.sum(x, axis=axes_of(x, axis), keepdims=keepdims)


def _plain_sum(x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    return ops.sum(x, axis=axes, keepdims=keepdims)


def var(x, axis=None, keepdims=False):
    def variance(z: Tensor) -> Tensor:
        axes = axes_of(z, axis)
        apart = z - ops.mean(z, axis=axes, keepdims=True)
        squares = ops.square(ops.abs(apart) if z.dtype.is_complex else apart)
        return ops.mean(squares, axis=axes, keepdims=keepdims)

    return _in_float32(variance, floating(x))


def nanargmax(x, axis=None, keepdims=False):
    return _among_known(argmax, tensor(x), axis, keepdims, loses=-np.inf, otherwise=-1)


def nanargmin(x, axis=None, keepdims=False):
    return _among_known(argmin, tensor(x), axis, keepdims, loses=np.inf, otherwise=-1)


def nanmax(x, axis=None, keepdims=False):
    return _among_known(max, tensor(x), axis, keepdims, loses=-np.inf, otherwise=np.nan)


def nanmin(x, axis=None, keepdims=False):
    return _among_known(min, tensor(x), axis, keepdims, loses=np.inf, otherwise=np.nan)


def _among_known(f: Any, x: Tensor, axis: Any, keepdims: bool, *, loses: float, otherwise: float) -> Tensor:
    """Reduces the entries that are not NaN; `otherwise` if all are. `loses` replaces NaN and never wins."""
    found = f(replace_nan(x, loses), axis, keepdims)
    if not x.dtype.is_floating:
        return found
    return ops.where(all(ops.is_nan(x), axis, keepdims), tensor(otherwise, found.dtype), found)


def nanmean(x, axis=None, keepdims=False):
    x = floating(x)
    return _in_float32(lambda z: _nan_mean(z, replace_nan(z, 0.0), axes_of(z, axis), keepdims), x)


def _nan_mean(x: Tensor, values: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    """Returns the mean of `values` over the positions where `x` is not NaN."""
    counted = tensor(ops.logical_not(isnan(x)), values.dtype)
    total = ops.sum(values, axis=axes, keepdims=keepdims)
    return total / ops.sum(counted, axis=axes, keepdims=keepdims)


def nanprod(x, axis=None, keepdims=False):
    return prod(replace_nan(tensor(x), 1.0), axis, keepdims)


def nanstd(x, axis=None, keepdims=False):
    return ops.sqrt(nanvar(x, axis, keepdims))


def nansum(x, axis=None, keepdims=False):
    return sum(replace_nan(tensor(x), 0.0), axis, keepdims)


def nanvar(x, axis=None, keepdims=False):
    def variance(z: Tensor) -> Tensor:
        axes = axes_of(z, axis)
        apart = replace_nan(z, 0.0) - _nan_mean(z, replace_nan(z, 0.0), axes, True)
        squares = ops.where(isnan(z), ops.zeros_like(z), ops.square(apart))
        return _nan_mean(z, squares, axes, keepdims)

    return _in_float32(variance, floating(x))

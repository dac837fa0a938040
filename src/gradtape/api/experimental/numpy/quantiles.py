"""Medians, quantiles and percentiles, of Keras and of NumPy's functions on tensors."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable
from types import FunctionType

from ....core import dtypes
from ....core.tensor import Tensor
from ....core.type_hints import AxisLike, TensorLike
from ....engine.run.namespace import ops
from ...catalogue.fronts import renamed
from .arrays import ravel
from .promotion import PromotionPolicy, cast, tensor, with_policy


def _function(name: str, per: int, skip_nan: bool) -> Callable[..., Tensor]:
    """Creates a function of fractions (`per` 1) or percentages; without `skip_nan` a NaN among the entries is one."""

    def function(
        p: PromotionPolicy,
        x: TensorLike,
        q: TensorLike,
        axis: AxisLike | None = None,
        method: str = "linear",
        keepdims: bool = False,
    ) -> Tensor:
        return _quantile(p, x, q if per == 1 else p.floating(q) / per, axis, method, keepdims, skip_nan)

    return with_policy(renamed(typing.cast(FunctionType, function), name))


quantile, nanquantile = _function("quantile", 1, False), _function("nanquantile", 1, True)
percentile, nanpercentile = _function("percentile", 100, False), _function("nanpercentile", 100, True)


@with_policy
def median(p: PromotionPolicy, x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False) -> Tensor:
    """Returns the median along axes; NaN if an entry is NaN."""
    return _quantile(p, x, 0.5, axis, "linear", keepdims, False)


@with_policy
def nanmedian(p: PromotionPolicy, x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False) -> Tensor:
    """Same as `median`, of the entries that are not NaN."""
    return _quantile(p, x, 0.5, axis, "linear", keepdims, True)


QUANTILES = (median, nanmedian, nanpercentile, nanquantile, percentile, quantile)


def _quantile(
    p: PromotionPolicy,
    values: TensorLike,
    q: TensorLike,
    axis: AxisLike | None,
    method: str,
    keepdims: bool,
    skip_nan: bool,
) -> Tensor:
    x = p.floating(values)
    dtype = x.dtype if x.dtype.size >= 4 else dtypes.float32
    axes, fractions = p.axes(x, axis), p.tensor(q, dtype)
    kept = [i for i in range(len(x.dims)) if i not in axes]
    shape = tuple(x.dims[i] for i in kept)
    rows = ops.transpose(cast(x, dtype), perm=(*kept, *axes))
    rows = ops.sort(ops.reshape(rows, shape=(*shape, math.prod(x.dims[a] for a in axes))), axis=len(shape))
    if skip_nan:
        known = cast(ops.logical_not(ops.is_nan(rows)), dtype)
        y = _at_fractions(rows, fractions, ops.sum(known, axis=(len(shape),), keepdims=True) - 1, method)
    else:
        y = _at_fractions(rows, fractions, tensor(rows.dims[-1] - 1, dtype), method)
        y = ops.where(ops.is_nan(rows[..., -1:]), tensor(math.nan, dtype), y)  # NaN sorts to the end
    y = ops.transpose(y, perm=(len(shape), *range(len(shape))))
    reduced = tuple(1 if i in axes else n for i, n in enumerate(x.dims)) if keepdims else shape
    return cast(ops.reshape(y, shape=(*fractions.dims, *reduced)), x.dtype)


def _at_fractions(rows: Tensor, q: Tensor, last: Tensor, method: str) -> Tensor:
    """Returns the values of sorted rows at positions `q * last`, interpolated by `method`."""
    at = ravel(q) * last
    at = ops.broadcast_to(at, shape=(*rows.dims[:-1], at.dims[-1]))
    below, above = ops.floor(at), ops.ceil(at)
    if method == "nearest":
        below = above = ops.rint(at)
    elif method in ("lower", "higher"):
        below = above = below if method == "lower" else above
    elif method not in ("linear", "midpoint"):
        raise ValueError(f"Unknown method of interpolation: {method}")

    def values(places: Tensor) -> Tensor:
        places = ops.maximum(cast(places, dtypes.int32), tensor(0, dtypes.int32))
        return ops.take_along(rows, places, axis=len(rows.dims) - 1)

    low = values(below)
    if below is above:
        return low
    weight = tensor(0.5, rows.dtype) if method == "midpoint" else at - below
    # An exact position may hold an infinite value, and infinity times 0 is NaN.
    return ops.where(ops.equal(below, above), low, low * (1 - weight) + values(above) * weight)

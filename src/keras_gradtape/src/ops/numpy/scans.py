"""Cumulative sums and products, differences, and trapezoidal integrals."""

from __future__ import annotations

from typing import Any

from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops

from .promotion import axis_of, common, dtype_of, floating, numeric, tensor
from .reductions import replaced_nan
from .shared import moveaxis, ravel

__all__ = [
    "cumprod", "cumsum", "nancumprod", "nancumsum", "trapezoid",
]  # fmt: skip


def cumprod(x, axis=None, dtype=None):
    return _running(ops.cumprod, tensor(x), axis, dtype)


def cumsum(x, axis=None, dtype=None):
    return _running(ops.cumsum, tensor(x), axis, dtype)


def nancumprod(x, axis=None, dtype=None):
    return cumprod(replaced_nan(tensor(x), 1.0), axis, dtype)


def nancumsum(x, axis=None, dtype=None):
    return cumsum(replaced_nan(tensor(x), 0.0), axis, dtype)


def _running(op: Any, x: Tensor, axis: int | None, dtype: Any) -> Tensor:
    if dtype is not None:
        x = tensor(x, common(dtype_of(dtype)))
    x = numeric(x)
    x = ravel(x) if axis is None else x
    return op(x, axis=axis_of(x, 0 if axis is None else axis))


def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = moveaxis(floating(y), axis, -1)
    pairs = y[..., 1:] + y[..., :-1]
    if x is None:
        widths = tensor(dx, y.dtype)
    else:
        x = tensor(x, y.dtype)
        x = x if len(x.dims) == 1 else moveaxis(x, axis, -1)
        widths = x[..., 1:] - x[..., :-1]
    return ops.sum(pairs * widths, axis=(len(y.dims) - 1,), keepdims=False) / 2

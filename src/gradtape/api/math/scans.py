"""Cumulative sums, products and logsumexps along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import errors
from ...core.tensor import Tensor
from ...core.type_hints import AxisLike, TensorLike
from ...engine.run.convert import integer, to_tensor
from ...engine.run.namespace import ops
from ...ops.arrays.scans import delayed

NAMESPACES = ("math", "")
__all__ = ["cumprod", "cumsum", "cumulative_logsumexp"]


def _scanned_axis(x: Tensor, axis: Any) -> int:
    rank, given = len(x.dims), integer(axis, "ScanOp: axis")
    if not -rank <= given < rank:
        raise errors.InvalidArgumentError(f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {given}")
    return given % rank


def _scan(scan: Any, x: Tensor, axis: int, exclusive: bool, reverse: bool, first: Any) -> Tensor:
    """Applies `scan` with TensorFlow's options: `exclusive` prepends the value that `first` returns for a slice."""
    if reverse:
        x = ops.reverse(x, axis=(axis,))
    if exclusive:
        x = delayed(ops, x, axis, first)
    y = scan(x, axis=axis)
    return ops.reverse(y, axis=(axis,)) if reverse else y


def cumsum(
    x: TensorLike, axis: AxisLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Cumulative sum along `axis`, `y[i] = Σ_{j≤i} x[j]`.
    `exclusive` excludes each element from its own sum, `reverse` starts at the end.nd.

    - Shape: that of `x`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128`; the result has that of `x`.
    - Derivative: `∂y[i]/∂x[j] = (j <= i)`, a cumulative sum in the other direction.

    >>> tf.cumsum([1, 2, 3]).numpy(), tf.cumsum([1, 2, 3], exclusive=True, reverse=True).numpy()
    (array([1, 3, 6], dtype=int32), array([5, 3, 0], dtype=int32))
    """
    x = to_tensor(x)
    return ops.cumsum(x, axis=_scanned_axis(x, axis), exclusive=bool(exclusive), reverse=bool(reverse))


def cumprod(
    x: TensorLike, axis: AxisLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Cumulative product along `axis`, with the options of `cumsum`; its gradient is correct at zeros.

    >>> tf.math.cumprod([2, 3, 4]).numpy()
    array([ 2,  6, 24], dtype=int32)
    """
    x = to_tensor(x)
    return _scan(ops.cumprod, x, _scanned_axis(x, axis), exclusive, reverse, ops.ones_like)


def cumulative_logsumexp(
    x: TensorLike, axis: AxisLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Cumulative logsumexp along `axis`, with the options of `cumsum`.

    >>> tf.math.cumulative_logsumexp([0.0, 0.0]).numpy()
    array([0.       , 0.6931472], dtype=float32)
    """
    x = to_tensor(x)

    def lowest(part: Tensor) -> Tensor:
        return to_tensor(np.full(part.dims, -np.inf, part.dtype.numpy))

    return _scan(ops.cumulative_logsumexp, x, _scanned_axis(x, axis), exclusive, reverse, lowest)

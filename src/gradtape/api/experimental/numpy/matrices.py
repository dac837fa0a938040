"""`tf.experimental.numpy`: patterned arrays, diagonals and triangles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....core import dtypes
from ....core.tensor import Tensor
from ....core.type_hints import DTypeLike, ShapeLike, TensorLike
from ....engine.run.namespace import ops
from ...namespace import resolve
from .arrays import (
    as_integers,
    broadcast_to,
    diagonal_matrix,
    linspace,
    moveaxis,
    offset_diagonal,
    ravel,
    zeros,
    zeros_like,
)
from .promotion import PromotionPolicy, cast, own, result_type, tensor, with_policy
from .reductions import sum as sum_

NAMESPACES = ("experimental.numpy",)
__all__ = [
    "diag_indices", "diagflat", "diagonal", "empty", "empty_like", "full_like", "geomspace", "logspace", "trace", "tri",
    "tril", "triu", "vander",
]  # fmt: skip


def empty(shape: ShapeLike, dtype: DTypeLike = float) -> Tensor:
    """Creates zeros: tensors cannot be filled later.

    >>> tf.experimental.numpy.empty([2]).shape
    TensorShape([2])
    """
    return zeros(shape, dtype)


def empty_like(a: TensorLike, dtype: DTypeLike | None = None) -> Tensor:
    """Creates zeros with the shape of `a`.

    >>> tf.experimental.numpy.empty_like([1, 2]).dtype
    tf.int64
    """
    return zeros_like(a, dtype)


def full_like(
    a: TensorLike,
    fill_value: TensorLike,
    dtype: DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
) -> Tensor:
    """Creates an array filled with one value, with the shape of `a`, and with its dtype by default.

    >>> tf.experimental.numpy.full_like([1, 2], 7).numpy().tolist()
    [7, 7]
    """
    if order != "K":
        raise ValueError("Non-standard orders are not supported.")
    if not subok:
        raise ValueError("subok being False is not supported.")
    if shape:
        raise ValueError("Overriding the shape is not supported.")
    x = tensor(a)
    return broadcast_to(tensor(fill_value, dtype or x.dtype), x.dims)


def logspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Tensor:
    """Returns powers of `base` with evenly spaced exponents from `start` to `stop`.

    >>> tf.experimental.numpy.logspace(0, 2, 3).numpy().tolist()
    [1.0, 10.0, 100.0]
    """
    kind = result_type(start, stop, 1.0)
    exponents = cast(linspace(start, stop, num, endpoint, dtype=kind, axis=axis), kind)
    values = own("pow")(cast(tensor(base), kind), exponents)
    return values if dtype is None else cast(values, result_type(dtype))


def geomspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Tensor:
    """Returns a geometric progression from `start` to `stop`.

    >>> [round(x) for x in tf.experimental.numpy.geomspace(1, 8, 4).numpy().tolist()]
    [1, 2, 4, 8]
    """
    kind = dtypes.as_dtype(dtype) if dtype else result_type(start, stop, float(num), np.float64)
    working = dtypes.as_dtype(np.promote_types(kind.as_numpy_dtype, np.float32))
    first, last = tensor(start, working), tensor(stop, working)
    both_negative = (own("real")(first) < 0) & (own("real")(last) < 0)
    sign = cast(resolve("where")(both_negative, -1, 1), working)
    values = sign * logspace(ops.log10(sign * first), ops.log10(sign * last), num, endpoint)
    return cast(moveaxis(values, 0, axis) if axis else values, kind)


@with_policy
def diagflat(p: PromotionPolicy, v: TensorLike, k: int = 0) -> Tensor:
    """Creates a matrix with all entries on its diagonal `k`.

    >>> tf.experimental.numpy.diagflat([[1], [2]]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    return diagonal_matrix(ravel(p.tensor(v)), k)


@with_policy
def diagonal(p: PromotionPolicy, a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Returns the diagonal of the matrices spanned by two axes, as the last axis.

    >>> tf.experimental.numpy.diagonal([[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    """
    x = p.tensor(a)
    if len(x.dims) < 2:
        raise ValueError(f"a diagonal requires an array of at least two dimensions, got shape {list(x.dims)}")
    return offset_diagonal(x, offset, *p.axes(x, (axis1, axis2)))


def trace(a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None) -> Tensor:
    """Returns the sum of a diagonal.

    >>> int(tf.experimental.numpy.trace([[1, 2], [3, 4]]))
    5
    """
    x = tensor(a, dtype)
    if offset == 0 and axis1 % len(x.dims) == len(x.dims) - 2 and axis2 % len(x.dims) == len(x.dims) - 1:
        return resolve("linalg.trace")(x)
    return sum_(diagonal(x, offset, axis1, axis2), -1, dtype)


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """Returns the indices of the diagonal of an array with `ndim` axes of size `n`.

    >>> [x.numpy().tolist() for x in tf.experimental.numpy.diag_indices(2)]
    [[0, 1], [0, 1]]
    """
    if n < 0 or ndim < 0:
        raise ValueError(f"the arguments of diag_indices must be nonnegative, got n = {n} and ndim = {ndim}")
    return (resolve("range")(n),) * ndim


@with_policy
def tri(p: PromotionPolicy, N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Tensor:
    """Creates a matrix with ones on and below the diagonal `k`, zeros above.

    >>> tf.experimental.numpy.tri(2).numpy().tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    return p.tensor(np.tri(*as_integers(N, M, k)), p.dtype_of(dtype))


def _triangle(x: Tensor, holds: Callable[[np.ndarray[Any, Any], np.ndarray[Any, Any]], Any]) -> Tensor:
    if len(x.dims) < 2:
        raise ValueError(f"a triangle is part of a matrix, which has rank at least 2, got shape {list(x.dims)}")
    kept = holds(np.arange(x.dims[-2])[:, None], np.arange(x.dims[-1]))
    return ops.where(tensor(kept), x, ops.zeros_like(x))


@with_policy
def tril(p: PromotionPolicy, m: TensorLike, k: int = 0) -> Tensor:
    """Keeps the entries on and below the diagonal `k` of matrices.

    >>> tf.experimental.numpy.tril([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 0], [3, 4]]
    """
    return _triangle(p.tensor(m), lambda row, column: column - row <= k)


@with_policy
def triu(p: PromotionPolicy, m: TensorLike, k: int = 0) -> Tensor:
    """Keeps the entries on and above the diagonal `k` of matrices.

    >>> tf.experimental.numpy.triu([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 2], [0, 4]]
    """
    return _triangle(p.tensor(m), lambda row, column: column - row >= k)


@with_policy
def vander(p: PromotionPolicy, x: TensorLike, N: int | None = None, increasing: bool = False) -> Tensor:
    """Returns `N` powers of each entry of a vector, one row per entry.

    >>> tf.experimental.numpy.vander([2, 3], 3).numpy().tolist()
    [[4, 2, 1], [9, 3, 1]]
    """
    values = p.tensor(x)
    if len(values.dims) != 1:
        raise ValueError(f"x must be a one-dimensional array, got shape {list(values.dims)}")
    count = values.dims[0] if N is None else int(N)
    if count < 0:
        raise ValueError(f"N must be nonnegative, got {count}")
    columns = [ops.ones_like(values)]
    while len(columns) < count:
        columns.append(columns[-1] * values)
    powers = ops.stack(*(columns if increasing else columns[::-1]), axis=1)
    return powers if count else powers[:, :0]

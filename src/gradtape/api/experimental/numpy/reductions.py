"""`tf.experimental.numpy`: products and reductions."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

from ....core import dtypes
from ....core.tensor import Tensor
from ....core.type_hints import AxisLike, DTypeLike, TensorLike
from ....engine.run.namespace import ops
from ...namespace import resolve
from .arrays import ravel
from .elementwise import is_finite, is_nan
from .promotion import PromotionPolicy, axes_of, cast, floating, own, promoted, summed, tensor, with_policy

NAMESPACES = ("experimental.numpy",)
__all__ = [
    "all", "allclose", "any", "argmax", "argmin", "cumsum", "dot", "einsum", "isclose", "matmul", "max", "mean",
    "min", "outer", "prod", "std", "sum", "tensordot", "var",
]  # fmt: skip


def matmul(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Multiplies matrices, or a matrix and a vector.

    >>> float(tf.experimental.numpy.matmul([1.0, 2.0], [3, 4]))
    11.0
    """
    a, b = promoted(x1, x2)
    if not a.dims or not b.dims:
        raise ValueError("matmul takes no scalars: use multiply")
    product = resolve("matmul")(a if len(a.dims) > 1 else a[None], b if len(b.dims) > 1 else b[:, None])
    if len(a.dims) == 1:
        product = product[..., 0, :]
    return product[..., 0] if len(b.dims) == 1 else product


@with_policy
def dot(p: PromotionPolicy, a: TensorLike, b: TensorLike) -> Tensor:
    """Sums the products over the last axis of `a` and the second to last (or only) axis of `b`.

    >>> int(tf.experimental.numpy.dot([1, 2], [3, 4]))
    11
    """
    x, y = p.promote(a, b)
    return contract_last(x, y, builtins.max(len(y.dims) - 2, 0))


def contract_last(x: Tensor, y: Tensor, axis: int) -> Tensor:
    """Sums the products over the last axis of `x` and an axis of `y`; a scalar is multiplied."""
    return contract(x, y, [len(x.dims) - 1], [axis]) if x.dims and y.dims else ops.mul(x, y)


def contract(x: Tensor, y: Tensor, *axes: Sequence[int]) -> Tensor:
    """Sums the products over axes of `x` and of `y`."""
    if not x.dtype.is_bool:
        return resolve("tensordot")(x, y, axes)
    return cast(resolve("tensordot")(cast(x, dtypes.uint8), cast(y, dtypes.uint8), axes), dtypes.bool)


@with_policy
def outer(p: PromotionPolicy, a: TensorLike, b: TensorLike) -> Tensor:
    """Returns the products of every entry of `a` with every entry of `b`.

    >>> tf.experimental.numpy.outer([1, 2], [3, 4]).numpy().tolist()
    [[3, 4], [6, 8]]
    """
    x, y = p.promote(a, b)
    return ops.mul(ops.reshape(x, shape=(math.prod(x.dims), 1)), ravel(y))


@with_policy
def tensordot(p: PromotionPolicy, a: TensorLike, b: TensorLike, axes: Any = 2) -> Tensor:
    """Sums the products over the given axes.

    >>> int(tf.experimental.numpy.tensordot([1, 2], [3, 4], 1))
    11
    """
    x, y = p.promote(a, b)
    if isinstance(axes, int):
        axes = [list(range(-axes, 0)), list(range(axes))]
    return contract(x, y, *(p.axes(z, each) for z, each in zip((x, y), axes, strict=True)))


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Tensor:
    """Einstein summation.

    >>> int(tf.experimental.numpy.einsum("i,i->", [1, 2], [3, 4]))
    11
    """
    if set(kwargs) - {"casting", "optimize"}:
        raise TypeError(f"einsum takes casting and optimize as keywords, got {sorted(kwargs)}")
    return resolve("einsum")(subscripts, *promoted(*operands))


def _reduced(name: str, a: Any, axis: Any, keepdims: Any) -> Tensor:
    return own(f"reduce_{name}")(a, axis=axis, keepdims=builtins.bool(keepdims))


def sum(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None, keepdims: bool | None = None
) -> Tensor:
    """Returns the sum over the given axes, or over all.

    >>> int(tf.experimental.numpy.sum([1, 2]))
    3
    """
    return _reduced("sum", summed(a) if dtype is None else tensor(a, dtype), axis, keepdims)


def prod(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None, keepdims: bool | None = None
) -> Tensor:
    """Returns the product over the given axes, or over all.

    >>> int(tf.experimental.numpy.prod([3, 2]))
    6
    """
    return _reduced("prod", summed(a) if dtype is None else tensor(a, dtype), axis, keepdims)


def mean(
    a: TensorLike,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Returns the mean over the given axes, or over all.

    >>> float(tf.experimental.numpy.mean([1, 2]))
    1.5
    """
    if out is not None:
        raise ValueError("Setting out is not supported.")
    return _reduced("mean", floating(a) if dtype is None else tensor(a, dtype), axis, keepdims)


def var(
    a: TensorLike,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool | None = None,
) -> Tensor:
    """Returns the variance over the given axes, or over all; `ddof` is subtracted from the count.

    >>> float(tf.experimental.numpy.var([1, 3]))
    1.0
    """
    if out is not None:
        raise ValueError("Setting out is not supported.")
    x = floating(a) if dtype is None else tensor(a, dtype)
    variance = _reduced("variance", x, axis, keepdims)
    if not ddof:
        return variance
    count = math.prod(x.dims[one] for one in axes_of(x, axis))
    return variance * (count / (count - ddof) if count != ddof else math.inf)


def std(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> Tensor:
    """Returns the standard deviation over the given axes, or over all.

    >>> float(tf.experimental.numpy.std([1, 3]))
    1.0
    """
    return _reduced("std", floating(a), axis, keepdims)


def max(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> Tensor:
    """Returns the maximum over the given axes, or over all.

    >>> int(tf.experimental.numpy.max([1, 3]))
    3
    """
    return _reduced("max", tensor(a), axis, keepdims)


def min(a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> Tensor:
    """Returns the minimum over the given axes, or over all.

    >>> int(tf.experimental.numpy.min([1, 3]))
    1
    """
    return _reduced("min", tensor(a), axis, keepdims)


@with_policy
def all(p: PromotionPolicy, a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> Tensor:
    """Returns whether all entries are true.

    >>> bool(tf.experimental.numpy.all([1, 0]))
    False
    """
    x = p.truth(a)
    return _reduced("all", x, None if axis is None else p.checked(x, axis), keepdims)


@with_policy
def any(p: PromotionPolicy, a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> Tensor:
    """Returns whether any entry is true.

    >>> bool(tf.experimental.numpy.any([1, 0]))
    True
    """
    x = p.truth(a)
    return _reduced("any", x, None if axis is None else p.checked(x, axis), keepdims)


def argmax(a: TensorLike, axis: int | None = None) -> Tensor:
    """Returns the index of the maximum, along an axis or in the flattened array.

    >>> int(tf.experimental.numpy.argmax([1, 3]))
    1
    """
    return own("argmax")(ravel(a) if axis is None else tensor(a), axis=axis or 0)


def argmin(a: TensorLike, axis: int | None = None) -> Tensor:
    """Returns the index of the minimum, along an axis or in the flattened array.

    >>> int(tf.experimental.numpy.argmin([1, 3]))
    0
    """
    return own("argmin")(ravel(a) if axis is None else tensor(a), axis=axis or 0)


def accumulate(name: str, p: PromotionPolicy, a: TensorLike, axis: int | None, dtype: DTypeLike | None) -> Tensor:
    """Returns the cumulative sum or product along an axis, or of the flattened array."""
    x = p.running(a) if dtype is None else p.numeric(p.tensor(a, p.dtype_of(dtype)))
    if axis is None:
        return own(name)(ravel(x))
    p.checked(x, axis)
    return own(name)(x, axis=axis)


@with_policy
def cumsum(p: PromotionPolicy, a: TensorLike, axis: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Returns the cumulative sum along an axis, or of the flattened array.

    >>> tf.experimental.numpy.cumsum([1, 3]).numpy().tolist()
    [1, 4]
    """
    return accumulate("cumsum", p, a, axis, dtype)


@with_policy
def isclose(
    p: PromotionPolicy, a: TensorLike, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Returns elementwise whether two arrays agree within a tolerance.

    >>> tf.experimental.numpy.isclose([1.0], [1.0 + 1e-9]).numpy().tolist()
    [True]
    """
    x, y = p.promote_floats(a, b)
    return _close(x, y, rtol, atol, equal_nan)


def _close(x: Tensor, y: Tensor, rtol: float, atol: float, equal_nan: bool) -> Tensor:
    finite = ops.logical_and(is_finite(x), is_finite(y))
    near = ops.less_equal(ops.abs(x - y), atol + rtol * ops.abs(y))
    close = ops.logical_or(ops.logical_and(finite, near), ops.equal(x, y))
    return ops.logical_or(close, ops.logical_and(is_nan(x), is_nan(y))) if equal_nan else close


@with_policy
def allclose(
    p: PromotionPolicy, a: TensorLike, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Returns whether two arrays agree within a tolerance everywhere.

    >>> bool(tf.experimental.numpy.allclose([1.0], [1.1]))
    False
    """
    x, y = p.promote_floats(a, b)
    close = _close(x, y, rtol, atol, equal_nan)
    return ops.all(close, axis=tuple(range(len(close.dims))), keepdims=False)

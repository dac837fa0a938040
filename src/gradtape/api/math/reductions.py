"""Reductions along axes: TensorFlow's `reduce_*`, softmax, norms."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor, is_tensor_like
from ...core.type_hints import AxisLike, DTypeLike, TensorLike
from ...engine.run.convert import integer, integers, to_tensor, wrong_input
from ...engine.run.namespace import ops

NAMESPACES = ("math", "linalg", "")
__all__ = [
    "count_nonzero", "l2_normalize", "log_softmax", "norm", "normalize", "reduce_all", "reduce_any",
    "reduce_euclidean_norm", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
    "reduce_std", "reduce_sum", "reduce_variance", "softmax", "trace", "zero_fraction",
]  # fmt: skip


def reduced_axes(x: Tensor, axis: Any) -> tuple[int, ...]:
    """Returns the axes of `x` given by `axis` (None, an integer, a list or a tensor), non-negative and sorted."""
    rank = x.array.ndim if type(x) is Tensor else x.ndim
    if axis is None:
        return tuple(range(rank))
    if (type(axis) is list or type(axis) is tuple) and len(axis) == 1 and type(axis[0]) is int:
        axis = axis[0]
    if type(axis) is int:
        return (axis,) if 0 <= axis < rank else (single_axis(rank, axis),)
    if type(axis) in (list, tuple) and set(map(type, axis)) == {int}:
        return _sorted_axes(rank, tuple(axis))
    given = integer(axis, "axis") if type(axis) is float else integers(axis, "reduction")
    return _sorted_axes(rank, tuple(np.ravel(given).tolist()))


@lru_cache(maxsize=256)
def _sorted_axes(rank: int, axis: tuple[int, ...]) -> tuple[int, ...]:
    found = sorted([single_axis(rank, i) for i in axis])
    for i, j in pairwise(found):
        if i == j:
            raise errors.InvalidArgumentError(
                f"Invalid reduction arguments: Axes contains duplicate dimension: {i}, in axis={axis!r}. Name each once"
            )
    return tuple(found)


def single_axis(rank: int, axis: int) -> int:
    """Returns `axis`, which may count from the end, as a number from 0."""
    if not -rank <= axis < rank:
        raise errors.InvalidArgumentError(
            f"Invalid reduction dimension ({axis} for input with {rank} dimension(s)): expected a dimension in the "
            f"range [{-rank}, {rank})"
        )
    return axis % rank


def reduce_sum(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Sums the elements `x` of `input_tensor` along `axis`, `y = Σ_i x[i]`; None means all axes.

    - Shape: that of `input_tensor` without the axes `axis`, which have size 1 with `keepdims`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128`; the result has that of `input_tensor`.
    - Derivative: `∂y/∂x[i] = 1`.

    >>> tf.reduce_sum([[1, 2], [3, 4]], axis=0).numpy()
    array([4, 6], dtype=int32)
    """
    x = to_tensor(input_tensor)
    return ops.sum(x, axis=reduced_axes(x, axis), keepdims=bool(keepdims))


def reduce_mean(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Returns the mean of the `n` elements `x` along `axis`, `y = Σ_i x[i] / n`; for integers, rounded toward zero.

    - Shape: that of `input_tensor` without the axes `axis`, which have size 1 with `keepdims`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128`; the result has that of `input_tensor`.
    - Derivative: `∂y/∂x[i] = 1 / n`.

    >>> tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=1).numpy()
    array([1.5, 3.5], dtype=float32)
    """
    x = to_tensor(input_tensor)
    return ops.mean(x, axis=reduced_axes(x, axis), keepdims=bool(keepdims))


def reduce_max(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Returns the maximum of the elements `x` along `axis`. Elements that tie share the gradient equally.

    - Shape: that of `input_tensor` without the axes `axis`, which have size 1 with `keepdims`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; the result has that of
      `input_tensor`.
    - Derivative: `∂y/∂x[i] = (x[i] == y) / count` for `count` elements that tie.

    >>> tf.reduce_max([[1, 5], [3, 4]], axis=1).numpy()
    array([5, 4], dtype=int32)
    """
    x = to_tensor(input_tensor)
    return ops.max(x, axis=reduced_axes(x, axis), keepdims=bool(keepdims))


def reduce_min(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Returns the minimum of the elements `x` along `axis`. Elements that tie share the gradient equally.

    - Shape: that of `input_tensor` without the axes `axis`, which have size 1 with `keepdims`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; the result has that of
      `input_tensor`.
    - Derivative: `∂y/∂x[i] = (x[i] == y) / count` for `count` elements that tie.

    >>> tf.reduce_min([[1, 5], [3, 4]], axis=1).numpy()
    array([1, 3], dtype=int32)
    """
    x = to_tensor(input_tensor)
    return ops.min(x, axis=reduced_axes(x, axis), keepdims=bool(keepdims))


def reduce_prod(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Returns the product of the elements `x` along `axis`, `y = Π_i x[i]`; its gradient is correct if some are zero.

    - Shape: that of `input_tensor` without the axes `axis`, which have size 1 with `keepdims`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128`; the result has that of `input_tensor`.
    - Derivative: the product of the other elements, `∂y/∂x[i] = y / x[i]` where that is not zero.

    >>> tf.reduce_prod([[1, 5], [3, 4]], axis=1).numpy()
    array([ 5, 12], dtype=int32)
    """
    x = to_tensor(input_tensor)
    return ops.prod(x, axis=reduced_axes(x, axis), keepdims=bool(keepdims))


def _truth(input_tensor: Any, op: str) -> Tensor:
    x = to_tensor(input_tensor, dtype=None if is_tensor_like(input_tensor) else dtypes.bool)
    if x.dtype is not dtypes.bool:
        raise errors.InvalidArgumentError(
            f"{wrong_input(op, 0, dtypes.bool, x.dtype)}. Compare it, as in x != 0, or use tf.cast(x, tf.bool)"
        )
    return x


def reduce_all(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Returns whether all elements along `axis` are true.

    - Shape: that of `input_tensor` without the axes `axis`, which have size 1 with `keepdims`.
    - Dtypes: `bool`; the result has that of `input_tensor`.
    - Derivative: none; gradients are `None`.

    >>> tf.reduce_all([[True, False], [True, True]], axis=1).numpy()
    array([False,  True])
    """
    x = _truth(input_tensor, "All")
    return ops.all(x, axis=reduced_axes(x, axis), keepdims=bool(keepdims))


def reduce_any(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Returns whether any element along `axis` is true.

    - Shape: that of `input_tensor` without the axes `axis`, which have size 1 with `keepdims`.
    - Dtypes: `bool`; the result has that of `input_tensor`.
    - Derivative: none; gradients are `None`.

    >>> tf.reduce_any([[True, False], [False, False]], axis=1).numpy()
    array([ True, False])
    """
    x = _truth(input_tensor, "Any")
    return ops.any(x, axis=reduced_axes(x, axis), keepdims=bool(keepdims))


def reduce_logsumexp(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """log Σ exp(x) along `axis`, without overflow.

    - Shape: that of `input_tensor` without the axes `axis`, which have size 1 with `keepdims`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `input_tensor`.
    - Derivative: `∂y/∂x[i] = exp(x[i] - y)`.

    >>> tf.reduce_logsumexp([1000.0, -1000.0]).numpy()
    np.float32(1000.0)
    """
    x = to_tensor(input_tensor)
    return ops.logsumexp(x, axis=reduced_axes(x, axis), keepdims=bool(keepdims))


def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Returns the square root of the sum of squares along `axis`; for integers, rounded toward zero.

    - Shape: that of `input_tensor` without the axes `axis`, which have size 1 with `keepdims`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128`; the result has that of `input_tensor`.
    - Derivative: `∂y/∂x[i] = x[i] / y`, 0 where `y` is 0.

    >>> tf.math.reduce_euclidean_norm([[3.0, 4.0], [5.0, 12.0]], axis=1).numpy()
    array([ 5., 13.], dtype=float32)
    """
    x = to_tensor(input_tensor)
    axes = reduced_axes(x, axis)
    if x.dtype.is_complex:
        return _root(ops.sum(x * ops.conj(x), axis=axes, keepdims=bool(keepdims)))
    return ops.euclidean_norm(x, axis=axes, keepdims=bool(keepdims))


def _in_single(x: Tensor, f: Callable[[Tensor], Tensor]) -> Tensor:
    """Computes `f(x)`, for float16 in float32, because squares of numbers from 256 on overflow float16."""
    if x.dtype is not dtypes.float16:
        return f(x)
    return ops.cast(f(ops.cast(x, dtype=dtypes.float32)), dtype=dtypes.float16)


def reduce_variance(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean of |x - mean|² along `axis`.

    - Shape: that of `input_tensor` without the axes `axis`, which have size 1 with `keepdims`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of
      `input_tensor`, but `complex64` gives `float32` and `complex128` gives `float64`.
    - Derivative: `∂y/∂x[i] = 2 * (x[i] - mean(x)) / n`.

    >>> tf.math.reduce_variance([1.0, 2.0, 3.0, 4.0]).numpy()
    np.float32(1.25)
    """
    return _in_single(to_tensor(input_tensor), lambda x: _variance(x, axis, bool(keepdims)))


def _variance(x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    axes = reduced_axes(x, axis)
    mean = ops.mean(x, axis=axes, keepdims=True)
    if x.dtype.is_integer:
        raise TypeError(
            f"Input must be either real or complex. Received integer type {x.dtype}. Use tf.cast(x, ...) first"
        )
    deviation = x - mean
    squares = ops.real(deviation * ops.conj(deviation)) if x.dtype.is_complex else ops.square(deviation)
    return ops.mean(squares, axis=axes, keepdims=keepdims)


def reduce_std(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Returns the standard deviation along `axis`: the square root of `reduce_variance`.

    - Shape: that of `input_tensor` without the axes `axis`, which have size 1 with `keepdims`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of
      `input_tensor`, but `complex64` gives `float32` and `complex128` gives `float64`.
    - Derivative: `∂y/∂x[i] = (x[i] - mean(x)) / (n * y)`, `nan` where `y` is 0.

    >>> tf.math.reduce_std([1.0, 2.0, 3.0, 4.0]).numpy()
    np.float32(1.118034)
    """
    return _in_single(to_tensor(input_tensor), lambda x: ops.sqrt(_variance(x, axis, bool(keepdims))))


def count_nonzero(
    input: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None, dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Counts the elements along `axis` that are not zero (for strings, not empty).

    - Shape: that of `input` without the axes `axis`, which have size 1 with `keepdims`.
    - Dtypes: any; the result is `int64`, or `dtype`.
    - Derivative: none; gradients are `None`.

    >>> tf.math.count_nonzero([[0, 1, 2], [0, 0, 3]], axis=1).numpy()
    array([2, 1])
    """
    x = to_tensor(input)
    zero = "" if x.dtype is dtypes.string else np.zeros((), x.dtype.numpy)
    nonzero = x if x.dtype.is_bool else ops.not_equal(x, to_tensor(zero))
    count = ops.sum(ops.cast(nonzero, dtype=dtypes.int64), axis=reduced_axes(x, axis), keepdims=bool(keepdims))
    return ops.cast(count, dtype=dtypes.as_dtype(dtype))


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """Returns the fraction of elements that are zero.

    >>> tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0]).numpy()
    np.float32(0.5)
    """
    x = to_tensor(value)
    zeros = ops.cast(ops.equal(x, to_tensor(np.zeros((), x.dtype.numpy))), dtype=dtypes.float32)
    return ops.mean(zeros, axis=tuple(range(len(x.dims))), keepdims=False)


def _weighed_axis(x: Tensor, axis: Any) -> int:
    rank = len(x.dims)
    i = -1 if axis is None else integer(axis, "axis")
    if not rank:
        raise errors.InvalidArgumentError(
            "logits must have at least one dimension, got a scalar. Use tf.reshape(logits, [1])"
        )
    if not -rank <= i < rank:
        raise errors.InvalidArgumentError(
            f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of dimensions in the input. "
            f"Received: dim={i}"
        )
    return i % rank


def softmax(logits: TensorLike, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """The softmax function:
    positive numbers that sum to 1, `y[i] = exp(x[i]) / Σ_j exp(x[j])`, for `x` the `logits` along `axis`, by default
    the last.

    - Shape: that of `logits`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `logits`.
    - Derivative: `∂y[i]/∂x[j] = y[i] * ((i == j) - y[j])`.

    >>> tf.nn.softmax([0.0, 0.0]).numpy()
    array([0.5, 0.5], dtype=float32)
    """
    x = to_tensor(logits)
    return ops.softmax(x, axis=_weighed_axis(x, axis))


def log_softmax(logits: TensorLike, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """x - log Σ exp(x) along `axis`, by default the last.

    - Shape: that of `logits`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `logits`.
    - Derivative: `∂y[i]/∂x[j] = (i == j) - exp(y[j])`.

    >>> tf.nn.log_softmax([0.0, 0.0]).numpy()
    array([-0.6931472, -0.6931472], dtype=float32)
    """
    x = to_tensor(logits)
    return ops.log_softmax(x, axis=_weighed_axis(x, axis))


def l2_normalize(
    x: TensorLike, axis: AxisLike | None = None, epsilon: float = 1e-12, name: str | None = None,
    dim: AxisLike | None = None,
) -> Tensor:  # fmt: skip
    """`x / sqrt(max(Σ x², epsilon))` with the sum along `axis`; `dim` is an old name of `axis`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `∂y[i]/∂x[j] = ((i == j) - y[i] * y[j]) / norm(x)`.

    >>> tf.math.l2_normalize([3.0, 4.0]).numpy()
    array([0.6, 0.8], dtype=float32)
    """
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'dim' and 'axis'.")
    x = to_tensor(x)
    axes = reduced_axes(x, axis if dim is None else dim)
    if x.dtype.is_complex:
        squares = ops.sum(ops.square(ops.real(x)) + ops.square(ops.imag(x)), axis=axes, keepdims=True)
        scale = ops.rsqrt(ops.maximum(squares, epsilon))
        return ops.complex(ops.real(x) * scale, ops.imag(x) * scale)

    def scaled(x: Tensor) -> Tensor:
        return x * ops.rsqrt(ops.maximum(ops.sum(ops.square(x), axis=axes, keepdims=True), epsilon))

    return _in_single(x, scaled)


def norm(
    tensor: TensorLike, ord: str | float = "euclidean", axis: AxisLike | None = None, keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the norm of vectors (one `axis`, or None: all elements) or of matrices (a pair of axes).

    - Shape: that of `tensor` without the axes `axis`, which have size 1 with `keepdims`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `tensor`.
    - Derivative: of the euclidean norm `∂y/∂x[i] = x[i] / y`, 0 where `y` is 0.

    Args:
      ord: for vectors "euclidean", any positive number or inf; for matrices "euclidean", "fro", 1, 2 (the largest
        singular value) or inf.

    >>> tf.norm([[3.0, 4.0], [0.0, 12.0]]).numpy()
    np.float32(13.0)
    """
    return _in_single(to_tensor(tensor), lambda x: _norm(x, ord, axis, bool(keepdims)))


def _norm(x: Tensor, order: Any, axis: Any, keepdims: bool) -> Tensor:
    of_matrices = isinstance(axis, tuple | list) or (isinstance(axis, Tensor) and bool(axis.dims))
    if of_matrices:
        axis = tuple(integers(axis, "norm").tolist())
        if len(axis) != 2:
            raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
        if axis[0] == axis[1]:
            raise ValueError(f"'axis' must contain different axes, got {axis}: a matrix has two")
        if order not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {order!r}")
    else:
        if order != "euclidean" and (isinstance(order, str) or not order > 0):
            raise ValueError(f"'ord' must be a supported vector norm, got {order!r}: 'euclidean' or a positive number")
    axes = reduced_axes(x, axis)
    if of_matrices and order == 2:
        return _spectral_norm(x, axis, axes, keepdims)
    if order in ("euclidean", "fro", 2):
        squares = x * ops.conj(x) if x.dtype.is_complex else ops.square(x)
        return _root(ops.sum(squares, axis=axes, keepdims=keepdims))
    size = ops.abs(x)
    if of_matrices:
        columns, rows = (reduced_axes(x, i) for i in (axis if order == 1 else reversed(axis)))
        result = ops.max(ops.sum(size, axis=columns, keepdims=True), axis=rows, keepdims=True)
        kept = tuple(1 if i in axes else n for i, n in enumerate(x.dims) if keepdims or i not in axes)
        return ops.reshape(result, shape=kept)
    if order == 1:
        return ops.sum(size, axis=axes, keepdims=keepdims)
    if order == np.inf:
        return ops.max(size, axis=axes, keepdims=keepdims)
    return ops.pow(ops.sum(ops.pow(size, order), axis=axes, keepdims=keepdims), 1.0 / order)


def _root(x: Tensor) -> Tensor:
    """Returns the square root, with the derivative 0 at 0, where that of `sqrt` is infinite."""
    positive = ops.not_equal(x, ops.zeros_like(x))
    return ops.where(positive, ops.sqrt(ops.where(positive, x, ops.ones_like(x))), x)


def _spectral_norm(x: Tensor, axis: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> Tensor:
    from ..namespace import resolve

    rank = len(x.dims)
    rest = tuple(i for i in range(rank) if i not in axes)
    matrices = ops.transpose(x, perm=(*rest, *(i % rank for i in axis)))
    largest = ops.max(resolve("linalg.svd")(matrices, compute_uv=False), axis=(len(rest),), keepdims=False)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.dims) if keepdims or i not in axes)
    return ops.reshape(largest, shape=kept)


def normalize(
    tensor: TensorLike, ord: str | float = "euclidean", axis: AxisLike | None = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Returns `(tensor / norm, norm)` with the norm of `tf.norm`, whose dimensions are kept.

    >>> unit, length = tf.linalg.normalize([3.0, 4.0])
    >>> unit.numpy(), length.numpy()
    (array([0.6, 0.8], dtype=float32), array([5.], dtype=float32))
    """
    x = to_tensor(tensor)
    length = _in_single(x, lambda x: _norm(x, ord, axis, True))
    length = ops.cast(length, dtype=x.dtype) if x.dtype.is_complex else length
    return x / length, length


def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the main diagonal of the innermost matrices.

    - Shape: `[..., n, m]` → `[...]`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128`; the result has that of `x`.
    - Derivative: 1 for the entries of the diagonal, else 0.

    >>> tf.linalg.trace([[1.0, 2.0], [3.0, 4.0]]).numpy()
    np.float32(5.0)
    """
    x = to_tensor(x)
    rank = len(x.dims)
    if rank < 2:
        raise errors.InvalidArgumentError(f"input must be at least 2-dim, received shape: {list(x.dims)}")
    return ops.sum(ops.take_diagonal(x, axes=(rank - 2, rank - 1)), axis=(rank - 2,), keepdims=False)

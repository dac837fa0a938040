"""Transposes, bands and diagonals of matrices, and the cross product."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import integer, to_array, to_tensor
from ...engine.run.namespace import ops
from ...ops.linalg.diagonals import longest, places
from ...ops.linalg.matrix_algebra import adjoint as conjugate_transpose
from .arguments import of_one_dtype

NAMESPACES = ("linalg", "")
__all__ = [
    "adjoint", "band_part", "cross", "diag", "diag_part", "matrix_transpose", "set_diag", "tensor_diag",
    "tensor_diag_part",
]  # fmt: skip

_ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def matrix_transpose(a: TensorLike, name: str | None = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Exchanges the rows and columns of each matrix.

    >>> tf.linalg.matrix_transpose([[1, 2, 3], [4, 5, 6]]).numpy().tolist()
    [[1, 4], [2, 5], [3, 6]]
    """
    x = to_tensor(a)
    rank = len(x.dims)
    if rank < 2:
        raise ValueError(f"Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` with shape: {x.shape}")
    if conjugate:
        return conjugate_transpose(ops, x)
    return ops.transpose(x, perm=(*range(rank - 2), rank - 1, rank - 2))


def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Returns the conjugate transpose of each matrix.

    >>> tf.linalg.adjoint([[1 + 1j, 2j]]).numpy().tolist()
    [[(1-1j)], [-2j]]
    """
    return matrix_transpose(matrix, conjugate=True)


def band_part(input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, name: str | None = None) -> Tensor:
    """Keeps a central band of each matrix and sets the rest to zero:
    the entries with `i - j <= num_lower` and `j - i <= num_upper`.

    - Shape: that of `input`.
    - Dtypes: any (TensorFlow does not take `string`); the result has that of `input`.
    - Derivative: the gradient, with the same band.

    Args:
      input: matrices.
      num_lower: the number of subdiagonals to keep; all if negative.
      num_upper: the number of superdiagonals to keep; all if negative.

    >>> tf.linalg.band_part([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 0, -1).numpy().tolist()
    [[1, 2, 3], [0, 5, 6], [0, 0, 9]]
    """
    x = to_tensor(input)
    if len(x.dims) < 2:
        raise errors.InvalidArgumentError(f"input must be at least 2-dim, received shape: {list(x.dims)}")
    below, above = integer(num_lower, "num_lower"), integer(num_upper, "num_upper")
    rows, columns = x.dims[-2:]
    for what, given, axis, most in (("num_lower", below, "rows", rows), ("num_upper", above, "columns", columns)):
        if given > most:
            raise errors.InvalidArgumentError(
                f"{what} must be negative or less or equal to number of {axis} ({most}) got: {given}"
            )
    return ops.band_part(x, below=max(below, -1), above=max(above, -1))


def _diagonals(k: Any, align: str) -> tuple[int, int]:
    """Returns the lowest and highest of the diagonals `k`: one number, or two."""
    if align not in _ALIGNMENTS:
        raise errors.InvalidArgumentError(
            f'Value for attr \'align\' of "{align}" is not in the list of allowed values: {", ".join(_ALIGNMENTS)}'
        )
    given = to_array(k).ravel().tolist()
    if len(given) not in (1, 2):
        raise errors.InvalidArgumentError(f"k must have only one or two elements, received {len(given)} elements.")
    low, high = given[0], given[-1]
    if low > high:
        raise errors.InvalidArgumentError(f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}")
    return low, high


def _check_in_matrix(x: Tensor, low: int, high: int) -> None:
    if len(x.dims) < 2:
        raise errors.InvalidArgumentError(f"input must be at least 2-dim, received shape: {list(x.dims)}")
    rows, columns = x.dims[-2:]
    for what, index in (("lower", low), ("upper", high)):
        if index and not -rows < index < columns:
            raise errors.InvalidArgumentError(
                f"{what}_diag_index is out of bound: {index}. It must be between {-rows} and {columns}"
            )


def _padding(value: Any, x: Tensor) -> Tensor | None:
    """Returns the padding value outside the diagonals, or None for zeros."""
    if isinstance(value, int | float) and value == 0:
        return None
    return to_tensor(bool(value) if x.dtype is dtypes.bool and not isinstance(value, Tensor) else value, hint=x.dtype)


def diag(
    diagonal: TensorLike,
    name: str | None = "diag",
    k: TensorLike = 0,
    num_rows: TensorLike = -1,
    num_cols: TensorLike = -1,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Creates matrices with the given diagonals.

    Args:
      diagonal: the diagonal, along the last axis; of several, the highest is the first row and the lowest the last.
      k: which diagonal: 0 is the main one, positive ones are above it; or a pair, the lowest and the highest.
      num_rows: rows of the result; as few as possible if -1.
      num_cols: columns of the result; as few as possible if -1.
      padding_value: the value outside the diagonals.
      align: the alignment of shorter diagonals above and below the main one: `"RIGHT_LEFT"` and so on.

    >>> tf.linalg.diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    >>> tf.linalg.diag([1, 2], k=1, padding_value=9).numpy().tolist()
    [[9, 1, 9], [9, 9, 2], [9, 9, 9]]
    """
    x = to_tensor(diagonal)
    low, high = _diagonals(k, align)
    several = low != high
    if len(x.dims) < 1 + several:
        raise errors.InvalidArgumentError(
            f"diagonal must be at least {1 + several}-dim, received shape: {list(x.dims)}"
        )
    if several and x.dims[-2] != high - low + 1:
        raise errors.InvalidArgumentError(
            f"The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index "
            f"range: {x.dims[-2]} rows for k = ({low}, {high})"
        )
    rows, columns = _matrix_size(x.dims[-1], low, high, int(to_array(num_rows)), int(to_array(num_cols)))
    y = ops.matrix_diag(x, rows=rows, columns=columns, low=low, high=high, align=align)
    padding = _padding(padding_value, x)
    return y if padding is None else ops.where(_on_diagonals(rows, columns, low, high), y, padding)


def _matrix_size(length: int, low: int, high: int, rows: int, columns: int) -> tuple[int, int]:
    least_rows, least_columns = length - min(high, 0), length + max(low, 0)
    if rows == -1 and columns == -1:
        return (max(least_rows, least_columns),) * 2
    rows, columns = least_rows if rows == -1 else rows, least_columns if columns == -1 else columns
    for what, given, least in (("rows", rows, least_rows), ("columns", columns, least_columns)):
        if given < least:
            raise errors.InvalidArgumentError(f"The number of {what} is too small: {given} for at least {least}.")
    if rows != least_rows and columns != least_columns:
        raise errors.InvalidArgumentError(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal: "
            f"{rows} rows or {columns} columns would make the diagonals longer than {length}."
        )
    return rows, columns


def _on_diagonals(rows: int, columns: int, low: int, high: int) -> Tensor:
    offset = np.arange(columns) - np.arange(rows)[:, None]
    return Tensor((offset >= low) & (offset <= high))


def diag_part(
    input: TensorLike,
    name: str | None = "diag_part",
    k: TensorLike = 0,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Returns the diagonals of each matrix: the main one, or those from `k[0]` below to `k[1]` above it.

    - Shape: `[..., n, m]` → `[..., min(n, m)]`; with several diagonals `k`, `[..., count, longest]`.
    - Dtypes: any (TensorFlow does not take `string`); the result has that of `input`.
    - Derivative: the gradient on the diagonals, else 0.

    Args:
      input: matrices.
      k: which diagonal, or a pair: the lowest and the highest.
      padding_value: the padding of shorter diagonals, if there are several.
      align: the alignment of shorter diagonals, as for `tf.linalg.diag`.

    >>> tf.linalg.diag_part([[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    >>> tf.linalg.diag_part([[1, 2], [3, 4]], k=(-1, 0)).numpy().tolist()
    [[1, 4], [3, 0]]
    """
    x = to_tensor(input)
    low, high = _diagonals(k, align)
    _check_in_matrix(x, low, high)
    y = ops.matrix_diag_part(x, low=low, high=high, align=align)
    padding = _padding(padding_value, x)
    if padding is None or low == high:
        return y
    rows, columns = x.dims[-2:]
    filled = np.zeros((high - low + 1, longest(rows, columns, low, high)), bool)
    d, p, _, _ = places(rows, columns, low, high, align)
    filled[d, p] = True
    return ops.where(Tensor(filled), y, padding)


def set_diag(
    input: TensorLike, diagonal: TensorLike, name: str | None = "set_diag", k: TensorLike = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """Replaces the diagonals of each matrix; they are given as for `tf.linalg.diag`.

    >>> tf.linalg.set_diag([[7, 7], [7, 7]], [1, 2]).numpy().tolist()
    [[1, 7], [7, 2]]
    """
    x = to_tensor(input)
    diagonals = to_tensor(diagonal, hint=x.dtype)
    low, high = _diagonals(k, align)
    _check_in_matrix(x, low, high)
    rows, columns = x.dims[-2:]
    expected = (*x.dims[:-2], *(() if low == high else (high - low + 1,)), longest(rows, columns, low, high))
    if diagonals.dims != expected:
        raise errors.InvalidArgumentError(
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to "
            "the longests diagonal in range [lower_diag_index:upper_diag_index]. Input shape: "
            f"{list(x.dims)}, diagonal shape: {list(diagonals.dims)}, expected: {list(expected)}"
        )
    new = ops.matrix_diag(diagonals, rows=rows, columns=columns, low=low, high=high, align=align)
    return ops.where(_on_diagonals(rows, columns, low, high), new, x)


def tensor_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """Returns the tensor of twice the rank with `y[i, j, ..., i, j, ...] = diagonal[i, j, ...]`, and zeros elsewhere.

    >>> tf.linalg.tensor_diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    x = to_tensor(diagonal)
    if not x.dims:
        raise errors.InvalidArgumentError("Input must be at least rank 1, got 0: a scalar has no diagonal")
    n = math.prod(x.dims)
    y = ops.matrix_diag(ops.reshape(x, shape=(n,)), rows=n, columns=n, low=0, high=0, align="RIGHT_LEFT")
    return ops.reshape(y, shape=(*x.dims, *x.dims))


def tensor_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the diagonal `y[i, j, ...] = x[i, j, ..., i, j, ...]` of a tensor of even rank.

    >>> tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    """
    x = to_tensor(input)
    half = len(x.dims) // 2
    if len(x.dims) % 2:
        raise errors.InvalidArgumentError(f"The rank of the tensor should be even, got shape {list(x.dims)}")
    for i in range(half):
        if x.dims[i] != x.dims[half + i]:
            raise errors.InvalidArgumentError(
                f"Invalid shape {list(x.dims)}: dimensions {i} and {half + i} do not match."
            )
    n = math.prod(x.dims[:half])
    y = ops.matrix_diag_part(ops.reshape(x, shape=(n, n)), low=0, high=0, align="RIGHT_LEFT")
    return ops.reshape(y, shape=x.dims[:half])


def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """Returns the cross product of vectors of three elements, along the last axis.

    >>> tf.linalg.cross([1, 0, 0], [0, 1, 0]).numpy().tolist()
    [0, 0, 1]
    """
    x, y = of_one_dtype(a, b, "cross")
    if x.dims != y.dims:
        raise errors.InvalidArgumentError(f"Both inputs must be of same shape: {list(x.dims)} vs. {list(y.dims)}")
    if not x.dims or x.dims[-1] != 3:
        raise errors.FailedPreconditionError(
            f"Cross-products are only defined for 3-element vectors, got the shape {list(x.dims)}"
        )
    return ops.cross(x, y)

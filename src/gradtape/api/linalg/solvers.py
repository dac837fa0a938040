"""Inverses, determinants, ranks and linear systems."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ...ops.linalg.diagonals import band
from ...ops.linalg.matrix_algebra import adjoint as conjugate_transpose
from .arguments import matrices, of_one_dtype, square_matrices

NAMESPACES = ("linalg", "")
__all__ = [
    "cholesky_solve", "det", "inv", "logdet", "lstsq", "lu_matrix_inverse", "lu_reconstruct", "lu_solve",
    "matrix_rank", "pinv", "slogdet", "solve", "triangular_solve",
]  # fmt: skip


class LogMatrixDeterminant(NamedTuple):
    """A determinant as its sign (of modulus 1 for complex matrices) and the logarithm of its modulus."""

    sign: Tensor
    log_abs_determinant: Tensor


def inv(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Returns the inverse of each matrix, or of its adjoint.

    >>> tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    y = ops.inv(square_matrices(input, "inv"))
    return conjugate_transpose(ops, y) if adjoint else y


def det(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the determinant of each matrix: the product of its eigenvalues.

    - Shape: `[..., n, n]` → `[...]`.
    - Dtypes: `float32`, `float64`, `complex64`, `complex128`; the result has that of `input`.
    - Derivative: `∂y/∂input = y * transpose(inv(input))`.

    >>> tf.linalg.det([[2.0, 0.0], [0.0, 4.0]]).numpy().item()
    8.0
    """
    return ops.det(square_matrices(input, "det"))


def slogdet(input: TensorLike, name: str | None = None) -> LogMatrixDeterminant:
    """Returns the sign and the log modulus of the determinant, which itself may be out of range.

    >>> tf.linalg.slogdet([[-1.0, 0.0], [0.0, 1.0]]).sign.numpy().item()
    -1.0
    """
    return LogMatrixDeterminant(*ops.slogdet(square_matrices(input, "slogdet")))


def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Returns the logarithm of the modulus of the determinant of each matrix, `-inf` if it is singular.

    >>> round(tf.linalg.logdet([[2.0, 0.0], [0.0, 4.0]]).numpy().item(), 4)
    2.0794
    """
    logarithm = ops.slogdet(square_matrices(matrix, "slogdet"))[1]
    return ops.real(logarithm) if logarithm.dtype.is_complex else logarithm


def solve(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Returns the solution x of `matrix @ x = rhs`, or with the adjoint of the matrix.

    >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[1.0], [1.0]]).numpy().tolist()
    [[0.5], [0.25]]
    """
    a, b = of_one_dtype(matrix, rhs, "solve")
    a = square_matrices(a, "solve")
    if a.dims[:-1] != b.dims[:-1]:
        shapes = f"Got the shapes {a.shape} and {b.shape}"
        if len(a.dims) != len(b.dims):
            raise errors.InvalidArgumentError(f"All input tensors must have the same rank. {shapes}")
        if a.dims[:-2] != b.dims[:-2]:
            raise errors.InvalidArgumentError(f"All input tensors must have the same outer dimensions. {shapes}")
        raise errors.InvalidArgumentError(f"Input matrix and rhs are incompatible. {shapes}")
    return ops.solve(conjugate_transpose(ops, a) if adjoint else a, b)


def triangular_solve(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solves `matrix @ x = rhs` (or with the adjoint) for a triangular matrix; reads only one triangle.

    >>> tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 1.0]], [[2.0], [3.0]]).numpy().tolist()
    [[1.0], [2.0]]
    """
    a, b = of_one_dtype(matrix, rhs, "triangular_solve")
    return _triangular_solve(square_matrices(a, "triangular_solve"), b, bool(lower), bool(adjoint))


def _triangular_solve(a: Tensor, b: Tensor, lower: bool, adjoint: bool = False) -> Tensor:
    if len(b.dims) < 2:
        raise errors.InvalidArgumentError(f"In[1] ndims must be >= 2: {len(b.dims)}. Use rhs[..., tf.newaxis]")
    if a.dims[-1] != b.dims[-2]:
        raise errors.InvalidArgumentError(
            f"In[0] mismatch In[1] shape: {a.dims[-1]} vs. {b.dims[-2]}: {list(a.dims)} {list(b.dims)}"
        )
    return ops.triangular_solve(a, b, lower=lower, adjoint=adjoint)


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """Returns the solution of `A x = rhs` from `chol = tf.linalg.cholesky(A)`.

    >>> tf.linalg.cholesky_solve([[2.0, 0.0], [0.0, 1.0]], [[4.0], [3.0]]).numpy().tolist()
    [[1.0], [3.0]]
    """
    a, b = of_one_dtype(chol, rhs, "triangular_solve")
    a = square_matrices(a, "triangular_solve")
    return _triangular_solve(a, _triangular_solve(a, b, True), True, True)


def lstsq(
    matrix: TensorLike, rhs: TensorLike, l2_regularizer: TensorLike = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """Returns the x that minimizes |matrix @ x - rhs|² + l2_regularizer |x|²; the shortest, if there are several.

    Args:
      matrix: matrices.
      rhs: right-hand sides, one per column.
      l2_regularizer: the weight of |x|²; used if `fast`.
      fast: whether to solve the normal equations, for well-conditioned matrices of full rank; otherwise the
        pseudoinverse is used.

    >>> tf.linalg.lstsq([[1.0], [1.0]], [[1.0], [3.0]]).numpy().round(4).tolist()
    [[2.0]]
    """
    a, b = of_one_dtype(matrix, rhs, "solve")
    a, b = matrices(a, "solve"), matrices(b, "solve")
    if a.dims[-2] != b.dims[-2]:
        raise errors.InvalidArgumentError(f"Input matrix and rhs are incompatible: shapes {a.shape} and {b.shape}")
    rows, columns = a.dims[-2:]
    if not fast:
        return ops.pinv(a, _cutoff(a, None)) @ b
    adjoint = conjugate_transpose(ops, a)
    wide = rows < columns
    gram = a @ adjoint if wide else adjoint @ a
    weight = to_tensor(l2_regularizer, hint=a.dtype.real_dtype)
    weight = weight if weight.dtype is a.dtype else ops.cast(weight, dtype=a.dtype)
    gram = gram + weight * Tensor(np.eye(min(rows, columns), dtype=a.dtype.numpy))
    factor = ops.cholesky(ops.hermitian(gram))
    if wide:
        return adjoint @ cholesky_solve(factor, b)
    return cholesky_solve(factor, adjoint @ b)


def _floating(a: Any, hint: dtypes.DType | None = None) -> Tensor:
    x = to_tensor(a, hint=hint)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {x.dtype.name}).")
    if len(x.dims) < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {len(x.dims)}).")
    return x


def _cutoff(a: Tensor, rcond: Any) -> Tensor:
    """Returns the threshold for singular values of each matrix, relative to the largest."""
    real = a.dtype.real_dtype.numpy
    given = 10.0 * max(a.dims[-2:]) * np.finfo(real).eps if rcond is None else to_array(rcond)
    return Tensor(np.broadcast_to(np.asarray(given, real), a.dims[:-2]))


def pinv(
    a: TensorLike, rcond: TensorLike | None = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Returns the Moore-Penrose pseudoinverse of each matrix.

    Args:
      a: matrices.
      rcond: singular values up to this fraction of the largest count as zero.
      validate_args: ignored: arguments are always checked.

    >>> tf.linalg.pinv([[2.0], [0.0]]).numpy().tolist()
    [[0.5, 0.0]]
    """
    x = _floating(a)
    return ops.pinv(x, _cutoff(x, rcond))


def matrix_rank(
    a: TensorLike, tol: TensorLike | None = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Returns the number of singular values of each matrix that exceed `tol`.

    >>> tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]).numpy().item()
    1
    """
    x = _floating(a, dtypes.float32)
    s = ops.singular_values(x)
    if tol is None:
        largest = ops.slice(s, key=(..., slice(0, 1)))
        tol = largest * (float(np.finfo(s.dtype.numpy).eps) * max(x.dims[-2:]))
    counted = ops.cast(ops.greater(s, tol), dtype=dtypes.int32)
    return ops.sum(counted, axis=(len(counted.dims) - 1,))


def _triangles(lower_upper: Tensor) -> tuple[Tensor, Tensor]:
    """Returns L, with its unit diagonal, and U."""
    n = lower_upper.dims[-1]
    ones = Tensor(np.eye(n, dtype=lower_upper.dtype.numpy))
    low = ops.where(Tensor(band(n, n, 0, -1)), ones, lower_upper)
    return low, ops.band_part(lower_upper, below=0, above=-1)


def _row_order(perm: Any, like: Tensor) -> Tensor:
    order = to_tensor(perm)
    if len(order.dims) + 1 != len(like.dims):
        raise ValueError(
            f"`rank(lower_upper)` must equal `rank(perm) + 1`. Received: shapes {like.shape} and {order.shape}"
        )
    return ops.permutation_matrix(order, dtype=like.dtype.numpy)


def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Returns the matrix whose factorization `tf.linalg.lu` returned.

    >>> tf.linalg.lu_reconstruct(*tf.linalg.lu([[1.0, 2.0], [4.0, 4.0]])).numpy().tolist()
    [[1.0, 2.0], [4.0, 4.0]]
    """
    packed = square_matrices(lower_upper, "lu")
    low, high = _triangles(packed)
    return conjugate_transpose(ops, _row_order(perm, packed)) @ ops.matmul(low, high)


def lu_solve(
    lower_upper: TensorLike, perm: TensorLike, rhs: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Returns the solution of `A x = rhs` from `tf.linalg.lu(A)`.

    >>> tf.linalg.lu_solve(*tf.linalg.lu([[1.0, 2.0], [4.0, 4.0]]), rhs=[[3.0], [8.0]]).numpy().tolist()
    [[1.0], [1.0]]
    """
    packed, b = of_one_dtype(lower_upper, rhs, "lu")
    packed = square_matrices(packed, "lu")
    if len(b.dims) < 2:
        raise ValueError(f"Input `rhs` must have at least 2 dimensions. Received: {b.shape}")
    low, high = _triangles(packed)
    return _triangular_solve(high, _triangular_solve(low, ops.matmul(_row_order(perm, packed), b), True), False)


def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Returns the inverse of A from `tf.linalg.lu(A)`.

    >>> tf.linalg.lu_matrix_inverse(*tf.linalg.lu([[0.0, 2.0], [4.0, 0.0]])).numpy().tolist()
    [[0.0, 0.25], [0.5, 0.0]]
    """
    packed = square_matrices(lower_upper, "lu")
    return lu_solve(packed, perm, Tensor(np.eye(packed.dims[-1], dtype=packed.dtype.numpy)))

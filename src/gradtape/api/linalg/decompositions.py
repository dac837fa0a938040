"""Factorizations (Cholesky, eigenvalues, singular values, QR, LU) and analytic functions of square matrices."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, overload

from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from .arguments import matrices, square_matrices

NAMESPACES = ("linalg", "")
__all__ = ["cholesky", "eig", "eigh", "eigvals", "eigvalsh", "expm", "logm", "lu", "qr", "sqrtm", "svd"]


class Qr(NamedTuple):
    """An orthonormal `q` and an upper triangular `r` with x = q r."""

    q: Tensor
    r: Tensor


class Lu(NamedTuple):
    """Both triangles of a factorization in one matrix, and the permutation of its rows."""

    lu: Tensor
    p: Tensor


def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the lower triangular L with L Lᴴ = x, for Hermitian positive definite matrices; reads the lower triangle.

    If a matrix is not positive definite, L is NaN.

    >>> tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy().tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    return ops.cholesky(ops.hermitian(square_matrices(input, "cholesky")))


def eigh(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Returns the eigenvalues, in increasing order, and the eigenvectors (columns) of Hermitian matrices.

    It reads the lower triangle only.

    >>> e, v = tf.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
    >>> e.numpy().tolist()
    [1.0, 2.0]
    """
    e, v = ops.eigh(square_matrices(tensor, "eigh"))
    return ops.cast(e, dtype=v.dtype) if v.dtype.is_complex else e, v


def eigvalsh(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Returns the eigenvalues of Hermitian matrices in increasing order.

    >>> tf.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).numpy().tolist()
    [1.0, 2.0]
    """
    x = square_matrices(tensor, "eigvalsh")
    e = ops.eigvalsh(x)
    return ops.cast(e, dtype=x.dtype) if x.dtype.is_complex else e


def eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Returns eigenvalues and eigenvectors (columns of length 1) of square matrices; both are complex.

    >>> e, v = tf.linalg.eig([[0.0, 1.0], [-1.0, 0.0]])
    >>> sorted(e.numpy().imag.round(6).tolist())
    [-1.0, 1.0]
    """
    return ops.eig(square_matrices(tensor, "eig"))


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Returns the eigenvalues of square matrices, complex and in no particular order.

    >>> sorted(tf.linalg.eigvals([[3.0, 0.0], [0.0, 2.0]]).numpy().real.tolist())
    [2.0, 3.0]
    """
    return ops.eigvals(square_matrices(tensor, "eigvals"))


@overload
def svd(
    tensor: TensorLike, full_matrices: bool = False, compute_uv: Literal[True] = True, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def svd(
    tensor: TensorLike, full_matrices: bool = False, *, compute_uv: Literal[False], name: str | None = None
) -> Tensor: ...
def svd(tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """Returns the singular values in decreasing order, and the vectors: (s, u, v) with x = u diag(s) vᴴ.

    Args:
      tensor: matrices.
      full_matrices: whether u and v are square.
      compute_uv: if false, only `s` is computed and returned.

    >>> tf.linalg.svd([[3.0, 0.0], [0.0, -4.0]], compute_uv=False).numpy().tolist()
    [4.0, 3.0]
    """
    if not compute_uv:
        return ops.singular_values(matrices(tensor, "singular_values"))
    return ops.svd(matrices(tensor, "svd"), full_matrices=bool(full_matrices))


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Returns the factorization into orthonormal columns and an upper triangle.

    >>> q, r = tf.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> (q @ r).numpy().round(4).tolist()
    [[3.0, 1.0], [4.0, 2.0]]
    """
    return Qr(*ops.qr(matrices(input, "qr"), full_matrices=bool(full_matrices)))


def lu(input: TensorLike, output_idx_type: DType = dtypes.int32, name: str | None = None) -> Lu:
    """Returns the factorization x[p] = L U; L, without its unit diagonal, and U share one matrix.

    >>> tf.linalg.lu([[1.0, 2.0], [4.0, 4.0]])[0].numpy().tolist()
    [[4.0, 4.0], [0.25, 1.0]]
    """
    packed, order = ops.lu(square_matrices(input, "lu"))
    dtype = as_dtype(output_idx_type)
    return Lu(packed, order if dtype is dtypes.int32 else ops.cast(order, dtype=dtype))


def expm(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the matrix exponential, the sum of xⁿ / n!.

    >>> tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    x = to_tensor(input)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise ValueError(f"tf.linalg.expm does not support matrices of type {x.dtype}")
    return ops.expm(square_matrices(x, "expm"))


def logm(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the principal logarithm of each matrix, which must be complex.

    >>> tf.linalg.logm(tf.constant([[1.0, 1.0], [0.0, 1.0]], tf.complex128)).numpy().real.round(9).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    return ops.logm(square_matrices(input, "logm"))


def sqrtm(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the principal square root of each matrix; NaN if a real matrix has only complex roots.

    >>> tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).numpy().tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return ops.sqrtm(square_matrices(input, "sqrtm"))

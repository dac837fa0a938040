"""Linear systems with banded matrices, given by their diagonals."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from ...core import errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ...ops.linalg.matrix_algebra import adjoint as conjugate_transpose
from ...ops.linalg.matrix_algebra import conjugate
from ...ops.linalg.solvers import adjoint_bands, banded_product
from .arguments import matrices, of_one_dtype

NAMESPACES = ("linalg", "")
__all__ = ["banded_triangular_solve", "eigh_tridiagonal", "tridiagonal_matmul", "tridiagonal_solve"]


def banded_triangular_solve(
    bands: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solves a triangular system given by the diagonals of its matrix.

    Args:
      bands: the diagonals as rows, from the highest to the lowest; element i of each is in row i of the matrix.
      rhs: right-hand sides, one per column.
      lower: whether the first row is the main diagonal, or the last.
      adjoint: whether to solve with the adjoint of the matrix.

    >>> tf.linalg.banded_triangular_solve([[2.0, 2.0], [0.0, 1.0]], [[2.0], [5.0]]).numpy().tolist()
    [[1.0], [2.0]]
    """
    a, b = of_one_dtype(bands, rhs, "banded_solve")
    a = matrices(a, "banded_solve")
    if len(b.dims) < 2:
        raise errors.InvalidArgumentError(f"In[1] ndims must be >= 2: {len(b.dims)}. Use rhs[..., tf.newaxis]")
    if a.dims[-1] != b.dims[-2]:
        raise errors.InvalidArgumentError(
            f"In[0] mismatch In[1] shape: {a.dims[-1]} vs. {b.dims[-2]}: {list(a.dims)} {list(b.dims)}"
        )
    low = 1 - a.dims[-2] if lower else 0
    if adjoint:
        a, low = adjoint_bands(ops, a, low), 0 if lower else 1 - a.dims[-2]
    return ops.banded_solve(a, b, low=low, strict=True)


def _tridiagonal_bands(diagonals: Any, diagonals_format: str) -> Tensor:
    """Returns superdiagonal, diagonal and subdiagonal as rows of one tensor; element i of each is in row i."""
    if diagonals_format == "matrix":
        whole = matrices(diagonals, "banded_solve")
        if whole.dims[-1] != whole.dims[-2]:
            raise ValueError(
                f"Expected last two dimensions of diagonals to be same, got {whole.dims[-1]} and {whole.dims[-2]}"
            )
        return ops.matrix_diag_part(whole, low=-1, high=1, align="LEFT_RIGHT")
    if diagonals_format == "compact":
        bands = matrices(diagonals, "banded_solve")
        if bands.dims[-2] != 3:
            raise ValueError(f"Expected 3 diagonals got {bands.dims[-2]}")
        return bands
    if diagonals_format != "sequence":
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}. Use 'compact', 'sequence' or 'matrix'")
    if len(diagonals) != 3:
        raise ValueError(f"Expected diagonals to be a sequence of length 3, got {len(diagonals)}")
    above, main, below = (to_tensor(d) for d in diagonals)
    return ops.stack(_pad_diagonal(above, main, 0), main, _pad_diagonal(below, main, 1), axis=len(main.dims) - 1)


def _pad_diagonal(diagonal: Tensor, main: Tensor, at: int) -> Tensor:
    """Pads a diagonal that is one shorter than the main one with a zero at its start (`at` 1) or end."""
    missing = main.dims[-1] - diagonal.dims[-1]
    if missing == 0:
        return diagonal
    if missing != 1:
        raise ValueError(
            f"Expected a diagonal of {main.dims[-1]} or {main.dims[-1] - 1} elements, got {diagonal.dims[-1]}"
        )
    widths = [(0, 0)] * len(diagonal.dims)
    widths[-1] = (1, 0) if at else (0, 1)
    return ops.pad(diagonal, paddings=tuple(widths))


def tridiagonal_solve(
    diagonals: Any,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """Solves a tridiagonal system; NaN if it is singular.

    Args:
      diagonals: `"compact"`: superdiagonal, diagonal, subdiagonal as three rows, element i of each in row i of the
        matrix; `"sequence"`: three tensors; `"matrix"`: the matrix itself.
      rhs: a vector, or a matrix of right-hand sides in columns.
      diagonals_format: the format of the diagonals.
      transpose_rhs: whether the right-hand sides are the rows of `rhs`.
      conjugate_rhs: whether to conjugate `rhs`.
      partial_pivoting: ignored: rows are always pivoted.
      perturb_singular: not available.

    >>> bands = [[1.0, 1.0, 0.0], [4.0, 4.0, 4.0], [0.0, 2.0, 2.0]]
    >>> tf.linalg.tridiagonal_solve(bands, [1.0, 2.0, 3.0]).numpy().tolist()
    [0.1875, 0.25, 0.625]
    """
    if perturb_singular:
        if not partial_pivoting:
            raise ValueError("partial_pivoting must be True if perturb_singular is True.")
        raise errors.UnimplementedError(
            "tridiagonal_solve has no perturb_singular=True: a singular system gives nan. Add a small multiple of the "
            "identity to the matrix instead"
        )
    bands, b = of_one_dtype(_tridiagonal_bands(diagonals, diagonals_format), rhs, "banded_solve")
    is_vector = len(b.dims) == len(bands.dims) - 1
    if conjugate_rhs:
        b = conjugate(ops, b)
    if is_vector:
        b = ops.reshape(b, shape=(*b.dims, 1))
    elif transpose_rhs:
        rank = len(b.dims)
        b = ops.transpose(b, perm=(*range(rank - 2), rank - 1, rank - 2))
    if len(b.dims) != len(bands.dims):
        rank = len(bands.dims)
        raise ValueError(f"Expected the rank of rhs to be {rank - 1} or {rank}, got {len(b.dims)}")
    if bands.dims[:-2] != b.dims[:-2]:
        raise ValueError(f"Batch shapes {bands.dims[:-2]} and {b.dims[:-2]} are incompatible")
    if bands.dims[-1] != b.dims[-2]:
        raise ValueError(
            "Expected number of left-hand sided and right-hand sides to be equal, got "
            f"{bands.dims[-1]} and {b.dims[-2]}"
        )
    y = ops.banded_solve(bands, b, low=-1, strict=False)
    return ops.reshape(y, shape=y.dims[:-1]) if is_vector else y


def tridiagonal_matmul(
    diagonals: Any, rhs: TensorLike, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """Multiplies a tridiagonal matrix, given as for `tf.linalg.tridiagonal_solve`, by `rhs`.

    >>> bands = [[1.0, 1.0, 0.0], [4.0, 4.0, 4.0], [0.0, 2.0, 2.0]]
    >>> tf.linalg.tridiagonal_matmul(bands, [[1.0], [1.0], [1.0]]).numpy().tolist()
    [[5.0], [7.0], [6.0]]
    """
    if diagonals_format == "sequence":
        above, main, below = (to_tensor(d) for d in diagonals)
        for what, d in (("superdiagonal", above), ("subdiagonal", below)):
            if d.dims != main.dims:
                raise errors.InvalidArgumentError(
                    f"Invalid {what} shape: {d.shape}, expected the main diagonal's, {main.shape}."
                )
    bands, b = of_one_dtype(_tridiagonal_bands(diagonals, diagonals_format), rhs, "banded_solve")
    if len(b.dims) != len(bands.dims):
        raise errors.InvalidArgumentError(
            f"All input tensors must have the same rank: {len(bands.dims)} for the matrix and {len(b.dims)} for rhs."
        )
    return banded_product(ops, bands, b, -1)


@overload
def eigh_tridiagonal(
    alpha: TensorLike, beta: TensorLike, eigvals_only: Literal[True] = True, select: str = "a",
    select_range: TensorLike | None = None, tol: TensorLike | None = None, name: str | None = None,
) -> Tensor: ...  # fmt: skip
@overload
def eigh_tridiagonal(
    alpha: TensorLike, beta: TensorLike, eigvals_only: Literal[False], select: str = "a",
    select_range: TensorLike | None = None, tol: TensorLike | None = None, name: str | None = None,
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
def eigh_tridiagonal(
    alpha: TensorLike,
    beta: TensorLike,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: TensorLike | None = None,
    tol: TensorLike | None = None,
    name: str | None = None,
) -> Any:
    """Returns the eigenvalues of a Hermitian tridiagonal matrix in increasing order, and its eigenvectors.

    Args:
      alpha: the diagonal; only its real part is used.
      beta: the superdiagonal.
      eigvals_only: whether to omit the eigenvectors.
      select: `"a"` for all, `"i"` for the indices from `select_range[0]` to `select_range[1]`, `"v"` for values from
        `select_range[0]` up to `select_range[1]`.
      select_range: see `select`.
      tol: ignored: eigenvalues are computed to machine precision.

    >>> tf.linalg.eigh_tridiagonal([0.0, 0.0], [2.0], select="i", select_range=(1, 1)).numpy().tolist()
    [2.0]
    """
    a, b = to_tensor(alpha), to_tensor(beta)
    if a.dtype is not b.dtype:
        raise ValueError(f"'alpha' and 'beta' must have the same type, got {a.dtype.name} and {b.dtype.name}.")
    if select not in ("a", "i", "v"):
        raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
    if select != "a" and select_range is None:
        raise ValueError(f"select={select!r} needs select_range, a pair")
    matrix = _hermitian_tridiagonal(a, b)
    if eigvals_only:
        e, v = ops.eigvalsh(matrix), None
    else:
        e, v = ops.eigh(matrix)
    if select != "a":
        low, high = to_array(select_range).tolist()
        if select == "v":
            values = to_array(e)
            doubt = 2 * np.finfo(values.dtype).eps * np.abs(values).max(initial=0)  # a bound may be an eigenvalue
            low, high = int((values < low - doubt).sum()), int((values <= high + doubt).sum()) - 1
        elif low > high:
            raise ValueError(f"Got empty index range in select_range: {low} > {high}.")
        key = (..., slice(low, high + 1))
        e, v = ops.slice(e, key=key), None if v is None else ops.slice(v, key=key)
    return e if v is None else (e, v)


def _hermitian_tridiagonal(a: Tensor, b: Tensor) -> Tensor:
    n = a.dims[-1]
    if a.dtype.is_complex:
        a = ops.cast(ops.real(a), dtype=a.dtype)
    below = ops.matrix_diag(conjugate(ops, b), rows=n, columns=n, low=-1, high=-1, align="RIGHT_LEFT")
    main = ops.matrix_diag(a, rows=n, columns=n, low=0, high=0, align="RIGHT_LEFT")
    return below + conjugate_transpose(ops, below) + main

"""Building blocks for the rules of linear algebra: adjoints, triangles, and broadcasting of stacked matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...backends import arrays
from ...backends.arrays import kind_of
from ...backends.tuning import LARGE
from ...core.dtypes import COMPLEX, FLOAT, DType
from ...engine.registry.batching import align_ranks

FIELD = FLOAT | COMPLEX


def is_complex(x: Any) -> bool:
    dtype = x.dtype
    return dtype.is_complex if type(dtype) is DType else kind_of(x) == "c"


def conjugate(m: Any, x: Any) -> Any:
    return m.conj(x) if is_complex(x) else x


def adjoint(m: Any, x: Any) -> Any:
    """The conjugate transpose of each matrix."""
    rank = len(x.shape)
    return conjugate(m, m.transpose(x, perm=(*range(rank - 2), rank - 1, rank - 2)))


def lower(m: Any, x: Any) -> Any:
    return m.band_part(x, below=-1, above=0)


def upper(m: Any, x: Any) -> Any:
    return m.band_part(x, below=0, above=-1)


def diagonal(m: Any, x: Any) -> Any:
    """Sets the off-diagonal entries of each matrix to zero."""
    return m.band_part(x, below=0, above=0)


def lower_half(m: Any, x: Any) -> Any:
    """The lower triangle of each matrix with half of its diagonal: adding the adjoint completes Hermitian ones."""
    size = x.shape[-1]
    if size * size > LARGE:  # large weights would fill the cache's memory
        return lower(m, x) - 0.5 * diagonal(m, x)
    return lower(m, x) * m.constant(_half_weights(size, numpy_dtype(x)))


@lru_cache(maxsize=64)
def _half_weights(size: int, dtype: Any) -> Any:
    weights = np.ones((size, size), dtype) - np.eye(size, dtype=dtype) / 2
    weights.flags.writeable = False
    return weights


def column(m: Any, x: Any) -> Any:
    """Reshapes each vector to a matrix of one column."""
    return m.reshape(x, shape=(*x.shape, 1))


def row(m: Any, x: Any) -> Any:
    """Reshapes each vector to a matrix of one row."""
    shape = tuple(x.shape)
    return m.reshape(x, shape=(*shape[:-1], 1, shape[-1]))


def numpy_dtype(x: Any) -> Any:
    """The NumPy dtype of an array or a tensor."""
    return x.dtype.numpy if type(x.dtype) is DType else arrays.numpy_dtype(x.dtype)


def identity(m: Any, like: Any, size: int) -> Any:
    return m.constant(np.eye(size, dtype=numpy_dtype(like)))


def safe_reciprocal(x: Any) -> Any:
    """1/x, and 0 at 0: where two eigenvalues coincide, their eigenvectors have no derivative."""
    return x / (x * x + 1e-20)


def inverse_gaps(m: Any, gaps: Any) -> Any:
    """The reciprocals of the differences between eigenvalues, with zeros on the diagonal."""
    inverse = safe_reciprocal(gaps + identity(m, gaps, gaps.shape[-1]))
    return inverse - diagonal(m, inverse)


def leading(op: str) -> Callable[..., Any]:
    """The batching rule of an op whose arguments broadcast over leading axes: the batch is another leading axis."""
    return lambda m, size, inputs, flags, attrs: getattr(m, op)(*align_ranks(m, inputs, flags), **attrs)


def each(f: Callable[..., Any], *stacks: Any) -> Any:
    """Applies `f` to every matrix of the stacks, whose leading axes broadcast. NumPy only."""
    if all(x.ndim == 2 for x in stacks):
        return f(*stacks)
    batch = np.broadcast_shapes(*(x.shape[:-2] for x in stacks))
    count = math.prod(batch)
    flat = [np.broadcast_to(x, (*batch, *x.shape[-2:])).reshape((count, *x.shape[-2:])) for x in stacks]
    if not count:
        like = f(*[np.eye(*x.shape[-2:], dtype=x.dtype) for x in stacks])
        return np.zeros((*batch, *like.shape), like.dtype)
    result = np.stack([f(*matrices) for matrices in zip(*flat, strict=True)])
    return result.reshape((*batch, *result.shape[1:]))

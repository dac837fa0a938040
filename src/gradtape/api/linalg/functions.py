"""Analytic functions of square matrices."""

from __future__ import annotations

from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from .arguments import square_matrices

NAMESPACES = ("linalg", "")
__all__ = ["expm", "logm", "sqrtm"]


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

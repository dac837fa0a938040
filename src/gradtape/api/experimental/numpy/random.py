"""`tf.experimental.numpy.random`: NumPy's names for TensorFlow's random numbers."""

from __future__ import annotations

from typing import Any, SupportsInt

import numpy as np

from ....core import dtypes
from ....core.tensor import Tensor, is_tensor_like
from ....core.type_hints import DTypeLike, ShapeLike, TensorLike
from ...namespace import resolve
from .promotion import result_type, tensor

NAMESPACES = ("experimental.numpy.random",)
__all__ = ["poisson", "rand", "randint", "randn", "random", "seed", "standard_normal", "uniform"]


def _shape(size: Any) -> Any:
    """Converts NumPy's `size`: None for one number, a number for a vector."""
    if size is None:
        return ()
    return (size,) if np.isscalar(size) or (is_tensor_like(size) and not size.shape) else size


def seed(s: Any) -> None:
    """Alias of `tf.random.set_seed`.

    >>> tf.experimental.numpy.random.seed(1)
    """
    try:
        s = int(s)
    except TypeError:
        raise ValueError(f"Argument `s` got an invalid value {s}. Only integers are supported.") from None
    resolve("random.set_seed")(s)


def randn(*args: Any) -> Tensor:
    """Draws normal numbers, float64, in the shape given by the arguments.

    >>> tf.experimental.numpy.random.randn(2, 3).shape
    TensorShape([2, 3])
    """
    return standard_normal(args)


def standard_normal(size: ShapeLike | None = None) -> Tensor:
    """Draws normal numbers, float64.

    >>> tf.experimental.numpy.random.standard_normal(2).dtype
    tf.float64
    """
    return resolve("random.normal")(_shape(size), dtype=dtypes.float64)


def uniform(low: TensorLike = 0.0, high: TensorLike = 1.0, size: ShapeLike | None = None) -> Tensor:
    """Draws uniform numbers between two bounds, float64.

    >>> tf.experimental.numpy.random.uniform(size=[2]).shape
    TensorShape([2])
    """
    first, last = tensor(low, np.float64), tensor(high, np.float64)
    shape = np.broadcast_shapes(first.dims, last.dims) if size is None else size
    return resolve("random.uniform")(shape, first, last, dtype=dtypes.float64)


def poisson(lam: TensorLike = 1.0, size: ShapeLike | None = None) -> Tensor:
    """Draws Poisson numbers, int64.

    >>> tf.experimental.numpy.random.poisson(3.0, 2).shape
    TensorShape([2])
    """
    return resolve("random.poisson")(_shape(size), lam, dtype=dtypes.int64)


def random(size: ShapeLike | None = None) -> Tensor:
    """Draws uniform numbers between 0 and 1, float64.

    >>> tf.experimental.numpy.random.random((2, 3)).shape
    TensorShape([2, 3])
    """
    return uniform(0.0, 1.0, size)


def rand(*size: Any) -> Tensor:
    """Draws uniform numbers between 0 and 1, in the shape given by the arguments.

    >>> tf.experimental.numpy.random.rand(2, 3).shape
    TensorShape([2, 3])
    """
    return uniform(0.0, 1.0, size)


def randint(
    low: SupportsInt, high: TensorLike | None = None, size: ShapeLike | None = None, dtype: DTypeLike = np.int64
) -> Tensor:
    """Draws integers from `low` up to `high`, or from 0 up to the single bound.

    >>> int(tf.experimental.numpy.random.randint(1))
    0
    """
    first, last = (0, int(low)) if high is None else (int(low), high)
    kind = result_type(np.dtype(dtype) if not hasattr(dtype, "as_numpy_dtype") else dtype)
    if kind not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Argument `dtype` got an invalid value {dtype}. int32 and int64 are supported.")
    return resolve("random.uniform")(_shape(size), first, last, dtype=kind)

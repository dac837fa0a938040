"""`tf.experimental.numpy`: products and reductions."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.tensor import Tensor
from ..namespace import resolve
from .arrays import ravel
from .promotion import cast, floating, own, promoted, summed, tensor

NAMESPACES = ("experimental.numpy",)
__all__ = [
    "all", "allclose", "any", "argmax", "argmin", "cumsum", "dot", "einsum", "isclose", "matmul", "max", "mean",
    "min", "outer", "prod", "std", "sum", "tensordot", "var",
]  # fmt: skip


def matmul(x1: Any, x2: Any) -> Tensor:
    """Multiplies matrices, or a matrix and a vector.

    >>> import gradtape as tf
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


def dot(a: Any, b: Any) -> Tensor:
    """Sums the products over the last axis of `a` and the second to last (or only) axis of `b`.

    >>> import gradtape as tf
    >>> int(tf.experimental.numpy.dot([1, 2], [3, 4]))
    11
    """
    x, y = promoted(a, b)
    if not x.dims or not y.dims:
        return x * y
    return resolve("tensordot")(x, y, [[-1], [-2 if len(y.dims) > 1 else -1]])


def outer(a: Any, b: Any) -> Tensor:
    """Returns the products of every entry of `a` with every entry of `b`.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.outer([1, 2], [3, 4]).numpy().tolist()
    [[3, 4], [6, 8]]
    """
    x, y = promoted(a, b)
    return ravel(x)[:, None] * ravel(y)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """Sums the products over the given axes.

    >>> import gradtape as tf
    >>> int(tf.experimental.numpy.tensordot([1, 2], [3, 4], 1))
    11
    """
    return resolve("tensordot")(*promoted(a, b), axes)


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Tensor:
    """Einstein summation.

    >>> import gradtape as tf
    >>> int(tf.experimental.numpy.einsum("i,i->", [1, 2], [3, 4]))
    11
    """
    if set(kwargs) - {"casting", "optimize"}:
        raise TypeError(f"einsum takes casting and optimize as keywords, got {sorted(kwargs)}")
    return resolve("einsum")(subscripts, *promoted(*operands))


def _reduced(name: str, a: Any, axis: Any, keepdims: Any) -> Tensor:
    return own(f"reduce_{name}")(a, axis=axis, keepdims=builtins.bool(keepdims))


def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """Returns the sum over the given axes, or over all.

    >>> import gradtape as tf
    >>> int(tf.experimental.numpy.sum([1, 2]))
    3
    """
    return _reduced("sum", summed(a) if dtype is None else tensor(a, dtype), axis, keepdims)


def prod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """Returns the product over the given axes, or over all.

    >>> import gradtape as tf
    >>> int(tf.experimental.numpy.prod([3, 2]))
    6
    """
    return _reduced("prod", summed(a) if dtype is None else tensor(a, dtype), axis, keepdims)


def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = None) -> Tensor:
    """Returns the mean over the given axes, or over all.

    >>> import gradtape as tf
    >>> float(tf.experimental.numpy.mean([1, 2]))
    1.5
    """
    if out is not None:
        raise ValueError("Setting out is not supported.")
    return _reduced("mean", floating(a) if dtype is None else tensor(a, dtype), axis, keepdims)


def var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: Any = None) -> Tensor:
    """Returns the variance over the given axes, or over all; `ddof` is subtracted from the count.

    >>> import gradtape as tf
    >>> float(tf.experimental.numpy.var([1, 3]))
    1.0
    """
    if out is not None:
        raise ValueError("Setting out is not supported.")
    x = floating(a) if dtype is None else tensor(a, dtype)
    variance = _reduced("variance", x, axis, keepdims)
    if not ddof:
        return variance
    count = np.prod([x.dims[one] for one in (range(len(x.dims)) if axis is None else np.ravel(axis))])
    return variance * float(count / (count - ddof))


def std(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Returns the standard deviation over the given axes, or over all.

    >>> import gradtape as tf
    >>> float(tf.experimental.numpy.std([1, 3]))
    1.0
    """
    return _reduced("std", floating(a), axis, keepdims)


def max(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Returns the maximum over the given axes, or over all.

    >>> import gradtape as tf
    >>> int(tf.experimental.numpy.max([1, 3]))
    3
    """
    return _reduced("max", tensor(a), axis, keepdims)


def min(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Returns the minimum over the given axes, or over all.

    >>> import gradtape as tf
    >>> int(tf.experimental.numpy.min([1, 3]))
    1
    """
    return _reduced("min", tensor(a), axis, keepdims)


def all(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Returns whether all entries are true.

    >>> import gradtape as tf
    >>> bool(tf.experimental.numpy.all([1, 0]))
    False
    """
    return _reduced("all", cast(tensor(a), dtypes.bool), axis, keepdims)


def any(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Returns whether any entry is true.

    >>> import gradtape as tf
    >>> bool(tf.experimental.numpy.any([1, 0]))
    True
    """
    return _reduced("any", cast(tensor(a), dtypes.bool), axis, keepdims)


def argmax(a: Any, axis: int | None = None) -> Tensor:
    """Returns the index of the maximum, along an axis or in the flattened array.

    >>> import gradtape as tf
    >>> int(tf.experimental.numpy.argmax([1, 3]))
    1
    """
    return own("argmax")(ravel(a) if axis is None else tensor(a), axis=axis or 0)


def argmin(a: Any, axis: int | None = None) -> Tensor:
    """Returns the index of the minimum, along an axis or in the flattened array.

    >>> import gradtape as tf
    >>> int(tf.experimental.numpy.argmin([1, 3]))
    0
    """
    return own("argmin")(ravel(a) if axis is None else tensor(a), axis=axis or 0)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Returns the cumulative sum along an axis, or of the flattened array.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.cumsum([1, 3]).numpy().tolist()
    [1, 4]
    """
    x = summed(a) if dtype is None else tensor(a, dtype)
    return own("cumsum")(ravel(x) if axis is None else x, axis=axis or 0)


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Returns elementwise whether two arrays agree within a tolerance.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.isclose([1.0], [1.0 + 1e-9]).numpy().tolist()
    [True]
    """
    x, y = (floating(value) for value in promoted(a, b))
    near = (own("abs")(x - y) <= atol + rtol * own("abs")(y)) & own("is_finite")(y) | own("equal")(x, y)
    return near | (own("is_nan")(x) & own("is_nan")(y)) if equal_nan else near


def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Returns whether two arrays agree within a tolerance everywhere.

    >>> import gradtape as tf
    >>> bool(tf.experimental.numpy.allclose([1.0], [1.1]))
    False
    """
    return all(isclose(a, b, rtol, atol, equal_nan))

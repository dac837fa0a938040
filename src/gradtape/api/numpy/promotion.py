"""NumPy's promotion rules on tensors: Python numbers adapt to arrays, and are 64 bits wide otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType
from ...core.tensor import Tensor, is_tensor_like
from ...engine.run.convert import is_registered, to_tensor
from ...engine.run.namespace import ops
from ..names import NAMES
from ..namespace import resolve


class _Promotion:
    """The setting of the process, from `experimental_enable_numpy_behavior`."""

    prefers_float32 = False  # whether Python floats become float32


setting = _Promotion()


def tensor(value: Any, dtype: Any = None) -> Tensor:
    """Converts `value` to a tensor as NumPy would: Python floats are float64, integers int64."""
    if not is_tensor_like(value) and not is_registered(value):
        leaves = value if isinstance(value, list | tuple) else ()
        if any(is_tensor_like(x) or isinstance(x, list | tuple) for x in leaves):
            value = resolve("stack")(promoted(*leaves)) if leaves else np.asarray(value)
        elif setting.prefers_float32 and not isinstance(value, str | bytes | np.ndarray):
            value = np.asarray(value, dtype=result_type(value).as_numpy_dtype)
        else:
            value = np.asarray(value)
    x = to_tensor(value)
    return x if dtype is None else cast(x, dtype)


def cast(x: Tensor, dtype: Any) -> Tensor:
    """Converts `x` to another dtype, TensorFlow's or NumPy's."""
    kind = dtypes.as_dtype(dtype if isinstance(dtype, DType) else np.dtype(dtype))
    if (x.dtype is dtypes.string) != (kind is dtypes.string):
        raise TypeError(f"Cannot convert an array of {x.dtype.name} to {kind.name}")
    return x if x.dtype is kind else ops.cast(x, dtype=kind)


def _leaves(value: Any) -> Iterator[Any]:
    """Yields what represents `value` in NumPy's promotion: a tensor's dtype, a (weak) number or an array."""
    if isinstance(value, list | tuple):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, DType) or is_tensor_like(value):
        kind = value if isinstance(value, DType) else value.dtype
        yield kind if kind.narrow else kind.numpy
    elif setting.prefers_float32 and isinstance(value, float | complex):
        yield np.float32(value) if isinstance(value, float) else np.complex64(value)
    else:
        yield value


def result_type(*arrays_and_dtypes: Any) -> DType:
    """Returns the dtype to which NumPy promotes arrays, numbers and dtypes; Python numbers are weak.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.result_type(tf.constant(1.0), 2, tf.int64)
    tf.float64
    """
    leaves = list(_leaves(arrays_and_dtypes)) or [np.asarray([])]
    narrow = next((x for x in leaves if isinstance(x, DType)), None)
    return narrow or dtypes.as_dtype(np.result_type(*leaves))


def promoted(*values: Any) -> list[Tensor]:
    """Returns the values as tensors of their promoted dtype."""
    kind = result_type(*values)
    return [cast(tensor(value), kind) for value in values]


def floating(x: Tensor) -> Tensor:
    """Returns `x`, with integers converted to float64."""
    return x if x.dtype.is_floating or x.dtype.is_complex else ops.cast(x, dtype=dtypes.float64)


def own(name: str) -> Any:
    """Returns TensorFlow's function `name` in `tf.math` or its root."""
    return resolve(f"math.{name}" if f"math.{name}" in NAMES else name)


def broadcast(*tensors: Tensor) -> list[Tensor]:
    """Broadcasts tensors to a common shape."""
    dims = np.broadcast_shapes(*(x.dims for x in tensors))
    return [x if x.dims == dims else resolve("broadcast_to")(x, dims) for x in tensors]

"""NumPy's rules of promotion on tensors: Python's numbers give way to arrays, and become 64 bits wide alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType
from ...core.tensor import Tensor, is_tensor_like
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ..names import NAMES
from ..namespace import resolve


def tensor(value: Any, dtype: Any = None) -> Tensor:
    """`value` as NumPy would take it: Python's floats are float64, its integers int64."""
    if not is_tensor_like(value):
        leaves = value if isinstance(value, list | tuple) else ()
        if any(is_tensor_like(x) or isinstance(x, list | tuple) for x in leaves):
            value = resolve("stack")(promoted(*leaves)) if leaves else np.asarray(value)
        else:
            value = np.asarray(value)
    x = to_tensor(value)
    return x if dtype is None else cast(x, dtype)


def cast(x: Tensor, dtype: Any) -> Tensor:
    """`x` in another dtype, one of TensorFlow's or of NumPy's."""
    kind = dtypes.as_dtype(dtype if isinstance(dtype, DType) else np.dtype(dtype))
    return x if x.dtype is kind else ops.cast(x, dtype=kind)


def promoted(*values: Any) -> list[Tensor]:
    """The values as tensors of the one dtype that NumPy finds for them."""
    weak = (bool, int, float, complex)
    tensors = [value if type(value) in weak else tensor(value) for value in values]
    if any(isinstance(x, Tensor) and x.dtype.narrow for x in tensors):
        kind: Any = next(x.dtype for x in tensors if isinstance(x, Tensor) and x.dtype.narrow)
    else:
        kind = np.result_type(*(x.dtype.numpy if isinstance(x, Tensor) else x for x in tensors))
        if all(type(value) in weak for value in values):
            kind = np.result_type(*(np.asarray(value).dtype for value in values))
    return [cast(x if isinstance(x, Tensor) else tensor(x), kind) for x in tensors]


def floating(x: Tensor) -> Tensor:
    """`x`, an integer made float64."""
    return x if x.dtype.is_floating or x.dtype.is_complex else ops.cast(x, dtype=dtypes.float64)


def own(name: str) -> Any:
    """The function that TensorFlow has under `name` in `tf.math` or at its root."""
    return resolve(f"math.{name}" if f"math.{name}" in NAMES else name)

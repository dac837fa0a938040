"""`tf.compat.v1.ragged`: ragged values made of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.api.namespace import resolve
from gradtape.core import dtypes, nest
from gradtape.ragged.tensor import RaggedTensor
from gradtape.ragged.value import RaggedTensorValue

NAMESPACES = ("compat.v1.ragged",)
__all__ = ["RaggedTensorValue", "constant_value"]


def constant_value(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:  # fmt: skip
    """Creates a ragged value of NumPy arrays from nested lists.

    >>> tf.compat.v1.ragged.constant_value([[1, 2], [3]]).row_splits.tolist()
    [0, 2, 3]
    """
    kind = dtype.numpy if isinstance(dtype, dtypes.DType) else dtype  # any dtype of NumPy's: `bytes` is none of ours
    wide = np.result_type(*(np.asarray(x) for x in nest.flatten(pylist) or [0.0]))  # NumPy's dtype of the numbers
    given = dtypes.string if kind is not None and np.dtype(kind).kind in "OSU" else dtypes.of_numpy(wide)
    made = resolve("ragged.constant")(pylist, given, ragged_rank, inner_shape, row_splits_dtype=row_splits_dtype)
    return _value(made, kind)


def _value(x: Any, dtype: Any) -> Any:
    if hasattr(x, "row_splits"):
        return RaggedTensorValue(_value(x.values, dtype), x.row_splits.numpy())
    return x.numpy() if dtype is None else np.asarray(x.numpy(), dtype)


def implementation_of(path: str) -> Callable[..., Any]:
    """Returns the public function `path` for ragged values: that of the ragged tensors."""
    return lambda _, *args: resolve(path)(*map(_as_tensor, args))


def is_ragged(value: object) -> bool:
    """Whether a value is a ragged tensor, or a ragged value."""
    return isinstance(value, RaggedTensor | RaggedTensorValue)


def _as_tensor(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return type(x)(map(_as_tensor, x)) if type(x) in (list, tuple) else x
    if not isinstance(x, RaggedTensorValue):
        return x
    return RaggedTensor.from_nested_row_splits(x.flat_values, x.nested_row_splits, validate=False)

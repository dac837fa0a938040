"""`tf.compat.v1.ragged`: ragged values made of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import dtypes
from ...state.ragged.tensor import RaggedTensor
from ...state.ragged.value import RaggedTensorValue
from ..namespace import resolve

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

    >>> import gradtape as tf
    >>> tf.compat.v1.ragged.constant_value([[1, 2], [3]]).row_splits.tolist()
    [0, 2, 3]
    """
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    given = kind if kind is dtypes.string else None  # numbers are cast as NumPy casts them
    made = resolve("ragged.constant")(pylist, given, ragged_rank, inner_shape, row_splits_dtype=row_splits_dtype)
    return _value(made, None if kind is None or kind is dtypes.string else kind.numpy)


def _value(x: Any, dtype: Any) -> Any:
    if hasattr(x, "row_splits"):
        return RaggedTensorValue(_value(x.values, dtype), x.row_splits.numpy())
    return x.numpy() if dtype is None else x.numpy().astype(dtype)


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

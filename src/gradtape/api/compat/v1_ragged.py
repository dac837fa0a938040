"""`tf.compat.v1.ragged`: ragged values made of NumPy arrays."""

from __future__ import annotations

from typing import Any

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
    made = resolve("ragged.constant")(pylist, dtype, ragged_rank, inner_shape, row_splits_dtype=row_splits_dtype)
    return _value(made)


def _value(x: Any) -> Any:
    return RaggedTensorValue(_value(x.values), x.row_splits.numpy()) if hasattr(x, "row_splits") else x.numpy()

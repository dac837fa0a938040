"""Ragged tensors as NumPy arrays, as TensorFlow 1's sessions return them."""

from __future__ import annotations

from typing import Any

import numpy as np


class RaggedTensorValue:
    """A ragged tensor as NumPy arrays: values, which may be ragged themselves, and row splits.

    >>> tf.compat.v1.ragged.RaggedTensorValue(np.array([1, 2, 3]), np.array([0, 2, 3])).to_list()
    [[1, 2], [3]]
    """

    __module__ = "gradtape.compat.v1.ragged"

    def __init__(self, values: Any, row_splits: Any) -> None:
        if not (isinstance(row_splits, np.ndarray | np.generic) and row_splits.dtype in (np.int64, np.int32)):
            raise TypeError("row_splits must be a numpy array with dtype int32 or int64")
        if row_splits.ndim != 1:
            raise ValueError(f"row_splits must be a rank-1 array, got rank {row_splits.ndim}")
        if not isinstance(values, np.ndarray | np.generic | RaggedTensorValue):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        self.values: Any = values
        self.row_splits: Any = row_splits

    @property
    def flat_values(self) -> Any:
        """The innermost values."""
        return self.values.flat_values if isinstance(self.values, RaggedTensorValue) else self.values

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The row splits of all ragged axes, outermost first."""
        inner = self.values.nested_row_splits if isinstance(self.values, RaggedTensorValue) else ()
        return (self.row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape, None along ragged axes."""
        return (len(self.row_splits) - 1, None, *self.values.shape[1:])

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self.values!r}, row_splits={self.row_splits!r})"

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def to_list(self) -> list[Any]:
        """Returns the rows as nested lists."""
        rows = self.values.to_list() if isinstance(self.values, RaggedTensorValue) else self.values.tolist()
        return [rows[a:b] for a, b in zip(self.row_splits[:-1], self.row_splits[1:], strict=True)]

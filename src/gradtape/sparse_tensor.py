"""`SparseTensor`: the elements of a tensor that are there, each with its place."""

from __future__ import annotations

from typing import Any

from . import dtypes
from .dtypes import DType
from .engine.convert import to_tensor
from .nest import Composite
from .shapes import TensorShape
from .tensor import Tensor


class SparseTensor(Composite):
    """`dense[indices[i]] = values[i]`, for a tensor of shape `dense_shape`.

    A tape does not take one as a target or a source; its `values` are a tensor like any other.

    >>> import gradtape as tf
    >>> s = tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[2, 3])
    >>> tf.sparse.to_dense(s).numpy().tolist()
    [[1, 0, 0], [0, 0, 2]]
    """

    __slots__ = ("__weakref__", "_dense_shape", "_indices", "_shape", "_values")

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = to_tensor(indices, dtypes.int64)
        self._values = to_tensor(values)
        self._dense_shape = to_tensor(dense_shape, dtypes.int64)
        count, rank = self._indices.shape.with_rank(2)
        (given,) = self._values.shape.with_rank(1)
        (sizes,) = self._dense_shape.shape.with_rank(1)
        if count != given:
            raise ValueError(
                f"Dimensions {count} and {given} are not compatible: there must be as many rows of indices as values"
            )
        if rank != sizes:
            raise ValueError(
                f"Dimensions {rank} and {sizes} are not compatible: a row of indices must be as long as dense_shape"
            )
        self._shape = TensorShape([None if n < 0 else int(n) for n in self._dense_shape.array])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """The same from a SparseTensor."""
        if not isinstance(sparse_tensor_value, SparseTensor):
            raise TypeError(
                f"Argument sparse_tensor_value={sparse_tensor_value} is neither a SparseTensor nor SparseTensorValue."
            )
        return cls(*sparse_tensor_value._parts())

    @property
    def indices(self) -> Tensor:
        """The places of the values, one a row."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The values, one for each row of the indices."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape of the dense tensor, as a tensor."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The shape of the dense tensor."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """The shape of the dense tensor."""
        return self._shape

    def set_shape(self, shape: Any) -> None:
        """Raises `ValueError` unless the shape of the dense tensor could be `shape`."""
        self._shape = self._shape.merge_with(shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def graph(self) -> Any:
        """Eager values belong to no graph."""
        return self._values.graph

    @property
    def op(self) -> Any:
        """Eager values are not the output of a graph's node."""
        return self._values.op

    def consumers(self) -> list[Any]:
        """Nothing is known of the consumers of an eager value."""
        return []

    def with_values(self, new_values: Any) -> SparseTensor:
        """Other values at the same places."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def _parts(self) -> list[Any]:
        return [self._indices, self._values, self._dense_shape]

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"

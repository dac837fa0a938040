"""`IndexedSlices`: the nonzero rows of a large tensor, the gradient that `gather` produces in the backward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .composites import EagerComposite
from .dtypes import DType
from .shapes import UNKNOWN_RANK, TensorShape


class IndexedSlices(EagerComposite):
    """`dense[indices[i]] += values[i]`, the sparse form of a gradient.

    >>> s = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 0]), tf.constant([3, 1]))
    >>> tf.convert_to_tensor(s).numpy().tolist()
    [[3.0], [0.0], [0.0]]
    """

    __slots__ = ("__weakref__", "dense_shape", "indices", "values")

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self.values, self.indices, self.dense_shape = values, indices, dense_shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the dense tensor, as far as known."""
        if self.dense_shape is None:
            return UNKNOWN_RANK
        return TensorShape([int(n) for n in getattr(self.dense_shape, "array", self.dense_shape)])

    @property
    def device(self) -> str:
        """The device of the values."""
        return self.values.device

    @property
    def name(self) -> str:
        """The name of the values."""
        return self.values.name

    def _shape_invariant_to_type_spec(self, shape: object) -> Any:
        known, spec = TensorShape(shape), self._type_spec
        return type(spec)(known, *spec._serialize()[1:4], known[:1])

    def _parts(self) -> list[Any]:
        return [self.values, self.indices, *([] if self.dense_shape is None else [self.dense_shape])]

    def _with_parts(self, parts: Sequence[Any]) -> IndexedSlices:
        return IndexedSlices(*parts)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def __repr__(self) -> str:
        shape = "" if self.dense_shape is None else f", dense_shape={self.dense_shape!s}"
        return f"IndexedSlices(indices={self.indices!s}, values={self.values!s}{shape})"


IndexedSlices.__module__ = "gradtape"

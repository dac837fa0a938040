"""Specs: what is known of a value before it is there, its shape and its dtype."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..core import dtypes
from ..core.dtypes import DType, as_dtype
from ..core.shapes import UNKNOWN_RANK, TensorShape
from ..core.slices import IndexedSlices
from ..core.tensor import Tensor
from ..engine.run.convert import to_tensor
from .sparse_tensor import SparseTensor


class TypeSpec:
    """The type of a value as code that does not have the value yet may know it.

    A subclass is compared, hashed and printed by `_fields`.

    >>> import gradtape as tf
    >>> isinstance(tf.TensorSpec([None, 2]), tf.TypeSpec)
    True
    """

    __slots__ = ()

    def _fields(self) -> tuple[Any, ...]:
        raise NotImplementedError(f"{type(self).__name__} must say by which fields it is compared")

    @property
    def value_type(self) -> type:
        """The class of the values."""
        raise NotImplementedError

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every value of this type is of type `other` too."""
        raise NotImplementedError

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether the value, or a value of that spec, could be of this type."""
        raise NotImplementedError

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TypeSpec | None:
        """The most specific type that this and all the others are instances of, or None."""
        raise NotImplementedError

    def most_specific_compatible_type(self, other: Any) -> TypeSpec:
        """The same for one other type; `ValueError` if there is none."""
        common = self.most_specific_common_supertype([other])
        if common is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return common

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), self._fields()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._fields()))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._fields()


class TensorSpec(TypeSpec):
    """The shape and dtype of a tensor, and the name of the argument it is.

    >>> import gradtape as tf
    >>> tf.TensorSpec([None, 3], tf.int32).is_compatible_with(tf.constant([[1, 2, 3]]))
    True
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return Tensor

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """A spec with the shape and dtype of another."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor."""
        if not isinstance(tensor, Tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a tensor, or a tensor of that spec, could be of this spec."""
        if not isinstance(spec_or_tensor, TensorSpec | Tensor):
            return False
        return self._dtype is spec_or_tensor.dtype and self._shape.is_compatible_with(spec_or_tensor.shape)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every tensor of this spec is of spec `other` too."""
        return (
            isinstance(other, TensorSpec)
            and self._name in (None, other.name)
            and self._dtype is other.dtype
            and self._shape.is_subtype_of(other.shape)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorSpec | None:
        """The most specific spec that this and all the others are instances of; None if dtypes or names differ."""
        if any(not isinstance(o, TensorSpec) or o.dtype is not self._dtype or o.name != self._name for o in others):
            return None
        shape = self._shape.most_specific_common_supertype([other.shape for other in others])
        return TensorSpec(shape, self._dtype, self._name)

    def flatten(self) -> list[TensorSpec]:
        """The specs of the tensors a value is made of: itself."""
        return [self]

    def to_tensors(self, value: Any) -> list[Tensor]:
        """The tensors a value is made of."""
        tensor = to_tensor(value, self._dtype)
        if not self._shape.is_compatible_with(tensor.shape):
            raise ValueError(f"a value of {self} was expected, got a tensor of shape {tensor.shape}")
        return [tensor]

    def from_tensors(self, tensors: Iterator[Tensor]) -> Tensor:
        """The value made of the next tensor."""
        return next(tensors)

    def _fields(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class IndexedSlicesSpec(TypeSpec):
    """The dense shape and the dtypes of an `IndexedSlices`.

    >>> import gradtape as tf
    >>> tf.IndexedSlicesSpec([None, 2]).value_type.__name__
    'IndexedSlices'
    """

    __slots__ = ("_dense_shape_dtype", "_dtype", "_indices_dtype", "_indices_shape", "_shape")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return IndexedSlices

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every value of this spec is of spec `other` too."""
        return type(other) is IndexedSlicesSpec and all(
            mine.is_subtype_of(its) if isinstance(mine, TensorShape) else mine is its
            for mine, its in zip(self._fields(), other._fields(), strict=True)
        )

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether the value, or a value of that spec, could be of this spec."""
        other = spec_of(spec_or_value) if isinstance(spec_or_value, IndexedSlices) else spec_or_value
        return type(other) is IndexedSlicesSpec and all(
            mine.is_compatible_with(its) if isinstance(mine, TensorShape) else mine is its
            for mine, its in zip(self._fields(), other._fields(), strict=True)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> IndexedSlicesSpec | None:
        """The most specific spec that this and all the others are instances of, or None."""
        common = list(self._fields())
        for other in others:
            if type(other) is not IndexedSlicesSpec:
                return None
            for i, its in enumerate(other._fields()):
                if isinstance(its, TensorShape):
                    common[i] = common[i].most_specific_compatible_shape(its)
                elif common[i] is not its:
                    return None
        return IndexedSlicesSpec(*common)

    def _fields(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape


class SparseTensorSpec(TypeSpec):
    """The shape and dtype of a `SparseTensor`.

    >>> import gradtape as tf
    >>> tf.SparseTensorSpec([None, 3]).is_compatible_with(tf.SparseTensor([[0, 1]], [2.0], [2, 3]))
    True
    """

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape of the dense tensor, as far as it is known."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._dtype

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return SparseTensor

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec of a sparse tensor."""
        if not isinstance(value, SparseTensor):
            raise TypeError(f"Expected SparseTensor or SparseTensorValue. Received: {value} of type {type(value)}.")
        return cls(value.shape, value.dtype)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every sparse tensor of this spec is of spec `other` too."""
        return (
            type(other) is SparseTensorSpec
            and self._dtype is other.dtype
            and self._shape.is_subtype_of(other.shape)
        )

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether the sparse tensor, or one of that spec, could be of this spec."""
        return (
            isinstance(spec_or_value, SparseTensorSpec | SparseTensor)
            and self._dtype is spec_or_value.dtype
            and self._shape.is_compatible_with(spec_or_value.shape)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> SparseTensorSpec | None:
        """The most specific spec that this and all the others are instances of; None if dtypes differ."""
        if any(type(other) is not SparseTensorSpec or other.dtype is not self._dtype for other in others):
            return None
        shape = self._shape.most_specific_common_supertype([other.shape for other in others])
        return SparseTensorSpec(shape, self._dtype)

    def flatten(self) -> list[TensorSpec]:
        """The specs of the tensors a sparse tensor is made of: indices, values, shape."""
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], dtypes.int64), TensorSpec([None], self._dtype), TensorSpec([rank], dtypes.int64)
        ]  # fmt: skip

    def to_tensors(self, value: Any) -> list[Tensor]:
        """The tensors a sparse tensor is made of."""
        if not self.is_compatible_with(value):
            raise ValueError(f"a value of {self} was expected, got {value!r}")
        return value._parts()

    def from_tensors(self, tensors: Iterator[Tensor]) -> SparseTensor:
        """The sparse tensor made of the next three tensors."""
        return SparseTensor(next(tensors), next(tensors), next(tensors))

    def _fields(self) -> tuple[Any, ...]:
        return self._shape, self._dtype


def spec_of(value: Any) -> TypeSpec:
    """The spec of a tensor, sparse or not, of slices, or of anything that converts to a tensor."""
    if isinstance(value, TypeSpec):
        return value
    if isinstance(value, SparseTensor):
        return SparseTensorSpec.from_value(value)
    if isinstance(value, IndexedSlices):
        dense = value.dense_shape
        return IndexedSlicesSpec(
            UNKNOWN_RANK if dense is None else value.shape, value.dtype, value.indices.dtype,
            None if dense is None else dense.dtype, [value.indices.shape[0]],
        )  # fmt: skip
    try:
        return TensorSpec.from_tensor(to_tensor(value))
    except (TypeError, ValueError):
        raise TypeError(f"Could not build a `TypeSpec` for {value!r} with type {type(value).__name__}") from None

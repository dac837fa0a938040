"""The specs of tensors, variables, indexed slices, sparse tensors and tensor arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core import dtypes, nest
from ..core.composites import CompositeTensor
from ..core.dtypes import DType, as_dtype
from ..core.shapes import TensorShape
from ..core.slices import IndexedSlices
from ..core.tensor import Tensor, wrap
from ..engine.run.convert import to_tensor
from ..sparse.tensor import SparseTensor
from .tensor_array import TensorArray
from .type_spec import BatchableTypeSpec, LeafSpec, TypeSpec, register_type_spec_from_value_converter, spec_of
from .variable import Variable

__all__ = [
    "IndexedSlicesSpec", "SparseTensorSpec", "TensorArraySpec", "TensorSpec", "TypeSpec", "VariableSpec", "as_spec",
    "spec_of",
]  # fmt: skip


class ShapedSpec(BatchableTypeSpec):
    """A spec with a shape and a dtype."""

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape: object = None, dtype: object = dtypes.float32) -> None:
        self._shape, self._dtype = TensorShape(shape), as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._dtype

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype


class TensorSpec(ShapedSpec):
    """The shape and dtype of a tensor, and optionally its argument name.

    >>> tf.TensorSpec([None, 3], tf.int32).is_compatible_with(tf.constant([[1, 2, 3]]))
    True
    """

    __slots__ = ("_name", "tensor")
    value_type = Tensor
    _is_whole = True

    def __init__(self, shape: object, dtype: object = dtypes.float32, name: str | None = None) -> None:
        super().__init__(shape, dtype)
        self._name = name
        self.tensor: Any = None  # the output of a graph that the spec stands for; it is not compared

    @property
    def name(self) -> str | None:
        """The name, or None; that of the tensor for an output of a graph."""
        return self._name if self.tensor is None else self.tensor.name

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """Create a spec with the shape and dtype of another."""
        return cls(spec.shape, spec.dtype, name or spec._name)

    @classmethod
    def from_tensor(cls, tensor: object, name: str | None = None) -> TensorSpec:
        """The spec of a tensor."""
        if not isinstance(tensor, Tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_tensor: object) -> bool:
        """Whether a tensor, or some tensor of that spec, could be of this spec."""
        if not isinstance(spec_or_tensor, TensorSpec | Tensor):
            return False
        return self._dtype is spec_or_tensor.dtype and self._shape.is_compatible_with(spec_or_tensor.shape)

    def is_subtype_of(self, other: object) -> bool:
        """Whether every tensor of this spec is also of spec `other`."""
        return (
            isinstance(other, TensorSpec)
            and self._name in (None, other._name)
            and self._dtype is other.dtype
            and self._shape.is_subtype_of(other.shape)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorSpec | None:
        """The most specific spec that includes this one and all the others; None if dtypes or names differ."""
        if any(not isinstance(o, TensorSpec) or o.dtype is not self._dtype or o._name != self._name for o in others):
            return None
        shape = self._shape.most_specific_common_supertype([other.shape for other in others])
        return TensorSpec(shape, self._dtype, self._name)

    def flatten(self) -> list[TensorSpec]:
        """The specs of the component tensors: itself."""
        return [self]

    def to_tensors(self, value: object) -> list[Tensor]:
        """Convert a value to its one component tensor."""
        tensor = to_tensor(value, self._dtype)
        if not self._shape.is_compatible_with(tensor.shape):
            raise ValueError(f"a value of {self} was expected, got a tensor of shape {tensor.shape}")
        return [tensor]

    def from_tensors(self, tensors: Iterator[Tensor]) -> Tensor:
        """Returns the next tensor."""
        return next(tensors)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    @property
    def _component_specs(self) -> Any:
        return self

    def _to_components(self, value: object) -> Any:
        return to_tensor(value, self._dtype)

    def _from_components(self, components: Tensor) -> Any:
        return components

    def _batch(self, batch_size: int | None) -> TensorSpec:
        shape = self._shape
        return TensorSpec(shape if shape.rank is None else [batch_size, *shape], self._dtype)

    def _unbatch(self) -> TensorSpec:
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(self._shape if self._shape.rank is None else self._shape[1:], self._dtype)

    def _with_tensor_ranks_only(self) -> TensorSpec:
        rank = self._shape.rank
        return self if rank is None else TensorSpec([None] * rank, self._dtype, self._name)

    def _without_tensor_names(self) -> TensorSpec:
        return self if self._name is None else TensorSpec(self._shape, self._dtype)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


TensorSpec.__module__ = "gradtape"


def as_spec(declared: Any) -> Any:
    """Returns the spec for a dtype or a spec: a dtype declares tensors of any shape."""
    return declared if isinstance(declared, TypeSpec) else TensorSpec(None, declared)


def as_nested_specs(declared: Any) -> Any:
    """Returns the nest of specs for a nest of dtypes and specs."""
    return nest.map_structure(as_spec, declared)


class IndexedSlicesSpec(TypeSpec):
    """The dense shape and the dtypes of an `IndexedSlices`.

    >>> tf.IndexedSlicesSpec([None, 2]).value_type.__name__
    'IndexedSlices'
    """

    __slots__ = ("_dense_shape_dtype", "_dtype", "_indices_dtype", "_indices_shape", "_shape")
    value_type = IndexedSlices

    def __init__(
        self, shape: object = None, dtype: object = dtypes.float32, indices_dtype: object = dtypes.int64,
        dense_shape_dtype: object = None, indices_shape: object = None,
    ) -> None:  # fmt: skip
        self._shape, self._dtype, self._indices_dtype = TensorShape(shape), as_dtype(dtype), as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @property
    def _component_specs(self) -> Any:
        rows = self._indices_shape if self._shape.rank is None else self._indices_shape.concatenate(self._shape[1:])
        specs = [TensorSpec(rows, self._dtype), TensorSpec(self._indices_shape, self._indices_dtype)]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.rank], self._dense_shape_dtype))
        return tuple(specs)

    def _to_components(self, value: CompositeTensor) -> Any:
        return tuple(value._parts())

    def _from_components(self, components: Sequence[Tensor]) -> IndexedSlices:
        return IndexedSlices(*components)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape


IndexedSlicesSpec.__module__ = "gradtape"


class SparseTensorSpec(ShapedSpec):
    """The shape and dtype of a `SparseTensor`.

    >>> tf.SparseTensorSpec([None, 3]).is_compatible_with(tf.SparseTensor([[0, 1]], [2.0], [2, 3]))
    True
    """

    __slots__ = ()
    value_type = SparseTensor

    @classmethod
    def from_value(cls, value: object) -> SparseTensorSpec:
        """The spec of a sparse tensor."""
        if not isinstance(value, SparseTensor):
            raise TypeError(f"Expected SparseTensor or SparseTensorValue. Received: {value} of type {type(value)}.")
        return cls(value.shape, value.dtype)

    @property
    def _component_specs(self) -> Any:
        rank = self._shape.rank
        return (
            TensorSpec([None, rank], dtypes.int64), TensorSpec([None], self._dtype), TensorSpec([rank], dtypes.int64)
        )  # fmt: skip

    def _to_components(self, value: CompositeTensor) -> Any:
        return tuple(value._parts())

    def _from_components(self, components: Sequence[Tensor]) -> SparseTensor:
        return SparseTensor(*components)

    def _batch(self, batch_size: int | None) -> SparseTensorSpec:
        shape = self._shape
        return SparseTensorSpec(shape if shape.rank is None else [batch_size, *shape], self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return SparseTensorSpec(self._shape if self._shape.rank is None else self._shape[1:], self._dtype)

    def _row_count(self, value: SparseTensor) -> int:
        return int(value.dims[0])

    def _rows(self, value: SparseTensor, rows: Callable[[Any], Sequence[Any]]) -> list[Any]:
        at, values, shape = (part.array for part in value._parts())
        order = np.argsort(at[:, 0], kind="stable")
        bounds = np.searchsorted(at[order, 0], np.arange(shape[0] + 1))
        own = [order[bounds[i] : bounds[i + 1]] for i in range(shape[0])]
        return [SparseTensor(at[row, 1:], wrap(values[row], value.dtype), shape[1:]) for row in own]

    def _stacked(self, values: Sequence[SparseTensor], stack: Callable[[Sequence[Any]], Any]) -> SparseTensor:
        numbers = [np.full((len(value.indices.array), 1), i) for i, value in enumerate(values)]
        at = np.concatenate([np.hstack([n, v.indices.array]) for n, v in zip(numbers, values, strict=True)])
        entries = np.concatenate([value.values.array for value in values])
        shape = np.max([value.dense_shape.array for value in values], axis=0)
        return SparseTensor(at, wrap(entries, values[0].dtype), [len(values), *shape])


SparseTensorSpec.__module__ = "gradtape"


class VariableSpec(LeafSpec):
    """The shape and dtype of a variable, and whether it is trainable.

    >>> tf.type_spec_from_value(tf.Variable([1.0, 2.0]))
    VariableSpec(shape=(2,), dtype=tf.float32, trainable=True, alias_id=None)
    """

    __slots__ = ("_alias_id", "_dtype", "_shape", "_trainable")
    value_type = Variable

    def __init__(
        self, shape: object, dtype: object = dtypes.float32, trainable: bool = True, alias_id: int | None = None
    ) -> None:
        self._shape, self._dtype = TensorShape(shape), as_dtype(dtype)
        self._trainable, self._alias_id = trainable, alias_id

    shape = property(lambda self: self._shape, doc="The shape.")
    dtype = property(lambda self: self._dtype, doc="The dtype.")
    trainable = property(lambda self: self._trainable, doc="Whether the variable is trainable.")

    @classmethod
    def from_value(cls, value: Variable) -> VariableSpec:
        """The spec of a variable."""
        return cls(value.shape, value.dtype, value.trainable)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._trainable, self._alias_id

    def __repr__(self) -> str:
        return (
            f"VariableSpec(shape={self._shape}, dtype={self._dtype!r}, trainable={self._trainable!r}, "
            f"alias_id={self._alias_id!r})"
        )


class TensorArraySpec(LeafSpec):
    """The shape and dtype of a `TensorArray`'s elements, whether it grows, and whether all have one shape.

    >>> tf.type_spec_from_value(tf.TensorArray(tf.float32, size=3, element_shape=[2]))
    TensorArraySpec(TensorShape([2]), tf.float32, False, True)
    """

    __slots__ = ("_dtype", "_dynamic_size", "_element_shape", "_infer_shape")
    value_type = TensorArray

    def __init__(
        self, element_shape: object = None, dtype: object = dtypes.float32, dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:  # fmt: skip
        self._element_shape, self._dtype = TensorShape(element_shape), as_dtype(dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._dtype

    @classmethod
    def from_value(cls, value: object) -> TensorArraySpec:
        """The spec of a `TensorArray`."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: `{type(value)}`")
        return cls(value.element_shape, value.dtype, value.dynamic_size, value._infer_shape)

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Whether the array, or some array of that spec, could be of this spec."""
        return isinstance(spec_or_value, TensorArray | TypeSpec) and super().is_compatible_with(spec_or_value)

    def is_subtype_of(self, other: object) -> bool:
        """Whether every array of this spec is also of spec `other`; as in TensorFlow, the shape is ignored."""
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype is other._dtype
            and self._dynamic_size == other._dynamic_size
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorArraySpec | None:
        """This spec, if it is a subtype of all the others."""
        return self if all(self.is_subtype_of(other) for other in others) else None

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape


TensorArraySpec.__module__ = "gradtape"


def _spec_of_slices(value: IndexedSlices) -> IndexedSlicesSpec:
    dense = value.dense_shape
    shape = [None, *value.values.shape[1:]] if dense is None else value.shape
    dtype = None if dense is None else to_tensor(dense).dtype
    return IndexedSlicesSpec(shape, value.dtype, value.indices.dtype, dtype, value.indices.shape)


def _spec_of_anything(value: object) -> TensorSpec:
    try:
        return TensorSpec.from_tensor(to_tensor(value))
    except (TypeError, ValueError):
        raise TypeError(f"Could not build a `TypeSpec` for {value!r} with type {type(value).__name__}") from None


IndexedSlices._type_spec = property(_spec_of_slices)  # type: ignore[assignment, method-assign]
SparseTensor._type_spec = property(SparseTensorSpec.from_value)  # type: ignore[assignment, method-assign]
register_type_spec_from_value_converter(object, _spec_of_anything, allow_subclass=True)
register_type_spec_from_value_converter(TensorArray, TensorArraySpec.from_value)
register_type_spec_from_value_converter(Variable, VariableSpec.from_value, allow_subclass=True)
register_type_spec_from_value_converter(Tensor, TensorSpec.from_tensor, allow_subclass=True)

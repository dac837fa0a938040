"""`DynamicRaggedShape`: the shape of a ragged tensor, with the length of every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..api.arrays import repeating, shaping
from ..core import dtypes, errors
from ..core.composites import CompositeTensor
from ..core.dtypes import DType, as_dtype
from ..core.shapes import TensorShape
from ..core.tensor import Tensor, wrap
from ..core.type_hints import DTypeLike, ShapeLike, TensorLike
from ..engine.run.convert import to_array, to_tensor
from ..engine.run.namespace import ops
from ..state.specs import TensorSpec
from ..state.type_spec import TypeSpec
from .elementwise import broadcast
from .partition import RowPartition, RowPartitionSpec
from .tensor import RaggedTensor

NAMESPACES = ("experimental",)
__all__ = ["DynamicRaggedShape"]


class DynamicRaggedShape(CompositeTensor):
    """The sizes of a ragged tensor: one per uniform dimension, and one per row of each ragged dimension.

    >>> tf.shape(tf.ragged.constant([[1, 2], [3]]))
    <DynamicRaggedShape lengths=[2, (2, 1)] num_row_partitions=1>
    """

    __module__ = "gradtape.experimental"

    def __init__(
        self,
        row_partitions: Sequence[RowPartition],
        inner_shape: Any,
        dtype: Any = None,
        validate: bool = False,
        static_inner_shape: Any = None,
    ) -> None:
        if not isinstance(row_partitions, list | tuple) or not all(isinstance(r, RowPartition) for r in row_partitions):
            raise TypeError(f"row_partitions should be a list of RowPartitions, got {row_partitions!r}")
        sizes = to_tensor(inner_shape, None, dtypes.int64)
        given = None if dtype is None else as_dtype(dtype)
        self._dtype = given or (row_partitions[0].dtype if row_partitions else sizes.dtype)
        if self._dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"dtype must be tf.int32 or tf.int64, got {self._dtype.name}")
        self._inner = sizes if sizes.dtype is self._dtype else ops.cast(sizes, dtype=self._dtype)
        self._partitions = tuple([rows.with_dtype(self._dtype) for rows in row_partitions])

    @classmethod
    def from_lengths(
        cls, lengths: Sequence[Any], num_row_partitions: int | None = None, dtype: DTypeLike = dtypes.int64
    ) -> DynamicRaggedShape:
        """Creates a shape from lengths: a number for a uniform dimension, otherwise a list with one per row."""
        if not isinstance(lengths, list | tuple):
            raise ValueError(f"lengths should be a list, got {lengths!r}")
        kind = as_dtype(dtype)
        ragged = [i for i, length in enumerate(lengths) if not isinstance(length, int)]
        least = max(ragged, default=0)
        count = least if num_row_partitions is None else num_row_partitions
        if count < least or (lengths and count >= len(lengths)) or 0 in ragged:
            raise ValueError(f"num_row_partitions={count} does not go with lengths={lengths}")
        rows, partitions = lengths[0] if lengths else 1, []
        for length in lengths[1 : count + 1]:
            if isinstance(length, int):
                made = RowPartition.from_uniform_row_length(length, nrows=rows, dtype=kind)
            else:
                made = RowPartition.from_row_lengths(to_tensor(np.array(length, kind.numpy)))
                if made.rows != rows:
                    raise ValueError(f"Shape not consistent. There are {rows} rows and the lengths {tuple(length)}")
            partitions.append(made)
            rows = made.count
        inner = [rows, *lengths[count + 1 :]] if lengths else []
        return cls(partitions, np.array(inner, kind.numpy), kind)

    @classmethod
    def from_row_partitions(cls, row_partitions: Any, dtype: DTypeLike | None = None) -> DynamicRaggedShape:
        """Creates the shape of values with these row partitions."""
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        return cls(row_partitions, [row_partitions[-1].count], dtype)

    @classmethod
    def from_tensor(cls, t: TensorLike, dtype: DTypeLike | None = None) -> DynamicRaggedShape:
        """Returns the shape of a tensor, ragged or not."""
        if isinstance(t, RaggedTensor):
            return cls(t._nested_row_partitions, np.array(t.flat_values.dims, np.int64), dtype or t.row_splits.dtype)
        return cls([], np.array(to_tensor(t).dims, np.int64), dtype or dtypes.int64)

    @property
    def dtype(self) -> DType:
        """The dtype of the sizes: int32 or int64."""
        return self._dtype

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """The row partitions, outermost first."""
        return self._partitions

    @property
    def num_row_partitions(self) -> int:
        """The number of row partitions."""
        return len(self._partitions)

    @property
    def inner_shape(self) -> Tensor:
        """The shape of the flat values."""
        return self._inner

    @property
    def inner_rank(self) -> int:
        """The rank of the flat values."""
        return self._inner.dims[0]

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self.num_row_partitions + self.inner_rank

    def is_uniform(self, axis: int) -> bool:
        """Returns whether a dimension is known to be uniform."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            raise IndexError("Negative axis values are not supported")
        if axis >= self.rank:
            raise IndexError(f"Expected axis={axis} < rank={self.rank}")
        return axis == 0 or axis > self.num_row_partitions or self._partitions[axis - 1].is_uniform()

    def with_dtype(self, dtype: DTypeLike) -> DynamicRaggedShape:
        """Returns the shape with another dtype of sizes."""
        return DynamicRaggedShape(self._partitions, self._inner, dtype)

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """Returns the size of each dimension; for ragged ones all row lengths, or None if `ragged_lengths` is false."""
        found: list[Any] = [self._partitions[0].rows] if self._partitions else []
        for rows in self._partitions:
            uniform = rows.static_uniform_row_length
            if uniform is None and ragged_lengths:
                uniform = tuple(to_array(rows.row_lengths()).tolist())
            found.append(uniform)
        sizes = to_array(self._inner).tolist()
        return found + (sizes[1:] if self._partitions else sizes)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._some(index)
        at = int(index) + (self.rank if int(index) < 0 else 0)
        if at < 0 or at >= self.rank:
            raise IndexError(f"Index {index} is not in a shape of rank {self.rank}")
        if not self.is_uniform(at):
            raise ValueError(f"Index {at} is not uniform")
        return to_tensor(self.static_lengths()[at], self._dtype)

    def _some(self, index: slice) -> DynamicRaggedShape:
        start, stop, step = index.indices(self.rank)
        if step != 1:
            raise IndexError("Cannot stride through a shape")
        lengths = self.static_lengths()[start:stop]
        if start and not all(isinstance(length, int) for length in lengths):
            raise ValueError("All relevant dimensions must be uniform")
        return DynamicRaggedShape.from_lengths(lengths, dtype=self._dtype)

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, DynamicRaggedShape):
            return False
        mine, its = (shape.static_lengths() for shape in (self, other))
        return wrap(np.bool_([_each(n) for n in mine] == [_each(n) for n in its]), dtypes.bool)

    __hash__ = None  # type: ignore[assignment]

    @property
    def _type_spec(self) -> Any:
        return DynamicRaggedShape.Spec.from_value(self)

    def with_flat_values(self, flat: Tensor) -> Any:
        """Returns the values with this shape."""
        for rows in reversed(self._partitions):
            flat = RaggedTensor(flat, rows, internal=True)  # type: ignore[assignment]
        return flat

    def __repr__(self) -> str:
        lengths = ", ".join(map(str, self.static_lengths()))
        return f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={self.num_row_partitions}>"

    class Spec(TypeSpec):
        """The type spec of a ragged shape."""

        __slots__ = ("_dtype", "_partitions", "_static_inner")

        def __init__(self, row_partitions: Any, static_inner_shape: Any, dtype: Any) -> None:
            self._partitions = tuple(row_partitions)
            self._static_inner = TensorShape(static_inner_shape)
            self._dtype = as_dtype(dtype)
            if self._dtype not in (dtypes.int32, dtypes.int64):
                raise ValueError(f"dtype must be tf.int32 or tf.int64, got {self._dtype.name}")

        @property
        def value_type(self) -> type:
            """The class of the values."""
            return DynamicRaggedShape

        @classmethod
        def from_value(cls, value: DynamicRaggedShape) -> DynamicRaggedShape.Spec:
            """Returns the spec of a shape."""
            inner = TensorShape([None] * value.inner_rank)
            return cls([rows._type_spec for rows in value.row_partitions], inner, value.dtype)

        @classmethod
        def _from_tensor_shape(
            cls, shape: ShapeLike, num_row_partitions: int, dtype: DTypeLike
        ) -> DynamicRaggedShape.Spec:
            """Returns the spec of a uniform shape whose first dimensions are row partitions."""
            known = TensorShape(shape)
            if known.rank is None:
                return cls([RowPartitionSpec(dtype=dtype) for _ in range(num_row_partitions)], known, dtype)
            if num_row_partitions and known.rank <= 1:
                raise ValueError("num_row_partitions should be zero if shape is a scalar or vector.")
            if num_row_partitions and known.rank <= num_row_partitions:
                raise ValueError(f"num_row_partitions must be less than rank: {num_row_partitions} of shape {known}")
            if not num_row_partitions:
                return cls([], known, dtype)
            rows, partitions = known[0], []
            for length in known.as_list()[1 : num_row_partitions + 1]:
                count = None if rows is None or length is None else rows * length
                partitions.append(RowPartitionSpec(rows, count, length, dtype))
                rows = count
            return cls(partitions, [rows, *known.as_list()[num_row_partitions + 1 :]], dtype)

        @property
        def dtype(self) -> DType:
            """The dtype of the sizes."""
            return self._dtype

        @property
        def num_row_partitions(self) -> int:
            """The number of row partitions."""
            return len(self._partitions)

        @property
        def inner_rank(self) -> int | None:
            """The rank of the flat values."""
            return self._static_inner.rank

        @property
        def rank(self) -> int | None:
            """The number of dimensions."""
            return None if self.inner_rank is None else self.num_row_partitions + self.inner_rank

        def with_dtype(self, dtype: DTypeLike) -> DynamicRaggedShape.Spec:
            """Returns the spec with another dtype of sizes."""
            return DynamicRaggedShape.Spec(self._partitions, self._static_inner, dtype)

        def _serialize(self) -> tuple[Any, ...]:
            return self._partitions, self._static_inner, self._dtype

        @property
        def _component_specs(self) -> Any:
            return [TensorSpec([self.inner_rank], self._dtype), *self._partitions]

        def _to_components(self, value: DynamicRaggedShape) -> Any:
            return [value.inner_shape, *value.row_partitions]

        def _from_components(self, components: Any) -> DynamicRaggedShape:
            return DynamicRaggedShape(components[1:], components[0], self._dtype)


def _each(length: Any) -> Any:
    """Returns a single number for equal lengths."""
    return length[0] if isinstance(length, tuple) and len(set(length)) == 1 else length


def _stand_in(shape: Any) -> Any:
    """Returns a value with a shape."""
    if not isinstance(shape, DynamicRaggedShape):
        return to_tensor(np.zeros(to_array(shape).tolist(), np.int8))
    return shape.with_flat_values(to_tensor(np.zeros(to_array(shape.inner_shape).tolist(), np.int8)))


def shape_of(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> DynamicRaggedShape:
    """`tf.shape` of a ragged tensor."""
    return DynamicRaggedShape.from_tensor(input, dtypes.int32 if out_type is None else out_type)


def reshape(tensor: TensorLike, shape: ShapeLike, name: str | None = None) -> Any:
    """`tf.reshape` of a ragged tensor's values, or to a ragged shape."""
    flat = tensor.flat_values if isinstance(tensor, RaggedTensor) else tensor
    if not isinstance(shape, DynamicRaggedShape):
        return shaping.reshape(flat, shape)
    return shape.with_flat_values(shaping.reshape(flat, shape.inner_shape))


def broadcast_to(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Any:
    """`tf.broadcast_to` a ragged shape."""
    if not isinstance(shape, DynamicRaggedShape):
        raise TypeError(f"shape must be a DynamicRaggedShape where the input is ragged, got {shape!r}")
    x = input if isinstance(input, RaggedTensor) else to_tensor(input)
    if len(x.shape) > shape.rank:
        raise errors.InvalidArgumentError(f"rank {len(x.shape)} of the input is more than that of the shape {shape}")
    dims = tuple(to_array(shape.inner_shape).tolist())
    if not shape.num_row_partitions or not len(x.shape):
        return shape.with_flat_values(repeating.broadcast_to(x, dims))
    found = broadcast([_with_dtype(x, shape.dtype), _stand_in(shape)], shape.rank)[0]
    return found.with_flat_values(repeating.broadcast_to(found.flat_values, dims))


def _with_dtype(x: Any, dtype: DType) -> Any:
    return x.with_row_splits_dtype(dtype) if isinstance(x, RaggedTensor) else x


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """`tf.broadcast_dynamic_shape` with a ragged shape."""
    given = [shape for shape in (shape_x, shape_y) if isinstance(shape, DynamicRaggedShape)]
    if not any(shape.num_row_partitions for shape in given):
        sizes = [shape.inner_shape if shape in given else shape for shape in (shape_x, shape_y)]
        return DynamicRaggedShape([], repeating.broadcast_dynamic_shape(*sizes), given[0].dtype)
    both = broadcast([_stand_in(shape_x), _stand_in(shape_y)])
    ragged = [x for x in both if isinstance(x, RaggedTensor)]
    flat = ops.add(*[x.flat_values if isinstance(x, RaggedTensor) else x for x in both])
    return DynamicRaggedShape.from_tensor(ragged[0].with_flat_values(flat), given[0].dtype)


def filled(plain: Any, shape: ShapeLike, *args: Any, **kwargs: Any) -> Any:
    """`tf.zeros` and similar functions with a ragged shape."""
    if not isinstance(shape, DynamicRaggedShape):
        return NotImplemented
    return shape.with_flat_values(plain(shape.inner_shape, *args, **kwargs))


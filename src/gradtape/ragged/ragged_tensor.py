"""`RaggedTensor`: rows of different lengths, stored as one tensor of values and a row partition."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import dtypes
from ..core.composites import WithValuesCompositeTensorGradient
from ..core.dtypes import DType, as_dtype
from ..core.errors import runs_with_examples
from ..core.extension_points import takes_foreign_arguments
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.tracebacks import bounded
from ..engine.registry.op import Op
from ..engine.run import convert
from ..engine.run.convert import to_tensor
from ..engine.run.namespace import ops
from . import indices
from .constructors import MadeOfRows, converted, static_rows_of
from .partition import RowPartition, cut_at

if TYPE_CHECKING:
    from ..core.type_hints import Operators

    class _RaggedOperators(MadeOfRows, Operators["RaggedTensor"]):
        """A base class for type checkers."""
else:
    _RaggedOperators = MadeOfRows  # `operators` attaches the operators

elsewhere = SimpleNamespace()  # implementations in other modules that depend on the class: see `tensor.py`


@bounded
class RaggedTensor(_RaggedOperators):
    """A tensor with dimensions whose slices differ in length.

    The `values` are the concatenated rows, a tensor or another ragged tensor; `row_splits` has the begin and end of
    each row. Tapes treat the `flat_values`, the innermost values, like any tensor.

    >>> rt = tf.RaggedTensor.from_row_splits(values=[3, 1, 4, 1, 5, 9], row_splits=[0, 4, 4, 6])
    >>> rt
    <tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9]]>
    >>> (rt * 2 + 1).to_list()
    [[7, 3, 9, 3], [], [11, 19]]
    """

    __slots__ = ()
    _is_native = True
    __composite_gradient__ = WithValuesCompositeTensorGradient()

    def __init__(self, values: object, row_partition: RowPartition, internal: bool = False) -> None:
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                "RaggedTensor.from_row_lengths())"
            )
        self._values = values
        self._row_partition = row_partition.of(static_rows_of(values))

    # Factory methods: see also `MadeOfRows`

    @classmethod
    @takes_foreign_arguments
    @runs_with_examples
    def from_tensor(
        cls, tensor: object, lengths: object = None, padding: object = None, ragged_rank: int = 1,
        name: str | None = None, row_splits_dtype: object = dtypes.int64,
    ) -> RaggedTensor:  # fmt: skip
        """Convert a dense tensor: cut its rows to the given lengths, strip trailing padding, or keep them whole.

        >>> tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0)
        <tf.RaggedTensor [[1, 2], [3]]>
        """
        return elsewhere.from_tensor(tensor, lengths, padding, ragged_rank, as_dtype(row_splits_dtype))

    @classmethod
    @takes_foreign_arguments
    @runs_with_examples
    def from_sparse(
        cls, st_input: object, name: str | None = None, row_splits_dtype: object = dtypes.int64
    ) -> RaggedTensor:
        """Convert a sparse matrix whose values are at the beginnings of its rows.

        >>> st = tf.SparseTensor(indices=[[0, 0], [0, 1], [2, 0]], values=[1, 2, 3], dense_shape=[3, 3])
        >>> tf.RaggedTensor.from_sparse(st)
        <tf.RaggedTensor [[1, 2], [], [3]]>
        """
        return elsewhere.from_sparse(st_input, as_dtype(row_splits_dtype))

    # Accessors

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape, with None for ragged dimensions."""
        rows = self._row_partition
        return TensorShape([rows.static_nrows, rows.static_uniform_row_length, *self._values.shape[1:]])

    def get_shape(self) -> TensorShape:
        """Same as `shape`."""
        return self.shape

    @property
    def ragged_rank(self) -> int:
        """The number of row partitions."""
        inner = self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0
        return inner + 1

    @property
    def values(self) -> Any:
        """The concatenated rows: a tensor, or a ragged tensor of one dimension less."""
        return self._values

    @property
    def flat_values(self) -> Any:
        """The innermost values: a tensor."""
        values = self._values
        while isinstance(values, RaggedTensor):
            values = values._values
        return values

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The uniform row length, or None."""
        return self._row_partition.uniform_row_length()

    @property
    def _nested_row_partitions(self) -> tuple[RowPartition, ...]:
        found = []
        values: Any = self
        while isinstance(values, RaggedTensor):
            found.append(values._row_partition)
            values = values._values
        return tuple(found)

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The `row_splits` of all row partitions, outermost first."""
        return tuple([rows.row_splits() for rows in self._nested_row_partitions])

    @runs_with_examples
    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The `value_rowids` of all row partitions, outermost first."""
        return tuple([rows.value_rowids() for rows in self._nested_row_partitions])

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The `row_lengths` of all row partitions, outermost first."""
        return tuple([rows.row_lengths() for rows in self._nested_row_partitions])

    @runs_with_examples
    def value_rowids(self, name: str | None = None) -> Tensor:
        """The row number of each value."""
        return self._row_partition.value_rowids()

    @runs_with_examples
    def nrows(self, out_type: object = None, name: str | None = None) -> Tensor:
        """The number of rows."""
        kind = self._row_partition.dtype if out_type is None else as_dtype(out_type)
        return indices.number(self._row_partition.rows, kind)

    def row_starts(self, name: str | None = None) -> Tensor:
        """The offsets in `values` at which rows begin."""
        return self._row_partition.row_starts()

    def row_limits(self, name: str | None = None) -> Tensor:
        """The offsets in `values` at which rows end."""
        return self._row_partition.row_limits()

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the slices along `axis`: a tensor, ragged for an inner axis.

        >>> tf.ragged.constant([[[1, 2], [3]], []]).row_lengths(axis=2)
        <tf.RaggedTensor [[2, 1], []]>
        """
        axis = axis_of(axis, self.shape.rank)
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._row_partition.row_lengths()
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        dims = self._values.dims
        shape = dims[: axis - 1]
        full = np.full(shape, dims[axis - 1], self.row_splits.dtype.numpy)
        return self.with_values(to_tensor(full))

    @runs_with_examples
    def bounding_shape(self, axis: object = None, name: str | None = None, out_type: object = None) -> Tensor:
        """The shape of the smallest dense tensor that holds all rows.

        >>> tf.ragged.constant([[1, 2, 3], [4]]).bounding_shape().numpy().tolist()
        [2, 3]
        """
        own = self._row_partition.dtype
        kind, zero = own if out_type is None else as_dtype(out_type), indices.number(0, own)
        nested = [ops.max(n, axis=(0,), keepdims=False) if n.dims[0] else zero for n in self.nested_row_lengths()]
        inner = [indices.number(n, own) for n in self.flat_values.dims[1:]]
        box = ops.stack(self.nrows(), *nested, *inner, axis=0)
        box = box if kind is box.dtype else ops.cast(box, dtype=kind)
        return box if axis is None else indices.picked(box, to_tensor(axis))

    # Modified copies

    @runs_with_examples
    def with_values(self, new_values: object) -> RaggedTensor:
        """Returns a ragged tensor with other values and the same row partition."""
        values = converted(new_values)
        if isinstance(values, RaggedTensor) and values.row_splits.dtype is not self.row_splits.dtype:
            raise ValueError(
                "self and new_values have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to "
                "convert them to compatible dtypes."
            )
        new, old = static_rows_of(values), static_rows_of(self._values)
        if new != old and new is not None and old is not None:
            raise ValueError(
                f"Dimensions {new} and {old} are not compatible: there must be as many new values as there were values"
            )
        return RaggedTensor(values, self._row_partition, internal=True)

    @runs_with_examples
    def with_flat_values(self, new_values: object) -> RaggedTensor:
        """Returns a ragged tensor with other flat values and the same row partitions."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: object) -> RaggedTensor:
        """Returns the ragged tensor with row splits of another dtype."""
        kind = as_dtype(dtype)
        if kind not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"Argument `row_splits` dtype must be int32 or int64. Received {dtype}.")
        if kind is self._row_partition.dtype:
            return self
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(kind)
        return RaggedTensor(values, self._row_partition.with_dtype(kind), internal=True)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Merge the dimensions from `outer_axis` to `inner_axis`.

        >>> tf.ragged.constant([[[1, 2], [3]], [[4]]]).merge_dims(1, 2)
        <tf.RaggedTensor [[1, 2, 3], [4]]>
        """
        rank = self.shape.rank
        outer, inner = axis_of(outer_axis, rank, "outer_axis"), axis_of(inner_axis, rank, "inner_axis")
        if outer > inner:
            raise ValueError(f"Expected outer_axis ({outer}) to be less than or equal to inner_axis ({inner}).")
        return elsewhere.merge_dims(self, outer, inner)

    def _set_shape(self, shape: object) -> None:
        """Merge static information on the shape: uniform row lengths."""
        given = TensorShape(shape)
        if given.rank is None:
            return
        values: Any = self
        for axis in range(1, self.ragged_rank + 1):
            rows, size = values._row_partition, given[axis]
            known = rows.static_uniform_row_length
            if size is not None and known is not None and known != size:
                raise ValueError(f"Inconsistent size for axis {axis}: {known} vs. {size}.")
            if size is not None:
                values._row_partition = cut_at(rows.row_splits(), size, rows.static_nvals)
            values = values._values

    def _as_text(self, count: int) -> Tensor:
        """Format for `tf.print`, with `count` elements at both ends of each dimension, all if negative."""
        return elsewhere.written(self, count)

    # Conversion

    @runs_with_examples
    def to_tensor(self, default_value: object = None, name: str | None = None, shape: object = None) -> Tensor:
        """Convert to a dense tensor: pad rows with `default_value`, or truncate them to `shape`.

        >>> tf.ragged.constant([[1, 2, 3], [4]]).to_tensor().numpy().tolist()
        [[1, 2, 3], [4, 0, 0]]
        """
        return elsewhere.to_dense(self, default_value, shape)

    @runs_with_examples
    def to_sparse(self, name: str | None = None) -> Any:
        """Convert to a sparse tensor with the same values.

        >>> tf.ragged.constant([[1, 2], [3]]).to_sparse().indices.numpy().tolist()
        [[0, 0], [0, 1], [1, 0]]
        """
        return elsewhere.to_sparse(self)

    def numpy(self) -> Any:
        """Convert to a NumPy array: of objects, one per row, if rows differ in length."""
        if not self._is_eager():
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        values, splits = self._values.numpy(), self.row_splits.array.tolist()
        rows = [values[i:j] for i, j in pairwise(splits)]
        if not rows:
            return np.zeros((0, 0, *values.shape[1:]), values.dtype)
        if any(len(row) != len(rows[0]) for row in rows):
            array = np.empty(len(rows), object)
            array[:] = rows
            return array
        return np.array(rows)

    def to_list(self) -> list[Any]:
        """Convert to a nested list of Python values."""
        if not self._is_eager():
            raise ValueError("to_list can only be used in eager mode.")
        values = self._values.to_list() if isinstance(self._values, RaggedTensor) else self._values.numpy().tolist()
        splits = self.row_splits.array.tolist()
        return [values[i:j] for i, j in pairwise(splits)]

    def _is_eager(self) -> bool:
        return not any(hasattr(part, "trace") for part in (self.flat_values, *self.nested_row_splits))

    def consumers(self) -> list[Any]:
        """Empty: consumers of eager values are not tracked."""
        return []

    # Python protocol

    def __getitem__(self, key: object) -> Any:
        return elsewhere.item(self, key)

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean. Use tf.reduce_any or tf.reduce_all")

    def __hash__(self) -> int:
        raise TypeError("RaggedTensor is unhashable.")

    def _mapped(self, op: Op, values: Sequence[Any], attributes: dict[str, Any]) -> Any:
        """Apply an elementwise op to arguments some of which are ragged."""
        if op.family != "elementwise":
            return NotImplemented
        return elsewhere.applied(op, values, attributes)

    @property
    def _type_spec(self) -> Any:
        return elsewhere.spec.from_value(self)

    def _shape_invariant_to_type_spec(self, shape: object) -> Any:
        return type(self._type_spec)(shape, self.dtype, self.ragged_rank, self.row_splits.dtype)

    def __repr__(self) -> str:
        if not self._is_eager():
            return f"tf.RaggedTensor(values={self._values}, row_splits={self.row_splits})"
        with np.printoptions(formatter={"all": _written}):
            return f"<tf.RaggedTensor {_written(self.numpy())}>"


RaggedTensor.__module__ = "gradtape"


def _written(x: object) -> str:
    """Format an array with commas between its elements."""
    if not isinstance(x, np.ndarray):
        return str(x)
    return np.array2string(x, separator=", ") if x.size else repr(x.tolist())


def axis_of(axis: object, rank: int | None, name: str = "axis") -> int:
    """Normalize an axis, which may be negative."""
    if not isinstance(axis, int):
        if not isinstance(axis, Tensor | np.integer):
            raise TypeError(f"{name} must be an int; got {axis!r}")
        axis = indices.looked_at(axis)
    if rank is None or not -rank <= axis < rank:
        raise ValueError(f"{name}={axis} out of bounds: expected {-(rank or 0)}<={name}<{rank}")
    return axis % rank


def _refused(value: RaggedTensor, dtype: DType | None) -> Tensor:
    raise ValueError(
        "TypeError: object of type 'RaggedTensor' has no len()\nA ragged tensor is no tensor: use rt.to_tensor(), or a "
        f"function that takes ragged tensors. Got one of shape {value.shape} and dtype {value.dtype.name}"
    )


convert.register(RaggedTensor, _refused)

"""`RowPartition`: the partition of a sequence of values into rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.composites import CompositeTensor
from ..core.dtypes import DType, as_dtype
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..engine.run.convert import to_tensor
from ..engine.run.namespace import ops
from ..engine.run.verification import verify
from ..state.specs import TensorSpec
from ..state.type_spec import TypeSpec
from . import indices

_Integers = np.ndarray[Any, np.dtype[Any]]


class RowPartition(CompositeTensor):
    """The begin and end of each row in a sequence of values; optionally with a uniform row length.

    >>> rows = tf.experimental.RowPartition.from_row_lengths([2, 0, 1])
    >>> rows.row_splits().numpy().tolist(), rows.value_rowids().numpy().tolist()
    ([0, 2, 2, 3], [0, 0, 2])
    """

    __module__ = "gradtape.experimental"

    __slots__ = ("__weakref__", "_count", "_splits", "_uniform")

    def __init__(
        self, row_splits: Tensor, row_lengths: object = None, value_rowids: object = None, nrows: object = None,
        uniform_row_length: int | None = None, nvals: int | None = None, internal: bool = False,
    ) -> None:  # fmt: skip
        if not internal:
            raise ValueError(
                "RowPartition constructor is private; please use one of the factory methods instead (e.g., "
                "RowPartition.from_row_lengths())"
            )
        self._splits, self._uniform = row_splits, uniform_row_length
        self._count = nvals  # the number of values, if known without reading the splits

    # Constructors

    @classmethod
    def from_row_splits(
        cls, row_splits: object, validate: bool = True, dtype: object = None, dtype_hint: object = None
    ) -> RowPartition:
        """Create rows that begin at `row_splits[:-1]` and end at `row_splits[1:]`."""
        check_flag(validate)
        if isinstance(row_splits, list | tuple) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        splits = _vector(row_splits, "row_splits", dtype, dtype_hint)

        def test(array: _Integers) -> None:
            _hold(array[:1] == 0, "Arguments to from_row_splits do not form a valid RaggedTensor:zero", array)
            _rises(array, "Arguments to from_row_splits do not form a valid RaggedTensor:monotonic")

        if validate:
            verify(test, splits)
        return cut_at(splits)

    @classmethod
    def from_row_lengths(
        cls, row_lengths: object, validate: bool = True, dtype: object = None, dtype_hint: object = None
    ) -> RowPartition:
        """Create rows of these lengths."""
        check_flag(validate)
        lengths = _vector(row_lengths, "row_lengths", dtype, dtype_hint)
        message = "Arguments to from_row_lengths do not form a valid RowPartition"
        if validate:
            verify(lambda array: _hold(array >= 0, message, array), lengths)
        return cut_at(indices.splits_of(lengths))

    @classmethod
    def from_row_starts(
        cls, row_starts: object, nvals: object, validate: bool = True, dtype: object = None, dtype_hint: object = None
    ) -> RowPartition:
        """Create rows that begin at `row_starts`; the last ends at `nvals`."""
        check_flag(validate)
        starts = _vector(row_starts, "row_starts", dtype, dtype_hint)
        end = to_tensor(nvals)
        count = int(end.array) if type(end) is Tensor else None
        end = end if end.dtype is starts.dtype else ops.cast(end, dtype=starts.dtype)
        message = "Arguments to from_row_starts do not form a valid RaggedTensor"

        def test(array: _Integers, last: _Integers) -> None:
            _hold(array[:1] == 0, message, array)
            _rises(array, message)
            _hold(array[-1:] <= last, message, array)

        if validate:
            verify(test, starts, end)
        return cut_at(ops.concat(starts, ops.reshape(end, shape=(1,)), axis=0), count=count)

    @classmethod
    def from_row_limits(
        cls, row_limits: object, validate: bool = True, dtype: object = None, dtype_hint: object = None
    ) -> RowPartition:
        """Create rows that end at `row_limits`; the first begins at 0."""
        check_flag(validate)
        limits = _vector(row_limits, "row_limits", dtype, dtype_hint)
        message = "Arguments to from_row_limits do not form a valid RaggedTensor"

        def test(array: _Integers) -> None:
            _hold(array[:1] >= 0, message, array)
            _rises(array, message)

        if validate:
            verify(test, limits)
        zero = to_tensor(np.zeros(1, limits.dtype.numpy))
        return cut_at(ops.concat(zero, limits, axis=0))

    @classmethod
    def from_value_rowids(
        cls, value_rowids: object, nrows: object = None, validate: bool = True, dtype: object = None,
        dtype_hint: object = None,
    ) -> RowPartition:  # fmt: skip
        """Group values with equal `value_rowids`, which must be non-decreasing, into rows."""
        check_flag(validate)
        ids = _vector(value_rowids, "value_rowids", dtype, dtype_hint)
        if nrows is None:
            count = indices.looked_at(ids[-1]) + 1 if ids.dims[0] else 0
        elif to_tensor(nrows).dims:
            raise ValueError(f"Shape {to_tensor(nrows).shape} must have rank 0: nrows is one integer")
        elif (count := indices.looked_at(nrows)) < 0:
            raise ValueError(f"Expected nrows >= 0; got {count}")
        message = "Arguments to from_value_rowids do not form a valid RowPartition"

        def test(array: _Integers) -> None:
            _hold(array[:1] >= 0, message, array)
            _rises(array, message)
            if nrows is not None and len(array) and count <= array[-1]:
                raise ValueError(
                    f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]={array[-1]}"
                )

        if validate:
            verify(test, ids)
        return cut_at(indices.searched(ids, indices.counting(count + 1, ids.dtype), "left"), count=ids.dims[0])

    @classmethod
    def from_uniform_row_length(
        cls, uniform_row_length: object, nvals: object = None, nrows: object = None, validate: bool = True,
        dtype: object = None, dtype_hint: object = None,
    ) -> RowPartition:  # fmt: skip
        """Create rows of one length: `nrows` of them, or as many as `nvals` values fill."""
        check_flag(validate)
        if nrows is None and nvals is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        length = _integer(uniform_row_length, "uniform_row_length", dtype, dtype_hint)
        each = indices.looked_at(length)
        if each < 0:
            raise ValueError("uniform_row_length must be >= 0.")
        given = 0 if nvals is None else indices.looked_at(nvals)
        count = indices.looked_at(nrows) if nrows is not None else given // each if each else 0
        values = count * each if nvals is None else given
        if count * each != values:
            raise ValueError(f"uniform_row_length={each} times nrows={count} must equal nvals={values}")
        splits = np.arange(count + 1, dtype=length.dtype.numpy) * each
        return cut_at(to_tensor(splits), each, values)

    # Accessors

    @property
    def dtype(self) -> DType:
        """The dtype of the splits: int32 or int64."""
        return self._splits.dtype

    def row_splits(self) -> Tensor:
        """The offsets of the rows, followed by the end of the last row."""
        return self._splits

    def row_starts(self) -> Tensor:
        """The offsets at which rows begin."""
        return self._splits[:-1]

    def row_limits(self) -> Tensor:
        """The offsets at which rows end."""
        return self._splits[1:]

    def row_lengths(self) -> Tensor:
        """The lengths of the rows."""
        return indices.lengths_between(self._splits)

    def value_rowids(self) -> Tensor:
        """The row number of each value."""
        return indices.row_numbers(self._splits, self.count)

    def offsets_in_rows(self) -> Tensor:
        """The position of each value in its row."""
        return indices.offsets(self._splits, self.count)

    def nrows(self) -> Tensor:
        """The number of rows."""
        return indices.number(self.rows, self.dtype)

    def nvals(self) -> Tensor:
        """The number of values."""
        return indices.number(self.count, self.dtype)

    def uniform_row_length(self) -> Tensor | None:
        """The uniform row length, or None."""
        return None if self._uniform is None else indices.number(self._uniform, self.dtype)

    def is_uniform(self) -> bool:
        """Whether the row length is known to be uniform."""
        return self._uniform is not None

    @property
    def rows(self) -> int:
        """The number of rows as an int."""
        return self._splits.dims[0] - 1

    @property
    def count(self) -> int:
        """The number of values as an int; in a trace, this reads the splits and specializes on them."""
        if self._count is None:
            self._count = indices.looked_at(self._splits[-1])
        return self._count

    @property
    def static_nrows(self) -> int | None:
        """The number of rows, or None in a scratch graph."""
        try:
            return self.rows
        except errors.NeedsExamples:
            return None

    @property
    def static_nvals(self) -> int | None:
        """The number of values, if known without reading the splits."""
        return self._count

    @property
    def static_uniform_row_length(self) -> int | None:
        """The uniform row length, or None."""
        return self._uniform

    def of(self, count: int | None) -> RowPartition:
        """Returns the partition with a known number of values; None is unknown."""
        return self if self._count == count else cut_at(self._splits, self._uniform, count)

    def with_dtype(self, dtype: object) -> RowPartition:
        """Returns the partition with splits of another dtype."""
        kind = as_dtype(dtype)
        if kind not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        if kind is self.dtype:
            return self
        return cut_at(ops.cast(self._splits, dtype=kind), self._uniform, self._count)

    with_row_splits_dtype = with_dtype

    @property
    def _type_spec(self) -> RowPartitionSpec:
        return RowPartitionSpec(self.rows, None, self._uniform, self.dtype)

    def __repr__(self) -> str:
        if self._uniform is not None:
            return f"tf.RowPartition(nrows={self.rows}, uniform_row_length={self._uniform})"
        return f"tf.RowPartition(row_splits={self._splits._shown() if type(self._splits) is Tensor else self._splits})"


def cut_at(splits: Tensor, uniform: int | None = None, count: int | None = None) -> RowPartition:
    """Create a partition from `splits`; `uniform` is the row length and `count` the number of values, if known."""
    return RowPartition(splits, uniform_row_length=uniform, nvals=count, internal=True)


class RowPartitionSpec(TypeSpec):
    """The number of rows, uniform row length and dtype of a `RowPartition`, as far as known."""

    __slots__ = ("_dtype", "_nrows", "_nvals", "_uniform")
    value_type = RowPartition

    def __init__(
        self, nrows: int | None = None, nvals: int | None = None, uniform_row_length: int | None = None,
        dtype: object = None,
    ) -> None:  # fmt: skip
        self._nrows, self._nvals, self._uniform = nrows, nvals, uniform_row_length
        self._dtype = dtypes.int64 if dtype is None else as_dtype(dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return TensorShape([self._nrows]), TensorShape([self._nvals]), TensorShape([self._uniform]), self._dtype

    @classmethod
    def _deserialize(cls, serialization: Iterable[Any]) -> RowPartitionSpec:
        nrows, nvals, uniform, dtype = serialization
        return cls(nrows[0], nvals[0], uniform[0], dtype)

    @property
    def _component_specs(self) -> Any:
        return TensorSpec([None if self._nrows is None else self._nrows + 1], self._dtype)

    def _to_components(self, value: RowPartition) -> Any:
        return value.row_splits()

    def _from_components(self, components: Tensor) -> RowPartition:
        return cut_at(components, self._uniform)


def check_flag(validate: object) -> None:
    """Raises TypeError unless `validate` is a bool."""
    if not isinstance(validate, bool):
        raise TypeError(f"Argument `validate` must have type bool. Received {validate}.")


def _integer(value: object, name: str, dtype: object, hint: object) -> Tensor:
    """Convert a description of rows to integers: int64 unless they already have a dtype."""
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, np.ndarray) and value.dtype == np.int32 and wanted is None:
        found = to_tensor(value)
    else:
        found = to_tensor(value, wanted, dtypes.int64 if hint is None else as_dtype(hint))
    if found.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name} must have dtype int32 or int64, got {found.dtype.name}")
    return found


def _vector(value: object, name: str, dtype: object, hint: object) -> Tensor:
    found = _integer(value, name, dtype, hint)
    if found.shape.rank != 1:
        raise ValueError(f"Shape {found.shape} must have rank 1: {name} is a vector")
    return found


def _hold(condition: np.ndarray[Any, Any], message: str, shown: _Integers) -> None:
    if not np.all(condition):
        raise errors.InvalidArgumentError(f"{message}: got {np.asarray(shown).tolist()}")


def _rises(array: _Integers, message: str) -> None:
    _hold(array[1:] >= array[:-1], f"{message} (they must not descend)", array)

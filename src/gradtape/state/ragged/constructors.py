"""Factory methods of ragged tensors, from values and a description of the row partition."""

from __future__ import annotations

from typing import Any

from ...core import errors
from ...core.composites import CompositeTensor
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.verification import verify
from .partition import RowPartition, check_flag


class MadeOfRows(CompositeTensor):
    """The factory methods of `RaggedTensor`, which is `cls(values, row_partition, internal=True)`."""

    __slots__ = ("__weakref__", "_batch_sizes", "_row_partition", "_values")

    _batch_sizes: tuple[int, ...]  # of the batches that `Dataset.batch` combined; unset otherwise
    _row_partition: RowPartition
    _values: Any

    @property
    def row_splits(self) -> Tensor:
        """The offsets of the rows in `values`, followed by the end of the last row."""
        return self._row_partition.row_splits()

    @classmethod
    def _from_row_partition(cls, values: Any, row_partition: RowPartition, validate: bool = True) -> Any:
        """Partition the values into rows."""
        check_flag(validate)
        values = _as_values(values, row_partition.dtype)
        if isinstance(values, Tensor) and not values.dims:
            raise errors.InvalidArgumentError("slice index 0 of dimension 0 out of bounds: values must have rank >= 1")
        count = rows_of(values)

        def test(splits: Any) -> None:
            if splits[-1] != count:
                raise errors.InvalidArgumentError(
                    "Arguments to _from_row_partition do not form a valid RaggedTensor\nCondition x == y did not hold."
                    f"\nFirst 1 elements of x:\n[{splits[-1]}]\nFirst 1 elements of y:\n[{count}]: the rows end at "
                    f"{splits[-1]}, and there are {count} values"
                )

        if validate:
            verify(test, row_partition.row_splits())
        return cls(values, row_partition, internal=True)  # type: ignore[call-arg]

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
    ) -> Any:
        """Group values with equal `value_rowids`, which must be non-decreasing, into rows."""
        check_flag(validate)
        values = converted(values)
        rows = RowPartition.from_value_rowids(value_rowids, nrows, validate, dtype_hint=_partition_dtype(values))
        if rows.count != rows_of(values):
            raise ValueError(
                f"Shapes ({rows_of(values)},) and ({rows.count},) are incompatible: every value needs a row number"
            )
        return cls._from_row_partition(values, rows, validate)

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Create rows `values[row_splits[i]:row_splits[i + 1]]`."""
        check_flag(validate)
        values = converted(values)
        rows = RowPartition.from_row_splits(row_splits, validate, dtype_hint=_partition_dtype(values))
        return cls._from_row_partition(values, rows, validate)

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Create rows of `row_lengths[i]` consecutive values."""
        check_flag(validate)
        values = converted(values)
        rows = RowPartition.from_row_lengths(row_lengths, validate, dtype_hint=_partition_dtype(values))
        return cls._from_row_partition(values, rows, validate)

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Create rows that begin at `row_starts[i]`."""
        check_flag(validate)
        values = converted(values)
        hint = _partition_dtype(values)
        rows = RowPartition.from_row_starts(row_starts, rows_of(values), validate, dtype_hint=hint)
        return cls._from_row_partition(values, rows, validate)

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Create rows that end before `row_limits[i]`."""
        check_flag(validate)
        values = converted(values)
        rows = RowPartition.from_row_limits(row_limits, validate, dtype_hint=_partition_dtype(values))
        return cls._from_row_partition(values, rows, validate)

    @classmethod
    def from_uniform_row_length(
        cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True, name: str | None = None
    ) -> Any:
        """Create rows of one length, which becomes part of the static shape."""
        check_flag(validate)
        values = converted(values)
        rows = RowPartition.from_uniform_row_length(
            uniform_row_length, rows_of(values), nrows, validate, dtype_hint=_partition_dtype(values)
        )
        return cls._from_row_partition(values, rows, validate)

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Any,
        nested_nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Apply `from_value_rowids` for several dimensions, outermost first."""
        check_flag(validate)
        _check_list(nested_value_rowids, "nested_value_rowids")
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        _check_list(nested_nrows, "nested_nrows")
        if len(nested_nrows) != len(nested_value_rowids):
            raise ValueError(
                "Argument `nested_nrows` must have the same length as argument `nested_value_rowids`. "
                f"len(nested_nrows) = {len(nested_nrows)} vs. len(nested_values_rowids) = {len(nested_value_rowids)}."
            )
        result = flat_values
        for rowids, nrows in zip(reversed(nested_value_rowids), reversed(nested_nrows), strict=True):
            result = cls.from_value_rowids(result, rowids, nrows, validate=validate)
        return result

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Apply `from_row_splits` for several dimensions, outermost first."""
        check_flag(validate)
        _check_list(nested_row_splits, "nested_row_splits")
        result = flat_values
        for splits in reversed(nested_row_splits):
            result = cls.from_row_splits(result, splits, validate=validate)
        return result

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Apply `from_row_lengths` for several dimensions, outermost first."""
        check_flag(validate)
        _check_list(nested_row_lengths, "nested_row_lengths")
        result = flat_values
        for lengths in reversed(nested_row_lengths):
            result = cls.from_row_lengths(result, lengths, validate=validate)
        return result


def rows_of(values: Any) -> int:
    """The number of rows of a tensor, ragged or not."""
    if isinstance(values, MadeOfRows):
        return values._row_partition.rows
    return values.dims[0] if isinstance(values, Tensor) else values.shape[0]


def converted(values: Any) -> Any:
    return values if isinstance(values, MadeOfRows) else to_tensor(values)


def _as_values(values: Any, dtype: DType) -> Any:
    values = converted(values)
    if isinstance(values, MadeOfRows) and values.row_splits.dtype is not dtype:
        raise ValueError(
            "Argument `row_partition` of RaggedTensor with name: partition must have same dtype as Argument `values`. "
            f"({dtype!r} vs. {values.row_splits.dtype!r})."
        )
    return values


def _partition_dtype(values: Any) -> DType | None:
    return values.row_splits.dtype if isinstance(values, MadeOfRows) else None


def _check_list(value: Any, name: str) -> None:
    if isinstance(value, Tensor):
        raise TypeError(f"Argument `{name}` must be a list of Tensors. Received {value}.")

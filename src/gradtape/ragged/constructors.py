"""Factory methods of ragged tensors, from values and a description of the row partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import errors
from ..core.composites import CompositeTensor
from ..core.extension_points import takes_foreign_arguments
from ..core.tensor import Tensor
from ..engine.run.convert import to_tensor
from ..engine.run.verification import verify
from .partition import RowPartition, check_flag


class MadeOfRows(CompositeTensor):
    """The factory methods of `RaggedTensor`, which is `cls(values, row_partition, internal=True)`."""

    __slots__ = ("__dict__", "__weakref__", "_batch_sizes", "_row_partition", "_values")
    _batch_sizes: tuple[int, ...]  # of the batches that `Dataset.batch` combined; unset otherwise
    _row_partition: RowPartition
    _values: Any

    @property
    def row_splits(self) -> Tensor:
        """The offsets of the rows in `values`, followed by the end of the last row."""
        return self._row_partition.row_splits()

    @classmethod
    def _from_row_partition(cls, values: object, row_partition: RowPartition, validate: bool = True) -> Any:
        """Partition the values into rows."""
        check_flag(validate)
        values = converted(values)
        if isinstance(values, MadeOfRows) and values.row_splits.dtype is not row_partition.dtype:
            raise ValueError(
                "Argument `row_partition` of RaggedTensor with name: partition must have same dtype as Argument "
                f"`values`. ({row_partition.dtype!r} vs. {values.row_splits.dtype!r})."
            )
        if isinstance(values, Tensor) and not values.dims:
            raise errors.InvalidArgumentError("slice index 0 of dimension 0 out of bounds: values must have rank >= 1")
        count = rows_of(values)

        def test(splits: Sequence[int]) -> None:
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
    def _in_rows(cls, make: Callable[..., RowPartition], values: object, *rows: object, validate: bool) -> Any:
        """Partition the values into the rows that `make(*rows)` returns."""
        try:
            return cls._partitioned(make, values, *rows, validate=validate)
        except errors.NeedsExamples as error:  # in a scratch graph, whose rows do not match the values
            return error.for_examples(cls._partitioned, (make, values, *rows), {"validate": False})

    @classmethod
    def _partitioned(cls, make: Callable[..., RowPartition], values: object, *rows: object, validate: bool) -> Any:
        values = converted(values)
        hint = values.row_splits.dtype if isinstance(values, MadeOfRows) else None
        return cls._from_row_partition(values, make(*rows, validate=validate, dtype_hint=hint), validate)

    @classmethod
    @takes_foreign_arguments
    def from_value_rowids(
        cls, values: object, value_rowids: object, nrows: object = None, name: str | None = None, validate: bool = True
    ) -> Any:
        """Group values with equal `value_rowids`, which must be non-decreasing, into rows."""
        values = converted(values)
        count = static_rows_of(values)

        def make(*rows: Any, **options: Any) -> RowPartition:
            partition = RowPartition.from_value_rowids(*rows, **options)
            if count is not None and partition.count != count:
                raise ValueError(
                    f"Shapes ({count},) and ({partition.count},) are incompatible: every value needs a row number"
                )
            return partition

        return cls._in_rows(make, values, value_rowids, nrows, validate=validate)

    @classmethod
    @takes_foreign_arguments
    def from_row_splits(cls, values: object, row_splits: object, name: str | None = None, validate: bool = True) -> Any:
        """Create rows `values[row_splits[i]:row_splits[i + 1]]`."""
        return cls._in_rows(RowPartition.from_row_splits, values, row_splits, validate=validate)

    @classmethod
    @takes_foreign_arguments
    def from_row_lengths(
        cls, values: object, row_lengths: object, name: str | None = None, validate: bool = True
    ) -> Any:
        """Create rows of `row_lengths[i]` consecutive values."""
        return cls._in_rows(RowPartition.from_row_lengths, values, row_lengths, validate=validate)

    @classmethod
    @takes_foreign_arguments
    def from_row_starts(cls, values: object, row_starts: object, name: str | None = None, validate: bool = True) -> Any:
        """Create rows that begin at `row_starts[i]`."""
        values = converted(values)

        def make(starts: object, **options: Any) -> RowPartition:
            return RowPartition.from_row_starts(starts, rows_of(values), **options)

        return cls._in_rows(make, values, row_starts, validate=validate)

    @classmethod
    @takes_foreign_arguments
    def from_row_limits(cls, values: object, row_limits: object, name: str | None = None, validate: bool = True) -> Any:
        """Create rows that end before `row_limits[i]`."""
        return cls._in_rows(RowPartition.from_row_limits, values, row_limits, validate=validate)

    @classmethod
    @takes_foreign_arguments
    def from_uniform_row_length(
        cls, values: object, uniform_row_length: object, nrows: object = None, validate: bool = True,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """Create rows of one length, which becomes part of the static shape."""
        values = converted(values)
        count = static_rows_of(values)

        def make(length: object, rows: object, **options: Any) -> RowPartition:
            if count is None and rows is None:  # any number that differs between the examples
                rows = rows_of(values)
            return RowPartition.from_uniform_row_length(length, count, rows, **options)

        return cls._in_rows(make, values, uniform_row_length, nrows, validate=validate)

    @classmethod
    @takes_foreign_arguments
    def from_nested_value_rowids(
        cls, flat_values: object, nested_value_rowids: Sequence[object], nested_nrows: Sequence[object] | None = None,
        name: str | None = None, validate: bool = True,
    ) -> Any:  # fmt: skip
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
    @takes_foreign_arguments
    def from_nested_row_splits(
        cls, flat_values: object, nested_row_splits: Sequence[object], name: str | None = None, validate: bool = True
    ) -> Any:
        """Apply `from_row_splits` for several dimensions, outermost first."""
        return _nested(cls.from_row_splits, flat_values, nested_row_splits, "nested_row_splits", validate)

    @classmethod
    @takes_foreign_arguments
    def from_nested_row_lengths(
        cls, flat_values: object, nested_row_lengths: Sequence[object], name: str | None = None, validate: bool = True
    ) -> Any:
        """Apply `from_row_lengths` for several dimensions, outermost first."""
        return _nested(cls.from_row_lengths, flat_values, nested_row_lengths, "nested_row_lengths", validate)


def rows_of(values: Any) -> int:
    """The number of rows of a tensor, ragged or not."""
    if isinstance(values, MadeOfRows):
        return values._row_partition.rows
    return values.dims[0] if isinstance(values, Tensor) else values.shape[0]


def static_rows_of(values: Any) -> int | None:
    """The number of rows, or None if they are those of a scratch graph."""
    try:
        return rows_of(values)
    except errors.NeedsExamples:
        return None


def converted(values: object) -> Any:
    return values if isinstance(values, MadeOfRows) else to_tensor(values)


def _nested(make: Callable[..., Any], values: object, nested: Sequence[object], name: str, validate: bool) -> Any:
    """Apply `make(values, rows)` for the innermost rows, then for those around them."""
    check_flag(validate)
    _check_list(nested, name)
    for rows in reversed(nested):
        values = make(values, rows, validate=validate)
    return values


def _check_list(value: object, name: str) -> None:
    if isinstance(value, Tensor):
        raise TypeError(f"Argument `{name}` must be a list of Tensors. Received {value}.")

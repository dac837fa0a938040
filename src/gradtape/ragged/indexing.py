"""Indexing of ragged tensors: rows, slices of rows and columns, new axes; gathering and concatenation of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import errors
from ..core.extension_points import foreign_operands
from ..core.tensor import Tensor, is_tensor_like
from ..engine.run.convert import to_tensor
from ..engine.run.namespace import ops
from . import indices
from .constructors import rows_of
from .partition import cut_at
from .ragged_tensor import RaggedTensor


@errors.runs_with_examples
def item(rt: RaggedTensor, key: object) -> Any:
    """Implement `rt[key]`."""
    if not isinstance(rt, RaggedTensor):  # a class of a library that has the operators of ragged tensors
        return foreign_operands("getitem", (rt, key))
    return _rows(rt, list(key) if isinstance(key, list | tuple) else [key])


def take(x: Tensor | RaggedTensor, rows: Tensor) -> Any:
    """Gather rows of `x`, ragged or not."""
    if not isinstance(x, RaggedTensor):
        return indices.picked(x, rows)
    rows = ops.cast(rows, dtype=x.row_splits.dtype) if rows.dtype is not x.row_splits.dtype else rows
    if not rows_of(x):
        if rows.dims[0]:
            raise errors.InvalidArgumentError("indices[0] is not in [0, 0): there are no rows")
        return RaggedTensor(x.values, cut_at(x.row_splits[:1]), internal=True)
    starts = indices.picked(x.row_starts(), rows)
    places, splits = indices.ranges(starts, indices.picked(x.row_lengths(), rows))
    return RaggedTensor(take(x.values, places), cut_at(splits), internal=True)


def end_to_end(parts: Sequence[Any]) -> Any:
    """Concatenate the rows of several values of one ragged rank."""
    if not isinstance(parts[0], RaggedTensor):
        return ops.concat(*parts, axis=0)
    values = end_to_end([x.values for x in parts])
    pieces, before = [parts[0].row_splits], rows_of(parts[0].values)
    for x in parts[1:]:
        pieces.append(ops.add(x.row_splits[1:], indices.number(before, x.row_splits.dtype)))
        before += rows_of(x.values)
    return RaggedTensor(values, cut_at(ops.concat(*pieces, axis=0)), internal=True)


def part(x: Tensor | RaggedTensor, start: object, stop: object) -> Any:
    """Slice `x[start:stop]` of a tensor, ragged or not; reads the bounds."""
    first, last = indices.looked_at(start), indices.looked_at(stop)
    if not isinstance(x, RaggedTensor):
        return x[first:last]
    splits = x.row_splits[first : max(first, last) + 1]
    begin = splits[0]
    rows = cut_at(ops.sub(splits, begin), x._row_partition.static_uniform_row_length)
    return RaggedTensor(part(x.values, begin, splits[-1]), rows, internal=True)


def _rows(rt: Any, keys: list[Any]) -> Any:
    """Apply the first key to the rows, then the others."""
    if not keys:
        return rt
    key, inner = keys[0], keys[1:]
    if key is Ellipsis:
        return _rows(rt, _without_ellipsis(keys, rt.shape.rank))
    if key is None:
        found = _rows(rt, inner)
        return RaggedTensor.from_uniform_row_length(found, rows_of(found), nrows=1, validate=False)
    if isinstance(key, slice):
        return _columns(_some_rows(rt, key), inner)
    number = _row_number(key, rows_of(rt))
    row = part(rt.values, rt.row_splits[number], rt.row_splits[number + 1])
    if isinstance(row, RaggedTensor):
        return _rows(row, inner)
    return row[tuple(inner)] if inner else row


def _row_number(key: object, count: int) -> int:
    if (not is_tensor_like(key) and not isinstance(key, int | np.integer)) or isinstance(key, bool):
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
            f"are valid indices, got {key!r}"
        )
    number = indices.looked_at(to_tensor(key))
    if number >= count:
        raise IndexError(f"Row key {key} out of bounds")
    if number < -count:
        raise errors.InvalidArgumentError(f"slice index {number + count} of dimension 0 out of bounds.")
    return number % count


def _bounds(key: slice) -> slice:
    """Convert tensors in a slice to integers."""

    def known(x: object) -> int | None:
        if x is None:
            return None
        if not isinstance(x, int | np.integer) and not is_tensor_like(x):
            raise TypeError(f"slice offsets must be integers or None, got {x!r}")
        return indices.looked_at(to_tensor(x))

    return slice(known(key.start), known(key.stop), known(key.step))


def _some_rows(rt: RaggedTensor, key: slice) -> RaggedTensor:
    bounds = _bounds(key)
    if bounds == slice(None):
        return rt
    first, last, step = bounds.indices(rows_of(rt))
    if step == 1:
        return part(rt, first, max(first, last))
    found = take(rt, to_tensor(np.arange(first, last, step, dtype=rt.row_splits.dtype.numpy)))
    uniform = rt._row_partition.static_uniform_row_length
    return RaggedTensor(found.values, cut_at(found.row_splits, uniform), internal=True)


def _columns(rt: Any, keys: list[Any]) -> Any:
    """Apply the keys to the inner dimensions; all rows stay."""
    if not keys:
        return rt
    if not isinstance(rt, RaggedTensor):
        return rt[(slice(None), *keys)]
    key, inner = keys[0], keys[1:]
    if key is Ellipsis:
        return _columns(rt, _without_ellipsis(keys, len(rt.values.shape)))
    if key is None:
        found = _columns(rt, inner)
        return RaggedTensor.from_uniform_row_length(found, 1, nrows=rows_of(found), validate=False)
    if isinstance(key, slice):
        bounds = _bounds(key)
        if bounds == slice(None):
            return rt.with_values(_columns(rt.values, inner))
        found = _some_columns(rt, bounds)
        return found.with_values(_columns(found.values, inner))
    each = rt._row_partition.static_uniform_row_length
    if each is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    number = indices.looked_at(to_tensor(key))
    if not -each <= number < each:
        raise errors.InvalidArgumentError(
            f"Index out of bounds when indexing into a ragged tensor: {number} is not in [{-each}, {each})"
        )
    every = slice(number % each, None, each)
    values = rt.values
    return _columns(_some_rows(values, every) if isinstance(values, RaggedTensor) else values[every], inner)


def _some_columns(rt: RaggedTensor, key: slice) -> RaggedTensor:
    """Apply `row[key]` to every row."""
    start, stop, step = key.start, key.stop, 1 if key.step is None else key.step
    if step == 0:
        raise ValueError("slice step cannot be zero")
    dtype = rt.row_splits.dtype
    lengths = rt.row_lengths()
    zero, one = indices.number(0, dtype), indices.number(1, dtype)
    low, high = (zero, lengths) if step > 0 else (indices.number(-1, dtype), ops.sub(lengths, one))

    def place(n: int) -> Tensor:
        offset = indices.number(n, dtype)
        return ops.minimum(offset, high) if n >= 0 else ops.maximum(ops.add(lengths, offset), low)

    first = (zero if step > 0 else high) if start is None else place(start)
    last = (high if step > 0 else low) if stop is None else place(stop)
    span = ops.sub(last, first)
    # The number of steps from first to last, exclusive.
    by = indices.number(step, dtype)
    counts = ops.maximum(ops.neg(ops.floordiv(ops.neg(span), by)), zero)
    counts = ops.broadcast_to(counts, shape=(rows_of(rt),))
    places, splits = indices.ranges(ops.add(rt.row_starts(), first), counts, by)
    each = rt._row_partition.static_uniform_row_length
    uniform = None if each is None else len(range(each)[key])
    return RaggedTensor(take(rt.values, places), cut_at(splits, uniform), internal=True)


def _without_ellipsis(keys: list[Any], left: int | None) -> list[Any]:
    """Expand a leading ellipsis by one slice, or remove it if every dimension has a key."""
    given = sum(1 for key in keys if key is not None)
    assert left is not None
    if given > left + 1:
        raise IndexError("Too many indices for RaggedTensor")
    return keys[1:] if given == left + 1 else [slice(None), *keys]



"""Default values for empty rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes, errors
from ..core.tensor import Tensor
from ..core.type_hints import TensorLike
from ..engine.run.convert import to_tensor
from ..engine.run.namespace import ops
from ..engine.run.verification import verify
from . import indices

NAMESPACES = ("",)
__all__ = ["ragged_fill_empty_rows", "ragged_fill_empty_rows_grad"]


class RaggedFillEmptyRows(NamedTuple):
    """The result of `ragged_fill_empty_rows`."""

    output_value_rowids: Tensor
    output_values: Tensor
    empty_row_indicator: Tensor
    reverse_index_map: Tensor


class RaggedFillEmptyRowsGrad(NamedTuple):
    """The result of `ragged_fill_empty_rows_grad`."""

    d_values: Tensor
    d_default_value: Tensor


def ragged_fill_empty_rows(
    value_rowids: TensorLike, values: TensorLike, nrows: TensorLike, default_value: TensorLike, name: str | None = None
) -> RaggedFillEmptyRows:
    """Returns values sorted by row, with `default_value` in each empty row, as one ragged tensor would hold them.

    The last result is the new position of each value.

    >>> found = tf.ragged_fill_empty_rows(value_rowids=[0, 2], values=[1.0, 2.0], nrows=3, default_value=9.0)
    >>> found.output_values.numpy().tolist(), found.reverse_index_map.numpy().tolist()
    ([1.0, 9.0, 2.0], [0, 2])
    """
    ids, x = to_tensor(value_rowids, None, dtypes.int64), to_tensor(values)
    default = to_tensor(default_value, x.dtype)
    count, rows = ids.dims[0], indices.looked_at(to_tensor(nrows))
    if default.dims:
        raise errors.InvalidArgumentError(f"default_value must be a scalar, saw: {list(default.dims)}")
    if x.dims[:1] != (count,):
        raise errors.InvalidArgumentError(
            f"The length of `values` ({x.dims[0]}) must match the first dimension of `indices` ({count})."
        )
    verify(lambda array: _check(array, rows), ids)
    counts = ops.segment_sum(ops.ones_like(ids), ids, count=rows)
    empty = ops.equal(counts, indices.number(0, ids.dtype))
    own = indices.splits_of(counts)
    splits = indices.splits_of(ops.maximum(counts, indices.number(1, ids.dtype)))
    total = indices.looked_at(splits[-1])
    order = ops.argsort(ids, axis=0)
    row, place = indices.row_numbers(splits, total), indices.offsets(splits, total)
    # The source of each result: the value at its position in its row, or the default, which is appended to the values.
    none = to_tensor(np.array([count], order.dtype.numpy))
    places = ops.add(indices.picked(own, row), place)
    places = ops.where(indices.picked(empty, row), indices.number(count, ids.dtype), places)
    sources = indices.picked(ops.concat(order, none, axis=0), places)
    filled = indices.picked(ops.concat(x, ops.reshape(default, shape=(1,)), axis=0), sources)
    ordered = indices.picked(ids, order)
    within = ops.sub(indices.counting(count, ids.dtype), indices.picked(own, ordered))
    goals = ops.add(indices.picked(splits, ordered), within)
    return RaggedFillEmptyRows(row, filled, empty, indices.picked(goals, ops.invert_permutation(order)))


def _check(ids: Any, rows: int) -> None:
    wrong = np.flatnonzero((ids < 0) | (ids >= rows))
    if len(wrong):
        raise errors.InvalidArgumentError(f"indices({wrong[0]}, 0) is invalid: {ids[wrong[0]]} >= {rows}")


def ragged_fill_empty_rows_grad(
    reverse_index_map: TensorLike, grad_values: TensorLike, name: str | None = None
) -> RaggedFillEmptyRowsGrad:
    """Returns the gradients of `ragged_fill_empty_rows` for the values and for the default.

    >>> found = tf.ragged_fill_empty_rows_grad(reverse_index_map=[0, 2], grad_values=[1.0, 10.0, 100.0])
    >>> found.d_values.numpy().tolist(), float(found.d_default_value)
    ([1.0, 100.0], 10.0)
    """
    places, g = to_tensor(reverse_index_map, None, dtypes.int64), to_tensor(grad_values)
    own = indices.picked(g, places)
    return RaggedFillEmptyRowsGrad(
        own, ops.sub(ops.sum(g, axis=(0,), keepdims=False), ops.sum(own, axis=(0,), keepdims=False))
    )

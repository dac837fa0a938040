"""`tf.gather` and similar functions on ragged tensors, or with ragged indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.arrays import indexing
from ..api.math.elementwise import where as select
from ..core import errors
from ..core.tensor import Tensor
from ..engine.run.convert import to_tensor
from ..engine.run.namespace import ops
from ..engine.run.verification import verify
from . import indices as arithmetic
from .arrays import concat, expand_dims, tile, values_of, where
from .constructors import rows_of
from .elementwise import on_flat_values, same_splits_dtype
from .factory import map_flat_values
from .indexing import take
from .partition import cut_at
from .tensor import RaggedTensor, axis_of


def gather(
    params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0, name: Any = None
) -> Any:
    """`tf.gather`."""
    params, at = values_of(params), values_of(indices)
    same_splits_dtype([params, at])
    rank = len(at.shape)
    if batch_dims != rank:
        batch_dims = axis_of(batch_dims, rank, "batch_dims")
    if batch_dims >= len(params.shape):
        raise ValueError("batch_dims must be less than rank(params)")
    axis = axis_of(batch_dims if axis is None else axis, len(params.shape))
    if axis < batch_dims:
        raise ValueError("axis must be greater than or equal to batch_dims")
    return _gathered(params, at, axis, batch_dims)


def _gathered(params: Any, at: Any, axis: int, batch: int) -> Any:
    if not isinstance(params, RaggedTensor) and not isinstance(at, RaggedTensor):
        return indexing.gather(params, at, axis=axis, batch_dims=batch)
    if batch > 1:
        params, at = _both_cut(params, at)
        return params.with_values(_gathered(params.values, at.values, axis - 1, batch - 1))
    if batch == 1 and axis > 1:
        cut = params if isinstance(params, RaggedTensor) else RaggedTensor.from_tensor(
            params, row_splits_dtype=at.row_splits.dtype
        )
        each = cut.with_values(take(at, cut.value_rowids()))  # the indices for every slice of the axis between
        return _gathered(cut, each, axis, batch + 1)
    if batch == 1:
        return _gathered(_flattened(params), _shifted(params, at, len(at.shape)), axis - 1, 0)
    if axis > 1:
        cut = params if isinstance(params, RaggedTensor) else RaggedTensor.from_tensor(
            params, row_splits_dtype=at.row_splits.dtype
        )
        return cut.with_values(_gathered(cut.values, at, axis - 1, 0))
    if axis == 1:
        return _gathered(_flattened(params), _shifted(params, at, len(at.shape) + 1), 0, 0)
    if isinstance(at, RaggedTensor):
        return at.with_values(_gathered(params, at.values, 0, 0))
    return _rows(params, at)


def _rows(params: RaggedTensor, at: Tensor) -> Any:
    """Returns the rows of a ragged tensor at indices in a tensor of any shape."""
    count = rows_of(params)

    def test(numbers: Any) -> None:
        wrong = (numbers < 0) | (numbers >= count)
        if np.any(wrong):
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise errors.InvalidArgumentError(
                f"indices{list(place)} = {np.asarray(numbers)[place]} is not in [0, {count})"
            )

    verify(test, at)
    dims = at.dims
    if not dims:
        return params[at]
    result = take(params, ops.reshape(at, shape=(int(np.prod(dims, dtype=int)),)))
    for axis in range(len(dims) - 1, 0, -1):
        ends = np.arange(int(np.prod(dims[:axis], dtype=int)) + 1, dtype=params.row_splits.dtype.numpy) * dims[axis]
        result = RaggedTensor(result, cut_at(to_tensor(ends)), internal=True)
    return result


def _both_cut(params: Any, at: Any) -> tuple[RaggedTensor, RaggedTensor]:
    for x, other, name in ((params, at, "indices"), (at, params, "params")):
        if not isinstance(x, RaggedTensor) and other.uniform_row_length is None:
            wrong = "params" if name == "indices" else "indices"
            raise ValueError(
                f"batch shape from indices does not match params shape: ragged {name} dimension corresponds to uniform "
                f"{wrong} dimension"
            )
    if not isinstance(params, RaggedTensor):
        params = RaggedTensor.from_tensor(params, row_splits_dtype=at.row_splits.dtype)
    if not isinstance(at, RaggedTensor):
        at = RaggedTensor.from_tensor(at, row_splits_dtype=params.row_splits.dtype)
    return params, at


def _flattened(x: Any) -> Any:
    if isinstance(x, RaggedTensor):
        return x.values
    return ops.reshape(x, shape=(x.dims[0] * x.dims[1], *x.dims[2:]))


def _shifted(params: Any, at: Any, rank: int) -> Any:
    """Converts positions in the rows of `params` to positions in its values."""
    if isinstance(params, RaggedTensor):
        starts = params.row_starts()
        starts = starts if starts.dtype is at.dtype else ops.cast(starts, dtype=at.dtype)
    else:
        starts = ops.mul(
            arithmetic.counting(params.dims[0], at.dtype), arithmetic.number(params.dims[1], at.dtype)
        )
    return on_or_off(ops.add, at, ops.reshape(starts, shape=(*starts.dims, *(1,) * (rank - 1))))


def on_or_off(f: Any, *values: Any) -> Any:
    """Applies an elementwise function to tensors, ragged or not."""
    return on_flat_values(f, values) if any(isinstance(x, RaggedTensor) for x in values) else f(*values)


def gather_nd(
    params: Any, indices: Any, batch_dims: int = 0, name: Any = None, bad_indices_policy: str = ""
) -> Any:
    """`tf.gather_nd`."""
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    if bad_indices_policy not in ("", "DEFAULT"):
        raise ValueError("non-default bad_indices_policy not supported for ragged gather")
    params, at = values_of(params), values_of(indices)
    same_splits_dtype([params, at])
    rank = len(at.shape)
    if rank == 0:
        raise ValueError("indices.rank must be at least 1.")
    if isinstance(at, RaggedTensor) and rank == at.ragged_rank + 1:
        raise ValueError("The innermost dimension of indices may not be ragged")
    if rank > 2:
        dense = not isinstance(at, RaggedTensor)
        if dense:
            at = RaggedTensor.from_tensor(at, ragged_rank=rank - 2, row_splits_dtype=params.row_splits.dtype)
        flat = at.flat_values
        found = at.with_flat_values(
            gather_nd(params, flat) if isinstance(params, RaggedTensor) else indexing.gather_nd(params, flat)
        )
        return found.to_tensor() if dense and found.ragged_rank == rank - 2 else found
    depth = at.dims[-1]
    if depth == 0:
        for _ in range(rank - 1):
            params = expand_dims(params, 0)
        return tile(params, [*at.dims[:-1], *[1] * (len(params.shape) - rank + 1)])
    if depth == 1:
        return gather(params, ops.reshape(at, shape=at.dims[:-1]))
    at = at if at.dtype is params.row_splits.dtype else ops.cast(at, dtype=params.row_splits.dtype)
    places = ops.add(arithmetic.picked(params.row_splits, at[..., 0]), at[..., 1])
    values = params.values
    for i in range(2, depth):
        if not isinstance(values, RaggedTensor):
            last = ops.concat(ops.reshape(places, shape=(*places.dims, 1)), at[..., i:], axis=-1)
            return indexing.gather_nd(values, last)
        places = ops.add(arithmetic.picked(values.row_splits, places), at[..., i])
        values = values.values
    return gather(values, places) if isinstance(values, RaggedTensor) else indexing.gather(values, places)


def where_rows(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    """`tf.compat.v1.where`: a ragged condition selects values, a vector selects rows."""
    condition = values_of(condition)
    if x is None or y is None:
        return where(condition, x, y)
    x, y = values_of(x), values_of(y)
    if isinstance(condition, RaggedTensor):
        if not (isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor)):
            raise ValueError(
                "Input shapes do not match. If the condition is ragged, x and y must be, too. tf.where broadcasts them"
            )
        return map_flat_values(select, condition, x, y)
    if len(condition.dims) != 1:
        raise ValueError(f"Shape {condition.shape} must have rank 1: the condition selects rows of ragged tensors")
    count, other = rows_of(x), rows_of(y)
    of_x, of_y = to_tensor(np.arange(count)), to_tensor(np.arange(count, count + other))
    return gather(concat([x, y], 0), select(condition, of_x, of_y))

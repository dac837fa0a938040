"""Elementwise ops on ragged tensors: broadcast to a common shape, then apply to the flat values.

Only dimensions of static size 1 broadcast; ragged dimensions must match, row for row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import errors
from ..core.dtypes import DType
from ..core.tensor import Tensor, is_tensor_like
from ..engine.registry.op import Op
from ..engine.run.convert import to_tensor
from ..engine.run.namespace import ops
from ..engine.run.verification import verify
from . import indices
from .partition import RowPartition, cut_at
from .ragged_tensor import RaggedTensor


def applied(op: Op, values: Sequence[Any], attributes: dict[str, Any]) -> Any:
    """Apply `op.call` to values at least one of which is ragged."""
    return on_flat_values(lambda *flat: op.call(*flat, **attributes), values)


def on_flat_values(f: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Apply an elementwise function to values at least one of which is ragged."""
    try:
        return _on_flat_values(f, *values)
    except errors.NeedsExamples as error:
        return error.for_examples(_on_flat_values, (f, *values), {})


def _on_flat_values(f: Callable[..., Any], *values: Any) -> Any:
    dtype = next(x.dtype for x in values if isinstance(x, RaggedTensor))
    # A Python number takes the dtype of the ragged operands if possible.
    operands = same_splits_dtype([
        x if isinstance(x, RaggedTensor) else to_tensor(x, hint=None if is_tensor_like(x) else dtype) for x in values
    ])  # fmt: skip
    ragged = [x for x in operands if isinstance(x, RaggedTensor)]
    if len(operands) > 1 and not _fit_already(operands, ragged):
        operands = broadcast(operands)
        ragged = [x for x in operands if isinstance(x, RaggedTensor)]
    flat = f(*[x.flat_values if isinstance(x, RaggedTensor) else x for x in operands])
    return None if flat is None else ragged[0].with_flat_values(flat)  # checks return None


def same_splits_dtype(values: Sequence[Any]) -> list[Any]:
    """Returns the values; raises unless all ragged ones have row splits of one dtype."""
    found = {x.row_splits.dtype for x in values if isinstance(x, RaggedTensor)}
    if len(found) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to "
            "convert them to compatible dtypes."
        )
    return list(values)


def _fit_already(operands: Sequence[Any], ragged: Sequence[RaggedTensor]) -> bool:
    """Whether the flat values can be combined as they are, without broadcasting."""
    first = ragged[0]
    inner = len(first.flat_values.dims)
    for x in operands:
        if isinstance(x, RaggedTensor):
            if len(x.flat_values.dims) != inner or not same_rows(first, x):
                return False
        elif len(x.dims) >= inner:
            return False
    return True


def same_rows(x: RaggedTensor, y: RaggedTensor) -> bool:
    """Whether two ragged tensors provably have the same row partitions, without reading traced values."""
    mine, its = x._nested_row_partitions, y._nested_row_partitions
    return len(mine) == len(its) and all(_alike(a, b) for a, b in zip(mine, its, strict=True))


def _alike(a: RowPartition, b: RowPartition) -> bool:
    if a.static_uniform_row_length != b.static_uniform_row_length:
        return False
    x, y = a.row_splits(), b.row_splits()
    if x is y:
        return True
    return type(x) is Tensor and type(y) is Tensor and np.array_equal(x.array, y.array)


class _Dimensions:
    """A value viewed dimension by dimension, from the outermost."""

    def __init__(self, x: Tensor | RaggedTensor, rank: int) -> None:
        self.given = x
        self.missing = rank - len(x.shape)  # leading dimensions of size 1 to add
        self.partitions: tuple[RowPartition, ...] = x._nested_row_partitions if isinstance(x, RaggedTensor) else ()
        self.flat: Tensor = x.flat_values if isinstance(x, RaggedTensor) else x
        self.inner = self.flat.dims[1:] if self.partitions else self.flat.dims
        self.rows: Tensor | None = None  # maps rows of the result so far to rows of this value; None: the identity

    def at(self, axis: int) -> RowPartition | int:
        """The sizes along an axis: a partition, or one number."""
        axis -= self.missing
        if axis < 0:
            return 1
        if not self.partitions:
            return self.inner[axis]
        if axis == 0:
            return self.partitions[0].rows
        if axis <= len(self.partitions):
            rows = self.partitions[axis - 1]
            return rows if rows.static_uniform_row_length is None else rows.static_uniform_row_length
        return self.inner[axis - 1 - len(self.partitions)]


def broadcast(operands: Sequence[Any], rank: int | None = None) -> list[Any]:
    """Broadcast the operands in all dimensions up to the last ragged one; all but scalars become ragged."""
    rank = max(x.shape.rank for x in operands) if rank is None else rank
    views = [_Dimensions(x, rank) for x in operands]
    depth = max(len(view.partitions) + view.missing for view in views if view.partitions)  # the last ragged axis
    dtype = next(x.row_splits.dtype for x in operands if isinstance(x, RaggedTensor))
    count = 1  # rows of the result so far
    partitions: list[RowPartition] = []
    for axis in range(depth + 1):
        sizes = [view.at(axis) for view in views]
        rows = _common(sizes, views, axis, count, dtype)
        for view, size in zip(views, sizes, strict=True):
            _descend(view, size, rows, axis)
        count = rows.count
        if axis:
            partitions.append(rows)
    return [_gathered(view, partitions, depth) if view.given.shape.rank else view.given for view in views]


def _common(
    sizes: list[RowPartition | int], views: list[_Dimensions], axis: int, count: int, dtype: DType
) -> RowPartition:
    """The partition of the result's rows along the next axis."""

    def partition(size: RowPartition | int) -> RowPartition:
        if isinstance(size, RowPartition):
            return size
        return RowPartition.from_uniform_row_length(size, nrows=count, dtype=dtype)

    chosen: RowPartition | int = 1
    for size, view in zip(sizes, views, strict=True):
        if isinstance(size, RowPartition) and view.rows is not None:
            size = cut_at(indices.splits_of(indices.picked(size.row_lengths(), view.rows)))
        if isinstance(size, int) and isinstance(chosen, int):
            if 1 not in (size, chosen) and size != chosen:
                raise errors.InvalidArgumentError(
                    f"Incompatible shapes: sizes {chosen} and {size} along axis {axis}. Shapes must be equal, or 1, in "
                    "every dimension counted from the last"
                )
            chosen = size if chosen == 1 else chosen
        elif size != 1:
            if chosen != 1:
                _check_equal(partition(chosen), partition(size))
            chosen = size if isinstance(size, RowPartition) else chosen
    return partition(chosen)


def _check_equal(a: RowPartition, b: RowPartition) -> None:
    """Raises unless both partitions are equal; in a trace, check at every run."""
    x, y = a.row_splits(), b.row_splits()
    if x is y:
        return

    def test(mine: np.ndarray[Any, Any], its: np.ndarray[Any, Any]) -> None:
        if not np.array_equal(mine, its):
            raise errors.InvalidArgumentError(
                f"Condition x == y did not hold. First elements of x: {mine[:3].tolist()}, of y: {its[:3].tolist()}. "
                "Ragged tensors are computed with row for row: rows must have the same lengths, or length 1 in a "
                "dimension that is not ragged"
            )

    verify(test, x, y)


def _descend(view: _Dimensions, size: RowPartition | int, rows: RowPartition, axis: int) -> None:
    """Map the rows of a view at one axis to those at the next."""
    if axis < view.missing:
        count = rows.count
        view.rows = None if count == 1 else ops.zeros_like(indices.counting(count, rows.dtype))
        return
    stretched = size == 1 and (rows.static_uniform_row_length != 1)
    if view.rows is None and not stretched:
        return
    own = indices.counting(rows.rows, rows.dtype) if view.rows is None else view.rows
    numbers = rows.value_rowids()
    if isinstance(size, RowPartition):
        starts = indices.picked(size.row_splits(), own)
    else:
        starts = ops.mul(own, indices.number(size, rows.dtype))
    places = indices.picked(starts, numbers)
    view.rows = places if stretched else ops.add(places, rows.offsets_in_rows())


def _gathered(view: _Dimensions, partitions: list[RowPartition], depth: int) -> RaggedTensor:
    """Returns the value of a view with its rows gathered as the result requires, partitioned by `partitions`."""
    flat: Any = view.flat
    own = depth - view.missing  # its dimension at the last ragged axis
    if not view.partitions or own > len(view.partitions):
        lead = max(own - len(view.partitions) + 1, 0)
        flat = ops.reshape(flat, shape=(math.prod(flat.dims[:lead]), *flat.dims[lead:]))
    if view.rows is not None:
        flat = indices.picked(flat, view.rows)
    for rows in reversed(partitions):
        flat = RaggedTensor(flat, rows, internal=True)
    return flat

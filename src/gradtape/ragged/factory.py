"""`tf.ragged`: ragged tensors from lists, ranges and parts; masks and functions of flat values."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from ..api.arrays import conversion
from ..api.arrays.indexing import boolean_mask as dense_mask
from ..core import dtypes, errors
from ..core.dtypes import as_dtype
from ..core.tensor import Tensor
from ..core.type_hints import DTypeLike, TensorLike, ValueLike
from ..engine.run.convert import to_array, to_tensor
from ..engine.run.namespace import ops
from ..engine.run.verification import verify
from . import arrays, indices
from .constructors import rows_of
from .elementwise import same_splits_dtype
from .indexing import take
from .partition import RowPartition, cut_at
from .tensor import RaggedTensor

NAMESPACES = ("ragged",)
__all__ = [
    "boolean_mask", "constant", "map_flat_values", "range", "row_splits_to_segment_ids", "segment_ids_to_row_splits",
    "stack", "stack_dynamic_partitions",
]  # fmt: skip

_RANGES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


def constant(
    pylist: Any,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> RaggedTensor:
    """Creates a ragged tensor from nested lists.

    >>> tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
    <tf.RaggedTensor [[1, 2], [3], [4, 5, 6]]>
    """
    if isinstance(pylist, RaggedTensor):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    if not _is_list(pylist):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner_shape:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}")
        return conversion.constant(pylist, dtype, ())  # type: ignore[return-value]
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    scalars, deepest = _depths(pylist)
    _check_depths(pylist, scalars, deepest, ragged_rank, inner_shape)
    inner = inner_shape
    if ragged_rank == 0 or (
        ragged_rank is None and (deepest < 2 or (inner is not None and deepest - len(inner) < 2))
    ):
        return conversion.constant(pylist, dtype, inner)  # type: ignore[return-value]
    if inner is None:
        inner = () if ragged_rank is None else _inner_shape(pylist, ragged_rank)
    if ragged_rank is None:
        ragged_rank = max(1, (deepest if scalars is None else scalars - len(inner)) - 1)
    nested, values = [], pylist
    for _ in builtins.range(ragged_rank):
        nested.append(np.cumsum([0, *(len(row) for row in values)]))
        values = [value for row in values for value in row]
    flat: Any = conversion.constant(values, dtype, (len(values), *inner))
    kind = as_dtype(row_splits_dtype)
    for splits in reversed(nested):
        flat = RaggedTensor(flat, cut_at(to_tensor(splits.astype(kind.numpy))), internal=True)
    return flat


def _is_list(x: Any) -> bool:
    return isinstance(x, list | tuple) or np.ndim(x) != 0


def _depths(pylist: Any) -> tuple[int | None, int]:
    """Returns the nesting depths of numbers and of lists."""
    if not _is_list(pylist):
        return 0, 0
    scalars, deepest = None, 1
    for child in pylist:
        below, depth = _depths(child)
        if below is not None:
            if scalars not in (None, below + 1):
                raise ValueError("all scalar values must have the same nesting depth")
            scalars = below + 1
        deepest = max(deepest, depth + 1)
    return scalars, deepest


def _check_depths(pylist: Any, scalars: int | None, deepest: int, ragged_rank: int | None, inner: Any) -> None:
    if scalars is not None:
        if deepest > scalars:
            raise ValueError(
                f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting"
            )
        if ragged_rank is not None and deepest < ragged_rank:
            raise ValueError(f"Invalid pylist={pylist}, max depth smaller than ragged_rank={ragged_rank}")
    if inner is not None and ragged_rank is not None:
        expected = ragged_rank + len(inner) + 1
        if (scalars is not None and expected != scalars) or (scalars is None and expected < deepest):
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
                f"dim(inner_shape)={len(inner)}"
            )


def _inner_shape(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    """Returns the common shape of the values below the ragged dimensions."""
    flat = list(pylist)
    for dim in builtins.range(ragged_rank):
        if not all(map(_is_list, flat)):
            raise ValueError(
                f"pylist has scalar values depth {dim + 1}, but ragged_rank={ragged_rank} requires scalar value depth "
                f"greater than {ragged_rank}"
            )
        flat = [value for row in flat for value in row]

    def found(item: Any) -> tuple[int, ...]:
        if not _is_list(item):
            return ()
        return (len(item), *found(item[0])) if len(item) else (0,)

    def check(item: Any, shape: tuple[int, ...]) -> None:
        if _is_list(item) != bool(shape) or (shape and len(item) != shape[0]):
            raise ValueError(f"inner values have inconsistent shape: {item!r} is not of shape {list(shape)}")
        for child in item if shape else ():
            check(child, shape[1:])

    shape = found(flat)
    check(flat, shape)
    return shape[1:]


def range(
    starts: TensorLike,
    limits: TensorLike | None = None,
    deltas: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> RaggedTensor:
    """Creates rows of numbers from `starts[i]` up to `limits[i]` in steps of `deltas[i]`; from 0 without `limits`.

    >>> tf.ragged.range([3, 5, 2])
    <tf.RaggedTensor [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1]]>
    """
    if limits is None:
        starts, limits = 0, starts
    wanted = None if dtype is None else as_dtype(dtype)
    given = [to_tensor(x, wanted) for x in (starts, limits, deltas)]
    for x in given:
        if x.dtype not in _RANGES:
            raise errors.InvalidArgumentError(f"a range is of {', '.join(d.name for d in _RANGES)}, got {x.dtype.name}")
        if len(x.dims) > 1:
            raise errors.InvalidArgumentError("starts, limits and deltas must be scalars or vectors")
    kind = max((x.dtype for x in given), key=_RANGES.index)
    given = [x if x.dtype is kind else ops.cast(x, dtype=kind) for x in given]
    sizes = {x.dims[0] for x in given if x.dims}
    if len(sizes) > 1:
        raise errors.InvalidArgumentError("starts, limits, and deltas must have the same shape")
    count = sizes.pop() if sizes else 1
    first, last, step = (ops.broadcast_to(x, shape=(count,)) for x in given)
    verify(_check_steps, step)
    lengths = _counted(first, last, step, as_dtype(row_splits_dtype))
    splits = indices.splits_of(lengths)
    total = indices.looked_at(splits[-1])
    rows, places = indices.row_numbers(splits, total), indices.offsets(splits, total)
    at = places if kind is places.dtype else ops.cast(places, dtype=kind)
    numbers = ops.add(indices.picked(first, rows), ops.mul(at, indices.picked(step, rows)))
    return RaggedTensor(numbers, cut_at(splits), internal=True)


def _check_steps(steps: Any) -> None:
    if np.any(steps == 0):
        raise errors.InvalidArgumentError(f"Requires delta != 0, got {np.asarray(steps).tolist()}")


def _counted(first: Tensor, last: Tensor, step: Tensor, dtype: Any) -> Tensor:
    """Returns the number of elements of each range."""
    span = ops.sub(last, first)
    if first.dtype.is_floating:
        steps = ops.ceil(ops.div(span, step))
        return ops.cast(ops.maximum(steps, to_tensor(0, steps.dtype)), dtype=dtype)
    steps = ops.neg(ops.floordiv(ops.neg(span), step))
    return ops.cast(ops.maximum(steps, indices.number(0, steps.dtype)), dtype=dtype)


def row_splits_to_segment_ids(splits: TensorLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """Returns the row of each value, `[0, 0, 1]` for the `splits` `[0, 2, 3]`.

    >>> tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]).numpy().tolist()
    [0, 0, 0, 2, 2]
    """
    given = to_tensor(splits, None, dtypes.int64)
    if given.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"splits must have dtype int32 or int64, got {given.dtype.name}")
    if len(given.dims) != 1:
        raise ValueError(f"Shape {given.shape} must have rank 1")
    if not given.dims[0]:
        raise ValueError("Invalid row_splits: []")
    ids = cut_at(given).value_rowids()
    return ids if out_type is None else ops.cast(ids, dtype=as_dtype(out_type))


def segment_ids_to_row_splits(
    segment_ids: TensorLike, num_segments: TensorLike | None = None, out_type: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the row splits of values whose rows are `segment_ids`: `[0, 2, 3]` for `[0, 0, 1]`.

    >>> tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2]).numpy().tolist()
    [0, 3, 3, 5]
    """
    ids = to_tensor(segment_ids, None, dtypes.int64)
    if not ids.dtype.is_integer:
        raise TypeError(
            f"Argument `tensor` (name: segment_ids) must be of type integer. Received `tensor` = {segment_ids} of "
            f"dtype: {ids.dtype!r}"
        )
    if ids.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"segment_ids must have dtype int32 or int64, got {ids.dtype.name}")
    if len(ids.dims) == 1:  # else an error follows
        ids = ops.sort(ids, axis=0)
    splits = RowPartition.from_value_rowids(ids, num_segments, validate=False).row_splits()
    return splits if out_type is None else ops.cast(splits, dtype=as_dtype(out_type))


def stack(values: ValueLike, axis: int = 0, name: str | None = None) -> RaggedTensor:
    """Stacks values of one rank to a ragged tensor, along a new axis.

    >>> tf.ragged.stack([[1, 2], [3]])
    <tf.RaggedTensor [[1, 2], [3]]>
    """
    return arrays.stack(values, axis)


def stack_dynamic_partitions(
    data: ValueLike, partitions: TensorLike, num_partitions: TensorLike, name: str | None = None
) -> RaggedTensor:
    """Collects the elements of `data` with number `i` in `partitions` in row `i`.

    >>> tf.ragged.stack_dynamic_partitions(["a", "b", "c", "d"], [1, 0, 1, 1], num_partitions=3)
    <tf.RaggedTensor [[b'b'], [b'a', b'c', b'd'], []]>
    """
    x = arrays.values_of(data)
    numbers: Any = partitions if isinstance(partitions, RaggedTensor) else to_tensor(
        partitions, None, x.row_splits.dtype if isinstance(x, RaggedTensor) else None
    )
    rank = len(numbers.shape)
    if not numbers.shape.is_compatible_with(x.shape[:rank]):
        raise ValueError(f"Shapes {numbers.shape} and {x.shape[:rank]} are incompatible: partitions number the data")
    if isinstance(x, RaggedTensor):
        numbers = arrays.cast(numbers, x.row_splits.dtype)
    if rank > 1:
        dtype = numbers.dtype
        if not isinstance(x, RaggedTensor):
            x = RaggedTensor.from_tensor(x, row_splits_dtype=dtype)
        if not isinstance(numbers, RaggedTensor):
            numbers = RaggedTensor.from_tensor(
                numbers, ragged_rank=max(x.ragged_rank, rank - 1) if rank > 2 else 1, row_splits_dtype=dtype
            )
        arrays.check_same_rows([x, numbers], "data and partitions have incompatible ragged shapes")
        return stack_dynamic_partitions(x.values, numbers.values, num_partitions)
    count = indices.looked_at(to_array(num_partitions))
    if rank == 0:
        numbers, x = ops.reshape(numbers, shape=(1,)), arrays.expand_dims(x, 0)

    def test(given: Any) -> None:
        if np.any(given >= count):
            raise errors.InvalidArgumentError(f"partitions must be less than num_partitions={count}: {given.tolist()}")
        if np.any(given < 0):
            raise errors.InvalidArgumentError(f"partitions must be non-negative: {given.tolist()}")

    verify(test, numbers)
    order = ops.argsort(numbers, axis=0)
    rows = RowPartition.from_value_rowids(indices.picked(numbers, order), nrows=count, validate=False)
    return RaggedTensor(take(x, order), rows, internal=True)


def dynamic_partition(
    data: ValueLike, partitions: TensorLike, num_partitions: int, name: str | None = None
) -> list[Any]:
    """`tf.dynamic_partition`."""
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    found = stack_dynamic_partitions(data, partitions, num_partitions)
    return [found[i] for i in builtins.range(num_partitions)]


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Applies `op` to the flat values of the ragged tensors among the arguments; the result keeps their rows.

    >>> tf.ragged.map_flat_values(tf.ones_like, tf.ragged.constant([[1, 2], [3]]))
    <tf.RaggedTensor [[1, 1], [1]]>
    """
    return _map_flat_values(op, *args, **kwargs)


@errors.runs_with_examples
def _map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    found: list[RaggedTensor] = []

    def flattened(value: Any) -> Any:
        if isinstance(value, RaggedTensor):
            found.append(value)
            return value.flat_values
        if isinstance(value, list | tuple):
            return type(value)([flattened(v) for v in value])
        return {k: flattened(v) for k, v in value.items()} if isinstance(value, dict) else value

    inner, named = flattened(list(args)), flattened(kwargs)
    if not found:
        return op(*args, **kwargs)
    counts = {x.flat_values.dims[0] for x in found}
    if len(counts) > 1:
        raise ValueError(
            f"Input RaggedTensors' flat_values must all have the same outer-dimension size.  Got sizes: {counts}"
        )
    if len({x.row_splits.dtype for x in found}) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row partition dtypes; use RaggedTensor.with_row_splits_dtype() to "
            "convert them to compatible dtypes."
        )
    if len({x.ragged_rank for x in found}) > 1:
        raise ValueError("All ragged inputs must have the same ragged_rank.")
    result = op(*inner, **named)
    (count,) = counts
    if not result.shape.rank or result.shape[0] != count:
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as "
            f"flat_values of any ragged inputs. (output shape: {result.shape}; expected outer dimension size: {count})"
        )
    _check_cut_alike(found)
    return found[0].with_flat_values(result)


def _check_cut_alike(values: list[RaggedTensor]) -> None:
    first = values[0]
    for other in values[1:]:
        for mine, its in zip(first.nested_row_splits, other.nested_row_splits, strict=True):
            if mine is not its:
                verify(_same, mine, its)


def _same(mine: Any, its: Any) -> None:
    if not np.array_equal(mine, its):
        raise errors.InvalidArgumentError(
            f"partitions have incompatible row_splits: {np.asarray(mine).tolist()} and {np.asarray(its).tolist()}"
        )


def boolean_mask(data: ValueLike, mask: TensorLike, name: str | None = None) -> Any:
    """Selects the elements for which `mask` is true, keeping the rows.

    >>> tf.ragged.boolean_mask(data=[[1, 2, 3], [4, 5, 6]], mask=[[True, False, True], [False, False, False]])
    <tf.RaggedTensor [[1, 3], []]>
    """
    x = arrays.values_of(data)
    keep = mask if isinstance(mask, RaggedTensor | Tensor) else to_tensor(mask, dtypes.bool)
    if keep.dtype is not dtypes.bool:
        raise ValueError(f"Tensor conversion requested dtype bool for Tensor with dtype {keep.dtype.name}")
    same_splits_dtype([x, keep])
    rank = len(keep.shape)
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    if not isinstance(keep, RaggedTensor):
        if rank == 1:
            return take(x, _true(keep)) if isinstance(x, RaggedTensor) else dense_mask(x, keep)
        like = x.ragged_rank if isinstance(x, RaggedTensor) else rank - 1
        dtype = x.row_splits.dtype if isinstance(x, RaggedTensor) else dtypes.int64
        keep = RaggedTensor.from_tensor(keep, ragged_rank=min(like, rank - 1), row_splits_dtype=dtype)
    if not isinstance(x, RaggedTensor):
        x = RaggedTensor.from_tensor(x, ragged_rank=keep.ragged_rank, row_splits_dtype=keep.row_splits.dtype)
    arrays.check_same_rows([x, keep], "Inputs must have identical ragged splits")
    if rank > 2:
        return RaggedTensor(boolean_mask(x.values, keep.values), cut_at(keep.row_splits), internal=True)
    counts = ops.cast(keep.values, dtype=keep.row_splits.dtype)
    lengths = ops.segment_sum(counts, keep.value_rowids(), count=rows_of(keep))
    return RaggedTensor(
        boolean_mask(x.values, keep.values), cut_at(indices.splits_of(lengths)), internal=True
    )


def _true(mask: Tensor) -> Tensor:
    """Returns the indices at which a vector is true."""
    return dense_mask(indices.counting(mask.dims[0], dtypes.int64), mask)

"""Conversion of ragged tensors: from and to dense and sparse ones, and to text; merging of dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.dtypes import DType
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..engine.run.convert import to_array, to_tensor
from ..engine.run.namespace import ops
from ..engine.run.verification import verify
from ..sparse.tensor import SparseTensor
from . import indices
from .partition import cut_at
from .ragged_tensor import RaggedTensor


def from_tensor(tensor: object, lengths: object, padding: object, ragged_rank: int, dtype: DType) -> RaggedTensor:
    """Implement `RaggedTensor.from_tensor`."""
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    x = to_tensor(tensor)
    dims = x.dims
    if len(dims) < 2:
        raise ValueError(
            "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have ragged dimensions. "
            f"Received argument `tensor` with rank {len(dims)}."
        )
    if isinstance(lengths, list | tuple) and len(lengths) and not isinstance(lengths[0], int | float):
        return _with_nested_lengths(x, lengths, ragged_rank)
    if len(dims) < ragged_rank + 1:
        raise ValueError(f"Shape {x.shape} must have rank at least {ragged_rank + 1}")
    outer = math.prod(dims[:ragged_rank])
    result = _cut(ops.reshape(x, shape=(outer, *dims[ragged_rank:])), lengths, padding, dtype)
    for axis in range(ragged_rank - 1, 0, -1):
        result = RaggedTensor.from_uniform_row_length(
            result, indices.number(dims[axis], dtype), nrows=math.prod(dims[:axis]), validate=False
        )
    return result


def _cut(x: Tensor, lengths: object, padding: object, dtype: DType) -> RaggedTensor:
    """Cut the rows of `x` to given lengths, strip their padding, or keep them whole."""
    rows, columns = x.dims[:2]
    flat = ops.reshape(x, shape=(rows * columns, *x.dims[2:]))
    if padding is not None:
        lengths = _without_padding(x, to_tensor(padding, x.dtype), dtype)
    if lengths is None:
        return RaggedTensor.from_uniform_row_length(flat, indices.number(columns, dtype), nrows=rows, validate=False)
    counts = to_tensor(lengths, None, dtype)
    if len(counts.dims) != 1:
        raise ValueError(f"Shape {counts.shape} must have rank 1: lengths are one for each row")
    counts = ops.cast(counts, dtype=dtype)
    zero, most = indices.number(0, dtype), indices.number(columns, dtype)
    counts = ops.maximum(ops.minimum(counts, most), zero)
    places, splits = indices.ranges(ops.mul(indices.counting(rows, dtype), most), counts)
    return RaggedTensor(indices.picked(flat, places), cut_at(splits), internal=True)


def _without_padding(x: Tensor, padding: Tensor, dtype: DType) -> Tensor:
    """The row lengths up to the last element that is not padding."""
    if padding.dims != x.dims[2:]:
        own = TensorShape(x.dims[2:])
        raise ValueError(f"Shapes {padding.shape} and {own} are incompatible: padding is one element")
    differs = ops.not_equal(x, padding)
    if len(x.dims) > 2:
        differs = ops.any(differs, axis=tuple(range(2, len(x.dims))), keepdims=False)
    places = ops.add(indices.counting(x.dims[1], dtype), indices.number(1, dtype))
    ends = ops.mul(ops.cast(differs, dtype=dtype), places)
    if not x.dims[1]:
        return to_tensor(np.zeros(x.dims[0], dtype.numpy))
    return ops.max(ends, axis=(1,), keepdims=False)


def _with_nested_lengths(x: Tensor, lengths: Sequence[object], ragged_rank: int) -> RaggedTensor:
    if ragged_rank not in (1, len(lengths)):
        raise ValueError(
            "If Argument `lengths` is a tuple of row_lengths, argument `ragged_rank` must be len(lengths): "
            f"{len(lengths)}. Received ragged_rank: {ragged_rank}."
        )
    if len(x.dims) < len(lengths) + 1:
        raise ValueError(f"Shape {x.shape} must have rank at least {len(lengths) + 1}")
    # Build the ragged tensor of positions, then gather the elements there.
    counts = [to_tensor(one, None, dtypes.int64) for one in lengths]
    total = indices.looked_at(ops.sum(counts[-1], axis=(0,), keepdims=False))
    shape = RaggedTensor.from_nested_row_lengths(indices.counting(total, dtypes.int64), counts)
    depth = len(counts) + 1
    columns = to_sparse(shape).indices
    places = ops.ravel_index(columns, dims=x.dims[:depth])
    flat = ops.reshape(x, shape=(math.prod(x.dims[:depth]), *x.dims[depth:]))
    return shape.with_flat_values(indices.picked(flat, places))


def from_sparse(st_input: object, dtype: DType) -> RaggedTensor:
    """Implement `RaggedTensor.from_sparse`."""
    if not isinstance(st_input, SparseTensor):
        raise TypeError(f"Argument `st_input` must be of type SparseTensor, but is of type {type(st_input).__name__}.")
    if len(st_input.dims) != 2:
        raise ValueError(f"rank(st_input) must be 2. It is {len(st_input.dims)}")

    def test(places: np.ndarray[Any, Any]) -> None:
        rows, columns = places[:, 0], places[:, 1]
        first = np.concatenate([[True], rows[1:] != rows[:-1]])[: len(rows)]
        expected = np.where(first, 0, np.concatenate([[0], columns[:-1] + 1])[: len(rows)])
        if np.any(columns != expected) or np.any(rows[1:] < rows[:-1]):
            raise errors.InvalidArgumentError(
                "SparseTensor is not right-ragged: its values must stand at the beginnings of its rows, in order. "
                f"SparseTensor.indices = {places.tolist()}"
            )

    verify(test, st_input.indices)
    ids = ops.cast(st_input.indices[:, 0], dtype=dtype)
    return RaggedTensor.from_value_rowids(st_input.values, ids, nrows=st_input.dims[0], validate=False)


def to_dense(rt: RaggedTensor, default_value: object, shape: object) -> Tensor:
    """Implement `RaggedTensor.to_tensor`: compute for each element its position in the flat values, then gather."""
    flat = rt.flat_values
    inner = flat.dims[1:]
    default = to_tensor(dtypes.zero_array((), flat.dtype) if default_value is None else default_value, flat.dtype)
    _check_default(default.dims, flat.dims)
    sizes = _sizes(rt, shape)
    dtype = rt.row_splits.dtype
    rows = rt._nested_row_partitions
    # A missing row has the number after the last one, and a missing value likewise, which is the default.
    places = ops.minimum(indices.counting(sizes[0], dtype), indices.number(rows[0].rows, dtype))
    none = to_tensor(np.zeros(1, dtype.numpy))
    for partition, width in zip(rows, sizes[1:], strict=True):
        starts = indices.picked(partition.row_splits(), places)
        counts = indices.picked(ops.concat(partition.row_lengths(), none, axis=0), places)
        starts, counts = (ops.reshape(x, shape=(*x.dims, 1)) for x in (starts, counts))
        at = indices.counting(width, dtype)
        places = ops.where(ops.less(at, counts), ops.add(starts, at), indices.number(partition.count, dtype))
    last = ops.broadcast_to(default, shape=(1, *inner))
    return indices.picked(ops.concat(flat, last, axis=0), places)


def _check_default(default: tuple[int, ...], flat: tuple[int, ...]) -> None:
    """Raises unless a default value of one shape broadcasts to one of the flat values, which have the shape `flat`."""
    reason = None
    if len(default) >= len(flat):
        reason = f"default_value.rank = {len(default)}  must be less than rt_input.flat_values.rank = {len(flat)}"
    for axis in range(-1, -1 - len(default), -1):
        if reason is None and default[axis] not in (flat[axis], 1):
            reason = (
                f"default_value.shape[{axis}] = {default[axis]} but rt_input.flat_values.shape[{axis}] = {flat[axis]}"
            )
    if reason is not None:
        raise errors.InvalidArgumentError(
            f"default_value.shape={list(default)} and rt_input.flat_values.shape={list(flat)} are incompatible: "
            f"{reason}"
        )


def _sizes(rt: RaggedTensor, shape: object) -> list[int]:
    """The sizes of the result of `to_tensor` along the outer dimensions, up to the last ragged one."""
    rank = rt.shape.rank or 0
    if isinstance(shape, Tensor):
        shape = to_array(shape).tolist()
        if shape == -1:  # only a tensor may say so that it is unknown
            shape = None
    if isinstance(shape, list | tuple):
        shape = [None if n is None or int(n) < 0 else int(n) for n in shape]
    given = TensorShape(shape)
    wanted: list[Any] = [None] * rank if given.rank is None else list(given)
    if len(wanted) != rank:
        raise errors.InvalidArgumentError(
            f"rt_input.shape and shape={_written(wanted)} are incompatible: rt_input.rank = {rank} but shape.rank = "
            f"{len(wanted)}"
        )
    depth = rt.ragged_rank + 1
    inner = rt.flat_values.dims[1:]
    for axis, size in enumerate(inner, depth):
        if wanted[axis] not in (None, size):
            raise errors.InvalidArgumentError(
                f"rt_input.shape and shape={_written(wanted)} are incompatible: rt_input.shape[{axis}] = {size} but "
                f"shape[{axis}] = {wanted[axis]}"
            )
    box = rt._nested_row_partitions
    found = []
    for axis, size in enumerate(wanted[:depth]):
        if size is None:
            size = box[0].rows if axis == 0 else box[axis - 1].static_uniform_row_length
        if size is None:
            lengths = box[axis - 1].row_lengths()
            size = indices.looked_at(ops.max(lengths, axis=(0,), keepdims=False)) if lengths.dims[0] else 0
        found.append(size)
    return found


def _written(sizes: list[Any]) -> str:
    """Sizes as TensorFlow's kernels write them."""
    return f"[{','.join('?' if size is None else str(size) for size in sizes)}]"


def to_sparse(rt: RaggedTensor) -> SparseTensor:
    """Implement `RaggedTensor.to_sparse`."""
    flat = rt.flat_values
    count, inner = flat.dims[0], flat.dims[1:]
    columns: list[Tensor] = []
    for rows in rt._nested_row_partitions:
        ids = rows.value_rowids()
        columns = [indices.picked(column, ids) for column in columns] if columns else [ids]
        columns.append(rows.offsets_in_rows())
    places = ops.cast(ops.stack(*columns, axis=1), dtype=dtypes.int64)
    if inner:
        each = math.prod(inner)
        grid = np.stack([axis.ravel() for axis in np.indices(inner)], axis=1).astype(np.int64)
        rows_ = to_tensor(np.repeat(np.arange(count), each))
        places = ops.concat(indices.picked(places, rows_), to_tensor(np.tile(grid, (count, 1))), axis=1)
        flat = ops.reshape(flat, shape=(count * each,))
    return SparseTensor(places, flat, rt.bounding_shape(out_type=dtypes.int64))


def merge_dims(value: Tensor | RaggedTensor, outer: int, inner: int) -> Any:
    """Merge the dimensions from `outer` to `inner` of a tensor, ragged or not."""
    if outer == inner:
        return value
    while outer == 0 and isinstance(value, RaggedTensor):
        value = value.values
        inner -= 1
        if inner == 0:
            return value
    if not isinstance(value, RaggedTensor):
        dims = value.dims
        return ops.reshape(value, shape=(*dims[:outer], math.prod(dims[outer : inner + 1]), *dims[inner + 1 :]))
    if outer > 1:
        return value.with_values(merge_dims(value.values, outer - 1, inner - 1))
    values, splits = value.values, value.row_splits
    for axis in range(outer, inner):
        if isinstance(values, RaggedTensor):
            splits = indices.picked(values.row_splits, splits)
            values = values.values
        else:
            dims, left = values.dims, inner - axis + 1
            each = math.prod(dims[1:left])
            values = ops.reshape(values, shape=(dims[0] * each, *dims[left:]))
            splits = ops.mul(splits, indices.number(each, splits.dtype))
            break
    return RaggedTensor(values, cut_at(splits), internal=True)


def written(rt: RaggedTensor, count: int) -> Tensor:
    """Format all elements with brackets, as TensorFlow prints them: a string tensor."""

    def text(flat: Sequence[object], *nested: Any) -> Any:
        rows: Any = [_nested(value, count) for value in flat]
        for splits in reversed(nested):
            ends = splits.tolist()
            rows = [_joined(rows[i:j], count) for i, j in pairwise(ends)]
        return np.array(_joined(rows, count).encode(), dtype=object)

    return ops.map_text(rt.flat_values, *rt.nested_row_splits, function=text)


def _nested(value: object, count: int) -> str:
    if isinstance(value, np.ndarray) and value.ndim:
        return _joined([_nested(part, count) for part in value], count)
    return _element(value)


def _joined(parts: list[str], count: int) -> str:
    if 0 < count and len(parts) > 2 * count:
        parts = [*parts[:count], "...", *parts[-count:]]
    return f"[{', '.join(parts)}]"


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        escaped = value.decode(errors="replace").replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.complexfloating):
        return f"({value.real:f},{value.imag:f})"
    return f"{float(value):f}" if isinstance(value, np.floating) else str(int(value))

"""Gather and scatter ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import as_dtype
from ...core.tensor import Tensor, wrap
from ...core.type_hints import AxisLike, DTypeLike, ShapeLike, TensorLike, ValueLike
from ...engine.run.convert import integer, to_shape, to_tensor, to_tensors, wrong_input
from ...engine.run.namespace import ops
from ...ops.arrays.slicing import masked
from ..namespace import resolve

NAMESPACES = ("",)
__all__ = [
    "boolean_mask", "gather", "gather_nd", "scatter_nd", "sequence_mask", "tensor_scatter_nd_add",
    "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub", "tensor_scatter_nd_update",
    "unravel_index",
]  # fmt: skip


def _indices(value: Any, title: str) -> Tensor:
    x = value if isinstance(value, Tensor) else to_tensor(value)
    if x.dtype not in (dtypes.int32, dtypes.int64, dtypes.int16):
        raise errors.InvalidArgumentError(
            f"Value for attr 'Tindices' of {x.dtype.kernel_name()} is not in the list of allowed values: int16, int32, "
            f"int64 [Op:{title}]. Use tf.cast(indices, tf.int32)"
        )
    return x


def gather(
    params: ValueLike,
    indices: TensorLike,
    validate_indices: bool | None = None,
    axis: AxisLike | None = None,
    batch_dims: int | None = 0,
    name: str | None = None,
) -> Tensor:
    """Gathers slices of `params` at `indices` along `axis`, `y[i] = params[indices[i]]` for the first.
    The gradient along the first axis is an IndexedSlices.

    - Shape: `params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]`.
    - Dtypes: any; the result has that of `params`.
    - Derivative: for each slice of `params` the sum of the gradients where it was taken.

    Args:
      axis: The axis to gather along; `batch_dims` by default.
      batch_dims: The number of leading axes that `params` and `indices` share.

    >>> tf.gather([10, 20, 30], [2, 0, 2]).numpy()
    array([30, 10, 30], dtype=int32)
    >>> tf.gather([[1, 2, 3], [4, 5, 6]], [[0], [2]], batch_dims=1).numpy().tolist()
    [[1], [6]]
    """
    x = params if isinstance(params, Tensor) else to_tensor(params)
    at = _indices(indices, "GatherV2")
    if axis is None and not batch_dims and x.dims:
        return ops.gather_rows(x, at)
    if batch_dims is None:
        batch_dims = 0
    rank, batch = len(x.dims), batch_dims
    if not rank:
        raise errors.InvalidArgumentError("params must be at least 1 dimensional [Op:GatherV2]")
    if batch < 0:
        batch += len(at.dims)
    where = batch_dims if axis is None else integer(axis, "axis")
    if not -rank <= where < rank:
        raise errors.InvalidArgumentError(f"Shape must be at least rank {where + 1} but is rank {rank} [Op:GatherV2]")
    if where == 0 and batch == 0:
        return ops.gather_rows(x, at)
    where %= rank
    if not 0 <= batch <= min(where, len(at.dims)):
        if where < batch:
            return ops.gather(x, at, axis=where, batch=0)
        raise errors.InvalidArgumentError(
            f"batch_dims = {batch_dims} must be at most axis = {where} and the rank of indices {len(at.dims)}"
        )
    for i in range(batch):
        if x.dims[i] != at.dims[i]:
            raise errors.InvalidArgumentError(
                f"params.shape[{i}]: {x.dims[i]} should be equal to indices.shape[{i}]: {at.dims[i]} [Op:GatherV2]"
            )
    return ops.gather(x, at, axis=where, batch=batch)


def _coordinates(x: Tensor, batch: int, title: str) -> int:
    if len(x.dims) <= batch:
        raise errors.InvalidArgumentError(f"indices must be at least a vector [Op:{title}]")
    return x.dims[-1]


def gather_nd(
    params: ValueLike, indices: TensorLike, batch_dims: int = 0, name: str | None = None, bad_indices_policy: str = ""
) -> Tensor:
    """Gathers the elements or slices of `params` at the coordinates in the last axis of `indices`:
    `y[i] = params[indices[i, 0], indices[i, 1], ...]`.

    - Shape: `indices.shape[:-1] + params.shape[indices.shape[-1]:]`.
    - Dtypes: any; the result has that of `params`.
    - Derivative: for each element of `params` the sum of the gradients where it was taken.

    Args:
      bad_indices_policy: 'IGNORE' returns zeros for coordinates out of range, which otherwise raise an error.

    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 0], [1, 1]]).numpy()
    array([1, 4], dtype=int32)
    """
    x, at = to_tensor(params), _indices(indices, "GatherNd")
    batch = integer(batch_dims, "batch_dims")
    depth = _coordinates(at, batch, "GatherNd")
    dims = x.dims
    if batch + depth > len(dims):
        raise errors.InvalidArgumentError(
            f"index innermost dimension length must be <= params rank; saw: {depth} vs. {len(dims) - batch} "
            "[Op:GatherNd]"
        )
    lead = dims[batch : batch + depth]
    if bad_indices_policy == "IGNORE":
        good = _in_range(at, lead)
        found = gather_nd(x, ops.where(_expand_trailing(good, 1), at, ops.zeros_like(at)), batch)
        kept = _expand_trailing(good, len(found.dims) - len(good.dims))
        return ops.where(kept, found, ops.zeros_like(found))
    if depth == 1 and len(at.dims) == 2 and not batch:
        return ops.gather_rows(x, ops.reshape(_check_indices(at, lead), shape=at.dims[:-1]))
    flat = ops.reshape(x, shape=(*dims[:batch], math.prod(lead), *dims[batch + depth :]))
    return ops.gather(flat, ops.ravel_index(at, dims=lead), axis=batch, batch=batch)


def _check_indices(indices: Tensor, lead: tuple[int, ...]) -> Tensor:
    ops.ravel_index(indices, dims=lead)
    return indices


def _in_range(indices: Tensor, lead: tuple[int, ...]) -> Tensor:
    limits = Tensor(np.array(lead, indices.dtype.numpy))
    inside = ops.logical_and(ops.greater_equal(indices, 0), ops.less(indices, limits))
    return ops.all(inside, axis=(len(indices.dims) - 1,), keepdims=False)


def _expand_trailing(x: Tensor, count: int) -> Tensor:
    return ops.reshape(x, shape=(*x.dims, *(1,) * count))


def _rows(indices: Any, updates: Tensor, dims: tuple[int, ...], title: str, policy: str) -> tuple[Any, Tensor, Any]:
    """Returns row numbers, updates as rows, and the shape in rows, for scattering into a tensor of shape `dims`."""
    at = _indices(indices, title)
    if not at.dims or not updates.dims:
        raise errors.InvalidArgumentError(
            f"{'Updates' if at.dims else 'Indices'} shape must have rank at least one. Found:[] [Op:{title}]"
        )
    depth, outer = at.dims[-1], at.dims[:-1]
    if depth > len(dims) or updates.dims != (*outer, *dims[depth:]):
        raise errors.InvalidArgumentError(
            f"Inner dimensions of output shape must match inner dimensions of updates shape. Output: {list(dims)} "
            f"updates: {list(updates.dims)}; for indices of shape {list(at.dims)} the updates' shape must be "
            f"{[*outer, *dims[depth:]]} [Op:{title}]"
        )
    lead, rest = dims[:depth], dims[depth:]
    count = math.prod(outer)
    flat, values = ops.reshape(at, shape=(count, depth)), ops.reshape(updates, shape=(count, *rest))
    if policy == "IGNORE":
        good = ops.nonzero(_in_range(flat, lead))
        good = ops.reshape(good, shape=good.dims[:1])
        flat, values = (ops.gather(t, good, axis=0, batch=0) for t in (flat, values))
    return ops.ravel_index(flat, dims=lead), values, (math.prod(lead), *rest)


def scatter_nd(
    indices: TensorLike, updates: ValueLike, shape: ShapeLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Adds `updates` to zeros of `shape` at the coordinates in the last axis of `indices`; strings are concatenated.

    >>> tf.scatter_nd([[1], [3], [1]], [10, 20, 5], [4]).numpy()
    array([ 0, 15,  0, 20], dtype=int32)
    """
    at, u = _indices(indices, "ScatterNd"), to_tensor(updates)
    size = to_tensor(shape, hint=at.dtype if not isinstance(shape, Tensor) else None)
    if size.dtype is not at.dtype:
        raise errors.InvalidArgumentError(wrong_input("ScatterNd", 2, at.dtype, size.dtype))
    dims = to_shape(size)
    rows, values, flat = _rows(at, u, dims, "ScatterNd", bad_indices_policy)
    if u.dtype.kind & dtypes.NUMERIC:
        return ops.reshape(ops.scatter_add(values, rows, shape=flat), shape=dims)
    if u.dtype is dtypes.string:  # strings with the same index are concatenated
        return ops.reshape(resolve("strings.unsorted_segment_join")(values, rows, flat[0]), shape=dims)
    found = ops.scatter_add(ops.cast(values, dtype=dtypes.int32), rows, shape=flat)
    return ops.reshape(ops.cast(found, dtype=dtypes.bool), shape=dims)


def scatter(op: str, tensor: Any, indices: Any, updates: Any, policy: str, title: str) -> Tensor:
    """Returns `tensor` with elements changed by an op of rows; the policy says what happens to those out of range."""
    x, u = to_tensors((tensor, updates), title)
    rows, values, flat = _rows(indices, u, x.dims, title, policy)
    y = getattr(ops, op)(ops.reshape(x, shape=flat), rows, values)
    return ops.reshape(y, shape=x.dims)


def _scatter_add(tensor: Any, indices: Any, updates: Any, policy: str, title: str) -> tuple[Tensor, Tensor]:
    x, u = to_tensors((tensor, updates), title)
    rows, values, flat = _rows(indices, u, x.dims, title, policy)
    return x, ops.reshape(ops.scatter_add(values, rows, shape=flat), shape=x.dims)


def tensor_scatter_nd_add(
    tensor: ValueLike, indices: TensorLike, updates: ValueLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Returns `tensor` with `updates` added at `indices`: `y[indices[i]] += updates[i]`.

    >>> tf.tensor_scatter_nd_add([1, 1, 1], [[0], [2], [0]], [5, 6, 7]).numpy()
    array([13,  1,  7], dtype=int32)
    """
    x, change = _scatter_add(tensor, indices, updates, bad_indices_policy, "TensorScatterAdd")
    return x + change


def tensor_scatter_nd_sub(
    tensor: ValueLike, indices: TensorLike, updates: ValueLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Returns `tensor` with `updates` subtracted at `indices`.

    >>> tf.tensor_scatter_nd_sub([1, 1, 1], [[0], [2]], [5, 6]).numpy()
    array([-4,  1, -5], dtype=int32)
    """
    x, change = _scatter_add(tensor, indices, updates, bad_indices_policy, "TensorScatterSub")
    return x - change


def tensor_scatter_nd_max(
    tensor: ValueLike, indices: TensorLike, updates: ValueLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Returns `tensor` with the elementwise maximum of its values and `updates` at `indices`.

    >>> tf.tensor_scatter_nd_max([1, 8, 1], [[0], [1]], [5, 6]).numpy()
    array([5, 8, 1], dtype=int32)
    """
    return scatter("max_rows", tensor, indices, updates, bad_indices_policy, "TensorScatterMax")


def tensor_scatter_nd_min(
    tensor: ValueLike, indices: TensorLike, updates: ValueLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Returns `tensor` with the elementwise minimum of its values and `updates` at `indices`.

    >>> tf.tensor_scatter_nd_min([1, 8, 1], [[0], [1]], [5, 6]).numpy()
    array([1, 6, 1], dtype=int32)
    """
    return scatter("min_rows", tensor, indices, updates, bad_indices_policy, "TensorScatterMin")


def tensor_scatter_nd_update(
    tensor: ValueLike, indices: TensorLike, updates: ValueLike, name: str | None = None
) -> Tensor:
    """Returns `tensor` with `updates` written at `indices`.

    >>> tf.tensor_scatter_nd_update([1, 1, 1], [[0], [2]], [5, 6]).numpy()
    array([5, 1, 6], dtype=int32)
    """
    return scatter("put_rows", tensor, indices, updates, "", "TensorScatterUpdate")


def boolean_mask(
    tensor: ValueLike, mask: TensorLike, axis: AxisLike | None = None, name: str = "boolean_mask"
) -> Tensor:
    """Selects the elements or slices of `tensor`, from `axis` on, for which `mask` is true.

    - Shape: that of `tensor`, with the number of true elements for the axes of `mask`.
    - Dtypes: any; the result has that of `tensor`.
    - Derivative: the gradient where `mask` is true, 0 elsewhere.

    >>> tf.boolean_mask([[1, 2], [3, 4], [5, 6]], [True, False, True]).numpy().tolist()
    [[1, 2], [5, 6]]
    """
    x = to_tensor(tensor)
    at = 0 if axis is None else integer(axis, "axis")
    keep = to_tensor(mask)
    keep = keep if keep.dtype is dtypes.bool else ops.cast(keep, dtype=dtypes.bool)
    return masked(x, keep, at + len(x.dims) if at < 0 else at)


def sequence_mask(
    lengths: TensorLike, maxlen: TensorLike | None = None, dtype: DTypeLike = dtypes.bool, name: str | None = None
) -> Tensor:
    """Returns a mask that is True in the first `lengths[i]` of `maxlen` positions; by default the longest length.

    >>> tf.sequence_mask([1, 3], dtype=tf.int32).numpy().tolist()
    [[1, 0, 0], [1, 1, 1]]
    """
    x = to_tensor(lengths)
    limit = _longest(x) if maxlen is None else to_tensor(maxlen)
    if limit.dims:
        raise ValueError(f"Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = {maxlen!r}")
    if limit.array < 0:
        raise errors.InvalidArgumentError(f"Requires start <= limit when delta > 0: 0/{limit.array} [Op:Range]")
    places = Tensor(np.arange(math.ceil(limit.array)).astype(limit.dtype.numpy), limit.dtype)
    mask = ops.less(places, ops.cast(_expand_trailing(x, 1), dtype=limit.dtype))
    target = as_dtype(dtype)
    return mask if target is dtypes.bool else ops.cast(mask, dtype=target)


def _longest(lengths: Tensor) -> Tensor:
    """Returns the largest of the lengths, or 0 if there are none."""
    flat = ops.reshape(lengths, shape=(math.prod(lengths.dims),))
    with_zero = ops.concat(flat, Tensor(np.zeros(1, flat.dtype.numpy), flat.dtype), axis=0)
    return ops.max(with_zero, axis=(0,), keepdims=False)


def unravel_index(indices: TensorLike, dims: TensorLike, name: str | None = None) -> Tensor:
    """Converts flat row-major indices into coordinates of an array of shape `dims`.

    >>> tf.unravel_index([2, 5], [2, 3]).numpy().tolist()
    [[0, 1], [2, 2]]
    """
    if isinstance(dims, np.ndarray):
        indices = to_tensor(indices, hint=dtypes.int32)
    at, shape = to_tensors((indices, dims), "UnravelIndex")
    if 0 in shape.array:
        raise errors.InvalidArgumentError(f"Input dims cannot contain a dim of zero, got {to_shape(shape)}")
    if math.prod(to_shape(shape)) > shape.dtype.max:
        raise errors.InvalidArgumentError(f"Input dims product is causing integer overflow: {to_shape(shape)}")
    try:
        found = np.unravel_index(at.array, to_shape(shape))
    except ValueError:
        raise errors.InvalidArgumentError(
            f"index is out of bound as with dims {to_shape(shape)}: got {at.array} [Op:UnravelIndex]"
        ) from None
    return wrap(np.stack(found).astype(at.dtype.numpy), at.dtype)

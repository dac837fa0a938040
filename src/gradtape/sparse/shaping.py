"""Concatenation, splitting, reshaping and transposition of sparse tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import errors
from ..core.type_hints import ShapeLike, TensorLike
from ..engine.run.convert import how_to_agree, to_array, to_tensor
from ..engine.run.namespace import ops
from .conversion import reorder, selected, sparse, where_true
from .tensor import SparseTensor, columns, coordinates, places

NAMESPACES = ("sparse",)
__all__ = ["concat", "expand_dims", "reset_shape", "reshape", "slice", "split", "transpose"]


def _numbers(value: Any) -> list[int]:
    return [int(n) for n in to_array(value)]


def _axis(axis: Any, rank: int, title: str) -> int:
    number = int(to_array(axis))
    if not -rank <= number < rank:
        raise errors.InvalidArgumentError(
            f"{title} dimension must be in range [{-rank}, {rank}), got {number} [Op:Sparse{title}]"
        )
    return number % rank


def concat(
    axis: TensorLike, sp_inputs: Sequence[Any], expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Concatenates sparse tensors along an axis.

    Args:
      expand_nonconcat_dims: whether the other axes may differ in size; the largest size is used.

    >>> s = tf.SparseTensor([[0, 1]], [5], [1, 2])
    >>> tf.sparse.to_dense(tf.sparse.concat(0, [s, s])).numpy().tolist()
    [[0, 5], [0, 5]]
    """
    if not isinstance(sp_inputs, list | tuple):
        raise TypeError(f"Inputs must be a list or tuple, got {sp_inputs!r}")
    given = [sparse(s) for s in sp_inputs]
    if not given:
        raise errors.InvalidArgumentError("there must be at least one sparse tensor to concatenate [Op:SparseConcat]")
    first = given[0]
    rank = len(first.dims)
    along = _axis(axis, rank, "Concat")
    for i, s in enumerate(given):
        if s.dtype is not first.dtype:
            raise errors.InvalidArgumentError(
                f"cannot compute SparseConcat: input #{i} is a {s.dtype.kernel_name()} tensor, the first one a "
                f"{first.dtype.kernel_name()} tensor. {how_to_agree(first.dtype, s.dtype)}"
            )
        differs = [k for k in range(rank) if k != along and s.dims[k : k + 1] != first.dims[k : k + 1]]
        if len(s.dims) != rank or (differs and not expand_nonconcat_dims):
            raise errors.InvalidArgumentError(
                f"Input shapes must match but for axis {along}: {list(first.dims)} and {list(s.dims)} at position {i} "
                "[Op:SparseConcat]"
            )
    sizes = [max(sizes) for sizes in zip(*(s.dims for s in given), strict=True)]
    sizes[along] = sum(s.dims[along] for s in given)
    moved, before = [], 0
    for s in given:
        moved.append(s.indices + np.array([before if i == along else 0 for i in range(rank)]))
        before += s.dims[along]
    joined = SparseTensor(ops.concat(*moved, axis=0), ops.concat(*(s.values for s in given), axis=0), sizes)
    return reorder(joined)


def expand_dims(sp_input: SparseTensor, axis: TensorLike | None = None, name: str | None = None) -> SparseTensor:
    """Inserts an axis of size 1 into `sp_input`, by default at the end.

    >>> tf.sparse.expand_dims(tf.SparseTensor([[0, 1]], [5], [1, 2]), 0).dense_shape.numpy().tolist()
    [1, 1, 2]
    """
    s = sparse(sp_input)
    rank = len(s.dims)
    place = -1 if axis is None else int(to_array(axis))
    place = place + rank + 1 if place < 0 else place
    if not 0 <= place <= rank:
        raise errors.InvalidArgumentError(f"axis {axis} is not in [{-rank - 1}, {rank}] for shape {list(s.dims)}")
    zeros = to_tensor(np.zeros((s.indices.dims[0], 1), np.int64))
    parts = columns(s.indices, range(place)), zeros, columns(s.indices, range(place, rank))
    return SparseTensor(ops.concat(*parts, axis=1), s.values, [*s.dims[:place], 1, *s.dims[place:]])


def reset_shape(sp_input: SparseTensor, new_shape: ShapeLike | None = None) -> SparseTensor:
    """Returns the same elements with another shape of the same rank; None means the smallest possible one.

    >>> tf.sparse.reset_shape(tf.SparseTensor([[0, 1]], [5], [4, 4])).dense_shape.numpy().tolist()
    [1, 2]
    """
    s = sparse(sp_input)
    if new_shape is None:
        indices = to_array(s.indices)
        return SparseTensor(s.indices, s.values, indices.max(axis=0, initial=-1) + 1)
    sizes = _numbers(new_shape)
    if len(sizes) != len(s.dims):
        raise ValueError(f"Dimensions {len(sizes)} and {len(s.dims)} are not compatible: the rank must be the same")
    if any(n < size for n, size in zip(sizes, s.dims, strict=True)):
        raise ValueError(
            f"Requested new_shape should have dimension sizes >= sp_input.shape. Found new_shape {sizes}, "
            f"sp_input.shape {list(s.dims)}."
        )
    return SparseTensor(s.indices, s.values, sizes)


def reshape(sp_input: SparseTensor, shape: ShapeLike, name: str | None = None) -> SparseTensor:
    """Reshapes a sparse tensor; one size may be -1 and is then inferred.

    >>> tf.sparse.reshape(tf.SparseTensor([[0, 1], [1, 0]], [5, 7], [2, 3]), [-1]).indices.numpy().tolist()
    [[1], [3]]
    """
    s = sparse(sp_input)
    sizes, count = _numbers(shape), math.prod(s.dims)
    if sizes.count(-1) > 1:
        raise errors.InvalidArgumentError(f"only one output dimension may be -1, got {sizes} [Op:SparseReshape]")
    if -1 in sizes:
        others = math.prod(n for n in sizes if n != -1)
        if not others or count % others:
            raise errors.InvalidArgumentError(
                f"Input to reshape is a SparseTensor with {count} dense values, but the requested shape requires a "
                f"multiple of {others} [Op:SparseReshape]"
            )
        sizes[sizes.index(-1)] = count // others
    if math.prod(sizes) != count:
        raise errors.InvalidArgumentError(
            f"Input to reshape is a tensor with {count} dense values, but the requested shape has {math.prod(sizes)}. "
            f"input_shape={list(s.dims)} output_shape={sizes} [Op:SparseReshape]"
        )
    return SparseTensor(coordinates(places(s), tuple(sizes)), s.values, sizes)


def slice(sp_input: SparseTensor, start: TensorLike, size: TensorLike, name: str | None = None) -> SparseTensor:
    """Returns the block of `sp_input` that starts at `start` and has `size`, clipped at the end of `sp_input`.

    >>> tf.sparse.slice(tf.SparseTensor([[0, 1], [1, 0]], [5, 7], [2, 3]), [0, 1], [2, 2]).indices.numpy().tolist()
    [[0, 0]]
    """
    s = sparse(sp_input)
    first, sizes = _numbers(start), _numbers(size)
    for title, numbers in (("start", first), ("size", sizes)):
        if len(numbers) != len(s.dims):
            raise errors.InvalidArgumentError(
                f"Expected {title} to be a vector of length {len(s.dims)} but got length {len(numbers)} "
                "[Op:SparseSlice]"
            )
    stop = [min(a + n, size) for a, n, size in zip(first, sizes, s.dims, strict=True)]
    return _block(s, first, stop)


def _block(s: SparseTensor, first: list[int], stop: list[int]) -> SparseTensor:
    origin = to_tensor(np.array(first, np.int64))
    after = ops.greater_equal(s.indices, origin)
    inside = ops.logical_and(after, ops.less(s.indices, to_tensor(np.array(stop, np.int64))))
    kept = selected(s, where_true(ops.all(inside, axis=(1,), keepdims=False)))
    sizes = [max(b - a, 0) for a, b in zip(first, stop, strict=True)]
    return SparseTensor(kept.indices - origin, kept.values, sizes)


def split(
    sp_input: SparseTensor | None = None, num_split: int | None = None, axis: TensorLike | None = None,
    name: str | None = None,
) -> list[SparseTensor]:  # fmt: skip
    """Splits `sp_input` into `num_split` parts along an axis; the first parts are one longer if there is a remainder.

    >>> parts = tf.sparse.split(tf.SparseTensor([[0, 1], [1, 0]], [5, 7], [2, 3]), 2, axis=1)
    >>> [part.dense_shape.numpy().tolist() for part in parts]
    [[2, 2], [2, 1]]
    """
    for title, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{title} is required")
    s = sparse(sp_input)
    along = _axis(axis, len(s.dims), "Split")
    count, size = int(to_array(num_split)), s.dims[along]
    if not 1 <= count <= size:
        raise errors.InvalidArgumentError(
            f"Input num_split should be between 1 and the splitting dimension size ({size}), got {count} "
            "[Op:SparseSplit]"
        )
    parts, before = [], 0
    for i in range(count):
        after = before + size // count + (i < size % count)
        first = [before if k == along else 0 for k in range(len(s.dims))]
        stop = [after if k == along else n for k, n in enumerate(s.dims)]
        parts.append(_block(s, first, stop))
        before = after
    return parts


def transpose(sp_input: SparseTensor, perm: TensorLike | None = None, name: str | None = None) -> SparseTensor:
    """Permutes the axes of `sp_input`, reversed by default.

    >>> tf.sparse.transpose(tf.SparseTensor([[0, 1], [1, 0]], [5, 7], [2, 3])).indices.numpy().tolist()
    [[0, 1], [1, 0]]
    """
    s = sparse(sp_input)
    rank = len(s.dims)
    order = list(range(rank))[::-1] if perm is None else _numbers(perm)
    if len(order) != rank:
        raise ValueError(f"Dimensions {len(order)} and {rank} are not compatible: perm must name every axis")
    if sorted(n % rank for n in order) != list(range(rank)) or any(not -rank <= n < rank for n in order):
        raise errors.InvalidArgumentError(f"perm must name every axis of shape {list(s.dims)} once, got {order}")
    return reorder(SparseTensor(columns(s.indices, order), s.values, [s.dims[i] for i in order]))

"""Repetition along axes: broadcasting, tiling and grids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import dtypes, errors, shapes
from ...core.shapes import TensorShape
from ...core.tensor import Tensor, wrap
from ...core.type_hints import ShapeLike, TensorLike, ValueLike
from ...engine.run.convert import integers, to_shape, to_tensor, to_tensors
from ...engine.run.namespace import ops

NAMESPACES = ("",)
__all__ = ["broadcast_dynamic_shape", "broadcast_static_shape", "broadcast_to", "meshgrid", "repeat", "tile"]


def broadcast_to(input: ValueLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Broadcasts `input` along axes of size 1 and new leading axes to `shape`.

    - Shape: `shape`.
    - Dtypes: any; the result has that of `input`.
    - Derivative: the gradient, summed over the axes that were broadcast.

    >>> tf.broadcast_to([1, 2], [2, 2]).numpy().tolist()
    [[1, 2], [1, 2]]
    """
    x = to_tensor(input)
    sizes = integers(shape, "BroadcastTo")
    if sizes.ndim != 1:
        raise errors.InvalidArgumentError(
            f"shape must be a vector of {{int32,int64}}, got shape {list(sizes.shape)} [Op:BroadcastTo]"
        )
    target = to_shape(sizes, "BroadcastTo")
    if len(x.dims) > len(target):
        raise errors.InvalidArgumentError(
            f"Rank of input ({len(x.dims)}) must be no greater than rank of output shape ({len(target)}). "
            "[Op:BroadcastTo]"
        )
    if any(n not in (1, m) for n, m in zip(reversed(x.dims), reversed(target), strict=False)):
        given, wanted = (str(list(dims)).replace(" ", "") for dims in (x.dims, target))
        raise errors.InvalidArgumentError(
            f"Incompatible shapes: {given} vs. {wanted}. Unable to broadcast tensor of shape {given} to tensor of "
            f"shape {wanted} [Op:BroadcastTo]"
        )
    return ops.broadcast_to(x, shape=target)


def broadcast_dynamic_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> Tensor:
    """Returns the shape of the result of an operation on two tensors of these shapes, as a tensor of integers.

    >>> tf.broadcast_dynamic_shape([2, 1], [3]).numpy()
    array([2, 3], dtype=int32)
    """
    a, b = (to_tensor(s, hint=dtypes.int32 if isinstance(s, list | tuple) else None) for s in (shape_x, shape_y))
    try:
        result = shapes.broadcast(to_shape(a), to_shape(b))
    except ValueError:
        raise errors.InvalidArgumentError(
            f"Incompatible shapes: {to_shape(a)} vs. {to_shape(b)} [Op:BroadcastArgs]"
        ) from None
    return wrap(np.array(result, a.dtype.numpy), a.dtype)


def broadcast_static_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> TensorShape:
    """Returns the broadcast shape of two shapes, in which some sizes may be unknown.

    >>> tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([None, 3]))
    TensorShape([2, 3])
    """
    a, b = TensorShape(shape_x), TensorShape(shape_y)
    if a.rank is None or b.rank is None:
        return TensorShape(None)
    n = max(len(a), len(b))
    result: list[int | None] = []
    for p, q in zip((1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b), strict=True):
        if p is not None and q is not None and 1 not in (p, q) and p != q:
            raise ValueError(
                "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are "
                f"either equal or one of them is 1. Received: {a} and {b}."
            )
        if p == 1 or q == 1:
            result.append(q if p == 1 else p)
        else:
            result.append(q if p is None else p)
    return TensorShape(result)


def tile(input: ValueLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """Repeats `input` as a whole `multiples[i]` times along axis i.

    - Shape: `multiples[i]` times the size of axis i.
    - Dtypes: any (TensorFlow does not take `uint16`); the result has that of `input`.
    - Derivative: the sum of the gradients of the copies.

    >>> tf.tile([1, 2], [2]).numpy()
    array([1, 2, 1, 2], dtype=int32)
    """
    x = to_tensor(input)
    array = integers(multiples, "Tile", "Tmultiples")
    if array.ndim != 1:
        raise errors.InvalidArgumentError(f"Expected multiples to be 1-D, but got shape {list(array.shape)} [Op:Tile]")
    times = array.tolist()
    if len(times) != len(x.dims):
        raise errors.InvalidArgumentError(
            f"Expected multiples argument to be a vector of length {len(x.dims)} but got length {len(times)} [Op:Tile]"
        )
    for i, count in enumerate(times):
        if count < 0:
            raise errors.InvalidArgumentError(f"Expected multiples[{i}] >= 0, but got {count} [Op:Tile]")
    # Axes of size 1 inserted before each axis and broadcast to the multiples create the copies; a reshape merges the
    # pairs.
    apart = ops.reshape(x, shape=tuple(n for d in x.dims for n in (1, d)))
    copies = ops.broadcast_to(apart, shape=tuple(n for m, d in zip(times, x.dims, strict=True) for n in (m, d)))
    return ops.reshape(copies, shape=tuple(m * d for m, d in zip(times, x.dims, strict=True)))


def repeat(input: ValueLike, repeats: TensorLike, axis: int | None = None, name: str | None = None) -> Tensor:
    """Repeats each element along `axis`; without an axis, the input is flattened first.

    - Shape: that of `input`, with the sum of `repeats` along `axis`.
    - Dtypes: any (TensorFlow does not take `uint16`); the result has that of `input`.
    - Derivative: the sum of the gradients of the copies.

    >>> tf.repeat([1, 2], repeats=[3, 1]).numpy()
    array([1, 1, 1, 2], dtype=int32)
    """
    x = to_tensor(input)
    counts = to_tensor(repeats, hint=dtypes.int32 if isinstance(repeats, list | tuple) else None)
    if not counts.dtype.is_integer:
        raise TypeError(f"Argument `tensor` (name: repeats) must be of type integer. Received `tensor` = {repeats!r}")
    if axis is None or not x.dims:
        x, axis = ops.reshape(x, shape=(math.prod(x.dims),)), axis or 0
    n = len(x.dims)
    if not -n <= axis < n:
        raise ValueError(f"axis={axis} out of bounds: expected {-n}<=axis<{n}")
    axis %= n
    if len(counts.dims) > 1:
        raise ValueError(f"Shape {counts.shape} must have rank at most 1: `repeats` is a number or a vector")
    dims = x.dims
    if counts.dims not in ((), (1,), (dims[axis],)):
        raise ValueError(
            f"Dimensions {dims[axis]} and {counts.dims[0]} are not compatible: one number for each element"
        )
    times = np.asarray(counts.array).reshape(-1)
    if times.size == 1 and times[0] < 0:
        raise errors.InvalidArgumentError(f"Expected multiples[{axis + 1}] >= 0, but got {times[0]} [Op:Tile]")
    if times.size != 1:
        at = Tensor(np.repeat(np.arange(dims[axis]), np.maximum(times, 0)))
        return ops.gather(x, at, axis=axis, batch=0)
    apart = ops.reshape(x, shape=(*dims[: axis + 1], 1, *dims[axis + 1 :]))
    copies = ops.broadcast_to(apart, shape=(*dims[: axis + 1], int(times[0]), *dims[axis + 1 :]))
    return ops.reshape(copies, shape=(*dims[:axis], dims[axis] * int(times[0]), *dims[axis + 1 :]))


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Returns the coordinates of a grid, one tensor per axis.

    - Shape: `[len(args[1]), len(args[0]), ...]`, with `indexing="ij"` in the order of `args`.
    - Dtypes: any (TensorFlow does not take `string`); the result has that of `args`.
    - Derivative: the gradient, summed over the other axes.

    Args:
      indexing: 'xy' (the default) puts the first coordinate along the second axis, 'ij' along the first.

    >>> x, y = tf.meshgrid([1, 2, 3], [4, 5])
    >>> x.numpy().tolist(), y.numpy().tolist()
    ([[1, 2, 3], [1, 2, 3]], [[4, 4, 4], [5, 5, 5]])
    """
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"{next(iter(kwargs))!r} is an invalid keyword argument for this function")
    flat = to_tensors([ops.reshape(x, shape=(math.prod(x.dims),)) for x in map(to_tensor, args)], "Mul")
    return grid_coordinates(flat, indexing)


def grid_coordinates(flat: Sequence[Tensor], indexing: str) -> list[Tensor]:
    """Returns the coordinates of a grid, one tensor per axis, from the vectors along the axes."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got {indexing!r}")
    axes = list(range(len(flat)))
    if indexing == "xy" and len(axes) > 1:
        axes[:2] = 1, 0
    whole = tuple(flat[i].dims[0] for i in axes)
    return [
        ops.broadcast_to(ops.reshape(x, shape=tuple(n if i == at else 1 for i, n in enumerate(whole))), shape=whole)
        for x, at in zip(flat, axes, strict=True)
    ]

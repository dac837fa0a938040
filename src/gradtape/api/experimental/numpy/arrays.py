"""`tf.experimental.numpy`: creating, shaping and indexing arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core import dtypes
from ....core.tensor import Tensor
from ....core.type_hints import AxisLike, DTypeLike, ShapeLike, TensorLike
from ....engine.run.convert import to_array, to_shape
from ....engine.run.namespace import ops
from ...namespace import resolve
from .promotion import PromotionPolicy, cast, own, promoted, tensor, with_policy

NAMESPACES = ("experimental.numpy",)
__all__ = [
    "arange", "array", "asarray", "broadcast_to", "clip", "concatenate", "diag", "e", "expand_dims", "eye", "flip",
    "full", "identity", "inf", "linspace", "moveaxis", "ndim", "newaxis", "ones", "ones_like", "pi",
    "ravel", "repeat", "reshape", "shape", "size", "split", "squeeze", "stack", "swapaxes", "take", "tile",
    "transpose", "where", "zeros", "zeros_like",
]  # fmt: skip

e, inf, newaxis, pi = np.e, np.inf, None, np.pi


def as_integers(*values: Any) -> list[Any]:
    """Converts tensors and arrays to Python integers; None stays."""
    return [None if value is None else int(value) for value in values]


def array(val: TensorLike, dtype: DTypeLike | None = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """Converts `val` to a tensor; Python floats become float64, integers int64.

    >>> tf.experimental.numpy.array([1, 2]).dtype
    tf.int64
    """
    x = tensor(val, dtype)
    return own("reshape")(x, (1,) * (ndmin - len(x.dims)) + x.dims) if len(x.dims) < ndmin else x


def asarray(a: TensorLike, dtype: DTypeLike | None = None) -> Tensor:
    """Alias of `array`.

    >>> tf.experimental.numpy.asarray([1.5]).dtype
    tf.float64
    """
    return tensor(a, dtype)


def arange(
    start: TensorLike, stop: TensorLike | None = None, step: TensorLike = 1, dtype: DTypeLike | None = None
) -> Tensor:
    """Returns numbers from `start` (0 if there is one argument) up to `stop`.

    >>> tf.experimental.numpy.arange(3).numpy().tolist()
    [0, 1, 2]
    """
    first, last = (0, start) if stop is None else (start, stop)
    bounds: list[Any] = [to_array(x)[()] if isinstance(x, Tensor) else x for x in (first, last, step)]
    return tensor(np.arange(*bounds), dtype)


@with_policy
def linspace(
    p: PromotionPolicy,
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = float,
    axis: int = 0,
) -> Any:
    """Returns `num` evenly spaced numbers from `start` to `stop`, which is excluded if `endpoint` is false.

    >>> tf.experimental.numpy.linspace(0, 1, 3).numpy().tolist()
    [0.0, 0.5, 1.0]
    """
    first, last = p.promote_floats(start, stop)
    kind = first.dtype if dtype is None or dtype is float else p.dtype_of(dtype)
    computed = kind if kind.is_floating or kind.is_complex else first.dtype
    first, last = (cast(x, computed if computed.size >= 4 else dtypes.float32) for x in (first, last))
    parts = int(num) - 1 if endpoint else int(num)
    step = (last - first) / (parts if parts > 0 else math.nan)
    values = resolve("linspace")(first, last if endpoint or parts < 1 else last - step, num, axis=axis)
    values = cast(ops.floor(values) if kind.is_integer and computed.is_floating else values, kind)
    return (values, cast(step, computed)) if retstep else values


@with_policy
def zeros(p: PromotionPolicy, shape: ShapeLike, dtype: DTypeLike | None = float) -> Tensor:
    """Creates zeros, float64 by default.

    >>> tf.experimental.numpy.zeros([2]).numpy().tolist()
    [0.0, 0.0]
    """
    kind = p.dtype_of(dtype)
    return resolve("fill")(to_shape(shape), p.tensor(b"" if kind is dtypes.string else 0, kind))


@with_policy
def ones(p: PromotionPolicy, shape: ShapeLike, dtype: DTypeLike | None = float) -> Tensor:
    """Creates ones, float64 by default.

    >>> tf.experimental.numpy.ones([2]).numpy().tolist()
    [1.0, 1.0]
    """
    return resolve("fill")(to_shape(shape), p.tensor(1, p.dtype_of(dtype)))


def full(shape: ShapeLike, fill_value: TensorLike, dtype: DTypeLike | None = None) -> Tensor:
    """Creates an array filled with one value.

    >>> tf.experimental.numpy.full([2], 7).numpy().tolist()
    [7, 7]
    """
    return broadcast_to(tensor(fill_value, dtype), shape)


@with_policy
def zeros_like(p: PromotionPolicy, a: TensorLike, dtype: DTypeLike | None = None) -> Tensor:
    """Creates zeros with the shape of `a`.

    >>> tf.experimental.numpy.zeros_like([1, 2]).numpy().tolist()
    [0, 0]
    """
    return resolve("zeros_like")(p.tensor(a), None if dtype is None else p.dtype_of(dtype))


@with_policy
def ones_like(p: PromotionPolicy, a: TensorLike, dtype: DTypeLike | None = None) -> Tensor:
    """Creates ones with the shape of `a`.

    >>> tf.experimental.numpy.ones_like([1, 2]).numpy().tolist()
    [1, 1]
    """
    x = p.tensor(a)
    kind = x.dtype if dtype is None else p.dtype_of(dtype)
    if kind is dtypes.string:
        raise TypeError("Cannot convert 1 to EagerTensor of dtype string")
    return resolve("ones_like")(x, kind)


@with_policy
def eye(p: PromotionPolicy, N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = float) -> Tensor:
    """Creates a matrix with ones on the diagonal `k` and zeros elsewhere.

    >>> tf.experimental.numpy.eye(2).numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return p.tensor(np.eye(*as_integers(N, M, k)), p.dtype_of(dtype))


@with_policy
def identity(p: PromotionPolicy, n: int, dtype: DTypeLike | None = float) -> Tensor:
    """Returns the identity matrix.

    >>> tf.experimental.numpy.identity(2).shape
    TensorShape([2, 2])
    """
    return p.tensor(np.eye(*as_integers(n)), p.dtype_of(dtype))


@with_policy
def diag(p: PromotionPolicy, v: TensorLike, k: int = 0) -> Tensor:
    """Creates a matrix with a vector on its diagonal `k`, or returns that diagonal of a matrix.

    >>> tf.experimental.numpy.diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    x = p.tensor(v)
    if len(x.dims) not in (1, 2):
        raise ValueError(f"a vector or a matrix has a diagonal, got shape {list(x.dims)}")
    return diagonal_matrix(x, k) if len(x.dims) == 1 else offset_diagonal(x, k, 0, 1)


def diagonal_matrix(v: Tensor, k: int) -> Tensor:
    """Creates a matrix with a vector on its diagonal `k`."""
    size, below, above = v.dims[0], max(-k, 0), max(k, 0)
    square = ops.put_diagonal(v, axes=(0, 1), shape=(size, size))
    return ops.pad(square, paddings=((below, above), (above, below))) if k else square


def offset_diagonal(x: Tensor, offset: int, axis1: int, axis2: int) -> Tensor:
    """Returns the diagonal of the matrices spanned by two axes, as the last axis."""
    shifted = axis2 if offset > 0 else axis1
    key = (*(slice(None),) * shifted, slice(min(abs(offset), x.dims[shifted]), None))
    return ops.take_diagonal(x[key] if offset else x, axes=(axis1, axis2))


def shape(a: TensorLike) -> tuple[int, ...]:
    """Returns the shape as a tuple.

    >>> tf.experimental.numpy.shape([[1, 2]])
    (1, 2)
    """
    return tensor(a).dims


@with_policy
def ndim(p: PromotionPolicy, a: TensorLike) -> int:
    """Returns the number of axes.

    >>> tf.experimental.numpy.ndim([[1, 2]])
    2
    """
    return len(p.tensor(a).dims)


def size(x: TensorLike, axis: AxisLike | None = None) -> np.int64:
    """Returns the number of entries.

    >>> int(tf.experimental.numpy.size([[1, 2]]))
    2
    """
    if axis is not None:
        raise NotImplementedError("axis argument is not supported in the current `np.size` implementation")
    return np.prod(tensor(x).dims, dtype=np.int64)


def reshape(a: TensorLike, newshape: ShapeLike, order: str = "C") -> Tensor:
    """Reshapes an array.

    >>> tf.experimental.numpy.reshape([1, 2], (2, 1)).shape
    TensorShape([2, 1])
    """
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}: 'C' and 'F' are")
    sizes = [newshape] if isinstance(newshape, int) else newshape
    if order == "F":
        return transpose(own("reshape")(transpose(a), np.ravel(to_array(newshape))[::-1]))
    return own("reshape")(tensor(a), sizes)


@with_policy
def ravel(p: PromotionPolicy, a: TensorLike) -> Tensor:
    """Flattens an array.

    >>> tf.experimental.numpy.ravel([[1], [2]]).shape
    TensorShape([2])
    """
    x = p.tensor(a)
    return ops.reshape(x, shape=(math.prod(x.dims),))


def transpose(a: TensorLike, axes: AxisLike | None = None) -> Tensor:
    """Permutes the axes, reversed by default.

    >>> tf.experimental.numpy.transpose([[1, 2]]).shape
    TensorShape([2, 1])
    """
    return resolve("transpose")(tensor(a), axes)


@with_policy
def swapaxes(p: PromotionPolicy, a: TensorLike, axis1: int, axis2: int) -> Tensor:
    """Exchanges two axes.

    >>> tf.experimental.numpy.swapaxes([[1, 2]], 0, 1).shape
    TensorShape([2, 1])
    """
    x = p.tensor(a)
    first, second = p.axes(x, axis1)[0], p.axes(x, axis2)[0]
    order = list(range(len(x.dims)))
    order[first], order[second] = second, first
    return ops.transpose(x, perm=tuple(order))


@with_policy
def moveaxis(p: PromotionPolicy, a: TensorLike, source: AxisLike, destination: AxisLike) -> Tensor:
    """Moves axes to new positions.

    >>> tf.experimental.numpy.moveaxis([[[1, 2]]], 2, 0).shape
    TensorShape([2, 1, 1])
    """
    x = p.tensor(a)
    sources, destinations = p.axes(x, source), p.axes(x, destination)
    if len(sources) != len(destinations):
        raise ValueError(f"`source` {source} and `destination` {destination} must have as many axes")
    return move_axes(x, sources, destinations)


def move_axes(x: Tensor, sources: Sequence[int], destinations: Sequence[int]) -> Tensor:
    """Same as `moveaxis`, for axes that are not negative."""
    order = [axis for axis in range(len(x.dims)) if axis not in sources]
    for place, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(place, axis)
    return ops.transpose(x, perm=tuple(order))


def squeeze(a: TensorLike, axis: AxisLike | None = None) -> Tensor:
    """Removes axes of size 1.

    >>> tf.experimental.numpy.squeeze([[1, 2]]).shape
    TensorShape([2])
    """
    return resolve("squeeze")(tensor(a), axis)


def expand_dims(a: TensorLike, axis: int) -> Tensor:
    """Inserts an axis of size 1.

    >>> tf.experimental.numpy.expand_dims([1, 2], 0).shape
    TensorShape([1, 2])
    """
    return resolve("expand_dims")(tensor(a), axis)


@with_policy
def broadcast_to(p: PromotionPolicy, array: TensorLike, shape: ShapeLike) -> Tensor:
    """Broadcasts the array to `shape`.

    >>> tf.experimental.numpy.broadcast_to([1, 2], (3, 2)).shape
    TensorShape([3, 2])
    """
    return resolve("broadcast_to")(p.tensor(array), to_shape(shape))


def concatenate(arys: Sequence[TensorLike], axis: AxisLike | None = 0) -> Tensor:
    """Concatenates arrays along an axis.

    >>> tf.experimental.numpy.concatenate([[1, 2], [3.0]]).numpy().tolist()
    [1.0, 2.0, 3.0]
    """
    parts = promoted(*(tensor(x) for x in arys))
    if axis is None:
        parts, axis = [ravel(x) for x in parts], 0
    return resolve("concat")(parts, axis)


@with_policy
def stack(p: PromotionPolicy, arrays: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Stacks arrays of one shape along a new axis.

    >>> tf.experimental.numpy.stack([[1, 2], [3, 4]]).shape
    TensorShape([2, 2])
    """
    parts = p.join(*arrays)
    rank = len(parts[0].dims) + 1
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range for a stack of {rank} dimension(s)")
    return ops.stack(*parts, axis=axis % rank)


@with_policy
def split(p: PromotionPolicy, ary: TensorLike, indices_or_sections: ShapeLike, axis: int = 0) -> list[Tensor]:
    """Splits an array into equal parts, or at the given indices.

    >>> [x.numpy().tolist() for x in tf.experimental.numpy.split([1, 2, 3], [1])]
    [[1], [2, 3]]
    """
    x = p.tensor(ary)
    return split_along(x, indices_or_sections, p.axes(x, axis)[0])


def split_along(x: Tensor, indices_or_sections: ShapeLike, axis: int) -> list[Tensor]:
    """Same as `split`, for an axis that is not negative."""
    total = x.dims[axis]
    if isinstance(indices_or_sections, int):
        if total % indices_or_sections:
            raise ValueError(f"an axis of size {total} cannot be split into {indices_or_sections} equal parts")
        sizes = [total // indices_or_sections] * indices_or_sections
    else:
        ends = [min(max(i if i >= 0 else total + i, 0), total) for i in as_integers(*to_array(indices_or_sections))]
        sizes = [max(stop - start, 0) for start, stop in zip([0, *ends], [*ends, total], strict=True)]
        if sum(sizes) != total:  # the indices decrease, so that slices overlap
            before = (slice(None),) * axis
            return [x[(*before, slice(i, i + size))] for i, size in zip([0, *ends], sizes, strict=True)]
    return list(ops.split(x, sizes=tuple(sizes), axis=axis))


@with_policy
def tile(p: PromotionPolicy, a: TensorLike, reps: ShapeLike) -> Tensor:
    """Repeats the array as a whole.

    >>> tf.experimental.numpy.tile([1, 2], 2).numpy().tolist()
    [1, 2, 1, 2]
    """
    x, counts = p.tensor(a), as_integers(*np.ravel(to_array(reps)))
    rank = max(len(counts), len(x.dims))
    counts = [1] * (rank - len(counts)) + counts
    dims = (1,) * (rank - len(x.dims)) + x.dims
    tiles = ops.broadcast_to(
        ops.reshape(x, shape=tuple(size for dim in dims for size in (1, dim))),
        shape=tuple(size for pair in zip(counts, dims, strict=True) for size in pair),
    )
    return ops.reshape(tiles, shape=tuple(map(operator.mul, counts, dims)))


@with_policy
def repeat(p: PromotionPolicy, a: TensorLike, repeats: ShapeLike, axis: int | None = None) -> Tensor:
    """Repeats every entry.

    >>> tf.experimental.numpy.repeat([1, 2], 2).numpy().tolist()
    [1, 1, 2, 2]
    """
    return resolve("repeat")(p.tensor(a), repeats, axis=axis)


@with_policy
def flip(p: PromotionPolicy, m: TensorLike, axis: AxisLike | None = None) -> Tensor:
    """Reverses the entries along an axis, or along all axes.

    >>> tf.experimental.numpy.flip([1, 2]).numpy().tolist()
    [2, 1]
    """
    x = p.tensor(m)
    return ops.reverse(x, axis=p.axes(x, axis))


@with_policy
def where(
    p: PromotionPolicy, condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None
) -> Any:
    """Selects `x` where the condition holds, else `y`; without them, the indices where it holds, one array per axis.

    >>> tf.experimental.numpy.where([True, False], 1, 2.5).numpy().tolist()
    [1.0, 2.5]
    """
    if x is None and y is None:
        return p.nonzero(condition)
    if x is None or y is None:
        raise ValueError("`x` and `y` either both should be `None` or both should have non-None value.")
    return ops.where(p.truth(condition), *p.promote(x, y))


def take(a: TensorLike, indices: TensorLike, axis: int | None = None, out: None = None, mode: str = "clip") -> Tensor:
    """Takes the entries at indices; those out of range are clamped (`clip`) or wrapped (`wrap`).

    >>> tf.experimental.numpy.take([5, 6, 7], [2, 9]).numpy().tolist()
    [7, 7]
    """
    if out is not None:
        raise ValueError("out argument is not supported in take")
    if mode not in ("clip", "wrap"):
        raise ValueError(f"Invalid mode '{mode}' for take: 'clip' and 'wrap' are there")
    x, places = tensor(a), tensor(indices)
    if axis is None:
        x, axis = ravel(x), 0
    length = x.dims[axis]
    places = own("floormod")(places, length) if mode == "wrap" else resolve("clip_by_value")(places, 0, length - 1)
    return resolve("gather")(x, places, axis=axis)


def clip(a: TensorLike, a_min: TensorLike, a_max: TensorLike) -> Tensor:
    """Clips the entries to an interval; a bound may be None.

    >>> tf.experimental.numpy.clip([1, 5], 2, 4).numpy().tolist()
    [2, 4]
    """
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    x = tensor(a)
    if a_min is not None:
        x = own("maximum")(*promoted(x, a_min))
    return x if a_max is None else own("minimum")(*promoted(x, a_max))

"""`tf.experimental.numpy`: joining, splitting, rotating and selecting."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core import dtypes
from ....core.tensor import Tensor
from ....core.type_hints import AxisLike, DTypeLike, ShapeLike, TensorLike
from ....engine.run.namespace import ops
from ...namespace import resolve
from .arrays import array, ravel, reshape, split_along, swapaxes, transpose
from .promotion import PromotionPolicy, broadcast, cast, own, tensor, with_policy

NAMESPACES = ("experimental.numpy",)
__all__ = [
    "append", "asanyarray", "ascontiguousarray", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays",
    "compress", "copy", "dsplit", "dstack", "flatten", "fliplr", "flipud", "hsplit", "hstack", "ix_", "meshgrid",
    "nonzero", "pad", "roll", "rot90", "select", "take_along_axis", "vsplit", "vstack",
]  # fmt: skip


def asanyarray(a: TensorLike, dtype: DTypeLike | None = None) -> Tensor:
    """Alias of `asarray`.

    >>> tf.experimental.numpy.asanyarray([1]).shape
    TensorShape([1])
    """
    return tensor(a, dtype)


def ascontiguousarray(a: TensorLike, dtype: DTypeLike | None = None) -> Tensor:
    """Converts to a tensor with at least one axis.

    >>> tf.experimental.numpy.ascontiguousarray(1).shape
    TensorShape([1])
    """
    return array(a, dtype, ndmin=1)


def copy(a: TensorLike) -> Tensor:
    """Alias of `array`: tensors are immutable.

    >>> tf.experimental.numpy.copy([1, 2]).numpy().tolist()
    [1, 2]
    """
    return array(a)


def _raised(arys: tuple[Any, ...], dims: Any) -> Any:
    made = [reshape(x, dims(x.dims)) for x in map(tensor, arys)]
    return made[0] if len(made) == 1 else made


def atleast_1d(*arys: Any) -> Any:
    """Returns the arrays with at least one axis.

    >>> tf.experimental.numpy.atleast_1d(5).shape
    TensorShape([1])
    """
    return _raised(arys, lambda dims: dims or (1,))


def atleast_2d(*arys: Any) -> Any:
    """Returns the arrays with at least two axes; new axes come first.

    >>> tf.experimental.numpy.atleast_2d([5, 6]).shape
    TensorShape([1, 2])
    """
    return _raised(arys, lambda dims: (1,) * (2 - len(dims)) + dims)


def atleast_3d(*arys: Any) -> Any:
    """Returns the arrays with at least three axes: a vector gets one on each side, a matrix one at the end.

    >>> tf.experimental.numpy.atleast_3d([5, 6]).shape
    TensorShape([1, 2, 1])
    """
    return _raised(arys, lambda dims: (1, *dims, 1)[:3] if len(dims) == 1 else dims + (1,) * (3 - len(dims)))


@with_policy
def hstack(p: PromotionPolicy, tup: Sequence[TensorLike]) -> Tensor:
    """Concatenates arrays along the second axis, or the only one.

    >>> tf.experimental.numpy.hstack([[1], [2]]).numpy().tolist()
    [1, 2]
    """
    parts = [x if x.dims else ops.reshape(x, shape=(1,)) for x in p.join(*tup)]
    return ops.concat(*parts, axis=0 if len(parts[0].dims) == 1 else 1)


@with_policy
def vstack(p: PromotionPolicy, tup: Sequence[TensorLike]) -> Tensor:
    """Concatenates arrays along the first axis; vectors are rows.

    >>> tf.experimental.numpy.vstack([[1], [2]]).numpy().tolist()
    [[1], [2]]
    """
    return ops.concat(*(atleast_2d(x) for x in p.join(*tup)), axis=0)


@with_policy
def dstack(p: PromotionPolicy, tup: Sequence[TensorLike]) -> Tensor:
    """Concatenates arrays along the third axis.

    >>> tf.experimental.numpy.dstack([[1], [2]]).numpy().tolist()
    [[[1, 2]]]
    """
    return ops.concat(*(atleast_3d(x) for x in p.join(*tup)), axis=2)


@with_policy
def append(p: PromotionPolicy, arr: TensorLike, values: TensorLike, axis: int | None = None) -> Tensor:
    """Appends `values` to `arr` along an axis, or flattened.

    >>> tf.experimental.numpy.append([1, 2], [3]).numpy().tolist()
    [1, 2, 3]
    """
    x, y = p.join(arr, values)
    return ops.concat(ravel(x), ravel(y), axis=0) if axis is None else ops.concat(x, y, axis=p.axes(x, axis)[0])


@with_policy
def vsplit(p: PromotionPolicy, ary: TensorLike, indices_or_sections: ShapeLike) -> list[Tensor]:
    """`split` along the first axis.

    >>> len(tf.experimental.numpy.vsplit([[1], [2]], 2))
    2
    """
    x = p.tensor(ary)
    return split_along(x, indices_or_sections, p.axes(x, 0)[0])


@with_policy
def hsplit(p: PromotionPolicy, ary: TensorLike, indices_or_sections: ShapeLike) -> list[Tensor]:
    """`split` along the second axis, or the only one.

    >>> len(tf.experimental.numpy.hsplit([1, 2], 2))
    2
    """
    x = p.tensor(ary)
    return split_along(x, indices_or_sections, 0 if len(x.dims) == 1 else 1)


@with_policy
def dsplit(p: PromotionPolicy, ary: TensorLike, indices_or_sections: ShapeLike) -> list[Tensor]:
    """`split` along the third axis.

    >>> len(tf.experimental.numpy.dsplit([[[1, 2]]], 2))
    2
    """
    x = p.tensor(ary)
    return split_along(x, indices_or_sections, p.axes(x, 2)[0])


def flatten(a: TensorLike, order: str = "C") -> Tensor:
    """Flattens the array: row by row, or with order 'F' column by column.

    >>> tf.experimental.numpy.flatten([[1, 2], [3, 4]], "F").numpy().tolist()
    [1, 3, 2, 4]
    """
    if order not in ("C", "A", "K", "F"):
        raise ValueError(f"order can only be C, A, K (all row major) or F (column major), got {order!r}")
    return ravel(transpose(a) if order == "F" else a)


@with_policy
def flipud(p: PromotionPolicy, m: TensorLike) -> Tensor:
    """Reverses the rows.

    >>> tf.experimental.numpy.flipud([1, 2]).numpy().tolist()
    [2, 1]
    """
    x = p.tensor(m)
    return ops.reverse(x, axis=p.axes(x, 0))


@with_policy
def fliplr(p: PromotionPolicy, m: TensorLike) -> Tensor:
    """Reverses the columns.

    >>> tf.experimental.numpy.fliplr([[1, 2]]).numpy().tolist()
    [[2, 1]]
    """
    x = p.tensor(m)
    return ops.reverse(x, axis=p.axes(x, 1))


@with_policy
def rot90(p: PromotionPolicy, m: TensorLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Tensor:
    """Rotates by 90 degrees `k` times, from the first of the axes toward the second.

    >>> tf.experimental.numpy.rot90([[1, 2], [3, 4]]).numpy().tolist()
    [[2, 4], [1, 3]]
    """
    x = p.tensor(m)
    if len(x.dims) < 2:
        raise ValueError(f"Input array must have at least 2 dimensions. Received: array.ndim={len(x.dims)}")
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"Invalid axes: {axes}. Axes must be a tuple of two different dimensions.")
    first, second = p.axes(x, axes)
    turns = k % 4
    if turns == 2:
        return ops.reverse(x, axis=(first, second))
    if turns == 1:
        return swapaxes(ops.reverse(x, axis=(second,)), first, second)
    return ops.reverse(swapaxes(x, first, second), axis=(second,)) if turns else x


@with_policy
def roll(p: PromotionPolicy, a: TensorLike, shift: ShapeLike, axis: AxisLike | None = None) -> Tensor:
    """Shifts the entries circularly along an axis; without an axis, in flattened order.

    >>> tf.experimental.numpy.roll([1, 2, 3], 1).numpy().tolist()
    [3, 1, 2]
    """
    x = p.tensor(a)
    if axis is not None:
        places: Any = p.checked(x, axis)
        moves: Any = shift
        if np.ndim(places) and not isinstance(moves, list | tuple) and not np.ndim(moves):
            moves = [moves] * len(places)
        return resolve("roll")(x, moves, places)
    return ops.reshape(resolve("roll")(ravel(x), shift, 0), shape=x.dims)


def pad(array: TensorLike, pad_width: ShapeLike, mode: str, **kwargs: Any) -> Tensor:
    """Pads the array with `constant_values`, or with its own entries (`reflect`, `symmetric`).

    >>> tf.experimental.numpy.pad([1, 2], [[1, 0]], "constant").numpy().tolist()
    [0, 1, 2]
    """
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unsupported padding mode: {mode}. There are 'constant', 'reflect' and 'symmetric'")
    return resolve("pad")(tensor(array), pad_width, mode.upper(), kwargs.get("constant_values", 0))


def nonzero(a: TensorLike) -> list[Tensor]:
    """Returns the indices of nonzero entries, one array per axis.

    >>> tf.experimental.numpy.nonzero([0, 5, 6])[0].numpy().tolist()
    [1, 2]
    """
    places = resolve("where")(cast(atleast_1d(a), dtypes.bool))
    return resolve("unstack")(places, axis=1)


def compress(condition: TensorLike, a: TensorLike, axis: int | None = None) -> Tensor:
    """Selects the entries along an axis, or of the flattened array, where the condition holds.

    >>> tf.experimental.numpy.compress([True, False, True], [5, 6, 7]).numpy().tolist()
    [5, 7]
    """
    chosen = cast(tensor(condition), dtypes.bool)
    if len(chosen.dims) != 1:
        raise ValueError(f"condition must be a 1-d array, got shape {list(chosen.dims)}.")
    x = tensor(a) if axis is not None else ravel(a)
    axis = (axis or 0) % len(x.dims)
    lacking = builtins.max(x.dims[axis] - chosen.dims[0], 0)
    chosen = resolve("concat")([chosen[: x.dims[axis]], np.zeros(lacking, bool)], 0)
    return resolve("boolean_mask")(x, chosen, axis=axis)


@with_policy
def select(
    p: PromotionPolicy, condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0
) -> Tensor:
    """Selects the choice of the first condition that holds, or the default.

    >>> tf.experimental.numpy.select([[True, False]], [[1, 2]], 9).numpy().tolist()
    [1, 9]
    """
    if len(condlist) != len(choicelist):
        raise ValueError(f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})")
    if not condlist:
        raise ValueError("condlist must be non-empty")
    result, *choices = p.promote(default, *choicelist)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = ops.where(p.truth(condition), choice, result)
    return result


@with_policy
def take_along_axis(p: PromotionPolicy, arr: TensorLike, indices: TensorLike, axis: int | None) -> Tensor:
    """Takes entries along an axis at separate indices for each line: the result of `argsort` sorts.

    >>> tf.experimental.numpy.take_along_axis([[5, 6], [7, 8]], [[1], [0]], 1).numpy().tolist()
    [[6], [7]]
    """
    x, places = p.tensor(arr), p.tensor(indices)
    if axis is None:
        x, places, axis = ravel(x), ravel(places), 0
    axis = p.axes(x, axis)[0]
    if len(x.dims) != len(places.dims):
        raise ValueError(f"arr and indices must have as many axes, got shapes {list(x.dims)} and {list(places.dims)}")
    places = from_start(places, x.dims[axis])
    common = np.broadcast_shapes(*((*y.dims[:axis], 1, *y.dims[axis + 1 :]) for y in (x, places)))
    x, places = (
        ops.broadcast_to(y, shape=(*common[:axis], y.dims[axis], *common[axis + 1 :])) for y in (x, places)
    )
    return ops.take_along(x, places, axis=axis)


def from_start(indices: Tensor, size: int) -> Tensor:
    """Converts negative indices, which count from the end, to non-negative ones."""
    if indices.dtype.is_unsigned:
        return indices
    narrow = not indices.dtype.is_integer or indices.dtype.size < 4
    return ops.from_start(cast(indices, dtypes.int32) if narrow else indices, size=size)


def broadcast_arrays(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Broadcasts arrays to a common shape.

    >>> [x.shape.as_list() for x in tf.experimental.numpy.broadcast_arrays([1, 2], [[3]])]
    [[1, 2], [1, 2]]
    """
    if kwargs.pop("subok", False):
        raise ValueError("subok=True is not supported.")
    if kwargs:
        raise ValueError(f"Received unsupported arguments {sorted(kwargs)}")
    return broadcast(*(tensor(x) for x in args))


def meshgrid(*xi: Any, **kwargs: Any) -> list[Tensor]:
    """Returns the coordinates of the points of a grid, from those along each axis; `indexing` is 'xy' or 'ij'.

    >>> tf.experimental.numpy.meshgrid([1, 2], [3])[0].numpy().tolist()
    [[1, 2]]
    """
    if kwargs.get("sparse", False):
        raise ValueError("Function `meshgrid` does not support returning sparse arrays yet. Received: sparse=True")
    if not kwargs.get("copy", True):
        raise ValueError("Function `meshgrid` only supports copy=True. Received: copy=False")
    return resolve("meshgrid")(*(tensor(x) for x in xi), indexing=kwargs.get("indexing", "xy"))


def ix_(*args: Any) -> list[Tensor]:
    """Returns indices for each axis, shaped to index a grid together.

    >>> [x.shape.as_list() for x in tf.experimental.numpy.ix_([0, 1], [2])]
    [[2, 1], [1, 1]]
    """
    made = []
    for i, x in enumerate(map(tensor, args)):
        if len(x.dims) != 1:
            raise ValueError(f"Arguments must be 1-d, got arg {i} of rank {len(x.dims)}")
        if not (x.dtype.is_bool or x.dtype.is_integer):
            raise ValueError(f"Only integer and bool dtypes are supported, got {x.dtype}")
        places = nonzero(x)[0] if x.dtype.is_bool else x
        made.append(own("reshape")(places, [-1 if i == axis else 1 for axis in range(len(args))]))
    return made

"""`tf.experimental.numpy`: joining, splitting, rotating and selecting."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.tensor import Tensor
from ..namespace import resolve
from .arrays import array, concatenate, flip, ravel, reshape, split, swapaxes, transpose, where
from .promotion import broadcast, cast, own, promoted, tensor

NAMESPACES = ("experimental.numpy",)
__all__ = [
    "append", "asanyarray", "ascontiguousarray", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays",
    "compress", "copy", "dsplit", "dstack", "flatten", "fliplr", "flipud", "hsplit", "hstack", "ix_", "meshgrid",
    "nonzero", "pad", "roll", "rot90", "select", "take_along_axis", "vsplit", "vstack",
]  # fmt: skip


def asanyarray(a: Any, dtype: Any = None) -> Tensor:
    """Alias of `asarray`.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.asanyarray([1]).shape
    TensorShape([1])
    """
    return tensor(a, dtype)


def ascontiguousarray(a: Any, dtype: Any = None) -> Tensor:
    """Converts to a tensor with at least one axis.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.ascontiguousarray(1).shape
    TensorShape([1])
    """
    return array(a, dtype, ndmin=1)


def copy(a: Any) -> Tensor:
    """Alias of `array`: tensors are immutable.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.copy([1, 2]).numpy().tolist()
    [1, 2]
    """
    return array(a)


def _raised(arys: tuple[Any, ...], dims: Any) -> Any:
    made = [reshape(x, dims(x.dims)) for x in map(tensor, arys)]
    return made[0] if len(made) == 1 else made


def atleast_1d(*arys: Any) -> Any:
    """Returns the arrays with at least one axis.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.atleast_1d(5).shape
    TensorShape([1])
    """
    return _raised(arys, lambda dims: dims or (1,))


def atleast_2d(*arys: Any) -> Any:
    """Returns the arrays with at least two axes; new axes come first.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.atleast_2d([5, 6]).shape
    TensorShape([1, 2])
    """
    return _raised(arys, lambda dims: (1,) * (2 - len(dims)) + dims)


def atleast_3d(*arys: Any) -> Any:
    """Returns the arrays with at least three axes: a vector gets one on each side, a matrix one at the end.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.atleast_3d([5, 6]).shape
    TensorShape([1, 2, 1])
    """
    return _raised(arys, lambda dims: (1, *dims, 1)[:3] if len(dims) == 1 else dims + (1,) * (3 - len(dims)))


def _joined(parts: list[Tensor], axis: int) -> Tensor:
    return resolve("concat")(promoted(*parts), axis)


def hstack(tup: Any) -> Tensor:
    """Concatenates arrays along the second axis, or the only one.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.hstack([[1], [2]]).numpy().tolist()
    [1, 2]
    """
    parts = [atleast_1d(x) for x in tup]
    return _joined(parts, 0 if len(parts[0].dims) == 1 else 1)


def vstack(tup: Any) -> Tensor:
    """Concatenates arrays along the first axis; vectors are rows.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.vstack([[1], [2]]).numpy().tolist()
    [[1], [2]]
    """
    return _joined([atleast_2d(x) for x in tup], 0)


def dstack(tup: Any) -> Tensor:
    """Concatenates arrays along the third axis.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.dstack([[1], [2]]).numpy().tolist()
    [[[1, 2]]]
    """
    return _joined([atleast_3d(x) for x in tup], 2)


def append(arr: Any, values: Any, axis: int | None = None) -> Tensor:
    """Appends `values` to `arr` along an axis, or flattened.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.append([1, 2], [3]).numpy().tolist()
    [1, 2, 3]
    """
    return concatenate([arr, values], axis)


def _split_along(axis: int, ary: Any, places: Any) -> list[Tensor]:
    x = tensor(ary)
    axis = 0 if axis == 1 and len(x.dims) == 1 else axis
    if isinstance(places, int) and x.dims[axis] % places:
        raise ValueError(f"array split does not result in an equal division: {x.dims[axis]} entries in {places} parts")
    return split(x, places, axis)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """`split` along the first axis.

    >>> import gradtape as tf
    >>> len(tf.experimental.numpy.vsplit([[1], [2]], 2))
    2
    """
    return _split_along(0, ary, indices_or_sections)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """`split` along the second axis, or the only one.

    >>> import gradtape as tf
    >>> len(tf.experimental.numpy.hsplit([1, 2], 2))
    2
    """
    return _split_along(1, ary, indices_or_sections)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """`split` along the third axis.

    >>> import gradtape as tf
    >>> len(tf.experimental.numpy.dsplit([[[1, 2]]], 2))
    2
    """
    return _split_along(2, ary, indices_or_sections)


def flatten(a: Any, order: str = "C") -> Tensor:
    """Flattens the array: row by row, or with order 'F' column by column.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.flatten([[1, 2], [3, 4]], "F").numpy().tolist()
    [1, 3, 2, 4]
    """
    if order not in ("C", "A", "K", "F"):
        raise ValueError(f"order can only be C, A, K (all row major) or F (column major), got {order!r}")
    return ravel(transpose(a) if order == "F" else a)


def flipud(m: Any) -> Tensor:
    """Reverses the rows.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.flipud([1, 2]).numpy().tolist()
    [2, 1]
    """
    return flip(m, 0)


def fliplr(m: Any) -> Tensor:
    """Reverses the columns.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.fliplr([[1, 2]]).numpy().tolist()
    [[2, 1]]
    """
    return flip(m, 1)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    """Rotates by 90 degrees `k` times, from the first of the axes toward the second.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.rot90([[1, 2], [3, 4]]).numpy().tolist()
    [[2, 4], [1, 3]]
    """
    x = tensor(m)
    first, second = (axis % len(x.dims) for axis in axes)
    turns = k % 4
    if turns == 0:
        return x
    if turns == 2:
        return flip(flip(x, first), second)
    return swapaxes(flip(x, second), first, second) if turns == 1 else flip(swapaxes(x, first, second), second)


def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """Shifts the entries circularly along an axis; without an axis, in flattened order.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.roll([1, 2, 3], 1).numpy().tolist()
    [3, 1, 2]
    """
    x = tensor(a)
    if axis is not None:
        return resolve("roll")(x, shift, axis)
    return reshape(resolve("roll")(ravel(x), shift, 0), x.dims)


def pad(array: Any, pad_width: Any, mode: str, **kwargs: Any) -> Tensor:
    """Pads the array with `constant_values`, or with its own entries (`reflect`, `symmetric`).

    >>> import gradtape as tf
    >>> tf.experimental.numpy.pad([1, 2], [[1, 0]], "constant").numpy().tolist()
    [0, 1, 2]
    """
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unsupported padding mode: {mode}. There are 'constant', 'reflect' and 'symmetric'")
    return resolve("pad")(tensor(array), pad_width, mode.upper(), kwargs.get("constant_values", 0))


def nonzero(a: Any) -> list[Tensor]:
    """Returns the indices of nonzero entries, one array per axis.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.nonzero([0, 5, 6])[0].numpy().tolist()
    [1, 2]
    """
    return where(cast(atleast_1d(a), dtypes.bool))


def compress(condition: Any, a: Any, axis: int | None = None) -> Tensor:
    """Selects the entries along an axis, or of the flattened array, where the condition holds.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.compress([True, False, True], [5, 6, 7]).numpy().tolist()
    [5, 7]
    """
    chosen = cast(tensor(condition), dtypes.bool)
    if len(chosen.dims) != 1:
        raise ValueError(f"condition must be a 1-d array, got shape {list(chosen.dims)}.")
    x = tensor(a) if axis is not None else ravel(a)
    axis = (axis or 0) % len(x.dims)
    lacking = builtins.max(x.dims[axis] - chosen.dims[0], 0)
    chosen = resolve("concat")([chosen, np.zeros(lacking, bool)], 0)
    return resolve("boolean_mask")(x, chosen, axis=axis)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """Selects the choice of the first condition that holds, or the default.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.select([[True, False]], [[1, 2]], 9).numpy().tolist()
    [1, 9]
    """
    if len(condlist) != len(choicelist):
        raise ValueError(f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})")
    if not condlist:
        raise ValueError("condlist must be non-empty")
    result, *choices = promoted(default, *choicelist)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = where(condition, choice, result)
    return result


def take_along_axis(arr: Any, indices: Any, axis: int | None) -> Tensor:
    """Takes entries along an axis at separate indices for each line: the result of `argsort` sorts.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.take_along_axis([[5, 6], [7, 8]], [[1], [0]], 1).numpy().tolist()
    [[6], [7]]
    """
    x, places = tensor(arr), tensor(indices)
    if axis is None:
        x, axis = ravel(x), 0
    axis %= len(x.dims)
    common = np.broadcast_shapes(*((*y.dims[:axis], 1, *y.dims[axis + 1 :]) for y in (x, places)))
    x, places = (
        swapaxes(resolve("broadcast_to")(y, (*common[:axis], y.dims[axis], *common[axis + 1 :])), axis, -1)
        for y in (x, places)
    )
    places = resolve("where")(own("less")(places, 0), places + x.dims[-1], places)
    return swapaxes(resolve("gather")(x, places, batch_dims=len(x.dims) - 1), axis, -1)


def broadcast_arrays(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Broadcasts arrays to a common shape.

    >>> import gradtape as tf
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

    >>> import gradtape as tf
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

    >>> import gradtape as tf
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

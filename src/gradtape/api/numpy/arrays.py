"""`tf.experimental.numpy`: creating, shaping and indexing arrays."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.tensor import Tensor
from ...engine.run.convert import to_array, to_shape
from ..namespace import resolve
from .promotion import cast, floating, own, promoted, tensor

NAMESPACES = ("experimental.numpy",)
__all__ = [
    "arange", "array", "asarray", "broadcast_to", "clip", "concatenate", "diag", "e", "expand_dims", "eye", "flip",
    "full", "identity", "inf", "linspace", "moveaxis", "ndim", "newaxis", "ones", "ones_like", "pi",
    "ravel", "repeat", "reshape", "shape", "size", "split", "squeeze", "stack", "swapaxes", "take", "tile",
    "transpose", "where", "zeros", "zeros_like",
]  # fmt: skip

e, inf, newaxis, pi = np.e, np.inf, None, np.pi


def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """Converts `val` to a tensor; Python floats become float64, integers int64.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.array([1, 2]).dtype
    tf.int64
    """
    x = tensor(val, dtype)
    return own("reshape")(x, (1,) * (ndmin - len(x.dims)) + x.dims) if len(x.dims) < ndmin else x


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """Alias of `array`.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.asarray([1.5]).dtype
    tf.float64
    """
    return tensor(a, dtype)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """Returns numbers from `start` (0 if there is one argument) up to `stop`.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.arange(3).numpy().tolist()
    [0, 1, 2]
    """
    first, last = (0, start) if stop is None else (start, stop)
    bounds: list[Any] = [to_array(x)[()] if isinstance(x, Tensor) else x for x in (first, last, step)]
    return tensor(np.arange(*bounds), dtype)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = float,
    axis: int = 0,
) -> Any:
    """Returns `num` evenly spaced numbers from `start` to `stop`, which is excluded if `endpoint` is false.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.linspace(0, 1, 3).numpy().tolist()
    [0.0, 0.5, 1.0]
    """
    first, last = (floating(x) for x in promoted(tensor(start), tensor(stop)))
    step = (last - first) / max(num - 1 if endpoint else num, 1)
    values = resolve("linspace")(first, last if endpoint else last - step, num, axis=axis)
    values = values if dtype is None else cast(values, dtype)
    return (values, step) if retstep else values


def zeros(shape: Any, dtype: Any = float) -> Tensor:
    """Creates zeros, float64 by default.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.zeros([2]).numpy().tolist()
    [0.0, 0.0]
    """
    kind = np.dtype(getattr(dtype, "numpy", dtype))
    return tensor(np.full(to_shape(shape), b"", object) if kind.kind in "OSU" else np.zeros(to_shape(shape)), dtype)


def ones(shape: Any, dtype: Any = float) -> Tensor:
    """Creates ones, float64 by default.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.ones([2]).numpy().tolist()
    [1.0, 1.0]
    """
    return tensor(np.ones(to_shape(shape)), dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """Creates an array filled with one value.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.full([2], 7).numpy().tolist()
    [7, 7]
    """
    return broadcast_to(tensor(fill_value, dtype), shape)


def zeros_like(a: Any, dtype: Any = None) -> Tensor:
    """Creates zeros with the shape of `a`.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.zeros_like([1, 2]).numpy().tolist()
    [0, 0]
    """
    x = tensor(a)
    return zeros(x.dims, dtype or x.dtype)


def ones_like(a: Any, dtype: Any = None) -> Tensor:
    """Creates ones with the shape of `a`.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.ones_like([1, 2]).numpy().tolist()
    [1, 1]
    """
    x = tensor(a)
    return ones(x.dims, dtype or x.dtype)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Tensor:
    """Creates a matrix with ones on the diagonal `k` and zeros elsewhere.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.eye(2).numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return tensor(np.eye(N, M, k), dtype)


def identity(n: int, dtype: Any = float) -> Tensor:
    """Returns the identity matrix.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.identity(2).shape
    TensorShape([2, 2])
    """
    return eye(n, dtype=dtype)


def diag(v: Any, k: int = 0) -> Tensor:
    """Creates a matrix with a vector on its diagonal `k`, or returns that diagonal of a matrix.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    x = tensor(v)
    if len(x.dims) not in (1, 2):
        raise ValueError(f"a vector or a matrix has a diagonal, got shape {list(x.dims)}")
    return resolve("linalg.diag" if len(x.dims) == 1 else "linalg.diag_part")(x, k=k)


def shape(a: Any) -> tuple[int, ...]:
    """Returns the shape as a tuple.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.shape([[1, 2]])
    (1, 2)
    """
    return tensor(a).dims


def ndim(a: Any) -> int:
    """Returns the number of axes.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.ndim([[1, 2]])
    2
    """
    return len(tensor(a).dims)


def size(x: Any, axis: Any = None) -> np.int64:
    """Returns the number of entries.

    >>> import gradtape as tf
    >>> int(tf.experimental.numpy.size([[1, 2]]))
    2
    """
    if axis is not None:
        raise NotImplementedError("axis argument is not supported in the current `np.size` implementation")
    return np.prod(tensor(x).dims, dtype=np.int64)


def reshape(a: Any, newshape: Any, order: str = "C") -> Tensor:
    """Reshapes an array.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.reshape([1, 2], (2, 1)).shape
    TensorShape([2, 1])
    """
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}: 'C' and 'F' are")
    sizes = [newshape] if isinstance(newshape, int) else newshape
    if order == "F":
        return transpose(own("reshape")(transpose(a), list(sizes)[::-1]))
    return own("reshape")(tensor(a), sizes)


def ravel(a: Any) -> Tensor:
    """Flattens an array.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.ravel([[1], [2]]).shape
    TensorShape([2])
    """
    return reshape(a, -1)


def transpose(a: Any, axes: Any = None) -> Tensor:
    """Permutes the axes, reversed by default.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.transpose([[1, 2]]).shape
    TensorShape([2, 1])
    """
    return resolve("transpose")(tensor(a), axes)


def swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    """Exchanges two axes.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.swapaxes([[1, 2]], 0, 1).shape
    TensorShape([2, 1])
    """
    x = tensor(a)
    order = list(range(len(x.dims)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return transpose(x, order)


def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """Moves axes to new positions.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.moveaxis([[[1, 2]]], 2, 0).shape
    TensorShape([2, 1, 1])
    """
    x = tensor(a)
    rank = len(x.dims)
    origin, target = (np.lib.array_utils.normalize_axis_tuple(axes, rank) for axes in (source, destination))
    order = [axis for axis in range(rank) if axis not in origin]
    for place, axis in sorted(zip(target, origin, strict=True)):
        order.insert(place, axis)
    return transpose(x, order)


def squeeze(a: Any, axis: Any = None) -> Tensor:
    """Removes axes of size 1.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.squeeze([[1, 2]]).shape
    TensorShape([2])
    """
    return resolve("squeeze")(tensor(a), axis)


def expand_dims(a: Any, axis: int) -> Tensor:
    """Inserts an axis of size 1.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.expand_dims([1, 2], 0).shape
    TensorShape([1, 2])
    """
    return resolve("expand_dims")(tensor(a), axis)


def broadcast_to(array: Any, shape: Any) -> Tensor:
    """Broadcasts the array to `shape`.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.broadcast_to([1, 2], (3, 2)).shape
    TensorShape([3, 2])
    """
    return resolve("broadcast_to")(tensor(array), to_shape(shape))


def concatenate(arys: Any, axis: Any = 0) -> Tensor:
    """Concatenates arrays along an axis.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.concatenate([[1, 2], [3.0]]).numpy().tolist()
    [1.0, 2.0, 3.0]
    """
    parts = promoted(*(tensor(x) for x in arys))
    if axis is None:
        parts, axis = [ravel(x) for x in parts], 0
    return resolve("concat")(parts, axis)


def stack(arrays: Any, axis: int = 0) -> Tensor:
    """Stacks arrays of one shape along a new axis.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.stack([[1, 2], [3, 4]]).shape
    TensorShape([2, 2])
    """
    return resolve("stack")(promoted(*(tensor(x) for x in arrays)), axis=axis)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Splits an array into equal parts, or at the given indices.

    >>> import gradtape as tf
    >>> [x.numpy().tolist() for x in tf.experimental.numpy.split([1, 2, 3], [1])]
    [[1], [2, 3]]
    """
    x = tensor(ary)
    if isinstance(indices_or_sections, int):
        return resolve("split")(x, indices_or_sections, axis=axis)
    bounds = [0, *np.clip(indices_or_sections, 0, x.dims[axis]).tolist(), x.dims[axis]]
    return resolve("split")(x, [max(b - a, 0) for a, b in itertools.pairwise(bounds)], axis=axis)


def tile(a: Any, reps: Any) -> Tensor:
    """Repeats the array as a whole.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.tile([1, 2], 2).numpy().tolist()
    [1, 2, 1, 2]
    """
    x, counts = tensor(a), list(np.ravel(to_array(reps)).tolist())
    rank = max(len(x.dims), len(counts))
    x = own("reshape")(x, (1,) * (rank - len(x.dims)) + x.dims)
    return resolve("tile")(x, [1] * (rank - len(counts)) + counts)


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeats every entry.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.repeat([1, 2], 2).numpy().tolist()
    [1, 1, 2, 2]
    """
    return resolve("repeat")(tensor(a), repeats, axis=axis)


def flip(m: Any, axis: Any = None) -> Tensor:
    """Reverses the entries along an axis, or along all axes.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.flip([1, 2]).numpy().tolist()
    [2, 1]
    """
    x = tensor(m)
    axes = list(range(len(x.dims))) if axis is None else list(np.ravel(axis))
    return resolve("reverse")(x, [int(one) % len(x.dims) for one in axes])


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Selects `x` where the condition holds, else `y`; without them, the indices where it holds, one array per axis.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.where([True, False], 1, 2.5).numpy().tolist()
    [1.0, 2.5]
    """
    holds = cast(tensor(condition), dtypes.bool)
    if x is None and y is None:
        places = resolve("where")(holds)
        return [places[:, i] for i in range(len(holds.dims))]
    if x is None or y is None:
        raise ValueError("Both x and y must be given, or neither")
    return resolve("where")(holds, *promoted(x, y))


def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "clip") -> Tensor:
    """Takes the entries at indices; those out of range are clamped (`clip`) or wrapped (`wrap`).

    >>> import gradtape as tf
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


def clip(a: Any, a_min: Any, a_max: Any) -> Tensor:
    """Clips the entries to an interval; a bound may be None.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.clip([1, 5], 2, 4).numpy().tolist()
    [2, 4]
    """
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    x = tensor(a)
    if a_min is not None:
        x = own("maximum")(*promoted(x, a_min))
    return x if a_max is None else own("minimum")(*promoted(x, a_max))

"""`experimental_enable_numpy_behavior`: tensors with NumPy's methods, promotion and indexing.

The operators on the tensor class are replaced when it is called, so programs that never call it pay nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from ....core import dtypes
from ....core.operators import BINARY
from ....core.tensor import Tensor, is_tensor_like
from ....ops.arrays import slicing
from ...namespace import resolve
from . import promotion
from .arrays import clip, moveaxis, ravel, reshape, transpose
from .elementwise import around
from .promotion import broadcast, cast, promoted, tensor
from .reductions import mean
from .shaping import flatten, nonzero
from .statistics import amax, amin

NAMESPACES = ("experimental.numpy",)
__all__ = ["experimental_enable_numpy_behavior"]

_MODES = ("off", "legacy", "safe", "all")


def experimental_enable_numpy_behavior(prefer_float32: bool = False, dtype_conversion_mode: str = "legacy") -> None:
    """Gives tensors NumPy's methods and indexing, and operators NumPy's promotion, for the rest of the program.

    `prefer_float32` converts Python floats to float32 in `tf.experimental.numpy`. With `dtype_conversion_mode="off"`,
    dtypes must still agree; `"safe"` and `"all"`, TensorFlow's lattice of weak dtypes, are not implemented.

    >>> tf.experimental.numpy.experimental_enable_numpy_behavior()  # doctest: +SKIP
    >>> tf.constant([[1, 2]]).T + tf.constant([0.5])  # doctest: +SKIP
    <tf.Tensor: shape=(2, 1), dtype=float64, numpy=
    array([[1.5],
           [2.5]])>
    """
    if dtype_conversion_mode not in _MODES:
        raise ValueError(
            f"The provided promotion mode {dtype_conversion_mode} does not exist. Make sure the provided dtype "
            f"conversion mode is one of the followings: {', '.join(map(repr, _MODES))}."
        )
    if dtype_conversion_mode in ("safe", "all"):
        raise NotImplementedError(
            f"dtype_conversion_mode={dtype_conversion_mode!r} promotes by TensorFlow's own lattice of weak dtypes, "
            "which is not there. Use 'legacy' (NumPy's promotion), or 'off' and tf.cast"
        )
    promotion.setting.prefers_float32 = bool(prefer_float32)
    for name, member in {**_METHODS, "__getitem__": getitem}.items():
        setattr(Tensor, name, member)
    for row in BINARY if dtype_conversion_mode == "legacy" else ():
        for spelling in (row.method, row.reflected):
            own = getattr(Tensor, spelling, None)
            if own is not None and not hasattr(own, "before_promotion"):
                setattr(Tensor, spelling, _promoting(own))


def _promoting(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Wraps an operator to cast both operands to the dtype that NumPy promotes them to."""

    def call(x: Any, y: Any) -> Any:
        known = (list, tuple, int, float, complex, np.ndarray, np.generic)
        if (isinstance(y, known) or is_tensor_like(y)) and getattr(y, "dtype", None) != x.dtype:
            x, y = promoted(x, y)
        return operation(x, y)

    call.before_promotion = operation  # type: ignore[attr-defined]
    return call


def _reshaped(a: Tensor, *newshape: Any, **kwargs: Any) -> Tensor:
    order = kwargs.pop("order", "C")
    if kwargs:
        raise ValueError(f"Unsupported arguments: {sorted(kwargs)}")
    one = len(newshape) == 1 and not isinstance(newshape[0], int)
    return reshape(a, newshape[0] if one else newshape, order)


_METHODS: dict[str, Any] = {
    "T": property(lambda x: transpose(x)),
    "__pos__": lambda x: x,
    "__round__": around,
    "astype": lambda x, dtype, name=None: cast(x, dtype),
    "clip": clip,
    "data": property(lambda x: x),
    "flatten": flatten,
    "max": amax,
    "mean": mean,
    "min": amin,
    "ravel": lambda x: ravel(x),
    "reshape": _reshaped,
    "size": property(lambda x: np.prod(x.dims, dtype=np.int64)),
    "tolist": lambda x: x.numpy().tolist(),
    "transpose": transpose,
}


def getitem(x: Tensor, key: Any) -> Tensor:
    """Indexes `x[key]` by NumPy's rules, including arrays of integers and bools."""
    if isinstance(key, bool) or (getattr(key, "dtype", None) in (dtypes.bool, np.bool_)):
        return slicing.getitem(x, tensor(key))
    items = key if isinstance(key, tuple) else tuple(key) if _is_several(key) else (key,)
    plain, arrays = _parted(items, len(x.dims))
    part = slicing.getitem(x, tuple(plain))
    return part if not arrays else _gathered(part, arrays)


def _is_several(key: Any) -> bool:
    """Returns whether a list is a key of several parts, as in old NumPy, and not one array of indices."""
    return isinstance(key, list) and any(
        part is None or part is Ellipsis or isinstance(part, list | tuple | slice) or getattr(part, "ndim", 0)
        for part in key
    )


def _parted(items: tuple[Any, ...], rank: int) -> tuple[list[Any], dict[int, Tensor]]:
    """Returns the key with full slices in place of arrays, and the arrays by their axes in the result."""
    used = sum(item is not None and item is not Ellipsis for item in items)
    plain: list[Any] = []
    arrays: dict[int, Tensor] = {}
    axis = 0
    for item in items:
        if item is Ellipsis:
            axis += rank - used
            plain.append(item)
        elif item is None or isinstance(item, slice):
            axis += 1
            plain.append(item)
        elif isinstance(item, Integral) or (is_tensor_like(item) and not item.shape):
            plain.append(item)
        else:
            places = tensor(item)
            checked = _places(places, item)
            if not places.dims:
                plain.append(operator.index(checked))
                continue
            arrays[axis] = checked
            axis += 1
            plain.append(slice(None))
    return plain, arrays


def _places(indices: Tensor, given: Any) -> Tensor:
    if indices.dtype.is_bool:
        if len(indices.dims) != 1:
            raise NotImplementedError(f"a mask that is one of several indices has one axis, got {given}")
        return nonzero(indices)[0]
    if not indices.dtype.is_integer:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
            f"valid indices, got {given!r}"
        )
    return cast(indices, dtypes.int64)


def _gathered(x: Tensor, arrays: dict[int, Tensor]) -> Tensor:
    """Gathers entries at index arrays along axes: the result's axes stay in place if adjacent, else come first."""
    axes = sorted(arrays)
    places = [
        resolve("where")(resolve("less")(arrays[axis], 0), arrays[axis] + x.dims[axis], arrays[axis]) for axis in axes
    ]
    if len(axes) == 1:
        return resolve("gather")(x, places[0], axis=axes[0])
    together = resolve("stack")(broadcast(*places), axis=-1)
    found = resolve("gather_nd")(moveaxis(x, axes, range(len(axes))), together)
    if axes != list(range(axes[0], axes[0] + len(axes))):
        return found
    new = len(together.dims) - 1
    return moveaxis(found, range(new), range(axes[0], axes[0] + new))

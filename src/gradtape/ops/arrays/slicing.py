"""`x[key]` is linear in x; its transpose, `place`, writes a value at `key` into zeros. Also parses keys.

A key is a tuple of integers, slices, `None` and `...` with TensorFlow's semantics: an integer out of range is an error,
a slice is clipped.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np

from ...backends.arrays import kind_of, put
from ...core import dtypes, errors, modes
from ...core.extension_points import foreign_operands
from ...core.shapes import Dimension
from ...core.tensor import Tensor, is_tensor_like, wrap
from ...core.tracebacks import hide_frames
from ...engine.registry.cotangents import placed_slice
from ...engine.registry.devices import DeviceTensor
from ...engine.registry.examples import KEEPS
from ...engine.registry.families import linear
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import given_shape, indexed
from ...engine.run.convert import to_tensor
from ...engine.run.dispatch import thread
from ...engine.run.namespace import ops

_BOUNDS = frozenset({int, type(None)})
_WHOLE = (slice(None), slice(0, None), slice(None, None, 1), slice(0, None, 1))


def _rows_of_key(inputs: Any, flags: Any, attrs: dict[str, Any], count: int) -> Any:
    """Rows stay with their examples if the key selects the whole first axis."""
    key, shape = attrs["key"], attrs.get("shape", inputs[0].dims)
    whole = bool(key and shape) and (key[0] in _WHOLE or key[0] in (slice(0, shape[0]), slice(0, shape[0], 1)))
    return KEEPS if whole else None


slice_ = linear(
    "slice", lambda xp, x, *, key: x[key], rows=_rows_of_key,
    shape=indexed,
    transpose=lambda m, g, x_shape, key: placed_slice(m, g, key, x_shape),
    shift=lambda attrs, size: {"key": (slice(None), *attrs["key"])},
    samples=[
        sample((4, 5), key=(slice(3, None, -2), None, 1)),
        sample((4, 2), key=(-1,)),
        sample((2, 3, 4), key=(Ellipsis, None, slice(1, 3))),
        sample((4,), key=(slice(4, 4),)),
        sample((), key=(None,)),
    ],
)  # fmt: skip
place = linear(
    "place", lambda xp, x, *, key, shape: put(xp.zeros(shape, x.dtype), key, x), rows=_rows_of_key,
    shape=given_shape,
    transpose=lambda m, g, key: m.slice(g, key=key),
    shift=lambda attrs, size: {"key": (slice(None), *attrs["key"]), "shape": (size, *attrs["shape"])},
    samples=[sample((2, 1), key=(slice(3, None, -2), None, 1), shape=(4, 5)), sample((), key=(2,), shape=(3,))],
)  # fmt: skip


def getitem(x: Tensor, key: Any) -> Tensor:
    """Implements `x[key]`."""
    if not isinstance(x, Tensor):  # a class of a library that has the operators of tensors
        return foreign_operands("getitem", (x, key))
    if type(key) is int or (type(key) is not tuple and _is_plain((key,))):
        key = (key,)
    elif type(key) is not tuple or not _is_plain(key):
        try:
            key, found = _resolved(x, key)
        except Exception as error:
            hide_frames(error)
            raise
        if found is not None:
            return found
    if type(x) is not Tensor:
        try:
            if type(x) is DeviceTensor:
                _check(key, x.dims)
                return x.interpret(slice_, (x,), {"key": key})  # type: ignore[no-any-return]
            _check(key, _dims_for(key, x))
            return slice_(x, key=key)
        except Exception as error:
            hide_frames(error)
            raise
    try:
        array = x.array[key]
    except (IndexError, ValueError):
        try:
            _check(key, x.dims)
            raise
        except Exception as error:
            hide_frames(error)
            raise
    y = wrap(np.array(array, dtype=object) if type(array) is bytes else array, x.dtype)
    if modes.active:
        modes.op_finished(slice_, (x,), y)
    if x.tracer is not None:
        recorder = thread.recorder
        if recorder is not None:
            recorder.record(slice_, (x,), y, {"key": key})
    return y


def _resolved(x: Tensor, key: Any) -> tuple[Any, Tensor | None]:
    """Returns a key of plain indices and None, or the result for a mask, for indices to gather, or by a library."""
    mask = _as_mask(key)
    if mask is not None:
        return key, masked(x, mask, 0)
    try:
        key, moving = _normalised(key)
    except TypeError:
        found = foreign_operands("getitem", (x, key)) if foreign_operands.installed is not None else NotImplemented
        if found is NotImplemented:
            raise
        return key, found
    return key, _gathered(x, key, moving) if moving else None


def iterate(x: Tensor) -> Iterator[Tensor]:
    """Iterates over the rows of `x`, all recorded as one op."""
    if thread.trace is not None:
        thread.trace.iterated()
    if not x.dims:
        raise TypeError("Cannot iterate over a scalar tensor.")
    return iter(ops.unstack(x, axis=0))


def masked(x: Tensor, mask: Tensor, axis: int) -> Tensor:
    """The elements of `x`, from `axis` on, where `mask` is true."""
    if not mask.dims:
        raise ValueError("mask cannot be scalar.")
    dims, count = x.dims, math.prod(mask.dims)
    stop = axis + len(mask.dims)
    if dims[axis:stop] != mask.dims:
        raise ValueError(f"Shapes {dims[axis:stop]} and {mask.dims} are incompatible: a mask has the shape it masks")
    places = ops.nonzero(ops.reshape(mask, shape=(count,)))
    flat = ops.reshape(x, shape=(*dims[:axis], count, *dims[stop:]))
    return ops.gather(flat, slice_(places, key=(slice(None), 0)), axis=axis, batch=0)


def _is_plain(key: tuple[Any, ...]) -> bool:
    """Whether a key needs no conversion: its numbers are Python's."""
    for k in key:
        if type(k) is slice:
            if type(k.start) not in _BOUNDS or type(k.stop) not in _BOUNDS or type(k.step) not in _BOUNDS:
                return False
        elif type(k) is not int and k is not None and k is not Ellipsis:
            return False
    return True


def _as_mask(key: Any) -> Tensor | None:
    """The boolean tensor, if the whole key is a mask."""
    if isinstance(key, bool | np.bool_) or (isinstance(key, np.ndarray) and kind_of(key) == "b"):
        return Tensor(np.asarray(key))
    return key if isinstance(key, Tensor) and key.dtype is dtypes.bool else None


def _normalised(key: Any) -> tuple[tuple[Any, ...], dict[int, Any]]:
    """Normalizes a key to Python integers; returns the indices and slices with symbolic values, by their position."""
    items = tuple(key) if isinstance(key, list | tuple) else (key,)
    if len(items) > 1 and isinstance(items[0], bool):
        raise TypeError(
            f"Cannot convert {items[1]!r} to EagerTensor of dtype bool: a mask must be the whole key, and a tensor or "
            "an array. Use tf.boolean_mask(x, mask)"
        )
    found: list[Any] = []
    moving: dict[int, Any] = {}
    for i, item in enumerate(items):
        if item is None or item is Ellipsis:
            found.append(item)
        elif isinstance(item, slice) and _moves(item):
            moving[i] = item
            found.append(slice(None))
        elif isinstance(item, slice):
            found.append(slice(*map(_bound, (item.start, item.stop, item.step))))
        else:
            tensor = _as_index_tensor(item)
            if tensor is not None and type(tensor) is not Tensor:
                moving[i] = tensor
                found.append(slice(None))
            else:
                found.append(_index(item))
    return tuple(found), moving


def _moves(item: slice) -> bool:
    """Whether a slice has a positive step and a bound whose value is only known at run time."""
    unknown = [is_tensor_like(n) and type(to_tensor(n)) is not Tensor for n in (item.start, item.stop)]
    return any(unknown) and (item.step is None or (isinstance(item.step, int) and item.step > 0))


def _as_index_tensor(item: Any) -> Tensor | None:
    if not is_tensor_like(item):
        return None
    tensor = to_tensor(item)
    if tensor.dtype not in (dtypes.int16, dtypes.int32, dtypes.int64) or tensor.dims:
        raise _bad_index(item)
    return tensor


def _bound(item: Any) -> int | None:
    """Converts a bound of a slice; that of an unknown size in a shape of TensorFlow 1 is none."""
    if isinstance(item, Dimension):
        item = item.value
    return None if item is None else _index(item)


def _index(item: Any) -> int:
    """Converts an index or a bound to a Python integer."""
    tensor = _as_index_tensor(item)
    if tensor is not None:
        return int(tensor.array)
    if isinstance(item, Dimension) and item.value is not None:
        return int(item)
    if isinstance(item, Integral) or (isinstance(item, np.ndarray) and kind_of(item) in "iu" and not item.shape):
        return operator.index(item) if isinstance(item, Integral) else int(item)
    raise _bad_index(item)


def _bad_index(item: Any) -> Exception:
    return TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
        f"valid indices, got {item!r}. Use tf.gather for a list of indices and tf.boolean_mask for a mask"
    )


def _gathered(x: Tensor, key: tuple[Any, ...], moving: dict[int, Any]) -> Tensor:
    """`x[key]` for indices and bounds only known at run time: slices first, then gathers along their axes."""
    consumed = sum(k is not None and k is not Ellipsis for k in key)
    if Ellipsis in key:
        at = key.index(Ellipsis)
        fill = len(x.dims) - consumed
        key = (*key[:at], *(slice(None),) * fill, *key[at + 1 :])
        moving = {i + (fill - 1 if i > at else 0): index for i, index in moving.items()}
    y = x if all(k == slice(None) for k in key) else getitem(x, key)
    for i in sorted(moving, reverse=True):
        axis = i - sum(type(k) is int for k in key[:i])
        index: Any = moving[i]
        if type(index) is slice:
            index = _positions(index, y.dims[axis])
        else:
            index = ops.where(index < 0, index + y.dims[axis], index)
        y = ops.gather(y, index, axis=axis, batch=0)
    return y


def _positions(item: slice, size: int) -> Tensor:
    """The positions that a slice selects along an axis. Their number must be the same in every run."""
    zero, end = to_tensor(0, dtypes.int64), to_tensor(size, dtypes.int64)

    def bound(n: Any, default: Tensor) -> Tensor:
        at: Any = default if n is None else _wide(n) if is_tensor_like(n) else to_tensor(n, dtypes.int64)
        return ops.minimum(ops.maximum(ops.where(at < 0, at + end, at), zero), end)

    start, stop = bound(item.start, zero), bound(item.stop, end)
    step = item.step or 1
    count = max(0, -(-int((stop - start).array) // step))
    return start + to_tensor(np.arange(count) * step)


def _wide(n: Any) -> Tensor:
    tensor = _as_index_tensor(n)
    return ops.cast(tensor, dtype=dtypes.int64)


def _dims_for(key: tuple[Any, ...], x: Tensor) -> tuple[Any, ...]:
    """The shape that a key must fit. The size of the first axis does not matter if the key selects all of it."""
    dims = x.symbolic_dims
    return dims if key[:1] == (slice(None),) and all(type(n) is int for n in dims[1:]) else x.dims


def _check(key: tuple[Any, ...], dims: tuple[int, ...]) -> None:
    """Raises TensorFlow's error for a key that does not fit a value of shape `dims`."""
    consumed = ellipses = 0
    for k in key:
        if k is Ellipsis:
            ellipses += 1
        elif k is not None:
            consumed += 1
    if ellipses > 1:
        raise _invalid("Multiple ellipses in slice spec not allowed", dims)
    if consumed and not dims:
        raise _invalid("Attempting to slice scalar input.", dims)
    if consumed > len(dims):
        raise _invalid(
            f"Index out of range using input dim {len(dims)}; input has only {len(dims)} dims", dims,
            ". Each number is the index of another axis, in x[[0, 1]], too. Use tf.gather(x, [0, 1]) to select rows",
        )  # fmt: skip
    axis = 0
    for k in key:
        if k is Ellipsis:
            axis += len(dims) - consumed
        elif k is not None:
            if type(k) is slice:
                if k.step == 0:
                    raise _invalid(f"strides[{axis}] must be non-zero", dims)
            elif not -dims[axis] <= k < dims[axis]:
                raise _invalid(f"slice index {k} of dimension {axis} out of bounds.", dims)
            axis += 1


def _invalid(text: str, dims: tuple[int, ...], advice: str = "") -> Exception:
    return errors.InvalidArgumentError(f"{text} [Op:StridedSlice] on a tensor of shape {list(dims)}{advice}")

"""The differences between array libraries: scatter updates, in-place writes, and functions missing in some of them."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, Literal

import numpy as np


class ArrayModule:
    """An array library on a device: its functions, by NumPy's names, and transfers to and from the host.

    `to_xla(array, own=False)` and `from_xla(array)` exchange arrays with XLA programs, without a copy on the same
    device, unless XLA needs its `own` memory, which it may overwrite (buffer donation). `has_own_memory(array)` tells
    whether the library allocated the array's memory and the array is not a view, so that any other user of the memory
    holds a reference to the array. `fuse` compiles an elementwise formula to one kernel, `fuse_rows` a row formula;
    both may return None. `synchronize` waits until the device has finished all queued work; `memory` describes the
    memory use in words. `kernels` caches the kernels of ops, bound to the library on first use; `by_way_of_host` names
    the ops that the library does not support.
    """

    def __init__(
        self,
        name: str,
        xp: Any,
        array_type: type,
        device: str,
        to_host: Callable[[Any], Any],
        from_host: Callable[[Any], Any],
        to_xla: Callable[..., Any],
        from_xla: Callable[[Any], Any],
        has_own_memory: Callable[[Any], bool],
        fuse: Callable[[Any], Callable[..., Any] | None],
        fuse_rows: Callable[[Any], Callable[..., Any] | None],
        synchronize: Callable[[], Any],
        memory: Callable[[], str],
    ) -> None:
        self.name = name
        self.xp = xp
        self.array_type = array_type
        self.device = device
        self.to_host = to_host
        self.from_host = from_host
        self.to_xla = to_xla
        self.from_xla = from_xla
        self.has_own_memory = has_own_memory
        self.fuse = fuse
        self.fuse_rows = fuse_rows
        self.synchronize = synchronize
        self.memory = memory
        self.ops: Any = None  # the op namespace for bare arrays, created on first use
        self.kernels: dict[Any, Callable[..., Any]] = {}
        self.by_way_of_host: set[str] = set()


def host_only(xp: Any) -> None:
    """Raises in a kernel that requires NumPy, so that the caller computes it on the host.

    Letting NumPy convert another library's array instead would raise errors or warnings that depend on both libraries.
    """
    if xp is not np:
        raise NotImplementedError("this kernel is NumPy's")


def put(array: Any, key: Any, values: Any) -> Any:
    """Returns `array` after `array[key] = values`; may modify it, so the caller must own the array."""
    if hasattr(array, "at"):
        return array.at[key].set(values)
    if array.dtype == object and np.ndim(values) == 0:
        values = np.asarray(values, object)[()]  # NumPy would store a 0-d object array itself as the element
    array[key] = values
    return array


def add_into(array: Any, key: Any, values: Any) -> Any:
    """Returns `array` after `array[key] += values`; the caller must own the array, and the key has no duplicates."""
    if hasattr(array, "at"):
        return array.at[key].add(values)
    array[key] += values
    return array


_UPDATES = {"add": "add", "multiply": "multiply", "maximum": "max", "minimum": "min"}  # `jax.numpy`'s names


def combine_at(xp: Any, ufunc: str, array: Any, key: Any, values: Any) -> Any:
    """Scatter update with duplicate indices: combines `array[key]` with `values`; the caller must own the array.

    Except for `add`, the key must be a single array of row indices.
    """
    if hasattr(array, "at"):
        return getattr(array.at[key], _UPDATES[ufunc])(values)
    if xp is np:
        getattr(xp, ufunc).at(array, key, values)
        return array
    return _combined_on_device(xp, ufunc, array, key, values)


def _combined_on_device(xp: Any, ufunc: str, array: Any, key: Any, values: Any) -> Any:
    """Implements `combine_at` with a GPU's atomics: addition, and minimum and maximum of integers."""
    dtype = array.dtype
    if ufunc == "multiply":
        return array * _products(xp, key, values, len(array))
    if dtype.kind == "c":
        xp.add.at(array.real, key, values.real)
        xp.add.at(array.imag, key, values.imag)
        return array
    if dtype.itemsize < 4:
        wide = np.int32 if dtype.kind in "biu" else np.float32
        return _combined_on_device(xp, ufunc, array.astype(wide), key, values.astype(wide)).astype(dtype)
    if ufunc == "add" or dtype.kind in "iu":
        getattr(xp, ufunc).at(array, key, values)
        return array
    # CuPy's atomic minimum and maximum round float64 to float32 and lose NaN. Integers in the order of the floats avoid
    # both.
    order = _ordered(xp, array, ufunc)
    getattr(xp, ufunc).at(order, key, _ordered(xp, values, ufunc))
    return _turned(xp, order).view(dtype)


def _ordered(xp: Any, x: Any, ufunc: str) -> Any:
    """Maps the floats `x` to integers of the same order; NaN becomes the winner of `ufunc`."""
    bits = np.dtype(f"i{x.dtype.itemsize}")
    limits = np.iinfo(bits)
    winner = limits.max if ufunc == "maximum" else limits.min
    return xp.where(xp.isnan(x), bits.type(winner), _turned(xp, x.view(bits)))


def _turned(xp: Any, bits: Any) -> Any:
    """Maps the bits of floats to integers in the floats' order, and back: inverts the low bits of negative floats."""
    return xp.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _products(xp: Any, rows: Any, values: Any, count: int) -> Any:
    """Returns for each of `count` rows the product of its `values`; 1 where there are none.

    A segmented prefix product by doubling (Hillis-Steele scan), after sorting by row.
    """
    if not len(rows):
        return xp.ones((count, *values.shape[1:]), values.dtype)
    order = stable_argsort(xp, rows)
    rows, values = rows[order], values[order]
    apart = (slice(None), *(None,) * (values.ndim - 1))
    step = 1
    while step < len(rows):
        factor = xp.where((rows[step:] == rows[:-step])[apart], values[:-step], xp.ones((), values.dtype))
        values = xp.concatenate([values[:step], values[step:] * factor])
        step *= 2
    numbers = xp.arange(count)
    last = xp.searchsorted(rows, numbers, side="right") - 1
    return xp.where((rows[last] == numbers)[apart], values[last], xp.ones((), values.dtype))


def add_at(xp: Any, array: Any, key: Any, values: Any) -> Any:
    """Scatter-add: adds `values` at `key`, accumulating duplicates; the caller must own the array."""
    return combine_at(xp, "add", array, key, values)


def stable_argsort(xp: Any, x: Any, axis: int = -1) -> Any:
    """Stable argsort: NumPy needs the option, the sorts of the other libraries are stable."""
    return np.argsort(x, axis=axis, stable=True) if xp is np else xp.argsort(x, axis=axis)


def search_rows(xp: Any, rows: Any, values: Any, side: Literal["left", "right"]) -> Any:
    """Applies `searchsorted` to each row of `values` in the same row of `rows`; vectorized except for NumPy.

    A binary search over bits: `found` elements are known to precede the value, and steps halve from half the row to
    one.
    """
    if xp is np:
        found = [np.searchsorted(row, value, side=side) for row, value in zip(rows, values, strict=True)]
        return np.stack(found) if found else np.zeros(values.shape, int)
    size = rows.shape[1]
    found = xp.zeros(values.shape, np.int64)
    for bit in reversed(range(size.bit_length())):
        further = found + (1 << bit)
        number = xp.take_along_axis(rows, xp.minimum(further, size) - 1, axis=1)
        before = number <= values if side == "right" else number < values
        found = xp.where((further <= size) & before, further, found)
    return found


def stacked(xp: Any, *matrices: Any) -> tuple[Any, ...]:
    """Broadcasts the leading axes of matrices, where the library's linear algebra does not."""
    if xp is np or hasattr(matrices[0], "at") or len({x.shape[:-2] for x in matrices}) == 1:
        return matrices
    batch = np.broadcast_shapes(*(x.shape[:-2] for x in matrices))
    return tuple([xp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in matrices])


def take(xp: Any, array: Any, indices: Any, axis: int) -> Any:
    """Takes elements along an axis; clips indices that are out of range."""
    if xp is np or hasattr(array, "at"):
        return xp.take(array, indices, axis=axis, mode="clip")
    return xp.take(array, xp.clip(indices, 0, max(array.shape[axis] - 1, 0)), axis=axis)


def into(f: Any, x: Any, *others: Any) -> Any:
    """Computes `f(x, *others)` in place of `x` where arrays are mutable; the caller must own `x`."""
    return f(x, *others, out=x) if type(x) is np.ndarray else f(x, *others)


_BITS = {"f": np.int32, "d": np.int64, "e": np.int16}


def masked(xp: Any, mask: Any, x: Any) -> Any:
    """Returns `x` where `mask` is true and 0 elsewhere, even where `x` is inf or nan."""
    bits = _BITS.get(x.dtype.char) if xp is np else None
    if bits is None:
        return xp.where(mask, x, 0)
    # Multiplying the bits by one or zero takes an eighth of the time of `where`, whose branches are mispredicted.
    if type(mask) is not np.ndarray or mask.shape != x.shape:
        return (x.view(bits) * mask).view(x.dtype)
    kept = mask.astype(bits)  # NumPy would convert it, too, but in small pieces
    return np.multiply(kept, x.view(bits), kept).view(x.dtype)


def join_parts(xp: Any, real: Any, imag: Any) -> Any:
    """Joins real and imaginary parts of one shape; `real + 1j * imag` would be NaN where the imaginary part is inf."""
    if hasattr(real, "at"):
        return importlib.import_module("jax.lax").complex(real, imag)
    return xp.stack([real, imag], axis=-1).view(xp.complex128 if real.dtype == xp.float64 else xp.complex64)[..., 0]


@functools.cache
def special(xp: Any) -> Any:
    """Returns the module of special functions of an array module."""
    if hasattr(xp, "special"):
        return xp.special
    modules = {"numpy": "scipy.special", "cupy": "cupyx.scipy.special"}
    return importlib.import_module(modules.get(xp.__name__.split(".")[0], "jax.scipy.special"))

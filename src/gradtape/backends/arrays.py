"""What differs between array libraries, and nothing else: writing into arrays, and functions found elsewhere."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, Literal

import numpy as np


class ArrayModule:
    """A library of arrays that live on a device: its functions, by NumPy's names, and the way to the host and back.

    `to_xla(array, own=False)` and `from_xla(array)` hand arrays over to programs of XLA and back, without a copy where
    both are on one device, unless XLA is to have memory of its own, which it may write over.
    `has_own_memory(array)` tells whether an array's memory is its own: whoever else sees it holds the array.
    `fuse` makes one kernel of the steps of an elementwise formula, `fuse_rows` of those of a formula of rows, or None.
    `synchronize` waits until the device has
    done all that it was told; `memory` says in words what is in use.
    `kernels` are those of ops, bound to the library when they are first run; `by_way_of_host` names the ops that it
    cannot compute.
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
        self.ops: Any = None  # for bare arrays, when they have been asked for
        self.kernels: dict[Any, Callable[..., Any]] = {}
        self.by_way_of_host: set[str] = set()


def host_only(xp: Any) -> None:
    """Raises in a kernel that only NumPy can run, so that the caller computes it on the host.

    To have NumPy try and convert another library's array would end in whatever error, or warning, the two agree on.
    """
    if xp is not np:
        raise NotImplementedError("this kernel is NumPy's")


def put(array: Any, key: Any, values: Any) -> Any:
    """`array` with `array[key] = values`; the array is one the caller has just made."""
    if hasattr(array, "at"):
        return array.at[key].set(values)
    if array.dtype == object and np.ndim(values) == 0:
        values = np.asarray(values, object)[()]  # NumPy stores an array of objects, even one without axes, as an object
    array[key] = values
    return array


def add_into(array: Any, key: Any, values: Any) -> Any:
    """`array` with `array[key] += values`; the array is one the caller has just made, the key names no place twice."""
    if hasattr(array, "at"):
        return array.at[key].add(values)
    array[key] += values
    return array


_UPDATES = {"add": "add", "multiply": "multiply", "maximum": "max", "minimum": "min"}  # as `jax.numpy` calls them


def combine_at(xp: Any, ufunc: str, array: Any, key: Any, values: Any) -> Any:
    """`array` combined with `values` at `key`, repeated indices again and again; the caller has just made the array.

    All but `add` are for a key that is one array of numbers of rows.
    """
    if hasattr(array, "at"):
        return getattr(array.at[key], _UPDATES[ufunc])(values)
    if xp is np:
        getattr(xp, ufunc).at(array, key, values)
        return array
    return _combined_on_device(xp, ufunc, array, key, values)


def _combined_on_device(xp: Any, ufunc: str, array: Any, key: Any, values: Any) -> Any:
    """`combine_at` with what a GPU can do at once to one place in memory: adding, and comparing integers."""
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
    # CuPy compares float64 after rounding to float32, and loses NaN: integers in the order of the floats do neither.
    order = _ordered(xp, array, ufunc)
    getattr(xp, ufunc).at(order, key, _ordered(xp, values, ufunc))
    return _turned(xp, order).view(dtype)


def _ordered(xp: Any, x: Any, ufunc: str) -> Any:
    """Integers in the order of the floats `x`; NaN is what wins `ufunc`."""
    bits = np.dtype(f"i{x.dtype.itemsize}")
    limits = np.iinfo(bits)
    winner = limits.max if ufunc == "maximum" else limits.min
    return xp.where(xp.isnan(x), bits.type(winner), _turned(xp, x.view(bits)))


def _turned(xp: Any, bits: Any) -> Any:
    """The bits of floats as integers in their order, and back: of negative floats the larger ones have lower bits."""
    return xp.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _products(xp: Any, rows: Any, values: Any, count: int) -> Any:
    """For each of `count` rows the product of the `values` that belong to it; 1 where there are none.

    Sorted by row, every value is multiplied by those before it in its row, by doubling.
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
    """`array` with `values` added at `key`, repeated indices adding up; the array is one the caller has just made."""
    return combine_at(xp, "add", array, key, values)


def stable_argsort(xp: Any, x: Any, axis: int = -1) -> Any:
    """What sorts `x`, equal values in the order they are in: NumPy has to be told, the others do nothing else."""
    return np.argsort(x, axis=axis, stable=True) if xp is np else xp.argsort(x, axis=axis)


def search_rows(xp: Any, rows: Any, values: Any, side: Literal["left", "right"]) -> Any:
    """`searchsorted` of each row of `values` in the same row of `rows`; elsewhere than on the host for all at once.

    By halving: `found` numbers are known to stand before the value, and steps from a half of all to one are tried.
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
    """Matrices with their leading axes broadcast, where the library's linear algebra does not do that by itself."""
    if xp is np or hasattr(matrices[0], "at") or len({x.shape[:-2] for x in matrices}) == 1:
        return matrices
    batch = np.broadcast_shapes(*(x.shape[:-2] for x in matrices))
    return tuple([xp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in matrices])


def take(xp: Any, array: Any, indices: Any, axis: int) -> Any:
    """The parts of `array` at these indices along an axis; an index out of range is the nearest that is not."""
    if xp is np or hasattr(array, "at"):
        return xp.take(array, indices, axis=axis, mode="clip")
    return xp.take(array, xp.clip(indices, 0, max(array.shape[axis] - 1, 0)), axis=axis)


def into(f: Any, x: Any, *others: Any) -> Any:
    """`f(x, *others)`, written over `x` where arrays can be written to; `x` is one the caller has just made."""
    return f(x, *others, out=x) if type(x) is np.ndarray else f(x, *others)


_BITS = {"f": np.int32, "d": np.int64, "e": np.int16}


def masked(xp: Any, mask: Any, x: Any) -> Any:
    """`x` where `mask` is true and 0 elsewhere; an inf or nan elsewhere does not survive."""
    bits = _BITS.get(x.dtype.char) if xp is np else None
    if bits is None:
        return xp.where(mask, x, 0)
    # Multiplying the bits by one or zero takes an eighth of the time of `where`, whose branches are mispredicted.
    if type(mask) is not np.ndarray or mask.shape != x.shape:
        return (x.view(bits) * mask).view(x.dtype)
    kept = mask.astype(bits)  # which NumPy would do too, in small pieces
    return np.multiply(kept, x.view(bits), kept).view(x.dtype)


def join_parts(xp: Any, real: Any, imag: Any) -> Any:
    """The complex numbers of these parts, of one shape: `real + 1j * imag` is NaN where the imaginary part is inf."""
    if hasattr(real, "at"):
        return importlib.import_module("jax.lax").complex(real, imag)
    return xp.stack([real, imag], axis=-1).view(xp.complex128 if real.dtype == xp.float64 else xp.complex64)[..., 0]


@functools.cache
def special(xp: Any) -> Any:
    """The module of special functions that goes with an array module."""
    if hasattr(xp, "special"):
        return xp.special
    modules = {"numpy": "scipy.special", "cupy": "cupyx.scipy.special"}
    return importlib.import_module(modules.get(xp.__name__.split(".")[0], "jax.scipy.special"))

"""Batches of arrays: rows are gathered once, and go to the device while the step before runs.

A batch is copied as rarely as possible. Gathered rows become the tensor itself; slices are views, which are copied to
the device, or on the host to a tensor, since the caller may change the array. Tensors on a device are sliced there.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend.config import floatx
from keras.src.trainers.data_adapters import array_slicing

import gradtape as tf
from gradtape.backends.numpy.threads import CORES, together
from gradtape.core import dtypes, modes
from gradtape.core.dtypes import DType
from gradtape.core.tensor import wrap
from gradtape.data.background import PrefetchIterator
from gradtape.engine.registry.devices import DeviceTensor

Indices = slice | np.ndarray

# Bytes of a batch: two handoffs between threads take 0.05 ms, gathering and copying this many bytes 0.2 ms.
PREFETCH_MIN_BYTES = 1 << 20
# Batches are gathered by several cores only ahead of a step on an accelerator, while the host is idle: a thread that
# has to wait for a core makes a gather of 8 MiB take six times as long.
GATHER_CORES = min(CORES, 8)
GATHER_MIN_BYTES = 1 << 21  # of the part of a core


class DeviceRows(array_slicing.Sliceable):
    """A tensor on a device; its rows stay there."""

    def __getitem__(self, indices: Indices) -> Any:
        return self.array[indices] if isinstance(indices, slice) else tf.gather(self.array, indices)


class XlaRows(array_slicing.Sliceable):
    """A tensor on a device, whose rows XLA gathers into its own memory.

    XLA may still read a batch when the step has returned. Memory of its own is not used again before it has.
    """

    def __init__(self, x: DeviceTensor, dtype: DType) -> None:
        super().__init__(x.module.to_xla(x.buffer))
        self._dtype = dtype

    def __getitem__(self, indices: Indices) -> Any:
        import jax

        with jax.enable_x64(True):
            if isinstance(indices, slice):  # JAX would compile `array[start:stop]` for every start
                rows = jax.lax.dynamic_slice_in_dim(self.array, indices.start, indices.stop - indices.start)
            else:
                rows = jax.numpy.take(self.array, indices, axis=0)
            return wrap(rows.astype(self._dtype.numpy), self._dtype)


def sliceable(inputs: Any, for_xla: bool) -> Any:
    """Wraps the arrays of `inputs`, with floats in Keras' default dtype."""

    def one(x: Any) -> Any:
        if type(x) is not DeviceTensor:
            return array_slicing.convert_to_sliceable(x, target_backend="numpy")
        dtype = dtypes.as_dtype(floatx()) if x.dtype.is_floating else x.dtype
        if for_xla:
            return XlaRows(x, dtype)
        return DeviceRows(x if x.dtype is dtype else tf.cast(x, dtype))

    return tree.map_structure(one, inputs)


def _dtype_of(array: object) -> DType | None:
    """Returns the dtype of a tensor that has the same bytes as an array, or None."""
    if type(array) not in (np.ndarray, np.memmap) or not array.dtype.isnative or array.dtype.kind in "OSUMm":
        return None
    try:
        return dtypes.of_numpy(array.dtype)
    except TypeError:
        return None


def gather_rows(array: np.ndarray, indices: np.ndarray, cores: int) -> np.ndarray:
    """Returns a new array of the rows at `indices`, which must be in range; large ones on at most `cores`."""
    row_bytes = array.dtype.itemsize * math.prod(array.shape[1:])
    count = min(cores, len(indices), len(indices) * row_bytes // GATHER_MIN_BYTES)
    if count < 2:
        return array.take(indices, axis=0)
    out = np.empty((len(indices), *array.shape[1:]), array.dtype)
    edges = [len(indices) * i // count for i in range(count + 1)]
    # In mode "raise", NumPy would gather into a buffer first.
    together(
        [
            partial(array.take, indices[start:stop], axis=0, out=out[start:stop], mode="clip")
            for start, stop in itertools.pairwise(edges)
        ]
    )
    return out


def _batch(inputs: Any, indices: Indices, create: Callable[[np.ndarray, DType], tf.Tensor], cores: int) -> Any:
    """Returns the rows at `indices`: a tensor where nothing else refers to their memory, otherwise an array."""

    def rows(part: Any) -> Any:
        if isinstance(part, DeviceRows | XlaRows):
            return part[indices]
        dtype = None if isinstance(indices, slice) else _dtype_of(part.array)
        if dtype is None:
            return part.convert_to_numpy(part[indices])
        return create(gather_rows(part.array, indices, cores), dtype)

    return tree.map_structure(rows, inputs, none_is_leaf=False)


def on_host(inputs: Any, orders: Iterator[Indices]) -> Iterator[Any]:
    """Returns an iterator over the batches of sliceable `inputs`, as tensors or arrays on the host."""
    return (_batch(inputs, indices, _host_tensor, 1) for indices in orders)


def _host_tensor(array: np.ndarray, dtype: DType) -> tf.Tensor:
    x = wrap(array, dtype)
    if modes.active:
        modes.tensor_created(x)
    return x


def has_accelerator() -> bool:
    """Returns whether XLA runs programs on a device with memory of its own.

    While a mode is active, batches are created in the thread of `fit`, which inspection attributes them to.
    """
    if modes.active or importlib.util.find_spec("jax") is None:
        return False
    import jax

    return jax.default_backend() != "cpu"


def bytes_per_row(inputs: Any) -> float:
    """Returns the bytes of a row of all arrays of `inputs` that are copied."""
    arrays = [part.array for part in tree.flatten(inputs) if part is not None]
    return sum(x.nbytes / max(len(x), 1) for x in arrays if _dtype_of(x) is not None)


def ahead(inputs: Any, orders: Sequence[Indices]) -> Iterator[Any]:
    """Yields the batches of sliceable `inputs` as tensors in memory of XLA.

    One thread gathers, one batch ahead; another copies, up to two ahead. Both end with this generator.
    """
    gathered = PrefetchIterator((_batch(inputs, indices, wrap, GATHER_CORES) for indices in orders), 1)
    batches = PrefetchIterator(_transferred(gathered), 1)
    try:
        yield from batches
    finally:
        batches.close()


def _transferred(batches: PrefetchIterator) -> Iterator[Any]:
    """Yields the batches in memory of XLA. Two are copied at a time, since one copy does not use all of the bus."""
    started = deque[Any]()
    try:
        for batch in batches:
            started.append(to_xla(tree.map_structure(_as_tensor, batch, none_is_leaf=False)))
            if len(started) == 2:
                yield wait_for(started.popleft())
    except Exception:
        yield from map(wait_for, started)  # the error belongs to the batch after these
        raise
    finally:
        batches.close()
    yield from map(wait_for, started)


def _as_tensor(x: Any) -> Any:
    """Wraps a slice of an array without a copy; what is no plain array is converted in the thread of `fit`."""
    dtype = _dtype_of(x)
    return x if dtype is None else wrap(np.ascontiguousarray(x), dtype)


def to_xla(batch: Any) -> Any:
    """Starts to copy the tensors of a batch to memory of XLA."""
    import jax

    def copy(x: Any) -> Any:
        return wrap(jax.device_put(x.array), x.dtype) if type(x) is tf.Tensor else x

    with _exhaustion_reported(batch), jax.enable_x64(True):
        return tree.map_structure(copy, batch, none_is_leaf=False)


def wait_for(batch: Any) -> Any:
    """Waits until a batch is copied and the caller may change its arrays."""
    import jax

    with _exhaustion_reported(batch):
        jax.block_until_ready([x.array for x in tree.flatten(batch) if type(x) is tf.Tensor])
    return batch


@contextmanager
def _exhaustion_reported(batch: Any) -> Iterator[None]:
    """Raises TensorFlow's error if XLA has no memory left for the batch."""
    import jax

    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        shapes = [list(x.shape) for x in tree.flatten(batch) if x is not None]
        raise tf.errors.ResourceExhaustedError(
            None, None, f"XLA has no memory left for a batch of shapes {shapes}: {error}. Smaller batches need less"
        ) from error

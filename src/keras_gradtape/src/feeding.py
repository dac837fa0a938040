"""Batches of arrays: rows are gathered once, and go to the device while the step before runs.

A batch is copied as rarely as possible. Gathered rows become the tensor itself; slices are views, which are copied to
the device, or on the host to a tensor, since the caller may change the array. Tensors on a device are sliced there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend.config import floatx
from keras.src.trainers.data_adapters import array_slicing

import gradtape as tf
from gradtape.backends.numpy.threads import CORES, together
from gradtape.core import dtypes, modes
from gradtape.core.devices import default_device
from gradtape.core.dtypes import DType
from gradtape.core.extension_points import place_tensor
from gradtape.core.scopes import adopt, held
from gradtape.core.tensor import constant, wrap
from gradtape.datasets.background import PrefetchIterator
from gradtape.engine.registry.devices import DeviceTensor, staying

Indices = slice | np.ndarray

# Bytes of a batch: handing it from thread to thread takes up to 0.1 ms, gathering and copying this many at least 0.2.
PREFETCH_MIN_BYTES = 1 << 20
GATHER_MIN_BYTES = 1 << 21  # of the part that a core gathers
GATHER_MAX_CORES = 8  # the bandwidth of memory is used up by then


class DeviceRows(array_slicing.Sliceable):
    """A tensor on a device; its rows stay there."""

    def __getitem__(self, indices: Indices) -> Any:
        return self.array[indices] if isinstance(indices, slice) else tf.gather(self.array, indices)


def sliceable(inputs: Any) -> Any:
    """Wraps the arrays of `inputs`, with floats in Keras' default dtype."""

    def one(x: Any) -> Any:
        if type(x) is not DeviceTensor:
            return array_slicing.convert_to_sliceable(x, target_backend="numpy")
        is_other_float = x.dtype.is_floating and x.dtype.name != floatx()
        return DeviceRows(tf.cast(x, floatx()) if is_other_float else x)

    return tree.map_structure(one, inputs)


def _dtype_of(array: object) -> DType | None:
    """Returns the dtype of a tensor that has the same bytes as an array, or None."""
    if type(array) not in (np.ndarray, np.memmap) or not array.dtype.isnative or array.dtype.kind in "OSUMm":
        return None
    try:
        return dtypes.of_numpy(array.dtype)
    except TypeError:
        return None


def gather_rows(array: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Returns a new array of the rows at `indices`, which must be in range; large ones on several cores."""
    row_bytes = array.dtype.itemsize * math.prod(array.shape[1:])
    count = min(CORES, GATHER_MAX_CORES, len(indices), len(indices) * row_bytes // GATHER_MIN_BYTES)
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


def _batch(inputs: Any, indices: Indices, create: Callable[[np.ndarray, DType], tf.Tensor]) -> Any:
    """Returns the rows at `indices`: a tensor where nothing else refers to their memory, otherwise an array."""

    def rows(part: Any) -> Any:
        if isinstance(part, DeviceRows):
            return part[indices]
        dtype = None if isinstance(indices, slice) else _dtype_of(part.array)
        if dtype is None:
            return part.convert_to_numpy(part[indices])
        return create(gather_rows(part.array, indices), dtype)

    return tree.map_structure(rows, inputs, none_is_leaf=False)


def on_host(inputs: Any, orders: Iterator[Indices]) -> Iterator[Any]:
    """Yields the batches of sliceable `inputs`, as tensors or arrays on the host."""
    for indices in orders:
        with staying():
            batch = _batch(inputs, indices, constant)
        yield batch


def is_fed_ahead(inputs: Any, count: int, size: int) -> bool:
    """Returns whether batches of `size` of the `count` rows should be copied to a device ahead of their step.

    Inspection, which notes tensors in the thread that creates them, creates them in the thread of `fit`.
    """
    if place_tensor.installed is None or default_device().kind == "CPU" or modes.active:
        return False
    arrays = [part.array for part in tree.flatten(inputs) if part is not None]
    rows = sum(x.nbytes for x in arrays if _dtype_of(x) is not None) / max(count, 1)
    return rows * size >= PREFETCH_MIN_BYTES


def ahead(inputs: Any, orders: Sequence[Indices]) -> Iterator[Any]:
    """Yields the batches of sliceable `inputs` as tensors on the default device.

    One thread gathers, another copies to the device, each one batch ahead. Both end with this generator.
    """
    gathered = PrefetchIterator((_batch(inputs, indices, wrap) for indices in orders), 1)
    batches = PrefetchIterator(_placed(gathered, held()), 1)
    try:
        yield from batches
    finally:
        batches.close()


def _placed(batches: PrefetchIterator, scopes: Any) -> Iterator[Any]:
    """Copies batches to the default device of the thread whose scopes these are."""
    adopt(scopes)
    try:
        for batch in batches:
            yield tree.map_structure(placed, batch, none_is_leaf=False)
    finally:
        batches.close()


def placed(x: Any) -> Any:
    """Copies an array, or a tensor on the host, to the default device, unless its dtype stays on the host."""
    dtype = _dtype_of(x)
    if dtype is not None:
        x = wrap(np.ascontiguousarray(x), dtype)
    return place_tensor(x) if type(x) is tf.Tensor else x

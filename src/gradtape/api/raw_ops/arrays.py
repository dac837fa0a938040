"""Helpers of the table of raw ops for arrays: bits and slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ..namespace import resolve

_BITS_OF_BYTES = np.array([byte.bit_count() for byte in range(256)], np.uint8)


def population_count(x: Any) -> Tensor:
    """Returns the number of bits that are set in each integer."""
    octets = resolve("cast")(resolve("bitcast")(x, dtypes.uint8), dtypes.int32)
    counts = resolve("gather")(resolve("constant")(_BITS_OF_BYTES), octets)
    return counts if to_tensor(x).dtype.size == 1 else resolve("reduce_sum")(counts, -1)


def updated_slice(input: Any, begin: Any, end: Any, strides: Any, value: Any, masks: tuple[int, ...]) -> Tensor:
    """Returns a tensor in which a strided slice is replaced by a value, which is broadcast."""
    x = to_tensor(input)
    places = resolve("reshape")(resolve("range")(int(np.prod(x.dims, dtype=np.int64))), x.dims)
    places = resolve("strided_slice")(places, begin, end, strides, *masks)
    updates = resolve("reshape")(resolve("broadcast_to")(to_tensor(value, x.dtype), places.dims), [-1])
    flat, rows = resolve("reshape")(x, [-1]), resolve("reshape")(places, [-1, 1])
    return resolve("reshape")(resolve("tensor_scatter_nd_update")(flat, rows, updates), x.dims)

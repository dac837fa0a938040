"""Searches: positions of nonzero entries, and of values in a sorted sequence."""

from __future__ import annotations

import math

import numpy as np

from gradtape.engine.run.namespace import ops

from .promotion import numeric, promote, tensor

__all__ = ["nonzero", "searchsorted"]


def nonzero(x):
    x = tensor(x)
    if not x.dims:
        raise ValueError("A scalar has no positions: `nonzero` takes tensors of at least one axis")
    places = tensor(ops.nonzero(x), "int32")
    return tuple(ops.unstack(places, axis=1)) if len(x.dims) > 1 else (ops.reshape(places, shape=(-1,)),)


def searchsorted(sorted_sequence, values, side="left"):
    sequence, values = tensor(sorted_sequence), tensor(values)
    if len(sequence.dims) != 1:
        raise ValueError(
            "`searchsorted` only supports 1-D sorted sequences. You can use `keras.ops.vectorized_map` to extend it to "
            f"N-D sequences. Received: sorted_sequence.shape={sequence.dims}"
        )
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'left' or 'right'. Received: side={side!r}")
    sequence, values = (numeric(v, "uint8") for v in promote(sequence, values))
    rows = ops.reshape(values, shape=(1, math.prod(values.dims)))
    sequence = ops.reshape(sequence, shape=(1, *sequence.dims))
    found = ops.search_sorted(sequence, rows, side=side, dtype=np.dtype("int32"))
    return ops.reshape(found, shape=values.dims)

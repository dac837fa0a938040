"""Gather and scatter: each is the other's transpose. A gradient of a gather along the first axis stays sparse."""

from __future__ import annotations

import numpy as np

from ..backends import add_at
from ..engine.batching import BatchedTensor
from ..engine.families import linear
from ..engine.op import sample
from ..slices import IndexedSlices


def _gather_rows_back(m, g, indices, x_shape):
    """The cotangent of `x` in `x[indices]`: sparse, unless a batch is pulled back."""
    values = m.reshape(g, shape=(int(np.prod(indices.shape)), *x_shape[1:]))
    flat = m.reshape(indices, shape=(int(np.prod(indices.shape)),))
    if isinstance(values, BatchedTensor) or isinstance(flat, BatchedTensor):
        return m.scatter_add(values, flat, shape=x_shape)
    return IndexedSlices(values, flat, x_shape)


gather_rows = linear(
    "gather_rows", lambda xp, x, indices: x[indices], transpose=_gather_rows_back,
    batch=lambda m, size, inputs, flags, attrs: NotImplemented,
    samples=[sample((4, 3), np.array([[0, 2], [2, 1]])), sample((3,), np.array(1)), sample((3, 2), np.zeros(0, int))],
)  # fmt: skip
scatter_add = linear(
    "scatter_add", lambda xp, x, indices, *, shape: add_at(xp, xp.zeros(shape, x.dtype), indices, x),
    transpose=lambda m, g, indices: m.gather_rows(g, indices), moves_data=False,
    samples=[sample((3, 2), np.array([0, 2, 2]), shape=(4, 2)), sample((0,), np.zeros(0, int), shape=(2,))],
)  # fmt: skip

"""The product of a sparse and a dense matrix; its transposes are the same product and a sampled dense product."""

from __future__ import annotations

import numpy as np

from ...backends.arrays import numpy_kernel
from ...backends.tuning import SPARSE_PRODUCT
from ...core.dtypes import NUMERIC
from ...core.slices import IndexedSlices
from ...engine.registry.batching import BatchedTensor
from ...engine.registry.families import conjugate, opaque
from ...engine.registry.op import sample
from .indexing import add_rows


def _sparse_matmul(xp, values, b, rows, columns, *, count, slices=False):
    """y[rows[i]] += values[i] * b[columns[i]], with `count` rows; with `slices`, the cotangent of b is sparse."""
    return add_rows(xp, count, rows, values[:, None] * xp.take(b, columns, axis=0))


@numpy_kernel(_sparse_matmul)
def _numpy_sparse_matmul(values, b, rows, columns, *, count, slices=False):
    if len(values) * b.shape[1] >= SPARSE_PRODUCT and values.dtype.char in "fdFD":
        from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

        return csr_matrix((values, (rows, columns)), shape=(count, b.shape[0])) @ b
    return _sparse_matmul(np, values, b, rows, columns, count=count)


def _back(m, g, values, b, rows, columns, slices, need, b_shape):
    """For the values, the dense product sampled at the sparse matrix's elements; for b, the transposed product."""
    of_values = of_b = None
    if need[0]:
        products = m.gather(g, rows, axis=0, batch=0) * conjugate(m, m.gather(b, columns, axis=0, batch=0))
        of_values = m.sum(products, axis=(1,), keepdims=False)
    if need[1] and slices and not any(isinstance(x, BatchedTensor) for x in (g, values, columns)):
        weights = m.reshape(conjugate(m, values), shape=(values.shape[0], 1))
        of_b = IndexedSlices(m.gather(g, rows, axis=0, batch=0) * weights, columns, b_shape)
    elif need[1]:
        of_b = m.sparse_matmul(conjugate(m, values), g, columns, rows, count=b_shape[0])
    return of_values, of_b, None, None


def _forward(m, inputs, y, attrs, ts):
    (values, b, *at), (values_t, b_t, *_) = inputs, ts
    terms = [m.sparse_matmul(*pair, *at, **attrs) for pair in ((values_t, b), (values, b_t)) if None not in pair]
    return sum(terms[1:], terms[0]) if terms else None


def _batch(m, size, inputs, flags, attrs):
    """Places batched dense matrices side by side; any other batch is a loop."""
    values, b, rows, columns = inputs
    if flags[0] or flags[2] or flags[3]:
        return NotImplemented
    _, inner, width = b.dims
    beside = m.reshape(m.transpose(b, perm=(1, 0, 2)), shape=(inner, size * width))
    y = m.sparse_matmul(values, beside, rows, columns, **attrs)
    return m.transpose(m.reshape(y, shape=(attrs["count"], size, width)), perm=(1, 0, 2))


_ROWS, _COLUMNS = np.array([0, 2, 2, 0]), np.array([1, 0, 3, 1])
sparse_matmul = opaque(
    "sparse_matmul", _sparse_matmul, vjp=_back, jvp=_forward, batch=_batch, on=NUMERIC,
    samples=[
        sample((4,), (4, 2), _ROWS, _COLUMNS, count=3),
        sample((4,), (4, 2), _ROWS, _COLUMNS, count=3, slices=True),
        sample((0,), (2, 3), np.zeros(0, int), np.zeros(0, int), count=2),
    ],
)  # fmt: skip

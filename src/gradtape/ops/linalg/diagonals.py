"""Bands and diagonals of matrices: linear ops; `matrix_diag` and `matrix_diag_part` are each other's transpose.

Diagonal k holds the entries (i, i + k). Several diagonals, from `high` down to `low`, are the rows of a matrix. A
diagonal shorter than the longest is aligned to the left or right end of its row; `align` sets the side for those above
and below the main diagonal.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...backends.arrays import BITS, numpy_kernel, put
from ...backends.tuning import LARGE
from ...engine.registry.families import constant, linear, opaque
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import same_shape
from .matrix_algebra import adjoint


def _unshifted(attrs: dict[str, Any], size: int) -> dict[str, Any]:
    return attrs


@lru_cache(maxsize=256)
def band(rows: int, columns: int, below: int, above: int) -> Any:
    """The mask of the main diagonal, `below` diagonals under it and `above` over it; negative means all."""
    offset = np.arange(columns) - np.arange(rows)[:, None]
    inside = ((below < 0) | (-offset <= below)) & ((above < 0) | (offset <= above))
    inside.flags.writeable = False
    return inside


@lru_cache(maxsize=64)
def _band_bits(rows: int, columns: int, below: int, above: int, dtype: Any) -> Any:
    """The mask as integers, all of whose bits are ones or zeros."""
    bits = -band(rows, columns, below, above).astype(dtype)
    bits.flags.writeable = False
    return bits


def _band_part(xp, x, *, below, above):
    return xp.where(xp.asarray(band(*x.shape[-2:], below, above)), x, xp.zeros((), x.dtype))


@numpy_kernel(_band_part)
def _numpy_band_part(x, *, below, above):
    bits = BITS.get(x.dtype.char)
    # Bits are several times faster than `where`, but those of large matrices would fill the cache's memory.
    if bits is None or math.prod(x.shape[-2:]) > LARGE:
        return _band_part(np, x, below=below, above=above)
    return (x.view(bits) & _band_bits(*x.shape[-2:], below, above, bits)).view(x.dtype)


band_part = linear(
    "band_part", _band_part, shift=_unshifted,
    shape=same_shape,
    transpose=lambda m, g, below, above: m.band_part(g, below=below, above=above),
    samples=[
        sample((3, 4), below=1, above=0),
        sample((2, 4, 3), below=-1, above=1),
        sample((3, 3), below=0, above=-1),
        sample((0, 2, 2), below=0, above=0),
    ],
)  # fmt: skip


def longest(rows: int, columns: int, low: int, high: int) -> int:
    """The length of the longest of the diagonals from `low` to `high`."""
    return min(rows + min(high, 0), columns - max(low, 0))


@lru_cache(maxsize=256)
def places(rows: int, columns: int, low: int, high: int, align: str) -> Any:
    """Index arrays (diagonal, position in it, row, column) of every entry on the diagonals from `high` to `low`."""
    left_above, left_below = (side == "LEFT" for side in align.split("_"))
    full = longest(rows, columns, low, high)
    parts = []
    for d, k in enumerate(range(high, low - 1, -1)):
        i = np.arange(max(-k, 0), max(-k, 0) + max(min(rows + min(k, 0), columns - max(k, 0)), 0))
        at_left = (k >= 0 and left_above) or (k <= 0 and left_below)
        start = 0 if at_left else full - len(i)
        parts.append(np.array([np.full(len(i), d), np.arange(start, start + len(i)), i, i + k]))
    return tuple(np.concatenate(parts, axis=1))


def _diag_part(xp, x, *, low, high, align):
    rows, columns = x.shape[-2:]
    if low == high:
        return xp.diagonal(x, low, -2, -1)
    d, p, i, j = map(xp.asarray, places(rows, columns, low, high, align))
    shape = (*x.shape[:-2], high - low + 1, longest(rows, columns, low, high))
    return put(xp.zeros(shape, x.dtype), (..., d, p), x[..., i, j])


def _diag(xp, x, *, rows, columns, low, high, align):
    d, p, i, j = map(xp.asarray, places(rows, columns, low, high, align))
    several = low != high
    zeros = xp.zeros((*x.shape[: -2 if several else -1], rows, columns), x.dtype)
    return put(zeros, (..., i, j), x[..., d, p] if several else x[..., p])


matrix_diag_part = linear(
    "matrix_diag_part", _diag_part, shift=_unshifted,
    transpose=lambda m, g, x_shape, low, high, align: m.matrix_diag(
        g, rows=x_shape[-2], columns=x_shape[-1], low=low, high=high, align=align
    ),
    samples=[
        sample((3, 3), low=0, high=0, align="RIGHT_LEFT"),
        sample((2, 3, 4), low=2, high=2, align="RIGHT_LEFT"),
        sample((3, 4), low=-1, high=2, align="RIGHT_LEFT"),
        sample((2, 4, 3), low=-3, high=1, align="LEFT_RIGHT"),
        sample((0, 2, 2), low=0, high=1, align="LEFT_LEFT"),
    ],
)  # fmt: skip
matrix_diag = linear(
    "matrix_diag", _diag, shift=_unshifted,
    shape=lambda x, rows, columns, low, high, align: (*x[: -1 if low == high else -2], rows, columns),
    transpose=lambda m, g, low, high, align: m.matrix_diag_part(g, low=low, high=high, align=align),
    samples=[
        sample((3,), rows=3, columns=3, low=0, high=0, align="RIGHT_LEFT"),
        sample((2, 2), rows=3, columns=4, low=2, high=2, align="RIGHT_LEFT"),
        sample((2, 3, 3), rows=4, columns=3, low=-2, high=0, align="RIGHT_RIGHT"),
        sample((0, 2), rows=2, columns=2, low=0, high=0, align="RIGHT_LEFT"),
    ],
)  # fmt: skip

permutation_matrix = constant(
    "permutation_matrix", lambda xp, order, *, dtype: xp.eye(order.shape[-1], dtype=dtype)[order],
    shape=lambda order, dtype: (*order, order[-1]),
    batch=lambda m, size, inputs, flags, attrs: m.permutation_matrix(inputs[0], **attrs),
    samples=[sample(np.array([2, 0, 1]), dtype=np.dtype("float64"))],
)  # fmt: skip


def _project(m, g):
    return (g + adjoint(m, g)) * 0.5


# Asserts that a matrix is Hermitian: only Hermitian tangents exist, and only the Hermitian part of a cotangent matters.
# The samples are 1x1 matrices, because only there is a random tangent Hermitian.
hermitian = opaque(
    "hermitian", lambda xp, x: x, vjp=_project, jvp=lambda m, inputs, y, attrs, ts: _project(m, ts[0]),
    shape=same_shape,
    batch=lambda m, size, inputs, flags, attrs: m.hermitian(inputs[0]), samples=[sample((1, 1)), sample((2, 1, 1))],
)  # fmt: skip

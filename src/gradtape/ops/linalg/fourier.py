"""Discrete Fourier and cosine transforms, and framing of signals: all linear.

The adjoint of a Fourier transform is the inverse transform without its 1/n, so the two normalizations swap. A real
transform keeps half of a symmetric spectrum: every frequency except the first and, for an even length, the last
represents two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.arrays import astype, numpy_kernel, put, size_of
from ...core.dtypes import COMPLEX, FLOAT
from ...engine.registry.families import linear, shift_axes
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import resized, same_shape
from .matrix_algebra import numpy_dtype

ADJOINT_NORM = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
_SIGNAL = np.sin(np.arange(24.0) ** 2).reshape(3, 4, 2) @ np.array([1, 1j])  # without `np.random`, a large import
_NO_SIGNAL = np.zeros((2, 0), complex)


def _same_dtype(y, dtype):
    return astype(y, dtype, copy=False)


def _fft(xp, x, *, axis, norm):
    return _same_dtype(xp.fft.fftn(x, axes=axis, norm=norm), x.dtype) if size_of(x) else x


def _ifft(xp, x, *, axis, norm):
    return _same_dtype(xp.fft.ifftn(x, axes=axis, norm=norm), x.dtype) if size_of(x) else x


def _shift(attrs: dict[str, Any], size: int) -> dict[str, Any]:
    return shift_axes(attrs, size)


fft = linear(
    "fft", _fft, on=COMPLEX, shift=_shift, moves_data=False,
    shape=same_shape,
    transpose=lambda m, g, axis, norm: m.ifft(g, axis=axis, norm=ADJOINT_NORM[norm]),
    samples=[
        sample(_SIGNAL, axis=(1,), norm="backward"),
        sample(_SIGNAL, axis=(0, 1), norm="ortho"),
        sample(_NO_SIGNAL, axis=(1,), norm="backward"),
    ],
)  # fmt: skip
ifft = linear(
    "ifft", _ifft, on=COMPLEX, shift=_shift, moves_data=False,
    shape=same_shape,
    transpose=lambda m, g, axis, norm: m.fft(g, axis=axis, norm=ADJOINT_NORM[norm]),
    samples=[sample(_SIGNAL, axis=(1,), norm="backward"), sample(_SIGNAL, axis=(1, 0), norm="forward")],
)  # fmt: skip


def _rfft(xp, x, *, axis, norm):
    dtype = np.dtype("complex64" if numpy_dtype(x) == np.float32 else "complex128")
    shape = [n // 2 + 1 if n and i == axis[-1] else n for i, n in enumerate(x.shape)]
    if not size_of(x):
        return xp.zeros(shape, dtype)
    return _same_dtype(xp.fft.rfftn(x, axes=axis, norm=norm), dtype)


def _irfft(xp, x, *, axis, length, norm):
    dtype = np.dtype("float32" if numpy_dtype(x) == np.complex64 else "float64")
    if not size_of(x) or not length:
        return xp.zeros([length if i == axis[-1] else n for i, n in enumerate(x.shape)], dtype)
    sizes = [*(x.shape[i] for i in axis[:-1]), length]
    return _same_dtype(xp.fft.irfftn(x, s=sizes, axes=axis, norm=norm), dtype)


def _twice_counted(m, like, length, axis, factor):
    """`factor` for the frequencies that represent two, 1 for the others, along `axis`."""
    weights = np.full(length // 2 + 1, factor, numpy_dtype(like))
    weights[0] = 1
    if length % 2 == 0:
        weights[-1] = 1
    return m.constant(weights.reshape(-1, *(1,) * (len(like.shape) - 1 - axis)))


def _rfft_back(m, g, x_shape, axis, norm):
    length = x_shape[axis[-1]]
    halved = g * _twice_counted(m, g, length, axis[-1], 0.5)
    return m.irfft(halved, axis=axis, length=length, norm=ADJOINT_NORM[norm])


def _irfft_back(m, g, axis, length, norm):
    y = m.rfft(g, axis=axis, norm=ADJOINT_NORM[norm])
    return y * _twice_counted(m, y, length, axis[-1], 2.0)


rfft = linear(
    "rfft", _rfft, on=FLOAT, shift=_shift, transpose=_rfft_back, moves_data=False,
    shape=lambda x, axis, norm: resized(x, axis[-1], x[axis[-1]] // 2 + 1),
    samples=[
        sample((3, 5), axis=(1,), norm="backward"),
        sample((3, 4), axis=(0, 1), norm="backward"),
        sample((4, 2, 3), axis=(2, 0), norm="ortho"),
        sample((2, 1), axis=(1,), norm="forward"),
        sample((0, 4), axis=(1,), norm="backward"),
    ],
)  # fmt: skip
irfft = linear(
    "irfft", _irfft, on=COMPLEX, shift=_shift, transpose=_irfft_back, moves_data=False,
    shape=lambda x, axis, length, norm: resized(x, axis[-1], length),
    samples=[
        sample(_SIGNAL, axis=(1,), length=6, norm="backward"),
        sample(_SIGNAL, axis=(0, 1), length=7, norm="backward"),
        sample(_SIGNAL[:2], axis=(1, 0), length=2, norm="ortho"),
        sample(_SIGNAL[:1], axis=(1, 0), length=1, norm="forward"),
    ],
)  # fmt: skip


def _dct(xp, x, *, kind, norm):
    """The cosine transform of type `kind` along the last axis.

    It is the product with a matrix, whose rows are the transforms of the unit vectors.
    """
    return xp.matmul(x, xp.asarray(_numpy_dct(np.eye(x.shape[-1], dtype=numpy_dtype(x)), kind=kind, norm=norm)))


@numpy_kernel(_dct)
def _numpy_dct(x, *, kind, norm):
    from scipy.fft import dct as transform

    return _same_dtype(transform(x, type=kind, norm=norm), x.dtype) if size_of(x) else x


def _dct_back(m, g, kind, norm):
    if norm == "ortho":
        return m.dct(g, kind={2: 3, 3: 2}.get(kind, kind), norm=norm)
    size = g.shape[-1]
    ends = np.ones(size, numpy_dtype(g))
    if kind == 1:
        ends[[0, -1]] = 2
        ends = m.constant(ends)
        return m.dct(g * ends, kind=1, norm=None) / ends
    if kind == 2:
        ends[:1] = 2
        return m.dct(g * m.constant(ends), kind=3, norm=None)
    if kind == 3:
        ends[:1] = 0.5
        return m.dct(g, kind=2, norm=None) * m.constant(ends)
    return m.dct(g, kind=4, norm=None)


dct = linear(
    "dct", _dct, on=FLOAT, shift=lambda attrs, size: attrs, transpose=_dct_back, moves_data=False,
    shape=same_shape,
    samples=[
        sample((2, 5), kind=1, norm=None),
        *(sample((4,), kind=kind, norm=norm) for kind in (2, 3, 4) for norm in (None, "ortho")),
        sample((0, 3), kind=2, norm=None),
    ],
)  # fmt: skip


def _frame(xp, x, *, length, step, count):
    return x[..., xp.arange(count)[:, None] * step + xp.arange(length)]


@numpy_kernel(_frame)
def _numpy_frame(x, *, length, step, count):
    if not count or not length:
        return _frame(np, x, length=length, step=step, count=count)
    windows = np.lib.stride_tricks.sliding_window_view(x[..., : (count - 1) * step + length], length, axis=-1)
    return np.ascontiguousarray(windows[..., ::step, :])


def _overlap_add(xp, x, *, step, size):
    """Adds frame k at position k * step of a signal of `size`."""
    *lead, count, length = x.shape
    total = xp.zeros((*lead, max(size, (count + -(-length // step)) * step)), x.dtype)
    # Frames are cut into pieces of `step` positions: pieces with the same index do not overlap.
    for start in range(0, length, step):
        piece = x[..., start : start + step]
        width = piece.shape[-1]
        part = total[..., start : start + count * step].reshape(*lead, count, step)
        if width < step:
            piece = xp.pad(piece, [(0, 0)] * (x.ndim - 1) + [(0, step - width)])
        total = put(total, (..., slice(start, start + count * step)), (part + piece).reshape(*lead, count * step))
    return total[..., :size]


frame = linear(
    "frame", _frame, shift=lambda attrs, size: attrs,
    shape=lambda x, length, step, count: (*x[:-1], count, length),
    transpose=lambda m, g, x_shape, step: m.overlap_add(g, step=step, size=x_shape[-1]),
    samples=[
        sample((2, 9), length=3, step=2, count=4),
        sample((7,), length=2, step=3, count=2),
        sample((5,), length=6, step=1, count=0),
        sample((5,), length=0, step=2, count=2),
    ],
)  # fmt: skip
overlap_add = linear(
    "overlap_add", _overlap_add, shift=lambda attrs, size: attrs, moves_data=False,
    shape=lambda x, step, size: (*x[:-2], size),
    transpose=lambda m, g, x_shape, step: m.frame(g, length=x_shape[-1], step=step, count=x_shape[-2]),
    samples=[
        sample((2, 3, 4), step=2, size=8),
        sample((3, 4), step=3, size=10),
        sample((3, 2), step=5, size=12),
        sample((3, 4), step=1, size=8),
    ],
)  # fmt: skip

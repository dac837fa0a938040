"""Fourier transforms along given axes, as in TensorFlow's root namespace: lengths and axes are required."""

from __future__ import annotations

from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...core.tensor import Tensor
from ...core.type_hints import AxisLike, TensorLike
from ...engine.run.namespace import ops
from . import fourier

NAMESPACES = ("",)
__all__ = ["fftnd", "ifftnd", "irfftnd", "rfftnd"]


def fftnd(input: TensorLike, fft_length: TensorLike, axes: AxisLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform along `axes`; see `tf.signal.fftnd`.

    >>> tf.fftnd(tf.ones((1, 2), tf.complex64), [2], [1]).numpy().tolist()
    [[(2+0j), 0j]]
    """
    return fourier.fftnd(input, fft_length, axes)


def ifftnd(input: TensorLike, fft_length: TensorLike, axes: AxisLike, name: str | None = None) -> Tensor:
    """The inverse of `tf.fftnd` along `axes`; see `tf.signal.ifftnd`.

    >>> tf.ifftnd(tf.ones((1, 2), tf.complex64), [2], [1]).numpy().tolist()
    [[(1+0j), 0j]]
    """
    return fourier.ifftnd(input, fft_length, axes)


def rfftnd(
    input: TensorLike, fft_length: TensorLike, axes: AxisLike, Tcomplex: DType = dtypes.complex64,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The Fourier transform of real values along `axes`, in the dtype `Tcomplex`; see `tf.signal.rfftnd`.

    >>> tf.rfftnd(tf.ones((1, 2)), [2], [1]).numpy().tolist()
    [[(2+0j), 0j]]
    """
    y, dtype = fourier.rfftnd(input, fft_length, axes), as_dtype(Tcomplex)
    return y if y.dtype is dtype else ops.cast(y, dtype=dtype)


def irfftnd(
    input: TensorLike, fft_length: TensorLike, axes: AxisLike, Treal: DType = dtypes.float32, name: str | None = None
) -> Tensor:
    """The inverse of `tf.rfftnd`, in the dtype `Treal`.

    >>> tf.irfftnd(tf.ones((1, 2), tf.complex64), [2], [1]).numpy().tolist()
    [[1.0, 0.0]]
    """
    y, dtype = fourier.irfftnd(input, fft_length, axes), as_dtype(Treal)
    return y if y.dtype is dtype else ops.cast(y, dtype=dtype)

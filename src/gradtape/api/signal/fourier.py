"""Fourier transforms along the last axes or given axes."""

from __future__ import annotations

import math
from typing import Any

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import AxisLike, TensorLike
from ...engine.run.convert import to_array, to_tensor, with_default
from ...engine.run.namespace import ops
from ...ops.linalg.fourier import ADJOINT_NORM

NAMESPACES = ("signal",)
__all__ = [
    "fft", "fft2d", "fft3d", "fftnd", "fftshift", "ifft", "ifft2d", "ifft3d", "ifftnd", "ifftshift", "irfft", "irfft2d",
    "irfft3d", "irfftnd", "rfft", "rfft2d", "rfft3d", "rfftnd",
]  # fmt: skip


def _last_axes(x: Tensor, count: int) -> tuple[int, ...]:
    rank = len(x.dims)
    if rank < count:
        raise errors.InvalidArgumentError(f"Input must have rank of at least {count} but got: {list(x.dims)}")
    return tuple(range(rank - count, rank))


def _last_axes_of_real(x: Tensor, count: int) -> tuple[int, ...]:
    if len(x.dims) < count:
        raise ValueError(f"Shape {x.shape} must have rank at least {count}")
    return _last_axes(x, count)


def _complex_values(value: Any) -> Tensor:
    """Returns `value` as complex numbers: in its own dtype, or as complex64 for real NumPy arrays."""
    return with_default(value, dtypes.complex64, dtypes.COMPLEX)


def _real_values(value: Any) -> Tensor:
    x = to_tensor(value, hint=dtypes.float32)
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {x.dtype.name}. Use tf.cast")
    return x


def _half_spectrum(value: Any) -> Tensor:
    x = to_tensor(value, hint=dtypes.complex64)
    if not x.dtype.is_complex:
        raise ValueError(f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {x.dtype.name}. Use tf.cast")
    return x


def _lengths(fft_length: Any, count: int) -> list[int]:
    given = to_array(fft_length)
    if given.ndim == 0:
        raise TypeError(f"{type(fft_length).__name__!r} object is not iterable: fft_length is a list of numbers")
    if given.shape != (count,):
        raise errors.InvalidArgumentError(f"fft_length must have shape [{count}], got {list(given.shape)}")
    lengths: list[int] = given.tolist()
    if any(n < 0 for n in lengths):
        raise errors.InvalidArgumentError(f"fft_length must be >= 0, but got: {lengths}")
    return lengths


def resized(x: Tensor, axes: tuple[int, ...], sizes: list[int]) -> Tensor:
    """Truncates or zero-pads `x` to `sizes` along `axes`."""
    wanted = dict(zip(axes, sizes, strict=True))
    if any(x.dims[i] > n for i, n in wanted.items()):
        x = ops.slice(x, key=tuple(slice(0, wanted.get(i, n)) for i, n in enumerate(x.dims)))
    if any(x.dims[i] < n for i, n in wanted.items()):
        x = ops.pad(x, paddings=tuple((0, max(wanted.get(i, n) - n, 0)) for i, n in enumerate(x.dims)))
    return x


def _rfft(value: Any, fft_length: Any, count: int) -> Tensor:
    x = _real_values(value)
    axes = _last_axes_of_real(x, count)
    if fft_length is not None:
        x = resized(x, axes, _lengths(fft_length, count))
    return ops.rfft(x, axis=axes, norm="backward")


def _irfft(value: Any, fft_length: Any, count: int) -> Tensor:
    x = _half_spectrum(value)
    axes = _last_axes_of_real(x, count)
    if fft_length is None:
        sizes = [*x.dims[-count:-1], max(2 * (x.dims[-1] - 1), 0)]
    else:
        sizes = _lengths(fft_length, count)
    x = resized(x, axes, [*sizes[:-1], sizes[-1] // 2 + 1 if sizes[-1] else 0])
    return ops.irfft(x, axis=axes, length=sizes[-1], norm="backward")


def fft(input: TensorLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform along the last axis: `y[k] = Σ_m x[m] * exp(-2j * pi * k * m / n)`.

    - Shape: that of `input`.
    - Dtypes: `complex64`, `complex128`; the result has that of `input`.
    - Derivative: the inverse transform of the gradient, times `n`.

    >>> tf.signal.fft(tf.constant([1.0, 0.0], tf.complex64)).numpy().tolist()
    [(1+0j), (1+0j)]
    """
    x = _complex_values(input)
    return ops.fft(x, axis=_last_axes(x, 1), norm="backward")


def ifft(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.fft` along the last axis: `x[m] = Σ_k y[k] * exp(2j * pi * k * m / n) / n`.

    - Shape: that of `input`.
    - Dtypes: `complex64`, `complex128`; the result has that of `input`.
    - Derivative: the transform of the gradient, divided by `n`.

    >>> tf.signal.ifft(tf.constant([1.0, 1.0], tf.complex64)).numpy().tolist()
    [(1+0j), 0j]
    """
    x = _complex_values(input)
    return ops.ifft(x, axis=_last_axes(x, 1), norm="backward")


def fft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform along the last two axes: `tf.signal.fft` along each of them.

    - Shape: that of `input`.
    - Dtypes: `complex64`, `complex128`; the result has that of `input`.
    - Derivative: the inverse transform of the gradient, times the number of entries.

    >>> tf.signal.fft2d(tf.ones((2, 2), tf.complex64)).numpy().tolist()
    [[(4+0j), 0j], [0j, 0j]]
    """
    x = _complex_values(input)
    return ops.fft(x, axis=_last_axes(x, 2), norm="backward")


def ifft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.fft2d` along the last two axes: `tf.signal.ifft` along each of them.

    - Shape: that of `input`.
    - Dtypes: `complex64`, `complex128`; the result has that of `input`.
    - Derivative: the transform of the gradient, divided by the number of entries.

    >>> tf.signal.ifft2d(tf.ones((1, 2), tf.complex64)).numpy().tolist()
    [[(1+0j), 0j]]
    """
    x = _complex_values(input)
    return ops.ifft(x, axis=_last_axes(x, 2), norm="backward")


def fft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform along the last three axes: `tf.signal.fft` along each of them.

    - Shape: that of `input`.
    - Dtypes: `complex64`, `complex128`; the result has that of `input`.
    - Derivative: the inverse transform of the gradient, times the number of entries.

    >>> tf.signal.fft3d(tf.ones((1, 1, 2), tf.complex64)).numpy().tolist()
    [[[(2+0j), 0j]]]
    """
    x = _complex_values(input)
    return ops.fft(x, axis=_last_axes(x, 3), norm="backward")


def ifft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.fft3d` along the last three axes: `tf.signal.ifft` along each of them.

    - Shape: that of `input`.
    - Dtypes: `complex64`, `complex128`; the result has that of `input`.
    - Derivative: the transform of the gradient, divided by the number of entries.

    >>> tf.signal.ifft3d(tf.ones((1, 1, 2), tf.complex64)).numpy().tolist()
    [[[(1+0j), 0j]]]
    """
    x = _complex_values(input)
    return ops.ifft(x, axis=_last_axes(x, 3), norm="backward")


def rfft(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The Fourier transform of real values along the last axis: frequencies from 0 to half the length.

    - Shape: `[..., n]` → `[..., n // 2 + 1]`.
    - Dtypes: `float32`, `float64`; the result has that of `input_tensor`, but `float32` gives `complex64` and
      `float64` gives `complex128`.
    - Derivative: the transposed transform of the gradient, which is real.

    Args:
      input_tensor: float32 or float64 values.
      fft_length: a list with the length to which the values are truncated or zero-padded.

    >>> tf.signal.rfft([1.0, 1.0, 1.0]).numpy().tolist()
    [(3+0j), 0j]
    """
    return _rfft(input_tensor, fft_length, 1)


def irfft(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.rfft`; by default the result has an even length.

    - Shape: `[..., n // 2 + 1]` → `[..., n]`, where `n` is `fft_length` or an even number.
    - Dtypes: `complex64`, `complex128`; the result has that of `input_tensor`, but `complex64` gives `float32` and
      `complex128` gives `float64`.
    - Derivative: the transposed transform of the gradient, which is complex.

    >>> tf.signal.irfft(tf.constant([3.0, 0.0], tf.complex64), [3]).numpy().tolist()
    [1.0, 1.0, 1.0]
    """
    return _irfft(input_tensor, fft_length, 1)


def rfft2d(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The Fourier transform of real values along the last two axes; the last keeps half of the frequencies.

    >>> tf.signal.rfft2d(tf.ones((2, 2))).numpy().tolist()
    [[(4+0j), 0j], [0j, 0j]]
    """
    return _rfft(input_tensor, fft_length, 2)


def irfft2d(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.rfft2d`: real values of the last two axes, from half of their frequencies.

    >>> tf.signal.irfft2d(tf.ones((1, 2), tf.complex64)).numpy().tolist()
    [[1.0, 0.0]]
    """
    return _irfft(input_tensor, fft_length, 2)


def rfft3d(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The Fourier transform of real values along the last three axes; the last keeps half of the frequencies.

    >>> tf.signal.rfft3d(tf.ones((1, 1, 2))).numpy().tolist()
    [[[(2+0j), 0j]]]
    """
    return _rfft(input_tensor, fft_length, 3)


def irfft3d(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.rfft3d`: real values of the last three axes, from half of their frequencies.

    >>> tf.signal.irfft3d(tf.ones((1, 1, 2), tf.complex64)).numpy().tolist()
    [[[1.0, 0.0]]]
    """
    return _irfft(input_tensor, fft_length, 3)


def _named_axes(x: Tensor, fft_length: Any, axes: Any, norm: str | None) -> tuple[tuple[int, ...], Any, str]:
    rank = len(x.dims)
    if axes is None:
        count = rank if fft_length is None else len(to_array(fft_length))
        chosen = _last_axes(x, count)
    else:
        given = to_array(axes).ravel().tolist()
        if any(not -rank <= i < rank for i in given) or len({i % rank for i in given}) != len(given):
            raise errors.InvalidArgumentError(f"axes must be different axes of a value of rank {rank}, got {given}")
        chosen = tuple(i % rank for i in given)
    norm = norm or "backward"
    if norm not in ADJOINT_NORM:
        raise ValueError(f"Unknown normalization {norm!r}. Expected None, 'backward', 'ortho' or 'forward'")
    return chosen, None if fft_length is None else _lengths(fft_length, len(chosen)), norm


def fftnd(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, axes: AxisLike | None = None,
    norm: str | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The discrete Fourier transform along `axes`, by default all.

    Args:
      input_tensor: complex values.
      fft_length: for each axis, the length to which the values are truncated or zero-padded.
      axes: the axes to transform.
      norm: `"backward"` divides the inverse by the number of values, `"forward"` the transform, `"ortho"` both by its
        square root.

    >>> tf.signal.fftnd(tf.ones((1, 2), tf.complex64)).numpy().tolist()
    [[(2+0j), 0j]]
    """
    x = _complex_values(input_tensor)
    chosen, lengths, norm = _named_axes(x, fft_length, axes, norm)
    return ops.fft(x if lengths is None else resized(x, chosen, lengths), axis=chosen, norm=norm)


def ifftnd(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, axes: AxisLike | None = None,
    norm: str | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `tf.signal.fftnd` along `axes`, by default all, with its `fft_length` and `norm`.

    >>> tf.signal.ifftnd(tf.ones((1, 2), tf.complex64)).numpy().tolist()
    [[(1+0j), 0j]]
    """
    x = _complex_values(input_tensor)
    chosen, lengths, norm = _named_axes(x, fft_length, axes, norm)
    return ops.ifft(x if lengths is None else resized(x, chosen, lengths), axis=chosen, norm=norm)


def rfftnd(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, axes: AxisLike | None = None,
    norm: str | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The Fourier transform of real values along `axes`; the last axis keeps half of the frequencies.

    >>> tf.signal.rfftnd(tf.ones((1, 2))).numpy().tolist()
    [[(2+0j), 0j]]
    """
    x = _real_values(input_tensor)
    chosen, lengths, norm = _named_axes(x, fft_length, axes, norm)
    return ops.rfft(x if lengths is None else resized(x, chosen, lengths), axis=chosen, norm=norm)


def irfftnd(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, axes: AxisLike | None = None,
    norm: str | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `tf.signal.rfftnd` along `axes`: real values, from half of the frequencies of the last axis.

    >>> tf.signal.irfftnd(tf.ones((1, 2), tf.complex64)).numpy().tolist()
    [[1.0, 0.0]]
    """
    x = _half_spectrum(input_tensor)
    chosen, lengths, norm = _named_axes(x, fft_length, axes, norm)
    if lengths is None:
        lengths = [x.dims[i] for i in chosen[:-1]] + [2 * (x.dims[chosen[-1]] - 1)]
    x = resized(x, chosen, [*lengths[:-1], lengths[-1] // 2 + 1])
    return ops.irfft(x, axis=chosen, length=lengths[-1], norm=norm)


def _roll(value: Any, axes: Any, half: Any) -> Tensor:
    """Moves the first `half(n)` positions of each axis to its end."""
    x = to_tensor(value)
    rank = len(x.dims)
    for axis in range(rank) if axes is None else to_array(axes).ravel().tolist():
        axis %= rank
        n = x.dims[axis]
        before = (slice(None),) * axis
        at = half(n)
        x = ops.concat(
            ops.slice(x, key=(*before, slice(at, n))), ops.slice(x, key=(*before, slice(0, at))), axis=axis
        )  # fmt: skip
    return x


def fftshift(x: TensorLike, axes: AxisLike | None = None, name: str | None = None) -> Tensor:
    """Moves frequency 0 to the center of each of `axes`.

    >>> tf.signal.fftshift([0, 1, 2, -2, -1]).numpy().tolist()
    [-2, -1, 0, 1, 2]
    """
    return _roll(x, axes, lambda n: math.ceil(n / 2))


def ifftshift(x: TensorLike, axes: AxisLike | None = None, name: str | None = None) -> Tensor:
    """The inverse of `tf.signal.fftshift`: moves the center of each of `axes` to position 0.

    - Shape: that of `x`.
    - Dtypes: any; the result has that of `x`.
    - Derivative: the gradient, moved back.

    >>> tf.signal.ifftshift([-2, -1, 0, 1, 2]).numpy().tolist()
    [0, 1, 2, -2, -1]
    """
    return _roll(x, axes, lambda n: n // 2)

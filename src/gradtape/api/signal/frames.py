"""Overlapping frames of signals, and short-time Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import errors
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from .fourier import irfft, rfft
from .windows import hann_window

NAMESPACES = ("signal",)
__all__ = ["frame", "inverse_stft", "inverse_stft_window_fn", "overlap_and_add", "stft"]


def integer(value: TensorLike, what: str) -> int:
    given = to_array(value)
    if given.ndim:
        raise ValueError(f"Shape {given.shape} must have rank 0: {what} is one number")
    if given.dtype.kind not in "iu":
        raise ValueError(f"{what} must be an integer. Got {given.dtype}")
    return int(given)


def frame(
    signal: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    pad_end: bool = False,
    pad_value: TensorLike = 0,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Splits a signal into overlapping frames: `axis` becomes two axes, frame and position.

    Args:
      signal: values.
      frame_length: length of a frame.
      frame_step: distance between the starts of frames.
      pad_end: whether to pad the end of the signal with `pad_value` for incomplete frames.
      pad_value: see `pad_end`.
      axis: the time axis.

    >>> tf.signal.frame([1, 2, 3, 4, 5], 3, 2).numpy().tolist()
    [[1, 2, 3], [3, 4, 5]]
    """
    x = to_tensor(signal)
    length, step = integer(frame_length, "frame_length"), integer(frame_step, "frame_step")
    rank = len(x.dims)
    if not rank:
        raise ValueError(f"Shape {x.shape} must have rank at least 1")
    if not -rank <= axis < rank:
        raise IndexError(f"axis {axis} is out of range for a signal of shape {x.shape}")
    if step <= 0:
        raise errors.InvalidArgumentError(f"frame_step must be positive, got {step}")
    axis %= rank
    size = x.dims[axis]
    if pad_end:
        count = -(-size // step)
        missing = max((count - 1) * step + length - size, 0)
        x = _extend(x, axis, missing, pad_value)
    else:
        count = max(0, 1 + (size - length) // step)
    if axis == rank - 1:
        return ops.frame(x, length=length, step=step, count=count)
    others = [i for i in range(rank) if i != axis]
    y = ops.frame(ops.transpose(x, perm=(*others, axis)), length=length, step=step, count=count)
    return ops.transpose(y, perm=(*range(axis), rank - 1, rank, *range(axis, rank - 1)))


def _extend(x: Tensor, axis: int, missing: int, value: Any) -> Tensor:
    filling = to_tensor(value, dtype=x.dtype)
    if filling.dims:
        raise ValueError(f"Shape {filling.shape} must have rank 0: pad_value is one number")
    shape = tuple(missing if i == axis else n for i, n in enumerate(x.dims))
    return ops.concat(x, ops.broadcast_to(filling, shape=shape), axis=axis)


def overlap_and_add(signal: TensorLike, frame_step: TensorLike, name: str | None = None) -> Tensor:
    """Sums frames that start `frame_step` apart.

    >>> tf.signal.overlap_and_add([[1, 1, 1], [1, 1, 1]], 2).numpy().tolist()
    [1, 1, 2, 1, 1]
    """
    x, step = to_tensor(signal), integer(frame_step, "frame_step")
    if len(x.dims) < 2:
        raise ValueError(f"Shape {x.shape} must have rank at least 2")
    if step <= 0:
        raise errors.InvalidArgumentError(f"frame_step must be positive, got {step}")
    count, length = x.dims[-2:]
    return ops.overlap_add(x, step=step, size=(count - 1) * step + length if count else 0)


def _enclosing_power_of_two(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()


def _transform_length(fft_length: Any, length: int) -> int:
    return _enclosing_power_of_two(length) if fft_length is None else integer(fft_length, "fft_length")


def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """The short-time Fourier transform: the spectrum of each windowed frame.

    Args:
      signals: real values; the last axis is time.
      frame_length: length of a frame.
      frame_step: distance between the starts of frames.
      fft_length: length of the transform; by default the smallest power of two that holds a frame.
      window_fn: `window_fn(frame_length, dtype=...)` returns the window; None for none.
      pad_end: whether to zero-pad the last frames.

    >>> tf.signal.stft(tf.ones((8,)), 4, 2).shape
    TensorShape([3, 3])
    """
    x = to_tensor(signals)
    length = integer(frame_length, "frame_length")
    frames = frame(x, length, frame_step, pad_end=pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=x.dtype)
    return rfft(frames, [_transform_length(fft_length, length)])


def inverse_stft_window_fn(
    frame_step: TensorLike, forward_window_fn: Callable[..., Any] = hann_window, name: str | None = None
) -> Callable[..., Tensor]:
    """Returns the window for `tf.signal.inverse_stft` that inverts `forward_window_fn` in `tf.signal.stft`.

    >>> tf.signal.inverse_stft_window_fn(2)(4, tf.float32).numpy().tolist()
    [0.0, 1.0, 1.0, 1.0]
    """
    step = integer(frame_step, "frame_step")

    def inverse_window(frame_length: Any, dtype: DType) -> Tensor:
        length = integer(frame_length, "frame_length")
        weights = to_tensor(forward_window_fn(length, dtype=dtype))
        overlaps = -(-length // step)
        squares = ops.pad(ops.square(weights), paddings=((0, overlaps * step - length),))
        totals = ops.sum(ops.reshape(squares, shape=(overlaps, step)), axis=(0,))
        repeated = ops.broadcast_to(totals, shape=(overlaps, step))
        total = ops.slice(ops.reshape(repeated, shape=(overlaps * step,)), key=(slice(0, length),))
        return ops.divide_no_nan(weights, total)

    return inverse_window


def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """Reconstructs a signal from its short-time Fourier transform; see `tf.signal.inverse_stft_window_fn`.

    >>> x = tf.ones((8,))
    >>> y = tf.signal.inverse_stft(tf.signal.stft(x, 4, 2), 4, 2, window_fn=tf.signal.inverse_stft_window_fn(2))
    >>> y.numpy()[2:6].tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    x = to_tensor(stfts)
    length = integer(frame_length, "frame_length")
    size = _transform_length(fft_length, length)
    frames = irfft(x, [size])
    if size > length:
        frames = ops.slice(frames, key=(..., slice(0, length)))
    elif size < length:
        frames = ops.pad(frames, paddings=(*((0, 0),) * (len(frames.dims) - 1), (0, length - size)))
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)

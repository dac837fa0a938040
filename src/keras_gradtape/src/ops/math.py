"""Segment reductions, top-k, Fourier transforms and special functions."""

from __future__ import annotations

import math
from typing import Any

from keras.src.backend.common.backend_utils import canonicalize_axes
from keras.src.backend.common.dtypes import result_type

import gradtape as tf
from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from .core import cast
from .core import dense_tensor as convert_to_tensor


def segment_sum(data, segment_ids, num_segments=None, sorted=False):
    return _by_segment(tf.math.unsorted_segment_sum, data, segment_ids, num_segments)


def segment_max(data, segment_ids, num_segments=None, sorted=False):
    return _by_segment(tf.math.unsorted_segment_max, data, segment_ids, num_segments, empty=-math.inf)


def segment_min(data, segment_ids, num_segments=None, sorted=False):
    return _by_segment(tf.math.unsorted_segment_min, data, segment_ids, num_segments, empty=math.inf)


def segment_prod(data, segment_ids, num_segments=None, sorted=False):
    return _by_segment(tf.math.unsorted_segment_prod, data, segment_ids, num_segments)


def _by_segment(
    reduce: Any, data: Any, segment_ids: Any, num_segments: int | None, empty: float | None = None
) -> Tensor:
    """Returns one row per segment; an empty floating-point segment gets the value `empty`, if given."""
    x, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    ids = ids if ids.dtype.name in ("int32", "int64") else cast(ids, "int32")
    if num_segments is None:
        num_segments = int(tf.reduce_max(ids)) + 1
    y = reduce(x, ids, num_segments)
    if empty is None or not x.dtype.is_floating:
        return y
    rows = tf.math.unsorted_segment_sum(ops.ones_like(ids), ids, num_segments)
    has_rows = ops.reshape(rows > 0, shape=(num_segments, *(1,) * (len(y.dims) - 1)))
    return ops.where(has_rows, y, convert_to_tensor(empty, dtype=y.dtype))


def top_k(x, k, sorted=True, is_stable=True):
    values, indices = tf.math.top_k(convert_to_tensor(x), k)
    return values, indices


def in_top_k(targets, predictions, k):
    predictions, targets = convert_to_tensor(predictions), convert_to_tensor(targets)
    chosen = tf.gather(predictions, targets[..., None], axis=-1, batch_dims=len(targets.dims))
    lowest = convert_to_tensor(-math.inf, dtype=predictions.dtype)
    chosen = ops.where(ops.is_nan(chosen), lowest, chosen)
    larger = ops.cast(predictions > chosen, dtype=tf.int32)
    return ops.sum(larger, axis=(len(predictions.dims) - 1,), keepdims=False) < k


def logsumexp(x, axis=None, keepdims=False):
    x = convert_to_tensor(x)
    rank = len(x.dims)
    axes = tuple(range(rank)) if axis is None else canonicalize_axes(axis, rank)
    return ops.logsumexp(x, axis=axes, keepdims=bool(keepdims))


def cdist(x, y):
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    if len(x.dims) < 2 or len(y.dims) < 2:
        raise ValueError("`cdist` inputs must have rank >= 2")
    if x.dims[-1] != y.dims[-1]:
        raise ValueError("Last dimension of inputs to `cdist` must match")
    dtype = result_type(x.dtype.name, y.dtype.name, float)
    difference = cast(x, dtype)[..., :, None, :] - cast(y, dtype)[..., None, :, :]
    return ops.sqrt(ops.sum(ops.square(difference), axis=(len(difference.dims) - 1,), keepdims=False))


def extract_sequences(x, sequence_length, sequence_stride):
    return tf.signal.frame(convert_to_tensor(x), sequence_length, sequence_stride)


def _get_complex_tensor_from_tuple(x: Any) -> Tensor:
    """Creates a complex tensor from real and imaginary parts. The name is Keras'."""
    if not isinstance(x, tuple | list) or len(x) != 2:
        raise ValueError(f"Input `x` should be a tuple of two tensors - real and imaginary. Received: x={x}")
    real, imag = convert_to_tensor(x[0]), convert_to_tensor(x[1])
    if real.dims != imag.dims:
        raise ValueError(
            "Input `x` should be a tuple of two tensors - real and imaginary. Both the real and imaginary parts should "
            f"have the same shape. Received: x[0].shape = {real.dims}, x[1].shape = {imag.dims}"
        )
    if not (real.dtype.is_floating and imag.dtype.is_floating):
        raise ValueError(f"At least one tensor in input `x` is not of type float. Received: x={x}.")
    return ops.complex(real, imag)


def _parts(z: Tensor) -> tuple[Tensor, Tensor]:
    return ops.real(z), ops.imag(z)


def fft(x):
    return _parts(tf.signal.fft(_get_complex_tensor_from_tuple(x)))


def fft2(x):
    return _parts(tf.signal.fft2d(_get_complex_tensor_from_tuple(x)))


def ifft2(x):
    return _parts(tf.signal.ifft2d(_get_complex_tensor_from_tuple(x)))


def rfft(x, fft_length=None):
    return _parts(tf.signal.rfft(convert_to_tensor(x), None if fft_length is None else [fft_length]))


def irfft(x, fft_length=None):
    return tf.signal.irfft(_get_complex_tensor_from_tuple(x), None if fft_length is None else [fft_length])


def _window(window: Any, sequence_length: int, fft_length: int, dtype: Any) -> Tensor:
    """Returns the weights of a frame of `fft_length` values: the window, centered between zeros."""
    before = (fft_length - sequence_length) // 2
    after = fft_length - sequence_length - before
    if window is None:
        return tf.ones((fft_length,), dtype)
    if isinstance(window, str):
        if window not in ("hann", "hamming"):
            raise ValueError(
                'If a string is passed to `window`, it must be one of `"hann"`, `"hamming"`. Received: '
                f"window={window}"
            )
        make = tf.signal.hann_window if window == "hann" else tf.signal.hamming_window
        weights = make(sequence_length, dtype=dtype)
    else:
        weights = convert_to_tensor(window, dtype=dtype)
    if weights.dims != (sequence_length,):
        raise ValueError(
            f"The shape of `window` must be equal to [sequence_length]. Received: window shape={weights.dims}"
        )
    return tf.pad(weights, [(before, after)])


def stft(x, sequence_length, sequence_stride, fft_length, window="hann", center=True):
    x = convert_to_tensor(x)
    if x.dtype.name not in ("float32", "float64"):
        raise TypeError(
            f"Invalid input type. Expected `float32` or `float64`. Received: input type={x.dtype.name}"
        )
    if fft_length < sequence_length:
        raise ValueError(
            "`fft_length` must equal or larger than `sequence_length`. Received: "
            f"sequence_length={sequence_length}, fft_length={fft_length}"
        )
    weights = _window(window, sequence_length, fft_length, x.dtype)
    if center:
        half = fft_length // 2
        x = tf.pad(x, [*[(0, 0)] * (len(x.dims) - 1), (half, half)], mode="REFLECT")
    frames = tf.signal.frame(x, fft_length, sequence_stride)
    return _parts(tf.signal.rfft(frames * weights, [fft_length]))


def istft(x, sequence_length, sequence_stride, fft_length, length=None, window="hann", center=True):
    z = _get_complex_tensor_from_tuple(x)
    if len(z.dims) < 2:
        raise ValueError(f"Input `x` must have at least 2 dimensions. Received shape: {z.dims}")
    frames = tf.signal.irfft(z, [fft_length])
    if window is not None:
        weights = _window(window, sequence_length, fft_length, frames.dtype)
        undone = tf.signal.inverse_stft_window_fn(sequence_stride, lambda length, dtype: weights)
        frames = frames * undone(fft_length, dtype=frames.dtype)
    signal = tf.signal.overlap_and_add(frames, sequence_stride)
    start = fft_length // 2 if center else 0
    if length is not None:
        end = start + length
    else:
        end = -(fft_length // 2) if center else signal.dims[-1]
    return signal[..., start:end]


def _float(x: Any) -> Tensor:
    x = convert_to_tensor(x)
    return x if x.dtype.is_floating or x.dtype.is_complex else cast(x, result_type(x.dtype.name, float))


def gammainc(x1, x2):
    x1, x2 = convert_to_tensor(x1), convert_to_tensor(x2)
    dtype = result_type(x1.dtype.name, x2.dtype.name, float)
    computed_in = "float32" if dtype in ("float16", "bfloat16") else dtype
    return cast(tf.math.igamma(cast(x1, computed_in), cast(x2, computed_in)), dtype)


def lgamma(x):
    x = _float(x)
    return tf.math.lgamma(x) if x.dtype.name != "bfloat16" else cast(tf.math.lgamma(cast(x, "float32")), "bfloat16")


def rsqrt(x):
    return ops.rsqrt(_float(x))


def erf(x):
    return ops.erf(_float(x))


def erfc(x):
    return ops.erfc(_float(x))


def erfinv(x):
    return ops.erfinv(_float(x))


def logdet(x):
    return tf.linalg.slogdet(convert_to_tensor(x)).log_abs_determinant

"""Cosine transforms, the modified cosine transform of overlapping frames, and mel-frequency cepstra."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from .fourier import resized
from .frames import frame, integer, overlap_and_add
from .windows import vorbis_window

NAMESPACES = ("signal",)
__all__ = ["dct", "idct", "inverse_mdct", "linear_to_mel_weight_matrix", "mdct", "mfccs_from_log_mel_spectrograms"]


def _check_normalization(norm: str | None) -> None:
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def dct(
    input: TensorLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The discrete cosine transform of type 1, 2, 3 or 4 along the last axis.

    Args:
      input: float32 or float64 values.
      type: the type of the transform.
      n: length to which the values are truncated or zero-padded.
      axis: -1.
      norm: `"ortho"` makes types 2, 3 and 4 orthonormal.

    >>> tf.signal.dct([1.0, 1.0]).numpy().tolist()
    [4.0, 0.0]
    """
    if type not in (1, 2, 3, 4):
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    _check_normalization(norm)
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    x = to_tensor(input)
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(f"dct needs float32 or float64 values, got {x.dtype.name}. Use tf.cast")
    if n is not None:
        x = resized(x, (len(x.dims) - 1,), [n])
    if type == 1 and x.dims[-1] < 2:
        raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    return ops.dct(x, kind=int(type), norm=norm)


def idct(
    input: TensorLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `tf.signal.dct` of that type, up to a factor of twice the length unless normalized.

    >>> tf.signal.idct([4.0, 0.0]).numpy().tolist()
    [4.0, 4.0]
    """
    return dct(input, 3 if type == 2 else 2 if type == 3 else type, n, axis, norm)


def _quarters(x: Tensor, count: int) -> list[Tensor]:
    """Splits the last axis into `count` equal parts."""
    n = x.dims[-1] // count
    return [ops.slice(x, key=(..., slice(i * n, (i + 1) * n))) for i in range(count)]


def _reverse(x: Tensor) -> Tensor:
    return ops.reverse(x, axis=(len(x.dims) - 1,))


def mdct(
    signals: TensorLike,
    frame_length: TensorLike,
    window_fn: Callable[..., Any] | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The modified discrete cosine transform: half as many coefficients as samples per frame; frames overlap by half.

    Args:
      signals: real values; the last axis is time.
      frame_length: a multiple of 4.
      window_fn: `window_fn(frame_length, dtype=...)` returns the window; None means 1 / sqrt(2).
      pad_end: whether to zero-pad the last frame.
      norm: None or `"ortho"`.

    >>> tf.signal.mdct(tf.ones((16,)), 8).shape
    TensorShape([3, 4])
    """
    _check_normalization(norm)
    x, length = to_tensor(signals), integer(frame_length, "frame_length")
    if length % 4:
        raise ValueError("The frame length must be a multiple of 4.")
    frames = frame(x, length, length // 2, pad_end=pad_end)
    frames = frames * (math.sqrt(0.5) if window_fn is None else window_fn(length, dtype=x.dtype))
    a, b, c, d = _quarters(frames, 4)
    folded = ops.concat(-_reverse(c) - d, a - _reverse(b), axis=len(frames.dims) - 1)
    return ops.dct(folded, kind=4, norm=norm)


def inverse_mdct(
    mdcts: TensorLike,
    window_fn: Callable[..., Any] | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Reconstructs a signal from its modified cosine transform, except for its first and last half frames.

    >>> tf.signal.inverse_mdct(tf.signal.mdct(tf.ones((16,)), 8)).numpy()[4:12].round(4).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    _check_normalization(norm)
    x = to_tensor(mdcts)
    half = x.dims[-1]
    y = ops.dct(x, kind=4, norm=norm)
    if norm is None:
        y = y * (0.5 / half)
    a, b = _quarters(y, 2)
    unfolded = ops.concat(b, -_reverse(b), -_reverse(a), -a, axis=len(y.dims) - 1)
    unfolded = unfolded * (math.sqrt(0.5) if window_fn is None else window_fn(2 * half, dtype=x.dtype))
    return overlap_and_add(unfolded, half)


def _mel(frequency: Any) -> Any:
    """Converts a frequency to the mel scale."""
    return 1127.0 * np.log1p(frequency / 700.0)


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: int = 129,
    sample_rate: TensorLike = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DType = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Returns the matrix that maps spectra to mel spectra: triangles of equal width on the mel scale.

    Args:
      num_mel_bins: number of triangles.
      num_spectrogram_bins: number of frequencies of a spectrum, from 0 to half the sample rate.
      sample_rate: samples per second.
      lower_edge_hertz: start of the first triangle.
      upper_edge_hertz: end of the last triangle.

    >>> tf.signal.linear_to_mel_weight_matrix(3, 9).shape
    TensorShape([9, 3])
    """
    found = as_dtype(dtype)
    rate, low, high = (float(to_array(v)) for v in (sample_rate, lower_edge_hertz, upper_edge_hertz))
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if low < 0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower_edge_hertz}")
    if low >= high:
        raise ValueError(f"lower_edge_hertz {lower_edge_hertz} >= upper_edge_hertz {upper_edge_hertz}")
    if rate <= 0:
        raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
    if high > rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got "
            f"{upper_edge_hertz} for sample_rate: {sample_rate}"
        )
    if not found.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {found}")
    # Frequency 0 does not exist on a logarithmic scale and has no weight.
    tones = _mel(np.linspace(0.0, rate / 2, max(int(num_spectrogram_bins), 1))[1:])[:, None]
    edges = np.linspace(_mel(low), _mel(high), num_mel_bins + 2)
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    weights = np.maximum(0.0, np.minimum((tones - left) / (centre - left), (right - tones) / (right - centre)))
    return Tensor(np.pad(weights, [(1, 0), (0, 0)]).astype(found.numpy))


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: TensorLike, name: str | None = None) -> Tensor:
    """Returns mel-frequency cepstral coefficients, scaled as in HTK, of log mel spectra.

    >>> tf.signal.mfccs_from_log_mel_spectrograms(tf.ones((2, 8))).numpy()[0, 0].item()
    4.0
    """
    x = to_tensor(log_mel_spectrograms)
    bins = x.dims[-1] if x.dims else 0
    if bins == 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {x.shape}")
    return dct(x, type=2) * (1.0 / math.sqrt(2.0 * bins))

"""Window functions of signal frames."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType, as_dtype
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops

NAMESPACES = ("signal",)
__all__ = ["hamming_window", "hann_window", "kaiser_bessel_derived_window", "kaiser_window", "vorbis_window"]


def _length(window_length: Any) -> int:
    given = to_array(window_length)
    if given.ndim:
        raise ValueError(f"Shape {given.shape} must have rank 0: the length of a window is one number")
    if given.dtype.kind not in "iu":
        raise TypeError(f"Cannot convert {window_length!r} to EagerTensor of dtype int32: the length is an integer")
    if given < 0:
        raise errors.InvalidArgumentError(f"the length of a window must not be negative, got {given}")
    return int(given)


def _floating(dtype: Any) -> DType:
    found = as_dtype(dtype)
    if not found.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {found}")
    return found


def _raised_cosine(window_length: Any, periodic: Any, dtype: Any, a: float, b: float) -> Tensor:
    length, dtype = _length(window_length), _floating(dtype)
    if length == 1:
        return Tensor(np.ones(1, dtype.numpy))
    # A window of odd length is the same whether periodic or not: TensorFlow's definition.
    period = length - 1 + (1 if to_array(periodic) and length % 2 == 0 else 0)
    return Tensor((a - b * np.cos(2 * np.pi * np.arange(length) / max(period, 1))).astype(dtype.numpy))


def hann_window(
    window_length: TensorLike, periodic: bool = True, dtype: DType = dtypes.float32, name: str | None = None
) -> Tensor:
    """The Hann window, one half minus half a cosine; `periodic` matches the next window of successive frames.

    >>> tf.signal.hann_window(4).numpy().tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(
    window_length: TensorLike, periodic: bool = True, dtype: DType = dtypes.float32, name: str | None = None
) -> Tensor:
    """The Hamming window, 0.54 minus 0.46 times a cosine.

    >>> tf.signal.hamming_window(4, dtype=tf.float64).numpy().round(2).tolist()
    [0.08, 0.54, 1.0, 0.54]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46)


def kaiser_window(
    window_length: TensorLike, beta: TensorLike = 12.0, dtype: DType = dtypes.float32, name: str | None = None
) -> Tensor:
    """The Kaiser window; a larger `beta` makes it narrower.

    >>> tf.signal.kaiser_window(3, beta=0.0).numpy().tolist()
    [1.0, 1.0, 1.0]
    """
    length, dtype = _length(window_length), _floating(dtype)
    if length == 1:
        return Tensor(np.ones(1, dtype.numpy))
    if length == 0:
        raise errors.InvalidArgumentError("a Kaiser window has at least one element, got the length 0")
    half = (length - 1) / 2
    arc = np.sqrt(np.maximum(1 - ((np.arange(length) - half) / half) ** 2, 0))
    if not isinstance(beta, Tensor):
        weights = np.i0(float(to_array(beta)) * arc) / np.i0(float(to_array(beta)))
        return Tensor(weights.astype(dtype.numpy))
    beta = ops.cast(beta, dtype=dtype)
    return ops.bessel_i0(beta * to_tensor(arc, dtype=dtype)) / ops.bessel_i0(beta)


def kaiser_bessel_derived_window(
    window_length: TensorLike, beta: TensorLike = 12.0, dtype: DType = dtypes.float32, name: str | None = None
) -> Tensor:
    """The Kaiser-Bessel-derived window: the squares of overlapping halves sum to 1.

    >>> tf.signal.kaiser_bessel_derived_window(2, dtype=tf.float64).numpy().round(4).tolist()
    [0.7071, 0.7071]
    """
    half = _length(window_length) // 2
    kaiser = kaiser_window(half + 1, beta, dtype)
    total = ops.cumsum(kaiser, axis=0, exclusive=False, reverse=False)
    part = ops.sqrt(ops.slice(total, key=(slice(0, half),)) / ops.slice(total, key=(half,)))
    return ops.concat(part, ops.reverse(part, axis=(0,)), axis=0)


def vorbis_window(window_length: TensorLike, dtype: DType = dtypes.float32, name: str | None = None) -> Tensor:
    """The window of the Vorbis codec, sin(π/2 sin²): the squares of overlapping halves sum to 1.

    >>> tf.signal.vorbis_window(1).numpy().tolist()
    [1.0]
    """
    length, dtype = _length(window_length), _floating(dtype)
    inner = np.sin(math.pi / max(length, 1) * (np.arange(length) + 0.5))
    return Tensor(np.sin(math.pi / 2 * inner**2).astype(dtype.numpy))

"""Creation of tensors: constants, ranges, identity matrices, windows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradtape as tf
from gradtape.api.numpy.promotion import renamed
from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops

from .promotion import common, dtype_of, floating, tensor, weak
from .shaping import expand_dims, static
from .shared import moveaxis

__all__ = [
    "arange", "array", "bartlett", "blackman", "empty", "empty_like", "full", "full_like", "geomspace",
    "hamming", "hanning", "kaiser", "linspace", "logspace", "ones", "ones_like", "zeros",
    "zeros_like",
]  # fmt: skip


def _filled(shape: Any, value: Any, dtype: Any) -> Tensor:
    shape = static(shape)
    return tf.fill((shape,) if isinstance(shape, int) else shape, tensor(value, dtype))


def arange(start, stop=None, step=None, dtype=None):
    given = [v for v in (start, stop, step) if v is not None]
    dtype = common(*(weak(v) for v in given)) if dtype is None else dtype_of(dtype)
    if stop is None:
        start, stop = 0, start
    return tensor(np.arange(static(start), static(stop), 1 if step is None else static(step)), dtype)


def array(x, dtype=None):
    return tensor(x, None if dtype is None else dtype_of(dtype))


def full(shape, fill_value, dtype=None):
    shape = static(shape)
    value = tensor(fill_value, dtype_of(dtype))
    return ops.broadcast_to(value, shape=(shape,) if isinstance(shape, int) else shape)


def full_like(x, fill_value, dtype=None):
    x = tensor(x)
    return ops.broadcast_to(tensor(fill_value, dtype_of(dtype) if dtype else x.dtype), shape=x.dims)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    start, stop = floating(start), floating(stop)
    sign = ops.sign(start)
    between = linspace(ops.log(start * sign), ops.log(stop * sign), num, endpoint, axis=axis)
    y = expand_dims(sign, axis) * ops.exp(between) if sign.dims else sign * ops.exp(between)
    return tensor(y, dtype_of(dtype))


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    start, stop, num = weak(start), weak(stop), static(num)
    dtype = common(start, stop, float) if dtype is None else dtype_of(dtype)
    computed = dtype if dtype.is_floating and dtype.size >= 4 else common("float32")
    start, stop = tensor(start, computed), tensor(stop, computed)
    parts = num - 1 if endpoint else num
    step = (stop - start) / (parts if parts else math.nan)
    shape = (step * 1).dims
    places = np.arange(num, dtype=computed.numpy).reshape((-1, *(1,) * len(shape)))
    weights = tensor(places / max(parts, 1))
    # Interpolates so that both ends are exact.
    y = start * (1 - weights) + stop * weights
    if not dtype.is_floating:
        y = ops.floor(y)
    y = tensor(y, dtype)
    y = moveaxis(y, 0, axis) if axis else y
    return (y, tensor(step, dtype)) if retstep else y


def logspace(start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0):
    start, stop = weak(start), weak(stop)
    dtype = common(start, stop, float) if dtype is None else dtype_of(dtype)
    computed = dtype if dtype.is_floating and dtype.size >= 4 else common("float32")
    y = linspace(start, stop, num, endpoint, dtype=computed, axis=axis)
    return tensor(ops.pow(tensor(base, computed), y), dtype)


def ones(shape, dtype=None):
    return _filled(shape, 1, dtype_of(dtype))


def ones_like(x, dtype=None):
    return ops.ones_like(tensor(x) if dtype is None else tensor(x, dtype_of(dtype)))


def zeros(shape, dtype=None):
    return _filled(shape, 0, dtype_of(dtype))


def zeros_like(x, dtype=None):
    return ops.zeros_like(tensor(x) if dtype is None else tensor(x, dtype_of(dtype)))


empty, empty_like = zeros, zeros_like


def _window(f: Any) -> Any:
    def window(x):
        return tensor(f(static(x)), dtype_of())

    return renamed(window, f.__name__, ())


bartlett, blackman, hamming, hanning = map(_window, (np.bartlett, np.blackman, np.hamming, np.hanning))


def kaiser(x, beta):
    return tensor(np.kaiser(static(x), static(beta)), dtype_of())

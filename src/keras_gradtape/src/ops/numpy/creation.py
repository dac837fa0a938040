"""Creation of tensors: constants, ranges, identity matrices, windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.api.catalogue.fronts import renamed
from gradtape.engine.run.namespace import ops

from .promotion import common, dtype_of, floating, tensor, weak
from .shaping import expand_dims, static
from .shared import linspace, zeros, zeros_like

__all__ = [
    "arange", "array", "bartlett", "blackman", "empty", "empty_like", "full", "full_like", "geomspace", "hamming",
    "hanning", "kaiser", "logspace",
]  # fmt: skip


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


def logspace(start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0):
    start, stop = weak(start), weak(stop)
    dtype = common(start, stop, float) if dtype is None else dtype_of(dtype)
    computed = dtype if dtype.is_floating and dtype.size >= 4 else common("float32")
    y = linspace(start, stop, num, endpoint, dtype=computed, axis=axis)
    return tensor(ops.pow(tensor(base, computed), y), dtype)


empty, empty_like = zeros, zeros_like


def _window(f: Any) -> Any:
    def window(x):
        return tensor(f(static(x)), dtype_of())

    return renamed(window, f.__name__)


bartlett, blackman, hamming, hanning = map(_window, (np.bartlett, np.blackman, np.hamming, np.hanning))


def kaiser(x, beta):
    return tensor(np.kaiser(static(x), static(beta)), dtype_of())

"""Padding: with a constant, with values of the array, or with statistics of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as tf
from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops

from . import reductions
from .promotion import tensor
from .shaping import along, static
from .shared import median

__all__ = ["pad"]

_BY_POSITION = {"edge": "edge", "reflect": "reflect", "symmetric": "symmetric", "wrap": "wrap", "circular": "wrap"}
_BY_STATISTIC = {"maximum": reductions.max, "minimum": reductions.min, "mean": reductions.mean, "median": median}


def pad(x, pad_width, mode="constant", constant_values=None):
    x = tensor(x)
    if constant_values is not None and mode != "constant":
        raise ValueError(
            f"Argument `constant_values` can only be provided when `mode == 'constant'`. Received: mode={mode}"
        )
    mode = mode.lower()  # TensorFlow spells modes in upper case
    widths = np.broadcast_to(np.asarray(static(pad_width), dtype=int), (len(x.dims), 2)).tolist()
    widths = tuple((before, after) for before, after in widths)
    if mode in ("constant", "empty"):
        return _pad_constant(x, widths, 0 if constant_values is None else constant_values)
    if mode not in (*_BY_POSITION, *_BY_STATISTIC, "linear_ramp"):
        raise ValueError(f"Unknown padding mode: {mode}")
    for axis, (before, after) in enumerate(widths):
        if not before + after:
            continue
        if mode in _BY_POSITION:
            places = np.pad(np.arange(x.dims[axis]), (before, after), mode=_BY_POSITION[mode])
            x = ops.gather(x, tensor(places.astype(np.int32)), axis=axis, batch=0)
        else:
            x = _pad_computed(x, axis, before, after, mode)
    return x


def _pad_constant(x: Tensor, widths: Any, value: Any) -> Tensor:
    if isinstance(value, int | float):
        return ops.pad(x, paddings=widths, value=bool(value) if x.dtype.is_bool else value)
    inside = ops.pad(tf.fill(x.dims, True), paddings=widths, value=False)
    return ops.where(inside, ops.pad(x, paddings=widths), tensor(value, x.dtype))


def _pad_computed(x: Tensor, axis: int, before: int, after: int, mode: str) -> Tensor:
    """Pads one axis with computed values: a statistic, or a linear ramp from the edge to 0."""
    def ramp(edge: Tensor, count: int, rising: bool) -> Tensor:
        steps = np.arange(count) / count
        column = (steps if rising else steps[::-1]).reshape((-1, *(1,) * (len(x.dims) - axis - 1)))
        return tensor(edge * tensor(column, x.dtype if x.dtype.is_floating else "float32"), x.dtype)

    if mode == "linear_ramp":
        parts = ramp(along(x, axis, slice(0, 1)), before, True), ramp(along(x, axis, slice(-1, None)), after, False)
        return ops.concat(parts[0], x, parts[1], axis=axis)
    value = tensor(_BY_STATISTIC[mode](x, axis=axis, keepdims=True), x.dtype)
    sides = (
        ops.broadcast_to(value, shape=(*x.dims[:axis], n, *x.dims[axis + 1 :])) for n in (before, after)
    )
    first, last = sides
    return ops.concat(first, x, last, axis=axis)

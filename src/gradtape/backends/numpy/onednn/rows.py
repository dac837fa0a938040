"""What goes along the rows of large float32 arrays, by oneDNN: softmax, normalisation of layers, and their derivatives.

oneDNN's softmax loses NaN: a row that has one gets zeros beside it. But one stays where it was, and such results are
left to NumPy.
"""

from __future__ import annotations

import math
from ctypes import c_float, c_uint
from functools import lru_cache
from typing import Any

import numpy as np

from .library import FLOAT32, Computation, Library, Refused, Role, library, plain
from .products import is_finite

_SMALLEST = 1 << 15  # elements; on fewer, NumPy is as fast
_SHORTEST = 16  # elements of a row; and on shorter ones
_TRAINING, _BACKWARD, _ACCURATE, _WITH_SCALE_AND_SHIFT = 64, 128, 0x30000, 6

Shape = tuple[int, ...]


def softmax(x: Any) -> Any:
    """The softmax of each row, or None where NumPy is to compute it."""
    prepared = _softmax(x.size // x.shape[-1], x.shape[-1]) if _is_large(x) else None
    if prepared is None:
        return None
    y = np.empty(x.shape, FLOAT32)
    prepared[0].run(plain(x), y)
    return y if is_finite(y) else None


def softmax_gradient(g: Any, y: Any) -> Any:
    """`(g - sum(g y)) y` for each row, or None where NumPy is to compute it."""
    prepared = _softmax(y.size // y.shape[-1], y.shape[-1]) if _is_large(y) and g.dtype == FLOAT32 else None
    if prepared is None or g.shape != y.shape:
        return None
    x = np.empty(y.shape, FLOAT32)
    prepared[1].run(plain(y), plain(g), x)
    return x


def _is_large(x: Any) -> bool:
    if x.size < _SMALLEST or x.dtype != FLOAT32 or x.shape[-1] < _SHORTEST or x.size == x.shape[-1]:
        return False
    return library() is not None


@lru_cache(maxsize=256)
def _softmax(rows: int, columns: int) -> tuple[Computation, Computation] | None:
    """Of rows, and its derivative."""
    dnnl = library()
    assert dnnl is not None
    try:
        with dnnl.temporary() as objects:
            layout = objects.layout((rows, columns), (columns, 1))
            forward = objects.description(
                "dnnl_softmax_forward_primitive_desc_create", dnnl.engine, _TRAINING, _ACCURATE, layout, layout, 1
            )
            back = objects.description(
                "dnnl_softmax_backward_primitive_desc_create", dnnl.engine, _ACCURATE, layout, layout, layout, 1,
                forward,
            )  # fmt: skip
            return (
                Computation(objects, forward, dict.fromkeys((Role.SRC, Role.DST), layout)),
                Computation(objects, back, dict.fromkeys((Role.DST, Role.DIFF_DST, Role.DIFF_SRC), layout)),
            )
    except Refused:
        return None


class LayerNormalisation:
    """`(x - mean) / sqrt(variance + epsilon) · scale + shift` along rows of a known shape, and its derivative."""

    def __init__(self, dnnl: Library, shape: Shape, epsilon: float) -> None:
        self.epsilon = epsilon
        self._library, self._shape = dnnl, shape
        self._rows, self._columns = rows, columns = math.prod(shape[:-1]), shape[-1]
        with dnnl.temporary() as objects:
            whole, row = objects.layout((rows, columns), (columns, 1)), objects.layout((columns,), (1,))
            column = objects.layout((rows,), (1,))
            parameters = (c_float(epsilon), c_uint(_WITH_SCALE_AND_SHIFT))
            forward = objects.description(
                "dnnl_layer_normalization_forward_primitive_desc_create", dnnl.engine, _TRAINING, whole, whole, column,
                *parameters,
            )  # fmt: skip
            back = objects.description(
                "dnnl_layer_normalization_backward_primitive_desc_create", dnnl.engine, _BACKWARD, whole, whole, whole,
                column, *parameters, forward,
            )  # fmt: skip
            moments = dict.fromkeys((Role.MEAN, Role.VARIANCE), column)
            rows_given = dict.fromkeys((Role.SCALE, Role.SHIFT), row)
            self._forward = Computation(
                objects, forward, {Role.SRC: whole, **rows_given, Role.DST: whole, **moments}
            )
            self._back = Computation(
                objects, back,
                {
                    Role.DIFF_DST: whole, Role.SRC: whole, **moments, **rows_given, Role.DIFF_SRC: whole,
                    Role.DIFF_SCALE: row, Role.DIFF_SHIFT: row,
                },
            )  # fmt: skip

    def usable(self) -> bool:
        """Whether it is still this library that computes: in a forked process it is not."""
        return library() is self._library

    def forward(self, x: Any, scale: Any, shift: Any) -> tuple[Any, Any, Any]:
        """What is normalised, and the mean and the variance of each row."""
        y = np.empty(self._shape, FLOAT32)
        mean, variance = np.empty((2, self._rows), FLOAT32)
        self._forward.run(plain(x), plain(scale), plain(shift), y, mean, variance)
        return y, mean, variance

    def back(self, g: Any, x: Any, mean: Any, variance: Any, scale: Any) -> tuple[Any, Any, Any]:
        """The cotangents of `x`, of the scale and of the shift."""
        of_x = np.empty(self._shape, FLOAT32)
        of_scale, of_shift = np.empty((2, self._columns), FLOAT32)
        scale = plain(scale)
        # What is said to be the shift is not looked at.
        self._back.run(plain(g), plain(x), mean, variance, scale, scale, of_x, of_scale, of_shift)
        return of_x, of_scale, of_shift


@lru_cache(maxsize=256)
def layer_normalisation(shape: Shape, epsilon: float) -> LayerNormalisation | None:
    """The normalisation of rows of arrays of this shape, or None where NumPy is to compute it."""
    dnnl = library()
    try:
        return None if dnnl is None or shape[-1] < _SHORTEST else LayerNormalisation(dnnl, shape, epsilon)
    except Refused:
        return None

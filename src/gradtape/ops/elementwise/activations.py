"""The activation functions of neural networks, elementwise, and the mask their derivatives select with."""

from __future__ import annotations

import math

import numpy as np

from ...backends import arrays
from ...backends.arrays import into
from ...core.dtypes import FLOAT, INT, NARROW, NUMERIC
from ...engine.registry.families import Mask, elementwise
from ...engine.registry.op import sample
from .special import ndtr_of

_REAL = INT | FLOAT | NARROW
_SMOOTH = FLOAT | NARROW
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_LIMIT = 1.7580993408473768599402175208123  # scale * alpha: minus the limit at -inf
_GELU_SLOPE = math.sqrt(2 / math.pi)
_GELU_BEND = 0.044715 * _GELU_SLOPE

masked = elementwise(
    "masked", lambda xp, mask, x: arrays.masked(xp, mask, x), on=NUMERIC, same=(1,),
    samples=[sample(np.array([[True, False, True], [False, True, True]]), (2, 3)), sample(np.array(True), (3,))],
    dmask=None, dx=Mask(lambda mask: mask),
)  # fmt: skip

# The slopes of pieces that are straight are flat, not independent of where they are taken: the second derivatives of
# relu, relu6 and leaky_relu are 0, not None.
where_positive = elementwise(
    "where_positive", lambda xp, a, b: arrays.masked(xp, b > 0, a), on=_REAL, kinks=True,
    da=Mask(lambda b: b > 0), db=lambda m, b: m.zeros_like(b),
)  # fmt: skip
relu = elementwise(
    "relu", lambda xp, x: xp.maximum(x, 0), on=_REAL, kinks=True, dx=lambda m, g, y: m.where_positive(g, y)
)
relu6 = elementwise(
    "relu6", lambda xp, x: xp.minimum(xp.maximum(x, 0), 6), on=_REAL, kinks=True, domain=(-2.0, 8.0),
    dx=lambda m, g, y: m.where_positive(m.masked(y < 6, g), y),
)  # fmt: skip
leaky_slope = elementwise(
    "leaky_slope", lambda xp, x, *, alpha: (x > 0).astype(x.dtype) * (1 - alpha) + alpha, on=_SMOOTH, kinks=True,
    samples=[sample((3, 4), alpha=0.2), sample((3,), alpha=1.5)], dx=lambda m, x: m.zeros_like(x),
)  # fmt: skip
leaky_relu = elementwise(
    "leaky_relu", lambda xp, x, *, alpha: xp.maximum(x, alpha * x) if alpha <= 1 else xp.minimum(x, alpha * x),
    on=_SMOOTH, kinks=True, samples=[sample((3, 4), alpha=0.2), sample((3,), alpha=1.5), sample((3,), alpha=-0.5)],
    dx=lambda m, x, alpha: m.leaky_slope(x, alpha=alpha),
)  # fmt: skip
elu = elementwise(
    "elu", lambda xp, x: xp.maximum(x, 0) + xp.expm1(xp.minimum(x, 0)), on=_SMOOTH, kinks=True,
    dx=lambda m, y: m.minimum(0, y) + 1,  # of equal ones the first has the derivative: at 0 the second one is 0
)  # fmt: skip
selu = elementwise(
    "selu", lambda xp, x: _SELU_SCALE * xp.maximum(x, 0) + _SELU_LIMIT * xp.expm1(xp.minimum(x, 0)), on=_SMOOTH,
    kinks=True, dx=lambda m, y: m.masked(y < 0, y + (_SELU_LIMIT - _SELU_SCALE)) + _SELU_SCALE,
)  # fmt: skip


gelu_slope = elementwise(
    "gelu_slope", lambda xp, x: ndtr_of(xp, x) + x * xp.exp(-0.5 * x * x) * math.sqrt(0.5 / math.pi), on=_SMOOTH,
    dx=lambda m, x: (2 - x * x) * m.exp(-0.5 * x * x) * math.sqrt(0.5 / math.pi),
)  # fmt: skip
gelu = elementwise("gelu", lambda xp, x: x * ndtr_of(xp, x), on=_SMOOTH, dx=lambda m, x: m.gelu_slope(x))


def _gelu_angle(x, square):
    return x * (_GELU_SLOPE + _GELU_BEND * square)


def _gelu_tanh(xp, x):
    y = into(xp.add, xp.tanh(_gelu_angle(x, x * x)), 1)
    return into(xp.multiply, into(xp.multiply, y, x), 0.5)


def _gelu_tanh_slope(xp, x):
    square = x * x
    t = xp.tanh(_gelu_angle(x, square))
    change = into(xp.multiply, into(xp.multiply, _GELU_SLOPE + 3 * _GELU_BEND * square, x), 1 - t * t)
    return into(xp.multiply, into(xp.add, into(xp.add, change, t), 1), 0.5)


def _gelu_tanh_bend(m, x):
    square = x * x
    t = m.tanh(_gelu_angle(x, square))
    slope = _GELU_SLOPE + 3 * _GELU_BEND * square
    return (1 - t * t) * (slope - x * t * slope * slope + 3 * _GELU_BEND * square)


gelu_tanh_slope = elementwise("gelu_tanh_slope", _gelu_tanh_slope, on=_SMOOTH, dx=_gelu_tanh_bend)
gelu_tanh = elementwise(
    "gelu_tanh", _gelu_tanh, on=_SMOOTH,
    dx=lambda m, x: m.gelu_tanh_slope(x),
)  # fmt: skip
silu = elementwise(
    "silu", lambda xp, x: x / (1 + xp.exp(-x)), on=_SMOOTH,
    dx=lambda m, x, y: y + m.sigmoid(x) * (1 - y),
)  # fmt: skip

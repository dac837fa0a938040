"""Activation functions of neural networks, elementwise, and the masks that their derivatives use."""

from __future__ import annotations

import math

import numpy as np

from ...backends import arrays
from ...backends.arrays import astype, into
from ...core.dtypes import FLOAT, INT, NARROW, NUMERIC
from ...engine.registry.families import Mask, elementwise
from ...engine.registry.op import sample
from .special import has_large_formula, ndtr_and_bell, ndtr_of
from .transcendental import in_single

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

# The slope of a piecewise linear function is a constant that still depends on x: the second derivatives of relu, relu6
# and leaky_relu are 0, not None.
where_positive = elementwise(
    "where_positive", lambda xp, a, b: arrays.masked(xp, b > 0, a), on=_REAL,
    da=Mask(lambda b: b > 0), db=lambda m, b: m.zeros_like(b),
)  # fmt: skip
relu = elementwise(
    "relu", lambda xp, x: arrays.positive_part(xp, x), on=_REAL, dx=lambda m, g, y: m.where_positive(g, y)
)
relu6 = elementwise(
    "relu6", lambda xp, x: xp.minimum(xp.maximum(x, 0), 6), on=_REAL, domain=(-2.0, 8.0),
    dx=lambda m, g, y: m.where_positive(m.masked(y < 6, g), y),
)  # fmt: skip
leaky_slope = elementwise(
    "leaky_slope", lambda xp, x, *, alpha: astype(x > 0, x.dtype) * (1 - alpha) + alpha, on=_SMOOTH,
    samples=[sample((3, 4), alpha=0.2), sample((3,), alpha=1.5)], dx=lambda m, x: m.zeros_like(x),
)  # fmt: skip


def _leaky_relu(xp, x, *, alpha):
    scaled = alpha * (x if alpha else xp.minimum(x, 0))  # 0 * inf is NaN
    return xp.maximum(x, scaled) if alpha <= 1 else xp.minimum(x, scaled)


leaky_relu = elementwise(
    "leaky_relu", _leaky_relu, on=_SMOOTH,
    samples=[sample((3, 4), alpha=0.2), sample((3,), alpha=1.5), sample((3,), alpha=-0.5), sample((3,), alpha=0.0)],
    dx=lambda m, x, alpha: m.leaky_slope(x, alpha=alpha),
)  # fmt: skip
elu = elementwise(
    "elu", lambda xp, x: xp.maximum(x, 0) + xp.expm1(xp.minimum(x, 0)), on=_SMOOTH,
    dx=lambda m, y: m.minimum(0, y) + 1,  # a tie goes to the first argument: the second derivative at 0 is 0
)  # fmt: skip
selu = elementwise(
    "selu", lambda xp, x: _SELU_SCALE * xp.maximum(x, 0) + _SELU_LIMIT * xp.expm1(xp.minimum(x, 0)), on=_SMOOTH,
    dx=lambda m, y: m.where(y < 0, y + _SELU_LIMIT, _SELU_SCALE),
)  # fmt: skip


def _gelu_bend(m, x):
    square = m.minimum(x * x, 1600)  # exp is 0 there in float64 too: 0 times an infinite square would be NaN
    return (2 - square) * m.exp(-0.5 * square) * math.sqrt(0.5 / math.pi)


def _gelu_slope(xp, x):
    return _gelu_slope_by(xp, x, *_ndtr_and_bell(xp, x))


def _ndtr_and_bell(xp, x):
    return ndtr_and_bell(xp, x) if has_large_formula(xp, x) else (ndtr_of(xp, x), xp.exp(-0.5 * x * x))


def _gelu_slope_by(xp, x, share, bell):
    return into(xp.add, into(xp.multiply, into(xp.multiply, bell, x), math.sqrt(0.5 / math.pi)), share)


def _gelu_with_slope(xp, x):
    share, bell = _ndtr_and_bell(xp, x)
    return share * x, _gelu_slope_by(xp, x, share, bell)


gelu_slope = elementwise("gelu_slope", _gelu_slope, on=_SMOOTH, dx=_gelu_bend)
gelu = elementwise(
    "gelu", lambda xp, x: into(xp.multiply, ndtr_of(xp, x), x), on=_SMOOTH, dx=lambda m, x: m.gelu_slope(x),
    with_slope=_gelu_with_slope,
)  # fmt: skip


# The square of x from which on tanh is ±1 in float64 too: clamping keeps the cubes below finite, so 0 times them is 0.
_GELU_FLAT = 900.0


def _gelu_logit(square, x):
    """2u, where the approximation is x (1 + tanh u) / 2 = x sigmoid(2u): the sigmoid does not cancel for x < 0."""
    return (2 * _GELU_SLOPE + 2 * _GELU_BEND * square) * x


def _gelu_tanh(xp, x):
    decay = into(xp.exp, -_gelu_logit(xp.minimum(x * x, _GELU_FLAT), x))
    return into(xp.multiply, into(xp.reciprocal, into(xp.add, decay, 1)), x)


def _gelu_tanh_parts(xp, x):
    """s = sigmoid(2u) and s + x s (1 - s) (2u)', by exp(-|2u|), which neither overflows nor cancels."""
    square = xp.minimum(x * x, _GELU_FLAT)
    logit = _gelu_logit(square, x)
    decay = xp.exp(-abs(logit))
    total = decay + 1
    change = (decay / (total * total) * x) * (2 * _GELU_SLOPE + 6 * _GELU_BEND * square)
    share = xp.where(logit < 0, decay, 1) / total
    return share, share + change


def _gelu_tanh_slope(xp, x):
    return _gelu_tanh_parts(xp, x)[1]


def _gelu_tanh_with_slope(xp, x):
    share, slope = _gelu_tanh_parts(xp, x)
    return share * x, slope


def _gelu_tanh_bend(m, x):
    square = m.minimum(x * x, _GELU_FLAT)
    logit = _gelu_logit(square, x)
    s, complement = m.sigmoid(logit), m.sigmoid(-logit)
    slope = 2 * _GELU_SLOPE + 6 * _GELU_BEND * square
    change = s * complement * slope
    return change * 2 + change * x * slope * (complement - s) + s * complement * square * (12 * _GELU_BEND)


gelu_tanh_slope = elementwise("gelu_tanh_slope", in_single(_gelu_tanh_slope), on=_SMOOTH, dx=_gelu_tanh_bend)
gelu_tanh = elementwise(
    "gelu_tanh", in_single(_gelu_tanh), on=_SMOOTH,
    dx=lambda m, x: m.gelu_tanh_slope(x), with_slope=_gelu_tanh_with_slope,
)  # fmt: skip


def _silu_slope(m, x):
    s = m.sigmoid(x)
    return s * (x * (1 - s) + 1)  # not by y = x s: y (1 - s) + s is exact, but y + s (1 - y) cancels for large y


def _silu_with_slope(xp, x):
    total = 1 + xp.exp(-x)
    y, s = x / total, 1 / total
    return y, y * (1 - s) + s


silu = elementwise(
    "silu", in_single(lambda xp, x: x / (1 + xp.exp(-x))), on=_SMOOTH, dx=_silu_slope, with_slope=_silu_with_slope
)

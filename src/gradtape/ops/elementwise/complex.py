"""Complex values and their parts.

The gradient of a real loss with respect to z = a + ib is dL/da + i dL/db. These ops are differentiable over the reals
but not holomorphic, so each has its own rules.
"""

from __future__ import annotations

import numpy as np

from ...backends.arrays import astype, join_parts
from ...core.dtypes import COMPLEX, FLOAT
from ...engine.registry.families import opaque, unbroadcast
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import broadcast_shape, same_shape

_Z = [sample(np.array([[0.5 + 1j, -2 - 0.25j], [1.5 - 1j, -0.5 + 2j]])), sample(np.array(0.5 - 1j))]


def _elementwise(name):
    return lambda m, size, inputs, flags, attrs: getattr(m, name)(inputs[0])


def _complex(xp, a, b):
    return join_parts(xp, *xp.broadcast_arrays(a, b))


def _complex_tangent(m, inputs, y, attrs, ts):
    (a, b), (ta, tb) = inputs, ts
    t = m.complex(m.zeros_like(a) if ta is None else ta, m.zeros_like(b) if tb is None else tb)
    return m.broadcast_to(t, shape=y.dims)


def _batch_complex(m, size, inputs, flags, attrs):
    rank = max(len(x.dims) - flag for x, flag in zip(inputs, flags, strict=True))
    a, b = (
        m.reshape(x, shape=(size, *(1,) * (rank + 1 - len(x.dims)), *x.dims[1:])) if flag else x
        for x, flag in zip(inputs, flags, strict=True)
    )
    return m.complex(a, b)


complex_ = opaque(
    "complex", _complex, on=FLOAT,
    shape=broadcast_shape,
    vjp=lambda m, g, a_shape, b_shape: (unbroadcast(m, m.real(g), a_shape), unbroadcast(m, m.imag(g), b_shape)),
    jvp=_complex_tangent, batch=_batch_complex, samples=[sample((3, 4), (4,)), sample((), ()), sample((2, 1), ())],
)  # fmt: skip
conj = opaque(
    "conj", lambda xp, x: xp.conj(x), vjp=lambda m, g: m.conj(g),
    shape=same_shape,
    jvp=lambda m, inputs, y, attrs, ts: m.conj(ts[0]), batch=_elementwise("conj"), samples=[sample((3, 4)), *_Z],
)  # fmt: skip
real = opaque(
    "real", lambda xp, x: xp.real(x), on=COMPLEX, vjp=lambda m, g: m.complex(g, m.zeros_like(g)),
    shape=same_shape,
    jvp=lambda m, inputs, y, attrs, ts: m.real(ts[0]), batch=_elementwise("real"), samples=_Z,
)  # fmt: skip
imag = opaque(
    "imag", lambda xp, x: xp.imag(x), on=COMPLEX, vjp=lambda m, g: m.complex(m.zeros_like(g), g),
    shape=same_shape,
    jvp=lambda m, inputs, y, attrs, ts: m.imag(ts[0]), batch=_elementwise("imag"), samples=_Z,
)  # fmt: skip


def _direction(m, x, y):
    """x / |x|, and 0 at 0."""
    return m.divide_no_nan(x, m.complex(y, m.zeros_like(y)))


complex_abs = opaque(
    "complex_abs", lambda xp, x: xp.abs(x), on=COMPLEX,
    shape=same_shape,
    vjp=lambda m, g, x, y: m.complex(g, m.zeros_like(g)) * _direction(m, x, y),
    jvp=lambda m, inputs, y, attrs, ts: m.real(ts[0] * m.conj(_direction(m, inputs[0], y))),
    batch=_elementwise("complex_abs"), samples=_Z,
)  # fmt: skip
angle = opaque(
    "angle", lambda xp, x: astype(xp.angle(x), x.real.dtype), on=COMPLEX,
    shape=same_shape,
    vjp=lambda m, g, x: m.complex(m.zeros_like(g), g) / m.conj(x),
    jvp=lambda m, inputs, y, attrs, ts: m.imag(ts[0] / inputs[0]),
    batch=_elementwise("angle"), samples=_Z,
)  # fmt: skip

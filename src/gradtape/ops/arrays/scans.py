"""Cumulative sums, products and logsumexps along an axis.

The VJP of a cumulative product or logsumexp is the linear recurrence s[k] = b[k] + a[k] s[k-1], whose own derivative is
again a linear recurrence: so derivatives of every order are exact, even with zeros among the factors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.arrays import numpy_kernel
from ...backends.numpy.blocks import by_rows
from ...backends.numpy.memory import empty
from ...backends.tuning import BLOCK
from ...core.dtypes import FLOAT, NARROW, NUMERIC
from ...engine.registry.batching import broadcast_batch
from ...engine.registry.families import conjugate, linear, opaque, shift_axes
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import broadcast_shape, same_shape


def _part(axis: int, key: slice) -> tuple[Any, ...]:
    return (*(slice(None),) * axis, key)


def delayed(m: Any, x: Any, axis: int, fill: Any) -> Any:
    """`x[k-1]` along `axis`; the first slice is `fill` (`m.ones_like`, `m.zeros_like`) of a slice."""
    first, earlier = m.slice(x, key=_part(axis, slice(0, 1))), m.slice(x, key=_part(axis, slice(0, -1)))
    return m.concat(fill(first), earlier, axis=axis)


def advanced(m: Any, x: Any, axis: int, fill: Any) -> Any:
    """`x[k+1]` along `axis`; the last slice is `fill` of a slice."""
    last, later = m.slice(x, key=_part(axis, slice(-1, None))), m.slice(x, key=_part(axis, slice(1, None)))
    return m.concat(later, fill(last), axis=axis)


def _cumsum(xp, x, *, axis, exclusive=False, reverse=False):
    x = xp.flip(x, axis=axis) if reverse else x
    y = xp.cumsum(x, axis=axis, dtype=x.dtype)
    if exclusive:
        zero = xp.zeros_like(y[_part(axis, slice(0, 1))])
        y = xp.concatenate([zero, y[_part(axis, slice(0, -1))]], axis=axis)
    return xp.flip(y, axis=axis) if reverse else y


@numpy_kernel(_cumsum)
def _numpy_cumsum(x, *, axis, exclusive=False, reverse=False):
    if x.size > BLOCK and axis and not exclusive:
        return _cumsum_in_blocks(x, axis, -1 if reverse else 1)
    return _cumsum(np, x, axis=axis, exclusive=exclusive, reverse=reverse)


def _cumsum_in_blocks(x, axis, step):
    """The cumulative sums along an axis that is not the first, on all cores; they begin at its end if `step` is -1."""
    y = empty(x.shape, x.dtype)
    shape = (math.prod(x.shape[:axis]), x.shape[axis], -1)
    parts, sums = x.reshape(shape), y.reshape(shape)

    def work(part):
        np.cumsum(parts[part, ::step], axis=1, dtype=x.dtype, out=sums[part, ::step])

    by_rows(work, len(parts), x.size // len(parts))
    return y


cumsum = linear(
    "cumsum", _cumsum, shift=shift_axes, on=NUMERIC, moves_data=False,
    shape=same_shape,
    transpose=lambda m, g, axis, exclusive, reverse: m.cumsum(
        g, axis=axis, exclusive=bool(exclusive), reverse=not reverse
    ),
    samples=[
        sample((3, 4), axis=1),
        sample((3, 4), axis=0, exclusive=True),
        sample((4,), axis=0, reverse=True),
        sample((2, 3), axis=1, exclusive=True, reverse=True),
        sample((0, 3), axis=0, exclusive=True),
    ],
)  # fmt: skip


def _recurrence(xp, a, b, *, axis):
    """By recursive doubling (Hillis-Steele scan): after a step of d, every s[k] covers its last 2d terms."""
    a, b = xp.moveaxis(a, axis, 0), xp.moveaxis(b, axis, 0)
    d = 1
    while d < b.shape[0]:
        b = xp.concatenate([b[:d], b[d:] + a[d:] * b[:-d]])
        a = xp.concatenate([a[:d], a[d:] * a[:-d]])
        d *= 2
    return xp.moveaxis(b, 0, axis)


def backwards(m: Any, a: Any, b: Any, axis: int) -> Any:
    """`s[k] = b[k] + a[k] s[k+1]`."""
    flip = (axis,)
    return m.reverse(m.recurrence(m.reverse(a, axis=flip), m.reverse(b, axis=flip), axis=axis), axis=flip)


def _recurrence_back(m, g, a, y, axis):
    c = backwards(m, advanced(m, conjugate(m, a), axis, m.zeros_like), g, axis)
    return c * delayed(m, conjugate(m, y), axis, m.zeros_like), c


recurrence = opaque(
    "recurrence", _recurrence, vjp=_recurrence_back, on=NUMERIC,
    shape=broadcast_shape,
    batch=lambda m, size, inputs, flags, attrs: m.recurrence(
        *(broadcast_batch(m, x, flag, size) for x, flag in zip(inputs, flags, strict=True)), **shift_axes(attrs, size)
    ),
    samples=[sample((5,), (5,), axis=0), sample((2, 4), (2, 4), axis=1), sample((0, 2), (0, 2), axis=0)],
)  # fmt: skip


def cumprod_back(m: Any, g: Any, x: Any, y: Any, axis: int) -> Any:
    """dx[k] is the product before k times Σ over i ≥ k of g[i] x[k+1] ... x[i]."""
    before = delayed(m, conjugate(m, y), axis, m.ones_like)
    return before * backwards(m, advanced(m, conjugate(m, x), axis, m.zeros_like), g, axis)


cumprod = opaque(
    "cumprod", lambda xp, x, *, axis: xp.cumprod(x, axis=axis, dtype=x.dtype), vjp=cumprod_back, on=NUMERIC,
    shape=same_shape,
    batch=lambda m, size, inputs, flags, attrs: m.cumprod(inputs[0], **shift_axes(attrs, size)),
    samples=[
        sample((2, 4), axis=1),
        sample(np.array([[3.0, 0.0, 2.0, 0.0], [1.0, 2.0, -1.0, 4.0]]), axis=1),
        sample((0, 2), axis=0),
    ],
)  # fmt: skip


def _cumulative_logsumexp_back(m, g, x, y, axis):
    """dx[k] = exp(x[k] - y[k]) Σ over i ≥ k of g[i] exp(y[k] - y[i]): no exponent is positive."""
    y0 = m.where(m.equal(y, -np.inf), 0.0, y)
    later = advanced(m, y0, axis, m.identity)
    tail = backwards(m, m.exp(m.where(m.equal(y, later), 0.0, y - later)), g, axis)  # inf less inf would be NaN
    return m.exp(x - y0) * tail


def _cumulative_logsumexp(xp, x, *, axis):
    y, d = xp.moveaxis(x, axis, 0), 1
    while d < y.shape[0]:  # by recursive doubling, like the recurrence
        y = xp.concatenate([y[:d], xp.logaddexp(y[d:], y[:-d])])
        d *= 2
    return xp.moveaxis(y, 0, axis)


@numpy_kernel(_cumulative_logsumexp)
def _numpy_cumulative_logsumexp(x, *, axis):
    return np.logaddexp.accumulate(x, axis=axis)


cumulative_logsumexp = opaque(
    "cumulative_logsumexp", _cumulative_logsumexp,
    shape=same_shape,
    vjp=_cumulative_logsumexp_back, on=FLOAT | NARROW,
    batch=lambda m, size, inputs, flags, attrs: m.cumulative_logsumexp(inputs[0], **shift_axes(attrs, size)),
    samples=[sample((2, 4), axis=1), sample((5,), axis=0), sample((0, 2), axis=0)],
)  # fmt: skip

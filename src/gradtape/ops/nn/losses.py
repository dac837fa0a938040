"""Losses whose stable form is not the composition of their parts: cross entropies from logits, and half the square.

A softmax cross entropy is over the last axis, and its derivative with respect to the logits is `softmax - labels`: no
exponential can overflow, and no divisor can vanish.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...backends.arrays import astype, numpy_kernel, size_of
from ...backends.numpy.blocks import by_rows
from ...backends.numpy.memory import empty
from ...backends.tuning import BLOCK, SHORT_ROWS
from ...core import errors
from ...core.dtypes import FLOAT, NARROW
from ...engine.registry.batching import broadcast_batch
from ...engine.registry.families import elementwise, opaque
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import broadcast_shape
from ..arrays.reductions import row_extremes
from ..arrays.structure import sum_of

_SMOOTH = FLOAT | NARROW
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def _less_largest(xp, logits):
    return logits - xp.max(logits, axis=-1, keepdims=True) if size_of(logits) else logits


def _shifted(xp, logits):
    """The logits minus their maximum, and the logarithm of the sum of their exponentials."""
    z = _less_largest(xp, logits)
    return z, xp.log(xp.exp(z).sum(axis=-1))


def _dense(xp, labels, logits):
    z, total = _shifted(xp, logits)
    return (labels * (total[..., None] - z)).sum(axis=-1, dtype=logits.dtype)


@numpy_kernel(_dense)
def _numpy_dense(labels, logits):
    if logits.size <= BLOCK or labels.shape != logits.shape or logits.ndim < 2:
        return _dense(np, labels, logits)
    given = [x.reshape(-1, logits.shape[-1]) for x in (labels, logits)]
    losses = by_rows(lambda part: _dense(np, *[x[part] for x in given]), *given[0].shape)
    return np.concatenate(losses).reshape(logits.shape[:-1])


def _column(m, g):
    return m.reshape(g, shape=(*g.shape, 1))


def _slope(m, labels, logits):
    axis = len(logits.shape) - 1
    return m.softmax(logits, axis=axis) * m.sum(labels, axis=(axis,), keepdims=True) - labels


def _dense_vjp(m, g, need, labels, logits):
    axis = len(logits.shape) - 1
    return (
        -_column(m, g) * m.log_softmax(logits, axis=axis) if need[0] else None,
        _column(m, g) * _slope(m, labels, logits) if need[1] else None,
    )


def _dense_jvp(m, inputs, y, attrs, ts):
    (labels, logits), (t_labels, t_logits) = inputs, ts
    axis = len(logits.dims) - 1
    terms = []
    if t_labels is not None:
        terms.append(-t_labels * m.log_softmax(logits, axis=axis))
    if t_logits is not None:
        terms.append(t_logits * _slope(m, labels, logits))
    return m.sum(sum(terms[1:], terms[0]), axis=(axis,), keepdims=False)


def _batch_leading(name):
    """The batching rule: the loss accepts any number of leading axes."""

    def batch(m, size, inputs, flags, attrs):
        return getattr(m, name)(*[broadcast_batch(m, x, flag, size) for x, flag in zip(inputs, flags, strict=True)])

    return batch


softmax_cross_entropy = opaque(
    "softmax_cross_entropy", _dense, vjp=_dense_vjp, jvp=_dense_jvp, on=_SMOOTH,
    shape=lambda labels, logits: broadcast_shape(labels, logits)[:-1],
    batch=_batch_leading("softmax_cross_entropy"),
    samples=[sample((3, 4), (3, 4)), sample((4,), (4,)), sample((0, 3), (0, 3)), sample((2, 1, 3), (2, 1, 3))],
)  # fmt: skip


def _sparse(xp, labels, logits):
    z, total = _shifted(xp, logits)
    return total - xp.take_along_axis(z, labels[..., None], axis=-1)[..., 0]


@numpy_kernel(_sparse)
def _numpy_sparse(labels, logits):
    if logits.size:
        return _losses(labels, logits) if logits.size <= BLOCK else _in_blocks(_only_losses, labels, logits)[0]
    _check(labels, logits.shape[-1])
    return _sparse(np, labels, logits)


def _losses(labels, logits, out=None):
    z, axis, chosen = _centred(labels, logits, out)
    if out is None:
        return (np.log(np.add.reduce(np.exp(z), axis=axis)) - z.take(chosen)).reshape(labels.shape)
    correct = z.take(chosen)
    return np.log(sum_of(np, np.exp(z, out=z), axis=(axis,))) - correct


def _only_losses(labels, logits, _):
    return (_losses(labels, logits, empty(logits.shape, logits.dtype)),)


def _in_blocks(f, labels, logits, *others):
    """`f(labels, logits, out, *others)`: the losses and perhaps an array like the logits; large ones in blocks of rows.

    `f` may write a block of that array to `out`, unless that is None. `others` have a number for each row.
    """
    if logits.size <= BLOCK:
        return f(labels, logits, None, *others)
    _check(labels, logits.shape[-1])
    flat, rows = labels.reshape(-1), logits.reshape(-1, logits.shape[-1])
    columns = [a.reshape(-1) for a in others]
    results = empty(labels.shape, logits.dtype), empty(logits.shape, logits.dtype)
    filled = results[0].reshape(-1), results[1].reshape(rows.shape)

    def work(part):
        out = filled[1][part]
        for whole, y in zip(filled, f(flat[part], rows[part], out, *[a[part] for a in columns]), strict=False):
            if y is not out:
                whole[part] = y

    by_rows(work, *rows.shape)
    return results


def _centred(labels, logits, out=None):
    """The logits minus their maximum, as a new matrix or in `out`; its class axis; the flat positions of the labels.

    Few classes become its rows, because NumPy reduces along short rows more slowly than across them.
    """
    classes = logits.shape[-1]
    _check(labels, classes)
    if logits.ndim != 2:
        labels, logits = labels.reshape(-1), logits.reshape(-1, classes)
    count = len(labels)
    if classes <= SHORT_ROWS and classes <= count:
        z = logits.T.copy()
        z -= np.maximum.reduce(z, axis=0)
        return z, 0, labels * count + _numbers(count)
    top = np.maximum.reduce(logits, axis=1, keepdims=True) if out is None else row_extremes(logits)
    return np.subtract(logits, top, out=out), 1, labels + np.arange(0, logits.size, classes)


@lru_cache(maxsize=16)
def _numbers(count):
    return np.arange(count)


def sparse_with_softmax(labels, logits):
    """The sparse cross entropies and the softmax of non-empty arrays, which share most of the work."""

    def both(labels, logits, out):
        losses, softmax, axis, _ = _with_softmax(labels, logits, out)
        softmax = softmax if axis else np.ascontiguousarray(softmax.T)
        return losses, softmax if softmax.shape == logits.shape else softmax.reshape(logits.shape)

    return _in_blocks(both, labels, logits)


def sparse_with_slope(labels, logits):
    """The sparse cross entropies and their derivatives, for non-empty arrays."""
    losses, slope = _in_blocks(_with_slope, labels, logits)
    return losses, np.ascontiguousarray(slope)


def _with_slope(labels, logits, out=None, g=None):
    """The losses, and the derivative of each with respect to its logits, times the numbers `g`."""
    losses, slope, axis, chosen = _with_softmax(labels, logits, out, g)
    # Not the product minus `g`, which is nan if both are infinite: the loss is the logarithm of 1 / softmax.
    slope.put(chosen, slope.take(chosen) - 1 if g is None else g * np.expm1(-losses))
    slope = slope if axis else slope.T
    return losses, slope if logits.ndim == 2 else slope.reshape(logits.shape)


def _with_softmax(labels, logits, out=None, g=None):
    """The losses, and the softmax, times the numbers `g`, in the layout of `_centred`."""
    z, axis, chosen = _centred(labels, logits, out)
    correct = z.take(chosen)
    softmax = np.exp(z, out=z)
    total = np.add.reduce(softmax, axis=axis) if out is None else sum_of(np, softmax, axis=(axis,))
    if g is None:
        softmax /= total if axis == 0 else total[:, None]
    else:
        factors = g / total
        softmax *= factors if axis == 0 else factors[:, None]
    losses = np.log(total) - correct
    return losses if labels.ndim == 1 else losses.reshape(labels.shape), softmax, axis, chosen


def _check(labels, classes):
    numbers = labels.view(_UNSIGNED[labels.dtype.itemsize])  # as unsigned, a negative label is larger than any class
    if labels.size and numbers.item(numbers.argmax()) >= classes:
        wrong = labels[(labels < 0) | (labels >= classes)][0] if labels.ndim else labels
        raise errors.InvalidArgumentError(
            f"Received a label value of {wrong} which is outside the valid range of [0, {classes}). Label values: "
            f"{labels} [Op:SparseSoftmaxCrossEntropyWithLogits]"
        )


def _sparse_vjp(m, g, labels, logits):
    if type(logits) is type(g) is np.ndarray and logits.size > BLOCK:
        return None, _in_blocks(_with_slope, labels, logits, g)[1]
    return None, _column(m, g) * m.sparse_softmax_slope(labels, logits)


def _sparse_slope(xp, labels, logits):
    e = xp.exp(_less_largest(xp, logits))
    return e / e.sum(axis=-1, keepdims=True) - astype(labels[..., None] == xp.arange(logits.shape[-1]), e.dtype)


@numpy_kernel(_sparse_slope)
def _numpy_sparse_slope(labels, logits):
    return _in_blocks(_with_slope, labels, logits)[1] if logits.size else _sparse_slope(np, labels, logits)


def _softmax_change(m, logits, t):
    """The JVP of softmax for a tangent `t` of the logits; its Jacobian is symmetric, so this is also the VJP."""
    axis = len(logits.shape) - 1
    softmax = m.softmax(logits, axis=axis)
    return softmax * (t - m.sum(softmax * t, axis=(axis,), keepdims=True))


_SPARSE = [
    sample(np.array([0, 3, 1]), (3, 4)),
    sample(np.array(2), (4,)),
    sample(np.zeros((0,), int), (0, 3)),
    sample(np.array([[1], [0]]), (2, 1, 3)),
]
sparse_softmax_cross_entropy = opaque(
    "sparse_softmax_cross_entropy", _sparse, batch=_batch_leading("sparse_softmax_cross_entropy"),
    shape=lambda labels, logits: logits[:-1],
    vjp=_sparse_vjp, samples=_SPARSE,
    jvp=lambda m, inputs, y, attrs, ts: m.sum(
        ts[1] * m.sparse_softmax_slope(*inputs), axis=(len(inputs[1].dims) - 1,), keepdims=False
    ),
)  # fmt: skip
sparse_softmax_slope = opaque(
    "sparse_softmax_slope", _sparse_slope, batch=_batch_leading("sparse_softmax_slope"), samples=_SPARSE,
    shape=lambda labels, logits: logits,
    vjp=lambda m, g, logits: (None, _softmax_change(m, logits, g)),
    jvp=lambda m, inputs, y, attrs, ts: _softmax_change(m, inputs[1], ts[1]),
)  # fmt: skip

sigmoid_cross_entropy = elementwise(
    "sigmoid_cross_entropy",
    lambda xp, labels, logits: xp.maximum(logits, 0) - logits * labels + xp.log1p(xp.exp(-xp.abs(logits))), on=_SMOOTH,
    dlabels=lambda logits: -logits, dlogits=lambda m, labels, logits: m.sigmoid(logits) - labels,
)  # fmt: skip

half_square = opaque(
    "half_square", lambda xp, x: sum_of(xp, x * x, axis=tuple(range(x.ndim))) / 2, on=_SMOOTH,
    shape=lambda x: (),
    vjp=lambda m, g, x: g * x,
    jvp=lambda m, inputs, y, attrs, ts: m.sum(ts[0] * inputs[0], axis=tuple(range(len(ts[0].dims))), keepdims=False),
    batch=lambda m, size, inputs, flags, attrs: m.sum(
        m.square(inputs[0]), axis=tuple(range(1, len(inputs[0].dims))), keepdims=False
    ) / 2,
    samples=[sample((3, 4)), sample(()), sample((0, 2))],
)  # fmt: skip

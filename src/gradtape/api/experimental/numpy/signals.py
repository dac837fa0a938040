"""Signals on tensors: NumPy's convolution, interpolation, differences and Fourier transforms, for `numpy_on_tape`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.tensor import Tensor
from ...namespace import Namespace, root
from . import promotion
from .promotion import floating, tensor

# Namespaces import their functions on first use.
tf, tnp, linalg = root, Namespace("experimental.numpy"), Namespace("linalg")


def reject(name: str, **given: Any) -> None:
    """Raises an error for arguments that are not supported."""
    extra = sorted(key for key, value in given.items() if value is not None and value is not False)
    if extra:
        raise TypeError(
            f"np.{name} takes no {', '.join(f'`{key}`' for key in extra)} where it computes with tensors. Leave it "
            "away, or use tensor.numpy() if no gradient is meant to go through"
        )


def last_axis(x: Tensor, axis: int) -> Tensor:
    """Moves an axis to the end."""
    return x if axis in (-1, len(x.dims) - 1) else tnp.moveaxis(x, axis, -1)


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    a, v = promotion.promoted(tnp.atleast_1d(a), tnp.atleast_1d(v))
    if v.dims[0] > a.dims[0]:
        a, v = v, a
    n, m = a.dims[0], v.dims[0]
    if not m:
        raise ValueError("v cannot be empty")
    windows = np.arange(n + m - 1)[:, None] + np.arange(m)
    padded = tf.pad(a, [[m - 1, m - 1]])
    full = tnp.sum(tf.gather(padded, windows) * tf.reverse(v, [0]), 1)
    if mode == "full":
        return full
    start, length = ((m - 1) // 2, n) if mode == "same" else (m - 1, n - m + 1)
    if mode not in ("same", "valid"):
        raise ValueError(f"np.convolve: mode is 'full', 'same' or 'valid', got {mode!r}")
    return full[start : start + length]


def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = promotion.promoted(tnp.atleast_1d(a), tnp.atleast_1d(v))
    if v.dims[0] > a.dims[0]:  # NumPy swaps them and reverses the result
        return tf.reverse(tnp.conj(_correlate(v, a, mode)), [0])
    return _convolve(a, tnp.conj(tf.reverse(v, [0])), mode)


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    reject("interp", period=period)
    x, xp, fp = promotion.promoted(floating(x), floating(xp), floating(fp))
    if xp.dims[0] == 1:
        inside = tnp.broadcast_to(fp[0], x.dims) + 0 * x
    else:
        flat = tf.reshape(x, [-1])
        at = tf.searchsorted(xp, flat, side="right") - 1
        at = tf.reshape(tf.clip_by_value(at, 0, xp.dims[0] - 2), x.dims)
        low, high = tf.gather(xp, at), tf.gather(xp, at + 1)
        start, stop = tf.gather(fp, at), tf.gather(fp, at + 1)
        inside = start + (stop - start) / (high - low) * (x - low)
    left = fp[0] if left is None else promotion.cast(tensor(left), x.dtype)
    right = fp[-1] if right is None else promotion.cast(tensor(right), x.dtype)
    return tnp.where(x < xp[0], left, tnp.where(x > xp[-1], right, inside))


def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    f = floating(f)
    rank = len(f.dims)
    axes = tuple(range(rank)) if axis is None else tuple(int(n) % rank for n in np.atleast_1d(np.asarray(axis)))
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError(f"np.gradient takes one spacing, or one for each of {len(axes)} axes, got {len(varargs)}")
    spacings = varargs if len(varargs) == len(axes) else (varargs or (1.0,)) * len(axes)
    found = [_slopes(f, n, spacing, edge_order) for n, spacing in zip(axes, spacings, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _slopes(f: Tensor, axis: int, spacing: Any, edge_order: int) -> Any:
    """Returns the differences along one axis, of second order in the interior, as in NumPy."""
    y = last_axis(f, axis)
    size = y.dims[-1]
    if size < edge_order + 1:
        raise ValueError(
            f"Shape of array too small to calculate a numerical gradient, at least {edge_order + 1} elements are "
            "required."
        )
    spacing = promotion.cast(tensor(spacing), f.dtype)
    h = spacing[1:] - spacing[:-1] if spacing.dims else tnp.broadcast_to(spacing, (size - 1,))
    a, b = h[:-1], h[1:]
    inside = (y[..., 2:] * a**2 - y[..., :-2] * b**2 + y[..., 1:-1] * (b**2 - a**2)) / (a * b * (a + b))
    if edge_order == 1:
        first, last = (y[..., 1:2] - y[..., :1]) / h[:1], (y[..., -1:] - y[..., -2:-1]) / h[-1:]
    else:
        p, q = h[:1], h[1:2]
        first = -(2 * p + q) / (p * (p + q)) * y[..., :1] + (p + q) / (p * q) * y[..., 1:2]
        first = first - p / (q * (p + q)) * y[..., 2:3]
        p, q = h[-2:-1], h[-1:]
        last = q / (p * (p + q)) * y[..., -3:-2] - (q + p) / (p * q) * y[..., -2:-1]
        last = last + (2 * q + p) / (q * (p + q)) * y[..., -1:]
    found = tnp.concatenate([first, inside, last], -1)
    return found if axis in (-1, len(f.dims) - 1) else tnp.moveaxis(found, -1, axis)


def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * math.pi) -> Any:
    reject("unwrap", discont=discont)
    x = last_axis(floating(p), axis)
    steps = x[..., 1:] - x[..., :-1]
    turns = tnp.mod(steps + period / 2, period) - period / 2
    edge = tnp.logical_and(tnp.equal(turns, -period / 2), tnp.greater(steps, 0))
    turns = tnp.where(edge, tnp.full_like(turns, period / 2), turns)
    jumps = tnp.where(tnp.less(tnp.absolute(steps), period / 2), tnp.zeros_like(steps), turns - steps)
    whole = tf.concat([x[..., :1], x[..., 1:] + tf.stop_gradient(tf.cumsum(jumps, -1))], -1)
    return whole if axis in (-1, len(x.dims) - 1) else tnp.moveaxis(whole, -1, axis)


def _scaled(y: Tensor, size: int, norm: Any, inverse: bool) -> Any:
    """Applies one of NumPy's norms to a result of `tf.signal`, where only the inverse is divided by the size."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"Invalid norm value {norm!r}; should be 'backward', 'ortho' or 'forward'.")
    power = {"ortho": 0.5, "forward": 1.0}.get(norm or "", 0.0)
    return y if not power else y * size**power if inverse else y / size**power


def _complex(x: Any) -> Tensor:
    x = floating(x)
    single = x.dtype.name in ("float32", "float16", "bfloat16", "complex64")
    return promotion.cast(x, np.complex64 if single else np.complex128)


def _sized(x: Tensor, size: int | None) -> Tensor:
    """Truncates or zero-pads the last axis of `x` to a size."""
    have = x.dims[-1]
    if size is None or size == have:
        return x
    return x[..., :size] if size < have else tf.pad(x, [[0, 0]] * (len(x.dims) - 1) + [[0, size - have]])


def _fft(inverse: bool) -> Callable[..., Any]:
    def fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        reject("fft", out=out)
        x = _sized(last_axis(_complex(a), axis), n)
        y = _scaled((tf.signal.ifft if inverse else tf.signal.fft)(x), x.dims[-1], norm, inverse)
        return y if axis in (-1, len(x.dims) - 1) else tnp.moveaxis(y, -1, axis)

    return fft


def _rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    reject("rfft", out=out)
    x = _sized(last_axis(floating(a), axis), n)
    y = _scaled(tf.signal.rfft(x), x.dims[-1], norm, False)
    return y if axis in (-1, len(x.dims) - 1) else tnp.moveaxis(y, -1, axis)


def _irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    reject("irfft", out=out)
    x = last_axis(_complex(a), axis)
    n = 2 * (x.dims[-1] - 1) if n is None else n
    y = _scaled(tf.signal.irfft(_sized(x, n // 2 + 1), [n]), n, norm, True)
    return y if axis in (-1, len(x.dims) - 1) else tnp.moveaxis(y, -1, axis)


def _over_axes(
    one: Callable[..., Any], last: Callable[..., Any], axes: Any, inverse: bool = False
) -> Callable[..., Any]:
    """Applies one-dimensional transforms over several axes; real transforms use a special one for the last axis."""
    default = axes

    def transform(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None) -> Any:
        reject("fft", out=out)
        x = tensor(a)
        if axes is None:
            axes = tuple(range(len(x.dims))) if s is None else tuple(range(-len(s), 0))
        sizes = [None] * len(axes) if s is None else list(s)
        order = list(zip([last, *[one] * (len(axes) - 1)], sizes[::-1], list(axes)[::-1], strict=True))
        for function, size, axis in order[::-1] if inverse else order:
            x = function(x, size, axis, norm)
        return x

    return transform


def _shifted(sign: int) -> Callable[..., Any]:
    def shift(x: Any, axes: Any = None) -> Any:
        x = tensor(x)
        axes = list(range(len(x.dims))) if axes is None else [int(n) for n in np.atleast_1d(np.asarray(axes))]
        halves = [x.dims[n] // 2 if sign > 0 else -(x.dims[n] // 2) for n in axes]
        return tf.roll(x, halves, axes)

    return shift


SIGNALS: dict[str, Callable[..., Any]] = {
    "convolve": _convolve, "correlate": _correlate, "interp": _interp, "gradient": _gradient, "unwrap": _unwrap,
    "fft.fft": _fft(False), "fft.ifft": _fft(True), "fft.rfft": _rfft, "fft.irfft": _irfft,
    "fft.fft2": _over_axes(_fft(False), _fft(False), (-2, -1)), "fft.fftn": _over_axes(_fft(False), _fft(False), None),
    "fft.ifft2": _over_axes(_fft(True), _fft(True), (-2, -1)), "fft.ifftn": _over_axes(_fft(True), _fft(True), None),
    "fft.rfft2": _over_axes(_fft(False), _rfft, (-2, -1)), "fft.rfftn": _over_axes(_fft(False), _rfft, None),
    "fft.irfft2": _over_axes(_fft(True), _irfft, (-2, -1), True),
    "fft.irfftn": _over_axes(_fft(True), _irfft, None, True),
    "fft.fftshift": _shifted(1), "fft.ifftshift": _shifted(-1),
}  # fmt: skip

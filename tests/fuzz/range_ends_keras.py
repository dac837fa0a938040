"""Keras' activations and losses that are composed here, at the ends of the range of each dtype.

The references are closed forms in extended precision, value and first derivative. A seed chooses a function, a dtype
and eager execution, a function or XLA. No result may be NaN or infinite where the exact one is finite, and each is
right but for a few roundings of the result, or of the largest term of the function.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as tf

from .range_ends import REAL_DTYPES, mode_of, representable

_ROUNDINGS = 32.0
_LONG = np.longdouble


def _sigmoid(x: Any) -> Any:
    return np.where(x < 0, np.exp(np.minimum(x, 0)), 1) / (1 + np.exp(-abs(x)))


def _softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-abs(x)))


def _mish(x: Any) -> tuple[Any, Any]:
    t = np.tanh(_softplus(x))
    return x * t, t + x * _sigmoid(x) * (1 - t) * (1 + t)


def _piecewise(x: Any, *pieces: tuple[float, float, Any, Any]) -> tuple[Any, Any]:
    """Values and slopes of a function that is another one between each pair of bounds."""
    value, slope = np.full_like(x, np.nan), np.full_like(x, np.nan)
    for low, high, its_value, its_slope in pieces:
        inside = (x >= low) & (x <= high)
        value[inside] = np.broadcast_to(its_value, x.shape)[inside]
        slope[inside] = np.broadcast_to(its_slope, x.shape)[inside]
    return value, slope


def _hard_sigmoid(x: Any) -> tuple[Any, Any]:
    return _piecewise(x, (-np.inf, -3, 0, 0), (-3, 3, x / 6 + 0.5, _LONG(1) / 6), (3, np.inf, 1, 0))


def _hard_silu(x: Any) -> tuple[Any, Any]:
    return _piecewise(x, (-np.inf, -3, 0, 0), (-3, 3, x * (x + 3) / 6, x / 3 + 0.5), (3, np.inf, x, 1))


def _celu(x: Any) -> tuple[Any, Any]:
    return _piecewise(x, (-np.inf, 0, 2 * np.expm1(np.minimum(x, 0) / 2), np.exp(np.minimum(x, 0) / 2)),
                      (0, np.inf, x, 1))  # fmt: skip


def _squareplus(x: Any) -> tuple[Any, Any]:
    root = np.hypot(x, _LONG(2))
    value = np.where(x < 0, 2 / (root - x), (x + root) / 2)
    return value, value / root


def _tanh_shrink(x: Any) -> tuple[Any, Any]:
    return x - np.tanh(x), np.tanh(x) ** 2


def _log_cosh(x: Any) -> tuple[Any, Any]:
    return abs(x) + np.log1p(np.exp(-2 * abs(x))) - np.log(_LONG(2)), np.tanh(x)


def _huber(x: Any) -> tuple[Any, Any]:
    return _piecewise(x, (-np.inf, -1, -x - 0.5, -1), (-1, 1, x * x / 2, x), (1, np.inf, x - 0.5, 1))


def _functions() -> dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], tuple[float, ...]]]:
    """Of each function Keras' and the exact one, and where it has kinks, at which any slope will do."""
    assert tf.keras.backend.backend() == "gradtape"  # the attribute chooses the backend, before Keras is imported
    from keras import activations, losses, ops

    x_and_2 = lambda x: tf.stack([x, tf.fill(tf.shape(x), tf.constant(2, x.dtype))], axis=-1)  # noqa: E731
    return {
        "mish": (activations.mish, _mish, ()),
        "hard_sigmoid": (ops.hard_sigmoid, _hard_sigmoid, (-3, 3)),
        "hard_silu": (ops.hard_silu, _hard_silu, (-3, 3)),
        "hard_tanh": (ops.hard_tanh, lambda x: (np.clip(x, -1, 1), (abs(x) < 1) + 0 * x), (-1, 1)),
        "celu": (lambda x: ops.celu(x, alpha=2.0), _celu, ()),
        "glu": (lambda x: ops.glu(x_and_2(x))[..., 0],
                lambda x: (x * _sigmoid(_LONG(2)), _sigmoid(_LONG(2)) + 0 * x), ()),
        "glu gate": (lambda x: ops.glu(x_and_2(x)[..., ::-1])[..., 0],
                     lambda x: (2 * _sigmoid(x), 2 * _sigmoid(x) * _sigmoid(-x)), ()),
        "squareplus": (ops.squareplus, _squareplus, ()),
        "sparse_plus": (ops.sparse_plus, lambda x: _piecewise(
            x, (-np.inf, -1, 0, 0), (-1, 1, (x + 1) ** 2 / 4, (x + 1) / 2), (1, np.inf, x, 1)), ()),
        "sparse_sigmoid": (ops.sparse_sigmoid, lambda x: _piecewise(
            x, (-np.inf, -1, 0, 0), (-1, 1, (x + 1) / 2, 0.5), (1, np.inf, 1, 0)), (-1, 1)),
        "soft_shrink": (ops.soft_shrink, lambda x: _piecewise(
            x, (-np.inf, -0.5, x + 0.5, 1), (-0.5, 0.5, 0, 0), (0.5, np.inf, x - 0.5, 1)), (-0.5, 0.5)),
        "hard_shrink": (ops.hard_shrink, lambda x: (np.where(abs(x) > 0.5, x, 0), (abs(x) > 0.5) + 0 * x), (-0.5, 0.5)),
        "tanh_shrink": (ops.tanh_shrink, _tanh_shrink, ()),
        "elu": (lambda x: ops.elu(x, alpha=2.0), lambda x: _piecewise(
            x, (-np.inf, 0, 2 * np.expm1(np.minimum(x, 0)), 2 * np.exp(np.minimum(x, 0))), (0, np.inf, x, 1)), (0,)),
        "softsign": (ops.softsign, lambda x: (x / (1 + abs(x)), 1 / (1 + abs(x)) ** 2), ()),
        "log_cosh": (lambda x: losses.log_cosh(tf.zeros_like(x)[:, None], x[:, None]), _log_cosh, ()),
        "huber": (lambda x: losses.huber(tf.zeros_like(x)[:, None], x[:, None]), _huber, ()),
    }  # fmt: skip


_FUNCTIONS: dict[str, Any] = {}
NAMES = ("mish", "hard_sigmoid", "hard_silu", "hard_tanh", "celu", "glu", "glu gate", "squareplus", "sparse_plus",
         "sparse_sigmoid", "soft_shrink", "hard_shrink", "tanh_shrink", "elu", "softsign", "log_cosh",
         "huber")  # fmt: skip


def cases() -> list[tuple[str, str]]:
    """Every function in every dtype."""
    found = [(name, dtype) for name in NAMES for dtype in REAL_DTYPES]
    random.Random(0).shuffle(found)
    return found


def disagreements(seed: int) -> list[str]:
    """One function in one dtype and one mode, at all points."""
    return compare(*cases()[seed % len(cases())], mode_of(seed, len(cases())), random.Random(seed))


def points(dtype: str, rng: random.Random) -> Any:
    """Numbers of all sizes, the ends of the range, and those beside the places where a function changes."""
    bits, lowest, highest = REAL_DTYPES[dtype]
    sizes = [2.0**rng.randint(lowest, highest - 1) * rng.uniform(1, 2) for _ in range(100)]
    sizes += [rng.uniform(0, 100) for _ in range(100)] + [2.0**highest * (2 - 2.0**-bits), 2.0**lowest, 2048.0, 2050.0]
    for place in (0.5, 1.0, 3.0):
        sizes += [place, place * (1 + 2.0**-bits), place * (1 - 2.0**-bits)]
    return np.array([0.0, *sizes, *(-x for x in sizes)])


def compare(name: str, dtype: str, mode: str, rng: random.Random) -> list[str]:
    """Every result that is not the exact one, as far as the dtype allows."""
    if not _FUNCTIONS:
        _FUNCTIONS.update(_functions())
    function, exact_of, kinks = _FUNCTIONS[name]
    kind = getattr(tf, dtype).as_numpy_dtype
    with np.errstate(all="ignore"):
        narrow = points(dtype, rng).astype(kind)
        x = narrow.astype(np.float64)
        kept = np.isfinite(x) & representable(x, dtype, mode)
        narrow, x = narrow[kept], x[kept]
        exact = exact_of(x.astype(_LONG))
    results = _run(function, narrow, mode)
    bits, lowest, highest = REAL_DTYPES[dtype]
    epsilon, smallest, largest = 2.0**-bits, 2.0**lowest, 2.0**highest * (2 - 2.0**-bits)
    found = []
    for order, (got, wanted) in enumerate(zip(results, exact, strict=True)):
        with np.errstate(all="ignore"):
            # What others are added to; in the slope of mish that is x times what is left of 1 - tanh².
            term = np.minimum(np.maximum(abs(x), 1), 2.0**bits) if not order or name == "mish" else 1
            limit = _ROUNDINGS * epsilon * np.maximum(abs(wanted), term * (name in _SUMS)) + 8 * smallest
            if name == "log_cosh":  # Keras' own formula, as on TensorFlow: log(2) is computed in float32
                limit = np.maximum(limit, 2e-9)
            near = np.isfinite(got) & (abs(got - wanted) <= limit) | (abs(wanted) + limit > largest)
            if order:
                near |= np.any([abs(x - kink) <= 4 * epsilon for kink in kinks], axis=0)
            if name == "huber" and order:  # Keras' own formula, as on TensorFlow: the slope 2 x of a square not taken
                near |= abs(x) > largest / 2
        found += [
            f"{mode} {dtype} {name}({x[i].item()!r}), result {order}: {got[i].item()!r}, expected {float(wanted[i])!r}"
            for i in np.flatnonzero(~near)
        ]  # fmt: skip
    return found[:20]


# Functions whose terms cancel: their errors are measured against the largest term, as Keras' formulas give them.
_SUMS = {"mish", "hard_sigmoid", "hard_silu", "sparse_plus", "sparse_sigmoid", "soft_shrink",
         "tanh_shrink", "log_cosh", "huber", "glu gate", "celu", "elu"}  # fmt: skip


def _run(function: Callable[[Any], Any], x: Any, mode: str) -> list[Any]:
    def value_and_slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return y, tape.gradient(y, x)

    if mode != "eager":
        value_and_slope = tf.function(value_and_slope, jit_compile=mode == "xla" or None)
    with np.errstate(all="ignore"):
        results = value_and_slope(tf.constant(x))
        if mode == "function":  # the second call is the first that runs the graph
            results = value_and_slope(tf.constant(x))
        return [np.reshape(y.numpy(), x.shape).astype(np.float64) for y in results]

"""Reductions, losses and functions of complex numbers at the limits of each dtype's range.

The references are the lines `vector` of `tests/data/range_ends.txt.gz`: values, the gradient of their weighted sum, and
the second derivative. A seed selects a function, a dtype and an execution mode (eager, function or XLA); all points
that the dtype can represent are rows of one array. No result may be NaN or infinite where the exact one is finite, and
each must be correct up to a few roundings of the largest in its row, times the condition of the function.
"""

from __future__ import annotations

import functools
import gzip
import random
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as tf

from .range_ends import REAL_DTYPES, REFERENCES, mode_of, representable

ROUNDINGS = 64.0
_LABELS = (0.25, 0.75, 0.0)


def _complex(x: Any, i: int = 0) -> Any:
    return tf.complex(x[:, i], x[:, i + 1])


def _parts(z: Any) -> Any:
    return tf.stack([tf.math.real(z), tf.math.imag(z)], axis=1)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "softmax": tf.nn.softmax,
    "log_softmax": tf.nn.log_softmax,
    "logsumexp": lambda x: tf.reduce_logsumexp(x, axis=1, keepdims=True),
    "cumulative_logsumexp": lambda x: tf.math.cumulative_logsumexp(x, axis=1),
    "softmax_cross_entropy": lambda x: tf.nn.softmax_cross_entropy_with_logits(
        tf.broadcast_to(tf.constant(_LABELS, x.dtype), tf.shape(x)), x
    )[:, None],
    "sparse_softmax_cross_entropy": lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
        tf.ones([x.shape[0]], tf.int32), x
    )[:, None],
    "euclidean_norm": lambda x: tf.math.reduce_euclidean_norm(x, axis=1, keepdims=True),
    "norm": lambda x: tf.norm(x, axis=1, keepdims=True),
    "l2_normalize": lambda x: tf.math.l2_normalize(x, axis=1),
    "variance": lambda x: tf.math.reduce_variance(x, axis=1, keepdims=True),
    "std": lambda x: tf.math.reduce_std(x, axis=1, keepdims=True),
    "complex_abs": lambda x: tf.abs(_complex(x))[:, None],
    "complex_angle": lambda x: tf.math.angle(_complex(x))[:, None],
    "complex_sqrt": lambda x: _parts(tf.sqrt(_complex(x))),
    "complex_log": lambda x: _parts(tf.math.log(_complex(x))),
    "complex_div": lambda x: _parts(_complex(x) / _complex(x, 2)),
    "complex_pow": lambda x: _parts(_complex(x) ** _complex(x, 2)),
}


@functools.cache
def references() -> dict[str, list[Any]]:
    """Returns the rows of arguments, values, gradients and second derivatives of each function."""
    rows: dict[str, list[list[str]]] = defaultdict(list)
    with gzip.open(REFERENCES, "rt") as file:
        for line in file:
            if line.startswith("vector "):
                _, name, *fields = line.split()
                rows[name].append(fields)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # for results that overflow even a long double
        for name, lines in rows.items():
            x, *results = zip(*lines, strict=True)
            found[name] = [np.array([[float.fromhex(number) for number in row.split(",")] for row in x])]
            found[name] += [np.array([row.split(",") for row in column], np.longdouble) for column in results]
    return found


@functools.cache
def cases() -> list[tuple[str, str]]:
    """Returns every function in every dtype that it accepts."""
    found = [
        (name, dtype) for name in FUNCTIONS for dtype in REAL_DTYPES
        if not name.startswith("complex") or dtype in ("float32", "float64")
    ]  # fmt: skip
    random.Random(0).shuffle(found)
    return found


def disagreements(seed: int) -> list[str]:
    """Checks one function in one dtype and one mode at all its points."""
    return compare(*cases()[seed % len(cases())], mode_of(seed, len(cases())), random.Random(seed))


def compare(name: str, dtype: str, mode: str, rng: random.Random) -> list[str]:
    """Reports every result that is not exact within the accuracy of the dtype."""
    x, *exact = references()[name]
    kept = np.flatnonzero(representable(x, dtype, mode).all(axis=1))
    kept = kept[rng.sample(range(len(kept)), len(kept))]
    x, exact = x[kept], [result[kept] for result in exact]
    results = _run(name, x.astype(getattr(tf, dtype).as_numpy_dtype), mode)
    found = []
    with np.errstate(all="ignore"):
        for order, (got, wanted) in enumerate(zip(results, exact, strict=True)):
            wrong = np.flatnonzero(~_agree(name, dtype, mode, order, got, x, exact).all(axis=1))
            found += [
                f"{mode} {dtype} {name}({x[i].tolist()}), order {order}: {got[i].tolist()}, expected "
                f"{wanted[i].astype(float).tolist()}" for i in wrong
            ]  # fmt: skip
    return found[:20]


def _run(name: str, x: Any, mode: str) -> list[Any]:
    function = FUNCTIONS[name]

    def weighted(y: Any) -> Any:
        return y * tf.cast(tf.range(1, y.shape[1] + 1), y.dtype)

    def derivatives(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = function(x)
                target = weighted(y)
            slope = inner.gradient(target, x)
            second = weighted(slope)
        return y, slope, outer.gradient(second, x, unconnected_gradients="zero")

    if mode != "eager":
        derivatives = tf.function(derivatives, jit_compile=mode == "xla" or None)
    with np.errstate(all="ignore"):
        results = derivatives(tf.constant(x))
        if mode == "function":  # the second call is the first one that runs the graph
            results = derivatives(tf.constant(x))
        return [y.numpy().astype(np.float64) for y in results]


def _beyond(name: str, x: Any, size: Any, order: int, epsilon: float, smallest: float, largest: float) -> Any:
    """Returns which rows have results that no rule reaches without intermediate overflow or loss of all digits."""
    if name == "complex_div":  # NumPy adds the parts of the divisor
        return np.sum(abs(x[:, 2:].astype(np.longdouble)), axis=1, keepdims=True) > largest
    if name == "complex_pow":  # the exponent times the logarithm, an angle, and 1 / base
        base = abs(x[:, :1].astype(np.longdouble) + 1j * x[:, 1:2])
        turned = np.max(abs(x[:, 2:]), axis=1, keepdims=True) * np.maximum(abs(np.log(base)), 4)
        return (turned > 1 / epsilon) | (base**order < smallest)
    if name == "softmax_cross_entropy":  # the label 0 times a difference of logits
        return (np.max(x, 1, keepdims=True) - np.min(x, 1, keepdims=True)).astype(np.longdouble) > largest
    if name in ("euclidean_norm", "norm", "std"):
        return size ** np.longdouble(-order) > largest
    return np.zeros_like(size, bool)


def _beyond_squares(name: str, dtype: str, size: Any) -> Any:
    """Returns which rows have squares out of range, if the function is one of their sum, as in TensorFlow."""
    if name not in ("l2_normalize", "norm", "std", "variance"):
        return np.zeros_like(size, bool)
    _, lowest, highest = REAL_DTYPES["float32" if dtype == "float16" else dtype]
    return (size > 2.0 ** (highest // 2 - 1)) | (size < 2.0 ** (lowest // 2 + 12))


def _agree(name: str, dtype: str, mode: str, order: int, got: Any, x: Any, results: list[Any]) -> Any:
    bits, lowest, highest = REAL_DTYPES[dtype]
    epsilon, smallest, largest = 2.0**-bits, 2.0**lowest, 2.0**highest * (2 - 2.0**-bits)
    exact = results[order]
    size = np.max(abs(x), axis=1, keepdims=True).astype(np.longdouble)
    scale = np.max(abs(exact), axis=1, keepdims=True)
    if "softmax" in name or "logsumexp" in name:
        # A rounding of the largest argument changes shares relative to 1, and values by itself.
        scale = np.maximum(scale, 1) * np.maximum(size, 1) if order else np.maximum(size, scale)
    elif order > 1 and name in ("euclidean_norm", "norm", "std"):  # of which each entry is a difference
        scale = np.maximum(scale, 9 / np.maximum(results[0], smallest))
    elif name == "complex_pow":
        scale = scale * (1 + abs(np.log(abs(x[:, :1] + 1j * x[:, 1:2]))) * np.max(abs(x[:, 2:]), 1, keepdims=True))
    allowed = ROUNDINGS * epsilon * scale + 8 * smallest
    exempt = abs(exact) + allowed > largest
    exempt |= _beyond(name, x, size, order, epsilon, smallest, largest) | _beyond_squares(name, dtype, size)
    if mode == "xla":  # which multiplies by the inverse of a norm: subnormal, and so 0
        exempt |= (name == "euclidean_norm") & (size > largest / 16)
    if name == "std" and order:
        exempt |= results[0] == 0  # a kink, where TensorFlow's derivative is NaN too
    for before in results[:order]:
        exempt = exempt | (np.max(abs(before), axis=1, keepdims=True) > largest)  # what the rule starts from
    return exempt | (np.isfinite(got) & (abs(got - exact) <= allowed))

"""Elementwise ops at the ends of the range of each dtype, against values and derivatives of many digits.

The references are in `tests/data/range_ends.txt.gz`, which `_range_end_references.py` writes. A seed chooses an op, a
dtype, eager execution, a function or XLA, and how the points lie in memory; all points of the op that the dtype can
represent are compared, in value, first and (for one real argument) second derivative. An answer may be off by a few
roundings of the result or of the arguments; where an op is known to be less accurate, as TensorFlow's is, a table says
how much and why. NaN, infinity and 0 are never taken for a finite number.
"""

from __future__ import annotations

import functools
import gzip
import importlib.util
import random
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gradtape as tf
from gradtape import ops
from gradtape.engine.registry.op import registry

_FILE = Path(__file__).parents[1] / "data" / "range_ends.txt.gz"
ROUNDINGS = 32.0
# Ops whose derivatives are computed from their output, as in TensorFlow: they have no digits left where the output is
# saturated. Errors are measured against 1 instead of the derivative.
FROM_OUTPUT = {"tanh", "sigmoid", "elu", "selu", "tan", "softplus", "log_sigmoid", "silu", "gelu", "gelu_tanh"}
# Derivatives that are differences of functions of the size of the op's own value, or quotients of small numbers: with
# the place around which they are.
DIFFERENCES = {
    "bessel_i0e": 0.0, "bessel_i1": 0.0, "bessel_i1e": 0.0, "bessel_j1": 0.0, "bessel_k0e": 0.0, "bessel_k1": 0.0,
    "bessel_k1e": 0.0, "bessel_y1": 0.0, "dawsn": 0.0, "spence": 1.0,
}  # fmt: skip
# Derivatives of which one rounding of y makes more: 1 / cosh(y) as many as |y|, exp(y²) as many as 2 y².
INEXACT = {"asinh": 710.0, "erfinv": 200.0, "erfcinv": 1500.0, "ndtri": 1500.0}
# SciPy's functions that overflow a little early.
EARLY_OVERFLOW = {"bessel_i0", "bessel_i1", "expint"}
# The derivative by the base is b a**(b - 1), as in TensorFlow: the power overflows for the smallest bases.
POWER_BASE_LIMIT = 2.0**12

# Bits of the fraction, and the exponents of the smallest normal and of the largest number.
REAL_DTYPES = {
    "float16": (10, -14, 15), "bfloat16": (7, -126, 127), "float32": (23, -126, 127), "float64": (52, -1022, 1023),
}  # fmt: skip
COMPLEX_DTYPES = {"complex64": "float32", "complex128": "float64"}


class Point(NamedTuple):
    """The arguments, the exact results of each order, and for each what a relative error in the arguments changes."""

    arguments: tuple[Any, ...]
    exact: tuple[Any, ...]
    condition: tuple[Any, ...]


@functools.cache
def references() -> dict[tuple[str, str], list[Point]]:
    """The points of every op, by its kind (real, binary, complex) and name."""
    ops.load_all()
    number = np.longdouble
    found: dict[tuple[str, str], list[Point]] = defaultdict(list)
    with gzip.open(_FILE, "rt") as file, np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of results that overflow even a long double
        for line in file:
            kind, name, *fields = line.split()
            if kind == "real":
                x, (f, slope, bend, third) = float.fromhex(fields[0]), map(number, fields[1:])
                point = Point((x,), (f, slope, bend), (abs(x * slope), abs(x * bend), third))
            elif kind == "binary":
                a, b = map(float.fromhex, fields[:2])
                f, by_a, by_b, *condition = map(number, fields[2:])
                point = Point((a, b), (f, by_a, by_b), (abs(a * by_a) + abs(b * by_b), *condition))
            else:
                z = complex(*map(float.fromhex, fields[:2]))
                real, imag, slope_real, slope_imag, condition_of_slope = map(number, fields[2:])
                f, slope = np.clongdouble(real + 1j * imag), np.clongdouble(slope_real + 1j * slope_imag)
                point = Point((z,), (f, slope), (abs(z) * abs(slope), condition_of_slope))
            found[kind, name].append(point)
    return dict(found)


def disagreements(seed: int) -> list[str]:
    """One op in one dtype, at all of its points."""
    rng = random.Random(seed)
    kind, name = rng.choice(sorted(references()))
    dtype = rng.choice(sorted(COMPLEX_DTYPES if kind == "complex" else REAL_DTYPES))
    modes = ["eager", "eager", "function"] + ["xla"] * (seed % 10 == 0 and importlib.util.find_spec("jax") is not None)
    return compare(kind, name, dtype, modes[-1] if seed % 10 == 0 else rng.choice(modes), rng)


def compare(kind: str, name: str, dtype: str, mode: str, rng: random.Random) -> list[str]:
    """Every result of an op that is not the exact one, as far as the dtype and the op's accuracy allow."""
    points = [p for p in references()[kind, name] if all(_representable(x, dtype) for x in p.arguments)]
    if not points:
        return []
    rng.shuffle(points)
    # A kernel may choose another formula for many numbers, and another loop for numbers with gaps between them.
    copies = -(-4096 // len(points)) if rng.random() < 0.2 else 1
    gap = rng.choice([1, 1, 2])
    arrays = []
    for column in zip(*(p.arguments for p in points), strict=True):
        array = np.array(column * copies).astype(getattr(tf, dtype).as_numpy_dtype)
        arrays.append(np.repeat(array, gap)[::gap])
    results = _run(name, arrays, mode, second=kind == "real")
    with np.errstate(all="ignore"):
        return _differences(kind, name, dtype, f"{mode} {dtype} {name}", results, points)[:20]


def _differences(
    kind: str, name: str, dtype: str, title: str, results: list[list[Any]], points: list[Point]
) -> list[str]:
    found = []
    for order, result in enumerate(results):
        for i, got in enumerate(result):
            point = points[i % len(points)]
            if not _agrees(name, COMPLEX_DTYPES.get(dtype, dtype), order, got, point):
                arguments = ", ".join(map(repr, point.arguments))
                wanted = point.exact[order]
                wanted = complex(wanted) if kind == "complex" else float(wanted)
                found.append(f"{title}({arguments}), result {order}: {got!r}, expected {wanted!r}")
    return found


def _representable(x: Any, dtype: str) -> bool:
    with np.errstate(over="ignore"):
        return np.array(x).astype(getattr(tf, dtype).as_numpy_dtype).astype(np.complex128) == x


def _run(name: str, arrays: list[Any], mode: str, second: bool) -> list[list[Any]]:
    """The value, and the derivatives by each argument, or the second one by the only argument."""
    call = registry[name].call

    def value_and_derivatives(*xs: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(xs)
            with tf.GradientTape() as inner:
                inner.watch(xs)
                y = call(*xs)
            slopes = inner.gradient(y, xs)
        return [y, *slopes, *([outer.gradient(slopes[0], xs[0], unconnected_gradients="zero")] if second else [])]

    if mode != "eager":
        value_and_derivatives = tf.function(value_and_derivatives, jit_compile=mode == "xla" or None)
    with np.errstate(all="ignore"):
        results = value_and_derivatives(*map(tf.constant, arrays))
        if mode == "function":  # the second call is the first that runs the graph
            results = value_and_derivatives(*map(tf.constant, arrays))
        is_complex = arrays[0].dtype.kind == "c"
        wide = [y.numpy().astype(np.complex128 if is_complex else np.float64) for y in results]
    return [(y.conj() if is_complex and order else y).tolist() for order, y in enumerate(wide)]


def _agrees(name: str, dtype: str, order: int, got: Any, point: Point) -> bool:
    bits, lowest, highest = REAL_DTYPES[dtype]
    epsilon, smallest, largest = 2.0**-bits, 2.0**lowest, 2.0**highest * (2 - 2.0**-bits)
    exact, value, x = point.exact[order], abs(point.exact[0]), abs(point.arguments[0])
    if (order and value > largest) or (name in EARLY_OVERFLOW and value > 1e-3 * largest):
        return True  # the rule starts from an infinite value
    if name == "pow" and order == 1 and x < smallest * POWER_BASE_LIMIT:
        return True
    if name == "sigmoid_cross_entropy" and abs(np.prod(np.longdouble(point.arguments))) > largest:
        return True  # logits * labels, as in TensorFlow
    if isinstance(exact, np.complexfloating):
        if abs(exact) > largest or (order and np.longdouble(x) ** 2 > largest):
            return True  # inf * 1j is NaN in NumPy; the derivatives of asin and its like square z, as in TensorFlow
    size = abs(exact)
    if order and name in FROM_OUTPUT:
        size = max(size, np.longdouble(1), np.longdouble(x) if order > 1 else 0)
    if order and name in DIFFERENCES:
        distance = max(abs(point.arguments[0] - DIFFERENCES[name]), 1e-4)
        size = max(size, value, np.longdouble(0.5)) * (max(distance, 1 / distance) if order > 1 else 1)
    if name == "log1p" and isinstance(exact, np.complexfloating):
        size = max(size, np.longdouble(1))  # NumPy's is log(1 + z)
    roundings = ROUNDINGS + (INEXACT.get(name, 0) if order else 0)
    allowed = roundings * epsilon * (size + point.condition[order])
    # Results below the smallest normal number may be 0: XLA, and NumPy's exp at times, do without subnormal numbers.
    allowed = allowed + 4 * smallest * max(1, x if name in FROM_OUTPUT else 0)
    if abs(exact) + allowed > largest:
        return order > 1 or isinstance(exact, np.complexfloating) or (not np.isnan(got) and got * exact > 0)
    return bool(np.isfinite(got)) and bool(abs(np.clongdouble(got) - exact) <= allowed)

"""Elementwise ops at the limits of each dtype's range, against values and derivatives with many digits.

The references are in `tests/data/range_ends.txt.gz`, which `_range_end_references.py` writes. A seed selects an op, a
dtype, an execution mode (eager, function or XLA), and a memory layout; all points that the dtype can represent are
compared, in value, first and (for one real argument) second derivative. A result may be off by a few roundings of the
result or of the arguments; for ops that are known to be less accurate, as TensorFlow's are, a table states how much and
why. NaN, infinity and 0 are never accepted for a finite number.
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

REFERENCES = Path(__file__).parents[1] / "data" / "range_ends.txt.gz"
ROUNDINGS = 32.0
# Ops whose derivatives are computed from their output, as in TensorFlow: they lose all digits where the output is
# saturated. Errors are measured against 1 instead of the derivative.
FROM_OUTPUT = {"tanh", "sigmoid", "elu", "selu", "tan", "softplus", "log_sigmoid", "silu"}
# Derivatives that are differences of functions with the magnitude of the op's own value, or quotients of small numbers,
# and the point around which they are.
DIFFERENCES = {
    "bessel_i0e": 0.0, "bessel_i1": 0.0, "bessel_i1e": 0.0, "bessel_j1": 0.0, "bessel_k0e": 0.0, "bessel_k1": 0.0,
    "bessel_k1e": 0.0, "bessel_y1": 0.0, "dawsn": 0.0, "spence": 1.0,
}  # fmt: skip
# Derivatives that amplify a rounding error of y: 1 / cosh(y) by |y|, exp(y²) by 2 y².
INEXACT = {"asinh": 710.0, "erfinv": 200.0, "erfcinv": 1500.0, "ndtri": 1500.0}
BY_PARTS = {"log1p", "expm1"}
# In float64: the derivative with respect to a, by quadrature; the densities, which are exponentials of large
# logarithms; SciPy's igammac.
LESS_THAN_DOUBLE = {
    ("igamma", 1): 1e-8, ("igammac", 1): 1e-8, ("igamma", 2): 1e-12, ("igammac", 2): 1e-12, ("betainc", 3): 1e-12,
    ("igammac", 0): 1e-13,
}  # fmt: skip
# SciPy's functions that overflow slightly early.
EARLY_OVERFLOW = {"bessel_i0", "bessel_i1", "expint"}
# The derivative with respect to the base is b a**(b - 1), as in TensorFlow: the power overflows for the smallest bases.
POWER_BASE_LIMIT = 2.0**12

# Mantissa bits, and the exponents of the smallest normal and of the largest number.
REAL_DTYPES = {
    "float16": (10, -14, 15), "bfloat16": (7, -126, 127), "float32": (23, -126, 127), "float64": (52, -1022, 1023),
}  # fmt: skip
COMPLEX_DTYPES = {"complex64": "float32", "complex128": "float64"}


class Points(NamedTuple):
    """Arguments as columns, exact results of each order, and their change by a relative error in the arguments."""

    arguments: tuple[Any, ...]
    exact: tuple[Any, ...]
    condition: tuple[Any, ...]

    def at(self, indices: Any) -> Points:
        """Returns the points at the indices."""
        return Points(*(tuple([None if column is None else column[indices] for column in part]) for part in self))


@functools.cache
def references() -> dict[tuple[str, str], Points]:
    """Returns the points of every op by its kind (real, binary, ternary, complex) and name."""
    ops.load_all()
    rows: dict[tuple[str, str], list[list[str]]] = defaultdict(list)
    with gzip.open(REFERENCES, "rt") as file:
        for line in file:
            kind, name, *fields = line.split()
            if kind != "vector":  # these belong to `range_ends_composites.py`
                rows[kind, name].append(fields)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # for results that overflow even a long double
        return {key: _read(key[0], fields) for key, fields in rows.items()}


def _read(kind: str, rows: list[list[str]]) -> Points:
    columns = list(zip(*rows, strict=True))
    arity = {"real": 1, "binary": 2, "ternary": 3, "complex": 2}[kind]
    xs = [np.array(list(map(float.fromhex, column))) for column in columns[:arity]]
    numbers = [None if column[0] == "-" else np.array(column, np.longdouble) for column in columns[arity:]]
    if kind == "real":
        (x,), (f, slope, bend, third) = xs, numbers
        return Points((x,), (f, slope, bend), (abs(x * slope), abs(x * bend), third))
    if kind == "complex":
        real, imag, slope_real, slope_imag, condition = numbers
        z, f, slope = xs[0] + 1j * xs[1], real + 1j * imag, slope_real + 1j * slope_imag
        return Points((z,), (f, slope), (abs(z) * abs(slope), condition))
    f, *slopes = numbers[: arity + 1]
    condition = sum(abs(x * slope) for x, slope in zip(xs, slopes, strict=True) if slope is not None)
    return Points(tuple(xs), (f, *slopes), (condition, *numbers[arity + 1 :]))


@functools.cache
def cases() -> list[tuple[str, str, str]]:
    """Returns every op in every dtype, in an order that mixes cheap and expensive ones."""
    found = [
        (kind, name, dtype) for kind, name in sorted(references())
        for dtype in (COMPLEX_DTYPES if kind == "complex" else REAL_DTYPES)
    ]  # fmt: skip
    random.Random(0).shuffle(found)
    return found


def disagreements(seed: int) -> list[str]:
    """Checks one op in one dtype and one mode at all its points; all seeds together cover every case in every mode."""
    return compare(*cases()[seed % len(cases())], mode_of(seed, len(cases())), random.Random(seed))


def mode_of(seed: int, count: int) -> str:
    """Returns the mode in which a seed runs one of `count` cases: in turns, so that every case runs in every mode."""
    repetition, index = divmod(seed, count)
    modes = ["eager", "function"] + ["xla"] * (importlib.util.find_spec("jax") is not None)
    return modes[(index + repetition) % len(modes)]


def compare(kind: str, name: str, dtype: str, mode: str, rng: random.Random, least: int = 0) -> list[str]:
    """Reports every result of `least` numbers or more that is not exact within the accuracy of the dtype and the op."""
    points = references()[kind, name]
    points = points.at(np.logical_and.reduce([representable(x, dtype, mode) for x in points.arguments]))
    count = len(points.arguments[0])
    if not count:
        return []
    # A kernel may use another formula for many numbers, and another loop for strided numbers.
    copies = -(-(least or (4096 if rng.random() < 0.2 else 1)) // count)
    points = points.at(rng.sample(range(count), count))
    gap = rng.choice([1, 1, 2]) if not least else 1
    numbers = [x.astype(getattr(tf, dtype).as_numpy_dtype) for x in points.arguments]
    arrays = [np.repeat(np.tile(x, copies), gap)[::gap] for x in numbers]
    wanted = [exact is not None for exact in points.exact]
    results = _run(name, arrays, mode, wanted, second=kind == "real")
    title, found = f"{mode} {dtype} {name}", []
    with np.errstate(all="ignore"):
        for result, got in enumerate(results):
            if got is None:
                continue
            # Most copies have the same bits: a kernel treats only the last numbers of an array in another way.
            for values in {y.tobytes(): y for y in got.reshape(copies, count)}.values():
                right = _agree(name, COMPLEX_DTYPES.get(dtype, dtype), mode, result, values, points)
                for i in np.flatnonzero(~right):
                    arguments = ", ".join(repr(x[i].item()) for x in points.arguments)
                    exact = points.exact[result][i].astype(complex if kind == "complex" else float).item()
                    found.append(f"{title}({arguments}), result {result}: {values[i].item()!r}, expected {exact!r}")
    return found[:20]


def representable(x: Any, dtype: str, mode: str) -> Any:
    """Returns which numbers the dtype represents. XLA flushes subnormals, unless it computes in a wider dtype."""
    with np.errstate(over="ignore"):
        same = x.astype(getattr(tf, dtype).as_numpy_dtype).astype(np.complex128) == x
    if mode == "xla" and dtype != "float16":
        smallest = 2.0 ** REAL_DTYPES[COMPLEX_DTYPES.get(dtype, dtype)][1]
        for part in (x.real, x.imag):
            same &= (part == 0) | (abs(part) >= smallest)
    return same


def _run(name: str, arrays: list[Any], mode: str, wanted: list[bool], second: bool) -> list[Any]:
    """Returns the value and the derivatives for each argument, or the second derivative for a single argument."""
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
        if mode == "function":  # the second call is the first one that runs the graph
            results = value_and_derivatives(*map(tf.constant, arrays))
        if [y is not None for y in results] != wanted:
            return [np.full(len(arrays[0]), np.nan)]
        is_complex = arrays[0].dtype.kind == "c"
        wide = [None if y is None else y.numpy().astype(np.complex128 if is_complex else np.float64) for y in results]
    return [y.conj() if is_complex and order and y is not None else y for order, y in enumerate(wide)]


def _agree(name: str, dtype: str, mode: str, order: int, got: Any, points: Points) -> Any:
    """Returns for each point whether the result is close enough."""
    bits, lowest, highest = REAL_DTYPES[dtype]
    epsilon, smallest, largest = 2.0**-bits, 2.0**lowest, 2.0**highest * (2 - 2.0**-bits)
    exact, value, x = points.exact[order], abs(points.exact[0]), abs(points.arguments[0]).astype(np.longdouble)
    is_complex = exact.dtype.kind == "c"
    exempt = np.zeros(len(x), bool)
    if order:
        exempt |= value > largest  # the rule starts from an infinite value
    if name in EARLY_OVERFLOW:
        exempt |= value > 1e-3 * largest
    if name == "pow" and order == 1:
        exempt |= x < smallest * POWER_BASE_LIMIT
    if name == "sigmoid_cross_entropy":
        exempt |= abs(np.prod(np.array(points.arguments, np.longdouble), axis=0)) > largest  # as in TensorFlow
    if is_complex:
        exempt |= abs(exact) > largest  # inf * 1j is NaN in NumPy
    size = abs(exact)
    if order and name in FROM_OUTPUT:
        size = np.maximum(size, np.maximum(1, x if order > 1 else 0))
    if order and name in DIFFERENCES:
        distance = np.maximum(abs(points.arguments[0] - DIFFERENCES[name]), 1e-4)
        factor = np.maximum(distance, 1 / distance) if order > 1 else 1
        size = np.maximum(np.maximum(size, value), 0.5) * factor
    roundings = ROUNDINGS + (INEXACT.get(name, 0) if order else 0)
    allowed = roundings * epsilon * (size + points.condition[order])
    # Results below the smallest normal number may be 0: XLA, and sometimes NumPy's exp, have no subnormal numbers.
    allowed = allowed + 4 * smallest * np.maximum(1, x if name in FROM_OUTPUT else 0)
    if (name, order) in LESS_THAN_DOUBLE:
        allowed = allowed + LESS_THAN_DOUBLE[name, order] * size
    if mode == "xla" and name in ("igamma", "igammac", "betainc", "zeta", "polygamma"):
        # XLA's have the density for a factor, as the exponential of a large logarithm, or are 1 less the other one;
        # subnormal numbers are 0 there.
        of_size, of_one = 1e-12 if name == "betainc" else 2e-11, 1e-13 if name == "igammac" else 0
        if name == "betainc" and not order:  # near 1, it is 1 less the exponential of a logarithm of 7 or more
            a, b, share = points.arguments
            of_one = np.where(share < (a + 1) / (a + b + 2), 0, 2e-14)
        allowed = allowed + of_size * size + 1024 * smallest + of_one
    if mode == "xla" and name.startswith("bessel_k"):
        exempt |= abs(exact) > largest / 8  # JAX's overflow slightly early
    if mode == "xla" and name == "pow" and order == 2:
        allowed = allowed + np.where(value < smallest, 1024 * smallest, 0)  # a**b, subnormal, times log(a)
    overflow = abs(exact) + allowed > largest
    near = np.isfinite(got) & (abs(got - exact) <= allowed)
    if is_complex and name in BY_PARTS and not order:  # near 0 both parts are as accurate as real numbers
        z = points.arguments[0]
        limit = ROUNDINGS * epsilon * (abs(exact.real) + abs(z.real) + z.imag**2) + 4 * smallest
        part_limit = ROUNDINGS * epsilon * abs(exact.imag) + 4 * smallest
        by_parts = (abs(got.real - exact.real) <= limit) & (abs(got.imag - exact.imag) <= part_limit)
        near &= by_parts | (x > 0.1)
    of_the_same_sign = np.bool_(is_complex or order > 1) | (~np.isnan(got) & (np.sign(got.real) == np.sign(exact.real)))
    return exempt | np.where(overflow, of_the_same_sign, near)

"""Every op's samples at every size with its own code path: large arrays give the results of small ones, repeated.

Elementwise ops run on repeated rows, with every way of broadcasting their second argument, on magnitudes from 1e-30 to
1e30; eagerly, and in a function, whose first call takes another path. At the ends of each dtype's range, and for
infinity, NaN and signed zeros, results and two derivatives of large arrays are compared with those of small ones, and
with the exact numbers of `fuzz/range_ends.py`. GRADTAPE_ALL_TIERS=1 covers every size, dtype, the third call, and XLA.
"""

import os
import random
import warnings
import zlib

import numpy as np
import pytest
from fuzz import range_ends

import gradtape as tf
from gradtape import ops
from gradtape.core import dtypes
from gradtape.engine.registry.op import Op, registry
from gradtape.ops.elementwise import special

ops.load_all()
ALL = bool(os.environ.get("GRADTAPE_ALL_TIERS"))
COLUMNS, ROWS = 64, 4  # of the repeated part: fewer elements than any size with another code path
# Rows of 64 from which formulas replace slow functions, steps run in place, runs of steps are fused into blocks,
# and work is parallelized.
TIERS = [16, 128, 1 << 9, 1 << 11, 1 << 12] if ALL else [1 << 9, 1 << 12]

TOO_SLOW = {"random_gamma_grad", "igamma_by_a"}  # milliseconds per number, and more for unusual magnitudes
ELEMENTWISE = [
    op for op in registry.values()
    if op.family == "elementwise" and op.kinds & dtypes.FLOAT and not op.random
    and all(isinstance(shape, tuple) for shape in op.samples[0].inputs)
    and not op.shaped_by_values and op.name not in TOO_SLOW
]  # fmt: skip


def derived(op, attrs, cotangent):
    """Returns a function from tensors to the op's value and the derivatives for each argument."""

    def f(*xs):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = op(*xs, **attrs)
        if not y.dtype.is_floating or op.vjp is None:
            return [y, *[None] * len(xs)]
        return [y, *tape.gradient(y, list(xs), cotangent)]

    return f


def magnitudes(op, shape, number, wild):
    """Returns an argument of the op: in its domain or, if wild, with magnitudes from 1e-30 to 1e30."""
    rng = np.random.default_rng([zlib.crc32(op.name.encode()), number])
    low, high = op.samples[0].domain or op.domain
    x = rng.uniform(low, high, shape)
    if wild:
        x = x * 10.0 ** rng.uniform(-30, 30, shape)
    return x.astype(np.float32)


def assert_close(got, want, absolute, error):
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want), err_msg=error)
    with np.errstate(invalid="ignore", over="ignore"):
        at_edge = (np.abs(want) > 1e38) | (np.abs(got) > 1e38)
        far = (np.abs(got - want) > 2e-4 * np.abs(want) + absolute + 1e-37) & (got != want) & ~np.isnan(want) & ~at_edge
    assert not far.any(), f"{error}: {got[far][:3]} instead of {want[far][:3]}"


def run(f, xs, way):
    if way == "eager":
        return f(*xs)
    compiled = tf.function(f, jit_compile=way == "xla")
    compiled(*xs)
    if ALL:
        compiled(*xs)
    return compiled(*xs)


SLOW = {op.name for op in vars(special).values() if isinstance(op, Op)}


def tiers(op, whole, wild):
    """Returns the sizes worth testing: SciPy's functions are slow, and have one code path."""
    if ALL:
        return TIERS
    return TIERS[:1] if op.name in SLOW or wild else TIERS if whole else TIERS[1:]


# Cases in which the formula, XLA's kernel (`lgamma`) or the derivative's (1 - y²) is accurate relative to 1, not to
# the result, as in TensorFlow.
ABSOLUTE = {"ndtr": 1e-6, "gelu": 1e-6, "gelu_slope": 1e-6, "lgamma": 2e-6, "tanh": 1e-6, "sigmoid": 1e-6}


@pytest.mark.parametrize("wild", [False, True], ids=["tame", "wild"])
@pytest.mark.parametrize("op", ELEMENTWISE, ids=lambda op: op.name)
def test_elementwise(op, wild):
    count, attrs = len(op.samples[0].inputs), op.samples[0].attrs
    stretchings = [(ROWS, COLUMNS), (COLUMNS,), (), (ROWS, 1)] if count == 2 and not wild else [(ROWS, COLUMNS)]
    for stretched in stretchings:
        shapes = [(ROWS, COLUMNS), stretched, (ROWS, COLUMNS)][:count]
        xs = [magnitudes(op, shape, i, wild) for i, shape in enumerate(shapes)]
        g = magnitudes(op, (ROWS, COLUMNS), 9, False)
        want = derived(op, attrs, tf.constant(g))(*map(tf.constant, xs))
        for rows in tiers(op, stretched == (ROWS, COLUMNS), wild):
            times = rows // ROWS
            many = [tf.constant(np.tile(x, (times, 1)) if x.ndim == 2 else x) for x in xs]
            cotangent = tf.constant(np.tile(g, (times, 1)))
            for way in ("eager", "function", "xla") if ALL else ("eager", "function"):
                got = run(derived(op, attrs, cotangent), many, way)
                for i, (y, z) in enumerate(zip(got, want, strict=True)):
                    error = f"{op.name}, {rows} rows, {way}, {f'derivative {i}' if i else 'value'}, second {stretched}"
                    assert (y is None) == (z is None), error
                    if y is not None:
                        terms = slopes(op, attrs, xs, g, i) if i and z.dims != g.shape else None
                        y, z = np.asarray(y), np.asarray(z)
                        if i and wild and way == "xla":
                            # XLA flushes subnormal values, and the derivative may be a large multiple of them.
                            flushed = np.abs(np.asarray(want[0])) < 1.2e-38
                            z = np.where(flushed, y[:ROWS], z)
                        assert_repeated(y, z, times, terms, ABSOLUTE.get(op.name, 0.0), error)


def assert_repeated(y, z, times, terms, absolute, error):
    """Asserts that `y` is `z` repeated; summed if it belongs to an argument that all rows share."""
    if y.dtype.kind in "biu":
        np.testing.assert_array_equal(y, np.tile(z, (times, 1)), err_msg=error)
    elif terms is None:
        assert_close(y, np.tile(z, (times, 1)), absolute, error)
    elif z.ndim == 2:
        assert_close(y, np.tile(z, (times, 1)), 2e-5 * np.tile(terms.sum(1, keepdims=True), (times, 1)), error)
    else:
        assert_close(y, z * times, 2e-5 * terms.sum(0 if z.ndim else None) * times, error)


def slopes(op, attrs, xs, g, i):
    """Returns the magnitudes of the terms of the derivative for argument `i`, which was broadcast."""
    full = [tf.constant(np.broadcast_to(x, g.shape).copy()) for x in xs]
    slope = derived(op, attrs, tf.constant(g))(*full)[i]
    return np.zeros_like(g) if slope is None else np.abs(np.asarray(slope))


# Numbers from which PyTorch computes formulas, functions, and derivatives; and from which everything is parallelized.
SIZES = [1 << 14, 1 << 15, 1 << 17, (1 << 18) + 5] if ALL else [(1 << 18) + 5]


@pytest.mark.parametrize(("kind", "name"), sorted(range_ends.references()))
def test_the_ends_of_the_range_of_large_arrays(kind, name):
    """Values and derivatives, as exact as those of few numbers: see `test_the_ends_of_the_range_of_every_dtype`."""
    every = range_ends.COMPLEX_DTYPES if kind == "complex" else range_ends.REAL_DTYPES
    for dtype in every if ALL else [d for d in every if d in ("float32", "complex64")]:
        for size in [1 << 12] if name in SLOW else SIZES:
            for mode in ("eager", "function") if ALL else ("eager",):
                assert range_ends.compare(kind, name, dtype, mode, random.Random(0), size) == []


def unusual(dtype, few):
    """Returns the ends of a dtype's range, neighbors of 1, arguments at which functions overflow, infinity and NaN."""
    if dtype == "bool":
        return np.array([False, True])
    numpy_dtype = getattr(tf, dtype).as_numpy_dtype
    if dtype not in range_ends.REAL_DTYPES and dtype not in range_ends.COMPLEX_DTYPES:
        low, high = np.iinfo(numpy_dtype).min, np.iinfo(numpy_dtype).max
        return np.array([low, low + 1, 0, 1, 2, 3, 7, high - 1, high], numpy_dtype)
    bits, lowest, highest = range_ends.REAL_DTYPES[range_ends.COMPLEX_DTYPES.get(dtype, dtype)]
    step, smallest, largest = 2.0**-bits, 2.0**lowest, 2.0**highest
    some = [0.0, smallest, 1.0, 5.0, 89.0, largest * (2 - step), np.inf]
    if not few:
        some += [smallest * step, smallest / 2, smallest**0.5, step, 1 - step / 2, 1 + step, 0.5, 2.0, 3.0, 8.0, 11.0]
        some += [17.0, 20.0, 40.0, 88.0, 104.0, 700.0, 710.0, 745.0, 1e4, 1 / step, largest**0.5, largest]
    with np.errstate(over="ignore"):
        x = np.array([*some, *[-number for number in some], np.nan])
        if dtype not in range_ends.COMPLEX_DTYPES:
            return x.astype(numpy_dtype)
        z = np.empty((len(x[::2]), len(x)), numpy_dtype)
        z.real, z.imag = x[::2, None], x
        return z.ravel()


def with_two_derivatives(op, attrs):
    """Returns a function from tensors to the op's value, and its first and second derivatives."""

    def f(*xs):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(xs)
            with tf.GradientTape() as inner:
                inner.watch(xs)
                y = op(*xs, **attrs)
            if op.vjp is None or not (y.dtype.is_floating or y.dtype.is_complex):
                return [y]
            slopes = inner.gradient(y, xs)
        return [y, *slopes, *[g for slope in slopes if slope is not None for g in outer.gradient(slope, xs)]]

    return f


def distances(got, want, least=0.0):
    """Returns how many units in the last place numbers are apart; infinity if one of them is none.

    Below `least`, or the smallest normal number, units are those of that number. Complex numbers are compared by their
    modulus; if it is not finite, it depends on the order of multiplications which part is infinite, and which is NaN.
    """
    dtype = {"V": "bfloat16", "c": "float32" if got.dtype.itemsize == 8 else "float64"}.get(got.dtype.kind)
    bits, lowest, _ = range_ends.REAL_DTYPES[dtype or got.dtype.name]
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    a, b = got.astype(wide), want.astype(wide)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if wide is np.complex128:
        same |= ~np.isfinite(a) & ~np.isfinite(b)
    units = np.maximum(np.maximum(abs(a), abs(b)), max(least, 2.0**lowest)) * 2.0**-bits
    apart = np.where(same, 0.0, abs(a - b) / units)
    return np.where(np.isnan(apart), np.inf, apart)


UNUSUAL_DTYPES = ["float32", "int32", "complex64"]
if ALL:
    UNUSUAL_DTYPES += ["float16", "bfloat16", "float64", "complex128", "int8", "uint8", "int16", "int64", "bool"]
EVERY_ELEMENTWISE = [
    op for op in registry.values()
    if op.family == "elementwise" and not op.random and not op.shaped_by_values and op.name not in TOO_SLOW
]  # fmt: skip
UNITS = 8.0
# Units by which large arrays may differ, where a unit of the result or of x² is amplified: exp(y²), exp(-x²/2).
AMPLIFIED = {"erfinv": 64.0, "gelu": 256.0, "gelu_tanh": 256.0, "gelu_slope": 64.0, "gelu_tanh_slope": 64.0}
# A derivative is a multiple of 1 / x, which is infinite for the smallest numbers: large arrays are divided by x.
RECIPROCALS = {"pow", "gamma_density"}


@pytest.mark.parametrize("op", EVERY_ELEMENTWISE, ids=lambda op: op.name)
def test_unusual_numbers(op):
    attrs, count = op.samples[0].attrs, len(op.args)
    f = with_two_derivatives(op, attrs)
    for dtype in UNUSUAL_DTYPES:
        columns = [unusual(dtype, few=count > 1)] * count
        if op.name in ("masked", "where"):
            columns[0] = unusual("bool", False)
        xs = [x.ravel() for x in np.meshgrid(*columns)]
        if op.name in RECIPROCALS and xs[0].dtype.kind == "f":
            subnormal = np.logical_or.reduce([(x != 0) & (abs(x) < np.finfo(x.dtype).tiny) for x in xs])
            xs = [x[~subnormal] for x in xs]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                small = f(*map(tf.constant, xs))
            except (TypeError, ValueError, tf.errors.InvalidArgumentError):  # not for this dtype, or for zero
                continue
            for size in [1 << 12] if op.name in SLOW else SIZES:
                many = [tf.constant(np.tile(x, -(-size // len(x)))) for x in xs]
                for way in ("eager", "function") if ALL else ("eager",):
                    for i, (got, want) in enumerate(zip(run(f, many, way), small, strict=True)):
                        assert (got is None) == (want is None)
                        if got is not None:
                            error = f"{way}, {dtype}, {size} numbers, result {i}"
                            # These lose all digits where the output is saturated, as in TensorFlow.
                            least = 1.0 if i and op.name in range_ends.FROM_OUTPUT else 0.0
                            limits = AMPLIFIED.get(op.name, UNITS), least
                            assert_same_numbers(np.asarray(got), np.asarray(want), xs, *limits, error)


def assert_same_numbers(got, want, xs, units, least, error):
    """Asserts that all copies of a small array's results agree with it: most copies have the same bits."""
    want = np.broadcast_to(want, xs[0].shape)
    for row in {y.tobytes(): y for y in got.reshape(-1, want.size)}.values():
        wrong = np.flatnonzero(row != want if row.dtype.kind in "biu" else distances(row, want, least) > units)
        cases = [f"{[x[i].item() for x in xs]}: {row[i].item()} instead of {want[i].item()}" for i in wrong[:3]]
        assert not cases, f"{error}: {cases}"

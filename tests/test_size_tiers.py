"""Every op's samples at every size with its own code path: large arrays give the results of small ones, repeated.

Elementwise ops run on repeated rows, with every way of broadcasting their second argument, on magnitudes from 1e-30 to
1e30; eagerly, and in a function, whose first call takes another path. GRADTAPE_ALL_TIERS=1 covers every size, the third
call, and XLA.
"""

import os
import zlib

import numpy as np
import pytest

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

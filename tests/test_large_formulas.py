"""Elementwise ops on large arrays: values and derivatives in blocks are those of the kernels on whole arrays."""

import threading

import numpy as np
import pytest
from small_graphs import registry

import gradtape as tf
from gradtape.backends.numpy import blocks, programs
from gradtape.backends.torch.library import IS_ENABLED
from gradtape.backends.tuning import LARGE
from gradtape.core.dtypes import FLOAT
from gradtape.engine.registry.formula import compile_blocks, trace_formula

pytestmark = pytest.mark.skipif(IS_ENABLED, reason="PyTorch has kernels of its own")
FEWER = 30000  # elements of the pieces of an array, which are few, but have the same formula


def is_fast(op):
    """Whether an op has a fast path, and a formula without SciPy's functions."""
    if op.family != "elementwise" or op.first is None or not op.kinds & FLOAT:
        return False
    formula = trace_formula(op.numpy, [np.dtype(np.float32)] * len(op.args))
    return formula is not None and all(getattr(np, step.function.__name__, None) for step in formula.steps)


OPS = [op for op in registry.values() if is_fast(op)]


def spread_out(op, size, dtype, rng):
    """Numbers of the op's domain, some of them at the ends of the range."""
    low, high = op.domain
    x = rng.uniform(low, high, size)
    x[:7] = (low, high, 0.0, -0.0, np.inf, -np.inf, np.nan)
    return rng.permutation(x).astype(dtype)


def value_and_gradients(op, arrays, cotangent):
    xs = [tf.constant(x) for x in arrays]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = op(*xs)
    gradients = tape.gradient(y, xs, None if cotangent is None else tf.constant(cotangent))
    return [y.numpy(), *[g.numpy() for g in gradients if g is not None]]


def check(op, arrays, cotangent):
    """Compares the results for large arrays with those for their pieces."""
    found = value_and_gradients(op, arrays, cotangent)
    for piece in np.array_split(np.arange(len(arrays[0])), len(arrays[0]) // FEWER):
        expected = value_and_gradients(op, [x[piece] for x in arrays], None if cotangent is None else cotangent[piece])
        for y, of_part in zip(found, expected, strict=True):
            assert y.dtype == of_part.dtype, op.name
            np.testing.assert_array_equal(y[piece], of_part, err_msg=op.name)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_values_and_gradients_are_those_of_pieces(dtype, monkeypatch):
    monkeypatch.setattr(blocks, "CORES", 3)
    rng = np.random.default_rng(0)
    for op in OPS:
        size = LARGE + int(rng.integers(0, FEWER))
        monkeypatch.setattr(programs, "BLOCK_BYTES", int(rng.integers(1 << 15, 1 << 18)))
        arrays = [spread_out(op, size, dtype, rng) for _ in op.args]
        cotangent = rng.standard_normal(size).astype(dtype) if op.name < "m" else None
        check(op, arrays, cotangent)


def test_rows_columns_and_numbers_beside_large_arrays():
    rng = np.random.default_rng(0)
    shapes = [(64,), (1, 64), (1, 3, 64), (LARGE // 64 // 3 + 1, 3, 1), (3, 1), (LARGE // 64 // 3 + 1, 1, 1), ()]
    for op in OPS:
        if len(op.args) == 2:
            x = rng.uniform(*op.domain, (LARGE // 64 // 3 + 1, 3, 64)).astype(np.float32)
            other = rng.uniform(*op.domain, shapes[int(rng.integers(len(shapes)))]).astype(np.float32)
            for a, b in ((x, other), (other, x)):
                found, *gradients = value_and_gradients(op, (a, b), None)
                np.testing.assert_array_equal(found, op.numpy(a, b), err_msg=op.name)
                terms = value_and_gradients(op, np.broadcast_arrays(a, b), None)[1:]
                for gradient, of_terms, argument in zip(gradients, terms, (a, b), strict=True):
                    kept = (1,) * (3 - argument.ndim) + argument.shape
                    axes = tuple(np.flatnonzero(np.less(kept, x.shape)))
                    expected = of_terms.sum(axes, np.float64).reshape(argument.shape)
                    bound = 1e-4 * abs(of_terms).sum(axes).max()
                    np.testing.assert_allclose(gradient, expected, 1e-4, bound, err_msg=op.name)


def random_operand(rng, shape, dtype):
    """An array that broadcasts to `shape`: some axes are missing, of size 1, repeated, reversed or transposed."""
    whole = tuple(n if rng.random() < 0.7 else 1 for n in shape)
    x = rng.standard_normal(whole[rng.integers(0, len(shape) + 1) if rng.random() < 0.3 else 0 :]).astype(dtype)
    layouts = [lambda x: np.broadcast_to(x, shape), np.asfortranarray, lambda x: x[::-1] if x.ndim else x[()]]
    return layouts[rng.integers(3)](x) if rng.random() < 0.5 else x


def test_random_layouts(monkeypatch):
    rng, count = np.random.default_rng(0), 0
    monkeypatch.setattr(blocks, "LARGE", 48)
    for _ in range(1000):
        op, dtype = OPS[rng.integers(len(OPS))], np.dtype(rng.choice(["f2", "f4", "f8"]))
        shape = tuple(rng.choice([1, 2, 3, 5, 8], rng.integers(0, 5)).tolist())
        monkeypatch.setattr(blocks, "CORES", int(rng.integers(1, 4)))
        monkeypatch.setattr(blocks, "REPEATED_ROW", int(rng.choice([1, 8, 64])))
        monkeypatch.setattr(programs, "BLOCK_BYTES", int(rng.integers(8, 300)))
        arrays = [random_operand(rng, shape, dtype) for _ in op.args]
        with np.errstate(all="ignore"):
            program = compile_blocks(trace_formula(op.numpy, [dtype] * len(arrays)), dtype) or blocks.into(op.numpy)
            found, expected = blocks.run(program, arrays, dtype), op.numpy(*arrays)
        if found is not None:
            count += 1
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype), op.name
            np.testing.assert_allclose(found, expected, 1e-5, 1e-6, err_msg=op.name)  # few numbers have other formulas
    assert count > 300


def test_cotangents_of_sums():
    x = np.random.default_rng(0).standard_normal((LARGE // 60 + 1, 5, 12)).astype(np.float32)
    for axis in (None, 0, 1, 2, (0, 1), (1, 2)):
        with tf.GradientTape() as tape:
            t = tf.Variable(x)
            y = tf.reduce_sum(tf.sin(tf.reduce_sum(tf.tanh(t), axis)))
        slope = np.cos(np.tanh(x).sum(axis, keepdims=True)) * (1 - np.tanh(x) ** 2)
        np.testing.assert_allclose(tape.gradient(y, t), slope, atol=1e-2 if axis in (None, 0, (0, 1)) else 1e-5)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["gelu", "gelu_tanh", "silu"])
def test_slopes_that_tapes_keep_are_those_they_compute(name, dtype):
    op, rng = registry[name], np.random.default_rng(0)
    values = (rng.standard_normal(2 * LARGE) * 4).astype(dtype)
    for x in (values[:LARGE], values[-2:30000:-1], values[::16].reshape(-1, 8), values[:8], values[:0], values[0]):
        x, g = tf.constant(x), rng.standard_normal(x.shape).astype(dtype)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                expected = op(x)
            first = inner.gradient(expected, x, tf.constant(g))
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = op(x)
        is_kept = dtype == np.float32 and x.numpy().size > 30000
        assert any(isinstance(saved, tuple) and saved[-1] is not None for saved in tape._log.saved) == is_kept
        with tf.GradientTape() as above:
            above.watch(x)
            again = tape.gradient(y, x, tf.constant(g))
        assert again.dtype == y.dtype == dtype
        tolerance = {"rtol": 1e-5, "atol": 2e-6} if dtype != np.float16 else {"rtol": 2e-2, "atol": 1e-2}
        second, kept = outer.gradient(first, x), tape.gradient(y, x, tf.constant(g))
        for found, wanted in ((y, expected), (kept, first), (again, first), (above.gradient(again, x), second)):
            np.testing.assert_allclose(found, wanted, **tolerance)


def test_several_threads_at_once():
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(LARGE + i).astype(np.float32) for i in range(4)]
    gelu = registry["gelu"]
    expected = [value_and_gradients(gelu, (x,), None) for x in arrays]
    found = [None] * len(arrays)

    def work(i):
        for _ in range(3):
            found[i] = value_and_gradients(gelu, (arrays[i],), None)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(arrays))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for ours, theirs in zip(found, expected, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_derivative_with_residuals_of_several_dtypes_uses_each_as_it_is():
    rng = np.random.default_rng(5)
    a, b = (tf.constant(rng.normal(size=LARGE + 3).astype(np.float32)) for _ in range(2))
    mask, cotangent = a > 0, tf.constant(rng.normal(size=LARGE + 3).astype(np.float32))
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = tf.where(mask, a, b)
    of_a, of_b = tape.gradient(y, [a, b], cotangent)
    np.testing.assert_array_equal(of_a, np.where(mask, cotangent, 0))
    np.testing.assert_array_equal(of_b, np.where(mask, 0, cotangent))

"""Reductions, scans and softmax where TensorFlow has no result, or a wrong one."""

import itertools
from functools import partial

import numpy as np
import pytest

import gradtape as tf


def gradient(f, x):
    x = tf.constant(x, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x).numpy()


def hessian(f, x):
    x = tf.constant(x, tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return outer.jacobian(g, x).numpy()


def _sum_of_cumprod(options, x):
    return tf.reduce_sum(tf.math.cumprod(x, **options))


@pytest.mark.parametrize("x", [[1.0, 2.0, 3.0], [0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
def test_second_derivative_of_a_product_with_zeros(x):
    a, b, c = x
    want = [[0, c, b], [c, 0, a], [b, a, 0]]
    np.testing.assert_allclose(hessian(tf.reduce_prod, x), want)


def test_product_that_underflows_or_overflows():
    np.testing.assert_allclose(gradient(tf.reduce_prod, [1e-200, 1e-200, 2.0]), [2e-200, 2e-200, 0.0])
    np.testing.assert_allclose(gradient(tf.reduce_prod, [np.inf, 2.0]), [2.0, np.inf])


def test_cumprod_with_zeros_is_differentiated_rightly():
    np.testing.assert_allclose(gradient(tf.math.cumprod, [0.0, 2.0, 3.0]), [9.0, 0.0, 0.0])
    np.testing.assert_allclose(gradient(tf.math.cumprod, [2.0, 0.0, 3.0]), [1.0, 8.0, 0.0])
    for options in ({"exclusive": True}, {"reverse": True}, {"exclusive": True, "reverse": True}):
        x = np.array([2.0, 0.0, 3.0, 5.0])
        f = partial(_sum_of_cumprod, options)
        step = 1e-6 * np.eye(4)
        numeric = [(float(f(tf.constant(x + e))) - float(f(tf.constant(x - e)))) / 2e-6 for e in step]
        np.testing.assert_allclose(gradient(f, x), numeric, rtol=1e-6, atol=1e-7)


def test_exclusive_cumulative_logsumexp_begins_below_everything():
    y = tf.math.cumulative_logsumexp([1.0, 2.0], exclusive=True).numpy()
    assert y[0] < -1e38 and y[1] == 1.0
    found = gradient(lambda x: tf.math.cumulative_logsumexp(x, exclusive=True)[1:], [1.0, 2.0])
    np.testing.assert_allclose(found, [1, 0])


def test_softmax_of_a_scalar():
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one dimension"):
        tf.nn.softmax(1.0)


@pytest.mark.parametrize("shape", [(70, 5), (3, 40, 7), (4, 33), (20000, 10)])
def test_short_rows_take_another_way_to_the_same_values(shape):
    x = np.random.default_rng(0).normal(size=shape)
    e = np.exp(x - x.max(-1, keepdims=True))
    np.testing.assert_allclose(tf.nn.softmax(x).numpy(), e / e.sum(-1, keepdims=True), rtol=1e-12)
    np.testing.assert_array_equal(tf.reduce_max(x, -1).numpy(), x.max(-1))
    np.testing.assert_array_equal(tf.reduce_min(x, -1, keepdims=True).numpy(), x.min(-1, keepdims=True))
    np.testing.assert_allclose(tf.reduce_sum(x, -1).numpy(), x.sum(-1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tf.nn.log_softmax(x).numpy(), np.log(e / e.sum(-1, keepdims=True)), rtol=1e-10)


def test_jacobian_of_softmax():
    x = tf.constant([[0.5, -1.0, 2.0]], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.softmax(x)
    p = y.numpy()[0]
    np.testing.assert_allclose(tape.jacobian(y, x).numpy()[0, :, 0], np.diag(p) - np.outer(p, p), atol=1e-15)


def test_variables_and_axes_that_are_variables():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    assert tf.reduce_sum(v, axis=np.int64(1)).numpy().tolist() == [3.0, 7.0]
    with tf.GradientTape() as tape:
        y = tf.norm(v, axis=0)
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), v.numpy() / y.numpy(), rtol=1e-6)


LARGE_SUMS = [
    ((300, 5), (0,)), ((3, 400), (0,)), ((40, 40, 2), (1,)), ((40, 40, 2), (0, 1)), ((300, 3, 4), (1,)),
    ((300, 3, 4), (1, 2)), ((20, 8, 4, 3), (1, 2)), ((20, 8, 4, 3), (0, 2)), ((1, 500, 4), (1,)), ((1000, 2, 1), (1,)),
    ((600, 0, 4), (1,)), ((70, 70, 40), (1,)), ((30, 50), ()), ((9000, 8), (0,)), ((800, 2), (1,)), ((20, 30, 3), (2,)),
]  # fmt: skip


@pytest.mark.parametrize("shape, axis", LARGE_SUMS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_of_many_numbers_are_right_whichever_way_they_are_taken(shape, axis, dtype):
    x = np.random.default_rng(0).uniform(1, 2, shape).astype(dtype)
    if x.size:
        x[0, -1], x[-1, 0] = np.inf, np.nan
    turned = np.ascontiguousarray(x.T).T
    for keepdims in (False, True):
        expected = x.astype("float64").sum(axis=axis, keepdims=keepdims)
        for given in (x, turned):
            y = tf.reduce_sum(given, axis=list(axis), keepdims=keepdims)
            assert y.dtype == dtype
            np.testing.assert_allclose(y, expected, rtol=1e-5 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("dtype, far", [("float32", 3e4), ("float16", 40.0)])
def test_the_gradient_of_logsumexp_far_from_zero_is_a_share_of_one(dtype, far):
    x = tf.constant(np.random.default_rng(0).normal(size=(4, 6)) + far, dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_logsumexp(x, axis=1)
    found = tape.gradient(y, x)
    np.testing.assert_allclose(tf.cast(found, tf.float64), tf.nn.softmax(tf.cast(x, tf.float64)), rtol=2e-3)
    np.testing.assert_allclose(tf.reduce_sum(found, axis=1), 1.0, rtol=2 * np.finfo(dtype).eps)


@pytest.mark.parametrize("shape", [(2, 3), (300, 200)], ids=str)
@pytest.mark.parametrize("name", "all any euclidean_norm logsumexp max mean min prod std sum variance".split())
def test_a_reduction_along_no_axes(name, shape):
    """Whatever the size, it is that of single numbers: so are its value, gradient and second derivative."""
    reduce = getattr(tf.math, f"reduce_{name}")
    if name in ("all", "any"):
        assert reduce(tf.ones(shape, tf.bool), axis=[]).shape == shape
        return

    def derivatives(x, axis):
        with tf.GradientTape() as outer, tf.GradientTape() as tape:
            outer.watch(x)
            tape.watch(x)
            y = reduce(x, axis=axis)
            slope = tape.gradient(tf.square(y) * tf.math.exp(0.1 * y), x)
        return [tf.reshape(z, shape) for z in (y, slope, outer.gradient(slope, x, unconnected_gradients="zero"))]

    x = tf.constant(np.random.default_rng(0).uniform(0.5, 2, shape), tf.float64)
    for found, expected in zip(derivatives(x, []), derivatives(x[..., None], -1), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32"])
def test_sums_along_any_axes_of_any_layout(dtype):
    rng = np.random.default_rng(0)
    short = (512, 64), (64, 256), (8, 2000), (5000, 3), (0, 5), (5, 0)
    shapes = (*short, (16, 9, 9), (3, 40, 40), (1, 300, 7), (2, 3, 4, 100))
    for shape in shapes:
        a = (4 * rng.normal(size=shape)).astype(dtype)
        for x in (a, a.T, a[::-1], np.broadcast_to(a[:1], shape) if shape[0] else a):
            for count in range(1, x.ndim + 1):
                for axis in itertools.combinations(range(x.ndim), count):
                    for keepdims in (False, True):
                        expected = x.astype(np.result_type(dtype, np.float64)).sum(axis, keepdims=keepdims)
                        found = tf.reduce_sum(tf.constant(x), axis, keepdims).numpy()
                        assert found.dtype == dtype and found.shape == expected.shape
                        rtol = 1e-10 if dtype == "float64" else 1e-4
                        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * 4 * a.size**0.5)


def test_shared_ones_are_not_changed():
    x = tf.Variable(np.ones((300, 1), np.float32))
    with tf.GradientTape() as tape:
        y = tf.ones((300, 20)) * 3.0 + x * 0.0
        z = tf.reduce_sum(y, 0)
    z.numpy()[...] = 7.0
    tape.gradient(z, x).numpy()[...] = 5.0
    assert (tf.reduce_sum(tf.ones((300, 20)), 0).numpy() == 300).all()

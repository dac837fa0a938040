"""Forward mode: what a ForwardAccumulator tracks, and how it composes with tapes and with itself."""

import gc
import logging
import weakref

import numpy as np
import pytest

import gradtape as tf
from gradtape.autodiff import ForwardAccumulator

X = tf.constant(3.0)
ONE = tf.constant(1.0)


def test_tensors_variables_and_nests():
    v = tf.Variable(2.0)
    with ForwardAccumulator({"a": X, "b": [v]}, {"a": tf.constant(1.0), "b": [tf.constant(10.0)]}) as acc:
        y, z = X * v, X + 1.0
    found = acc.jvp({"y": y, "z": (z, tf.constant(1.0))})
    assert float(found["y"]) == 2.0 + 30.0 and float(found["z"][0]) == 1.0 and found["z"][1] is None


def test_jvp_of_the_primal_and_before_entering():
    acc = ForwardAccumulator(X, tf.constant(7.0))
    assert acc.jvp(X) is None
    with acc:
        assert float(acc.jvp(X)) == 7.0


def test_unconnected():
    with ForwardAccumulator(X, ONE) as acc:
        y = tf.constant([1.0, 2.0])
    assert acc.jvp(y) is None
    assert acc.jvp(y, unconnected_gradients=tf.UnconnectedGradients.ZERO).numpy().tolist() == [0.0, 0.0]


def test_a_tangent_has_the_shape_of_its_primal():
    with pytest.raises(ValueError, match=r"shape of its primal, \(\), got \(2,\)"):
        ForwardAccumulator(X, tf.constant([1.0, 2.0]))
    with pytest.raises(ValueError, match="shape of its primal"):
        ForwardAccumulator(tf.ones([2]), ONE)


def test_a_tangent_has_the_dtype_of_its_primal():
    with pytest.raises(ValueError, match="Tensor conversion requested dtype float32 for Tensor with dtype float64"):
        ForwardAccumulator(X, tf.constant(1.0, tf.float64))
    with ForwardAccumulator(X, np.float64(2.0)) as acc:
        y = X * X
    assert float(acc.jvp(y)) == 12.0


def test_the_same_primal_twice():
    with pytest.raises(ValueError, match=r"numpy=3.0> was specified as a primal multiple times"):
        ForwardAccumulator([X, X], [ONE, ONE])


def test_structures_must_agree():
    with pytest.raises(ValueError, match="The two structures don't have the same nested structure"):
        ForwardAccumulator([X, X * 1.0], [ONE])


def test_a_float_is_no_primal():
    with pytest.raises(AttributeError, match="'float' object has no attribute 'dtype'"):
        ForwardAccumulator(3.0, 1.0)


def test_an_int_primal_is_warned_about(caplog):
    with caplog.at_level(logging.WARNING, logger="gradtape"):
        with ForwardAccumulator(tf.constant(3), tf.constant(1)) as acc:
            y = tf.constant(3) * 2
    assert acc.jvp(y) is None
    assert "The dtype of the watched primal must be floating" in caplog.text


def test_entering_twice():
    with ForwardAccumulator(X, ONE) as acc:
        with pytest.raises(ValueError, match="Accumulator is already recording"):
            acc.__enter__()


def test_ops_after_the_block_are_not_tracked():
    with ForwardAccumulator(X, ONE) as acc:
        y = X * X
    z = y * y
    assert acc.jvp(z) is None
    assert float(acc.jvp(y)) == 6.0 and float(acc.jvp(y)) == 6.0


def test_an_exception_leaves_the_stack_clean():
    with pytest.raises(KeyError), ForwardAccumulator(X, ONE) as acc:
        raise KeyError
    assert acc.jvp(X * X) is None


def test_forward_over_reverse():
    with ForwardAccumulator(X, ONE) as acc:
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = X**3
        g = tape.gradient(y, X)
    assert float(acc.jvp(g)) == 18.0 and float(acc.jvp(y)) == 27.0


def test_reverse_over_forward():
    with tf.GradientTape() as tape:
        tape.watch(X)
        with ForwardAccumulator(X, ONE) as acc:
            y = X**3
        t = acc.jvp(y)
    assert float(tape.gradient(t, X)) == 18.0


def test_forward_over_forward():
    with ForwardAccumulator(X, ONE) as outer:
        with ForwardAccumulator(X, ONE) as inner:
            y = X**3
        t = inner.jvp(y)
    assert float(outer.jvp(t)) == 18.0 and float(outer.jvp(y)) == 27.0


@pytest.mark.parametrize(
    "f",
    [
        tf.exp, tf.tanh, tf.sqrt, tf.nn.softmax, tf.linalg.inv, tf.linalg.det, tf.math.reduce_std, tf.math.cumprod,
        lambda x: tf.reduce_logsumexp(x, axis=1), lambda x: tf.norm(x, axis=0), lambda x: 1 / x,
        lambda x: tf.linalg.cholesky(x @ tf.transpose(x)), lambda x: tf.scan(lambda a, b: tf.tanh(a * b), x),
        lambda x: tf.vectorized_map(lambda row: tf.exp(row) * tf.sqrt(row), x),
    ],
)  # fmt: skip
def test_second_derivatives_agree_in_every_order_of_modes(f):
    """The rules of these ops use the op's output, which the outer recorder must know by then."""
    x = tf.constant([[0.7, 0.3], [0.2, 0.9]], tf.float64)
    u, v = tf.constant([[1.0, -0.5], [0.2, 0.3]], tf.float64), tf.constant([[0.4, 1.0], [-0.7, 0.1]], tf.float64)

    def backward(g, x, along):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(x)
        return tf.reduce_sum(tape.gradient(y, x) * along)

    def forward(g, x, along):
        with tf.autodiff.ForwardAccumulator(x, along) as accumulator:
            y = g(x)
        return tf.reduce_sum(accumulator.jvp(y))

    expected = float(backward(lambda x: backward(f, x, u), x, v))
    for outer, inner in ((forward, backward), (backward, forward), (forward, forward)):
        assert float(outer(lambda x, inner=inner: inner(f, x, u), x, v)) == pytest.approx(expected, rel=1e-9)


def test_second_derivatives_inside_a_vectorised_map():
    def along(x):
        one = tf.ones_like(x)
        with tf.autodiff.ForwardAccumulator(x, one) as outer:
            with tf.autodiff.ForwardAccumulator(x, one) as inner:
                y = tf.exp(2 * x)
            first = inner.jvp(y)
        return outer.jvp(first)

    x = tf.constant([0.0, 0.5])
    np.testing.assert_allclose(tf.vectorized_map(along, x), 4 * np.exp(2 * x.numpy()), rtol=1e-6)


def test_forward_over_forward_over_reverse():
    with ForwardAccumulator(X, ONE) as outer:
        with ForwardAccumulator(X, ONE) as inner:
            with tf.GradientTape() as tape:
                tape.watch(X)
                y = X**4
            g = tape.gradient(y, X)
        t = inner.jvp(g)
    assert float(outer.jvp(t)) == 24 * 3.0


def test_hessian_vector_product_of_a_layer():
    rng = np.random.default_rng(0)
    w = tf.Variable(rng.normal(size=(3, 2)))
    x, u = tf.constant(rng.normal(size=(4, 3))), tf.constant(rng.normal(size=(3, 2)))

    def loss():
        return tf.reduce_sum(tf.tanh(x @ w) ** 2)

    with ForwardAccumulator(w, u) as acc:
        with tf.GradientTape() as tape:
            y = loss()
        g = tape.gradient(y, w)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = loss()
        total = tf.reduce_sum(tape.gradient(y, w) * u)
    np.testing.assert_allclose(acc.jvp(g), outer.gradient(total, w), rtol=1e-10)


def test_through_function_and_loops():
    f = tf.function(lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1])
    with ForwardAccumulator(X, ONE) as acc:
        y = f(X)
    assert float(acc.jvp(y)) == 4 * 27.0


def test_sign_has_a_zero_tangent():
    with ForwardAccumulator(X, ONE) as acc:
        y = tf.sign(X)
    assert float(acc.jvp(y)) == 0.0


def test_activations_are_not_kept():
    with ForwardAccumulator(X, ONE) as acc:
        inner = tf.exp(X)
        watch = weakref.ref(inner)
        y = inner * 2.0
        del inner
        gc.collect()
        assert watch() is None
    np.testing.assert_allclose(acc.jvp(y), 2 * np.exp(3.0), rtol=1e-6)


def test_an_assignment_carries_its_tangent():
    v = tf.Variable(3.0)
    with ForwardAccumulator(v, ONE) as acc:
        v.assign(v * v)
        y = v * 1.0
        v.assign(5.0)
        z = v * 1.0
    assert float(acc.jvp(y)) == 6.0
    assert acc.jvp(z) is None


def test_jvp_inside_vectorized_map():
    x = tf.constant([1.0, 2.0, 3.0])

    def slope(a):
        with ForwardAccumulator(a, tf.ones_like(a)) as acc:
            y = a**3
        return acc.jvp(y)

    assert tf.vectorized_map(slope, x).numpy().tolist() == [3.0, 12.0, 27.0]


def test_several_tangents_at_once():
    x = tf.constant([1.0, 2.0])

    def column(t):
        with ForwardAccumulator(x, t) as acc:
            y = x * x[0]
        return acc.jvp(y)

    jacobian = tf.transpose(tf.vectorized_map(column, tf.eye(2)))
    assert jacobian.numpy().tolist() == [[2.0, 0.0], [2.0, 1.0]]


def test_a_second_tangent_of_a_primal_is_added_to_the_first():
    x, v = tf.constant(-2.0), tf.Variable(3.0)
    with tf.autodiff.ForwardAccumulator([x, v], [3.0, 1.0]) as acc:
        acc._watch(x, tf.constant(10.0))
        acc._watch(v, tf.constant(1.0))
        y = x * v
    assert float(acc.jvp(x)) == 13
    assert float(acc.jvp(y)) == 13 * 3 + 2 * -2


@pytest.mark.parametrize("made_first", [True, False])
def test_a_batch_of_tangents(made_first):
    x, v = tf.constant([1.0, 2.0]), tf.Variable(0.5)
    tangents = [tf.constant([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), tf.constant([0.0, 2.0, 1.0])]
    acc = tf.autodiff.ForwardAccumulator._batch_accumulator([x, v], tangents) if made_first else None
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        acc = acc or tf.autodiff.ForwardAccumulator._batch_accumulator([x, v], tangents)
        with acc:
            y = tf.sin(x) * v
        jvps = acc.jvp(y)
    cos, sin = np.cos([1.0, 2.0]), np.sin([1.0, 2.0])
    expected = [0.5 * cos * t + sin * s for t, s in zip(tangents[0].numpy(), tangents[1].numpy(), strict=True)]
    np.testing.assert_allclose(jvps, expected, rtol=1e-6)
    slopes = [-0.5 * sin * t + cos * s for t, s in zip(tangents[0].numpy(), tangents[1].numpy(), strict=True)]
    np.testing.assert_allclose(tape.gradient(jvps, x), np.sum(slopes, axis=0), rtol=1e-5)
    np.testing.assert_array_equal(acc.jvp(x), tangents[0])
    assert acc.jvp(tf.constant(1.0)) is None


def test_a_batch_of_tangents_has_one_more_axis():
    with pytest.raises(ValueError, match="one more axis in front"):
        tf.autodiff.ForwardAccumulator._batch_accumulator(tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0]))


@pytest.mark.parametrize("dtypes", [("bfloat16", "float32"), ("float32", "float64"), ("float32", "complex64")])
def test_the_gradient_of_a_loop_of_several_dtypes(dtypes):
    """Its forward rule is the transpose of the reverse rule, which adds inner products of all arguments."""

    def loop(x, y):
        return tf.while_loop(
            lambda i, x, y: i < 3, lambda i, x, y: (i + 1, tf.sin(x), y * tf.cast(x, y.dtype)), (tf.constant(0), x, y)
        )[2]

    def product(x, y):
        with tf.autodiff.ForwardAccumulator([x, y], [tf.ones_like(x), tf.ones_like(y)]) as accumulator:
            with tf.GradientTape() as tape:
                tape.watch([x, y])
                z = loop(x, y)
            gradients = tape.gradient(z, [x, y])
        return [accumulator.jvp(g) for g in gradients]

    x, y = (tf.cast(tf.constant([0.5, 0.25]), dtype) for dtype in dtypes)
    for found, expected in zip(tf.function(product)(x, y), product(x, y), strict=True):
        tolerance = 2e-2 if "bfloat16" in dtypes else 1e-5
        np.testing.assert_allclose(tf.cast(found, tf.complex64), tf.cast(expected, tf.complex64), rtol=tolerance)

"""Second derivatives asked of one tape: the same as of two, and nothing is left of the question."""

import numpy as np
import pytest
from scipy import sparse

import gradtape as tf

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 2))


def energy(x):
    return tf.reduce_sum(tf.exp(x[:, 0] * x[:, 1]) + tf.sin(x[:, :1] @ tf.transpose(x[:, 1:])))


def chain(x):
    return tf.reduce_sum((x[1:] - x[:-1]) ** 4 + tf.cos(x[1:]))


def reference(function, at):
    x = tf.Variable(at)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = function(x)
        gradient = inner.gradient(y, x)
    return outer.jacobian(gradient, x).numpy()


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("options", [{}, {"persistent": True}, {"trace": True}], ids=str)
def test_a_hessian_from_one_tape(wrap, options):
    x = tf.Variable(X)
    with tf.GradientTape(**options) as tape:
        y = wrap(energy)(x)
    found = tape.hessian(y, x)
    assert found.shape == (3, 2, 3, 2)
    np.testing.assert_allclose(found, reference(energy, X), rtol=1e-9, atol=1e-12)


def test_a_sparse_one():
    at = RNG.normal(size=30)
    x = tf.Variable(at)
    with tf.GradientTape() as tape:
        y = chain(x)
    found = tape.hessian(y, x, sparse=True)
    assert isinstance(found, sparse.csr_array)
    assert found.nnz == 30 + 2 * 29
    np.testing.assert_allclose(found.toarray(), reference(chain, at), rtol=1e-9, atol=1e-12)


def test_products_with_the_hessian_need_no_hessian():
    x, b = tf.Variable(X), tf.Variable(RNG.normal(size=2))
    v, w = RNG.normal(size=(3, 2)), RNG.normal(size=2)

    def loss():
        return energy(x * b) + tf.reduce_sum(b**3)

    with tf.GradientTape() as tape:
        y = loss()
    found = tape.hvp(y, {"x": x, "b": b}, {"x": v, "b": w})
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = loss()
        gradients = inner.gradient(y, [x, b])
    expected = outer.gradient(gradients, [x, b], output_gradients=[tf.constant(v), tf.constant(w)])
    np.testing.assert_allclose(found["x"], expected[0], rtol=1e-9)
    np.testing.assert_allclose(found["b"], expected[1], rtol=1e-9)


def test_the_gauss_newton_product():
    x = tf.constant(RNG.normal(size=(5, 3)))
    w = tf.Variable(RNG.normal(size=(3, 2)))
    v = RNG.normal(size=(3, 2))
    labels = tf.constant([0, 1, 1, 0, 1])
    with tf.GradientTape(persistent=True) as tape:
        logits = tf.tanh(x @ w)
        loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    found = tape.ggnvp(loss, logits, w, v).numpy()
    jacobian = tape.jacobian(logits, w).numpy().reshape(10, 6)
    curvature = tape.hessian(loss, logits).numpy().reshape(10, 10)
    np.testing.assert_allclose(found.ravel(), jacobian.T @ curvature @ jacobian @ v.ravel(), rtol=1e-9)


def test_nothing_is_left_of_a_question():
    x = tf.Variable(X)
    with tf.GradientTape(persistent=True) as tape:
        y = energy(x)
    count = len(tape._log.ops)
    first = tape.gradient(y, x).numpy()
    hessian = tape.hessian(y, x)
    assert len(tape._log.ops) == count
    assert tape.gradient(hessian, x) is None  # as of anything made outside of the block
    np.testing.assert_array_equal(tape.gradient(y, x), first)
    with pytest.raises(ValueError, match="has the shape of its source"):
        tape.hvp(y, x, np.ones(3))
    np.testing.assert_allclose(tape.hvp(y, x, np.ones((3, 2))), hessian.numpy().reshape(6, 6).sum(1).reshape(3, 2))


def test_an_outer_tape_sees_it():
    x = tf.Variable(2.0, dtype=tf.float64)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = x**4
        second = tape.hessian(y, x)
    assert float(second) == 48.0
    assert float(outer.gradient(second, x)) == 48.0


def test_without_a_path_and_used_up():
    x, other = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.hessian(y, other) is None
    with pytest.raises(RuntimeError, match="persistent"):
        tape.hvp(y, x, 1.0)
    with tf.GradientTape() as tape:
        y = 3.0 * x
    assert tape.hvp(y, x, 1.0) is None


def test_variables_that_only_a_rule_reads_are_not_left_on_the_tape():
    scale = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x):
        return 3.0 * x, lambda g: g * scale

    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = scaled(x) ** 2
    assert float(tape.hvp(y, x, 1.0)) == 18.0
    assert tape.watched_variables() == (x,)
    assert tape.gradient(y, scale) is None
    assert float(tape.gradient(y, x)) == 36.0

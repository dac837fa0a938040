"""The patterns of TensorFlow's documentation; test_snippets_as_scripts.py has those that print."""

import gc
import weakref

import numpy as np

import gradtape as tf


def test_linear_regression_by_hand():
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((100, 2)).astype(np.float32)
    labels = inputs @ np.array([[3.0], [-2.0]], np.float32) + 1.0
    W, b = tf.Variable(tf.zeros((2, 1))), tf.Variable(tf.zeros(1))
    for _ in range(300):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(inputs, W) + b - labels))
        dW, db = tape.gradient(loss, [W, b])
        assert (dW.shape, db.shape) == ((2, 1), (1,))
        W.assign_sub(0.1 * dW)
        b.assign_sub(0.1 * db)
    np.testing.assert_allclose(W.numpy().ravel(), [3, -2], atol=1e-3)
    np.testing.assert_allclose(b.numpy(), [1], atol=1e-3)


def test_gradients_are_processed_before_they_are_applied():
    v = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    (g,), norm = tf.clip_by_global_norm(tape.gradient(loss, [v]), 1.0)
    v.assign_sub(g)
    assert float(norm) == 10
    np.testing.assert_allclose(v.numpy(), [2.4, 3.2], rtol=1e-6)


def test_the_jacobian_of_a_models_output_by_its_weights_outside_the_tape():
    w = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
    x = tf.constant([[1.0, 2.0, 3.0]])
    with tf.GradientTape() as tape:
        y = x @ w
    j = tape.jacobian(y, w)
    assert j.shape == (1, 2, 3, 2)
    np.testing.assert_array_equal(j[0, 0, :, 0], [1, 2, 3])
    np.testing.assert_array_equal(j[0, 0, :, 1], [0, 0, 0])


def test_several_questions_then_del():
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        h = tf.exp(x)
        y, z = h * h, h + x
    kept = weakref.ref(h)
    del h
    assert float(tape.gradient(z, x)) == np.exp(np.float32(2)) + 1
    assert tape.gradient(y, x) is not None
    del tape, y
    gc.collect()
    assert kept() is None


def test_what_is_watched_is_up_to_the_user():
    frozen, c, v = tf.Variable(2.0, trainable=False), tf.constant(3.0), tf.Variable(5.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([frozen, c])
        y = frozen * c * v
    assert [g if g is None else float(g) for g in tape.gradient(y, [frozen, c, v])] == [15, 10, None]


def test_stop_gradient_in_a_loss():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        loss = v * tf.stop_gradient(v)
    assert float(tape.gradient(loss, v)) == 3


def test_two_models_one_tape():
    a, b = tf.Variable([1.0]), tf.Variable([[2.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(a * b)
    grads = tape.gradient(loss, [a, b])
    assert [g.shape for g in grads] == [(1,), (1, 1)]

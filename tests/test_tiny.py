"""The tape in two seconds: run it after every edit."""

import numpy as np

import gradtape as tf


def test_a_product():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert float(tape.gradient(y, x)) == 6


def test_second_order():
    x = tf.Variable(1.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * x * x
        g = inner.gradient(y, x)
    assert float(outer.gradient(g, x)) == 6


def test_broadcasting_and_matrices():
    w, b = tf.Variable(np.ones((3, 2), np.float32)), tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.tanh(tf.ones((4, 3)) @ w + b))
    dw, db = tape.gradient(y, [w, b])
    slope = 4 * (1 - np.tanh([4.0, 5.0]) ** 2)
    np.testing.assert_allclose(db, slope, rtol=1e-3)
    np.testing.assert_allclose(dw, np.broadcast_to(slope, (3, 2)), rtol=1e-3)


def test_jacobian_and_forward_mode_agree():
    x = tf.constant([0.1, 0.2, 0.3])
    t = tf.constant([1.0, -1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, t) as forward, tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x) * tf.reduce_sum(x)
    np.testing.assert_allclose(forward.jvp(y), tf.linalg.matvec(tape.jacobian(y, x), t), rtol=1e-5)

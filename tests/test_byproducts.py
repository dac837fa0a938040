"""What kernels hand over to derivatives."""

import numpy as np

import gradtape as tf
from gradtape.engine.registry import byproducts

LABELS = np.array([0, 2, 1])
LOGITS = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [4.0, 0.0, 1.0]], np.float32)


def _slope():
    e = np.exp(LOGITS - LOGITS.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) - np.eye(3)[LABELS]


def test_the_loss_hands_over_its_slope():
    z = tf.Variable(LOGITS)
    with tf.GradientTape() as tape:
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS, z)
    assert any(isinstance(kept, np.ndarray) for kept in tape._log.saved[-1])
    np.testing.assert_allclose(tape.gradient(loss, z), _slope(), rtol=1e-5, atol=1e-7)


def test_a_persistent_tape_uses_it_more_than_once():
    z = tf.Variable(LOGITS)
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS, z)
    first = tape.gradient(loss, z)
    second = tape.gradient(loss, z, output_gradients=tf.constant([2.0, 0.0, -1.0]))
    np.testing.assert_allclose(first, _slope(), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(second, _slope() * [[2.0], [0.0], [-1.0]], rtol=1e-5, atol=1e-7)


def test_second_derivatives_do_without():
    z = tf.Variable(LOGITS[0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(0, z)
        slope = inner.gradient(loss, z)
    p = np.exp(LOGITS[0]) / np.exp(LOGITS[0]).sum()
    np.testing.assert_allclose(outer.jacobian(slope, z), np.diag(p) - np.outer(p, p), rtol=1e-5, atol=1e-7)


def test_nothing_is_left_when_nobody_records():
    assert not byproducts.wanted()
    y = tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS, LOGITS)
    assert byproducts.taken(y) is None
    with tf.GradientTape():
        assert byproducts.wanted()


def test_it_belongs_to_one_result_only():
    result = tf.constant([1.0])
    byproducts.leave(result.array, "byproduct")
    assert byproducts.taken(tf.constant([1.0])) is None
    assert byproducts.taken(result) == "byproduct"
    assert byproducts.taken(result) is None


def test_large_losses_keep_no_more_than_their_arguments():
    z = tf.Variable(np.zeros((4096, 64), np.float32))
    with tf.GradientTape() as tape:
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(np.zeros(4096, int), z)
    assert not any(isinstance(kept, np.ndarray) for kept in tape._log.saved[-1])
    slope = np.full((4096, 64), 1 / 64)
    slope[:, 0] -= 1
    np.testing.assert_allclose(tape.gradient(loss, z), slope, rtol=1e-5)

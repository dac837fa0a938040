"""The functions of `tf.keras.backend`, used by older programs: TensorFlow's numbers."""

import numpy as np
import pytest

import gradtape as tf

K = tf.keras.backend
X = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
IMAGE = tf.reshape(tf.range(32.0), [1, 4, 4, 2])


def frames():
    return tf.nn.softmax(tf.reshape(tf.sin(tf.range(15.0)), [1, 5, 3]))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: K.concatenate([X, X], axis=0)[:, 0], [1, 4, 1, 4]),
        (lambda: K.gather(X, [1])[0], [4, 5, 6]),
        (lambda: K.switch(tf.constant(True), lambda: X[0], lambda: -X[0]), [1, 2, 3]),
        (lambda: K.switch(X[0] > 1, X[0], -X[0]), [-1, 2, 3]),
        (lambda: K.foldl(lambda a, b: a - b, X), [-3, -3, -3]),
        (lambda: K.foldr(lambda a, b: a - b, X), [3, 3, 3]),
        (lambda: K.map_fn(K.sum, X), [6, 15]),
        (lambda: K.in_top_k(X, tf.constant([2, 0]), 1), [True, False]),
        (lambda: K.conv2d(IMAGE, tf.ones([2, 2, 2, 1]))[0, 0, :, 0], [44, 60, 76]),
        (lambda: K.conv1d(IMAGE[0], tf.ones([2, 2, 1]))[0, :, 0], [6, 14, 22]),
        (lambda: K.conv2d_transpose(IMAGE, tf.ones([2, 2, 3, 2]), (1, 5, 5, 3))[0, 0, :, 0], [1, 6, 14, 22, 13]),
        (lambda: K.pool2d(IMAGE, (2, 2), (2, 2))[0, 0, :, 0], [10, 14]),
        (lambda: K.pool2d(IMAGE, (2, 2), pool_mode="avg")[0, 0, :, 0], [5, 7, 9]),
        (lambda: K.spatial_2d_padding(IMAGE).shape, [1, 6, 6, 2]),
        (
            lambda: K.ctc_batch_cost(tf.constant([[0, 1]]), frames(), tf.constant([[5]]), tf.constant([[2]]))[0],
            [2.0513],
        ),
        (lambda: K.ctc_decode(frames(), tf.constant([5]), greedy=False)[0][0][0], [1, 0, -1, -1, -1]),
        (lambda: K.random_uniform_variable((2,), 3.0, 3.5, seed=1) >= 3.0, [True, True]),
        (lambda: K.rnn(lambda x, s: (x + s[0], [x + s[0]]), tf.ones([1, 3, 2]), [tf.zeros([1, 2])])[0][0], [3, 3]),
    ],
)
def test_values(call, expected):
    np.testing.assert_allclose(call(), expected, atol=1e-4)


def test_updates_of_a_variable():
    v = tf.Variable(X)
    K.update(v, X * 2)
    K.update_add(v, X)
    K.update_sub(v, X * 0.5)
    np.testing.assert_allclose(v, X * 2.5)


def test_gradients_need_a_function():
    v = tf.Variable(3.0)
    with pytest.raises(RuntimeError, match="GradientTape"):
        K.gradients(v * v, [v])
    assert float(tf.function(lambda x: K.gradients(x * x, [x])[0])(tf.constant(3.0))) == 6.0


def test_loss_with_a_gradient():
    labels, v = tf.constant([[1.0, 0.0, 1.0]]), tf.Variable([[0.8, 0.3, 0.6]])
    with tf.GradientTape() as tape:
        both = K.sum(K.flatten(labels) * K.flatten(v))
        dice = 1 - (2 * both + 1) / (K.sum(labels) + K.sum(v) + 1)
    np.testing.assert_allclose(tape.gradient(dice, v), [[-5.6 / 4.7**2, 3.8 / 4.7**2, -5.6 / 4.7**2]], atol=1e-5)


@pytest.mark.skipif(not hasattr(tf.keras.ops, "grad"), reason="this version of Keras has no keras.ops.grad")
def test_gradients_of_functions():
    x, y, v = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), tf.keras.Variable([5.0, 6.0])

    def f(x, parts, scale=1.0):
        return scale * x * parts["y"] * parts["v"] ** 2

    dx, parts = tf.keras.ops.grad(f, argnums=(0, -1))(x, {"y": y, "v": v}, scale=2.0)
    np.testing.assert_allclose(dx, 2 * y * v**2)
    np.testing.assert_allclose(parts["y"], 2 * x * v**2)
    np.testing.assert_allclose(parts["v"], 4 * x * y * v)
    np.testing.assert_allclose(tf.keras.ops.grad(lambda x, y: y * 2)(x, y), [0.0, 0.0])
    np.testing.assert_allclose(tf.keras.ops.grad(tf.keras.ops.grad(lambda x: x**3))(x), 6 * x)
    with pytest.raises(ValueError, match="position"):
        tf.keras.ops.grad(f, argnums=3)(x, {"y": y, "v": v})

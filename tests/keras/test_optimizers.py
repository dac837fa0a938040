"""Optimizers as TensorFlow's users call them."""

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras


@pytest.mark.parametrize("make", [tf.Variable, keras.Variable])
def test_apply_gradients_returns_the_count(make):
    v = make([1.0, 2.0])
    optimizer = keras.optimizers.SGD(0.5)
    assert int(optimizer.apply_gradients([(tf.constant([2.0, 2.0]), v)])) == 1
    np.testing.assert_allclose(v.numpy(), [0.0, 1.0])


def test_minimize():
    v = tf.Variable(3.0)
    optimizer = keras.optimizers.SGD(0.25)
    optimizer.minimize(lambda: v * v, [v])
    assert float(v) == 1.5
    with tf.GradientTape() as tape:
        loss = v * v
    optimizer.minimize(loss, [v], tape=tape)
    assert float(v) == 0.75
    with pytest.raises(ValueError, match="tape"):
        optimizer.minimize(loss, [v])


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "Ftrl", "Nadam", "Adamax", "Lion", "AdamW"])
def test_sparse_gradients_are_as_good_as_dense(name):
    values, indices = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([2, 0])
    sparse = tf.IndexedSlices(values, indices, tf.constant([3, 2]))
    results = []
    for g in (sparse, tf.convert_to_tensor(sparse)):
        v = keras.Variable(np.ones((3, 2), "float32"))
        optimizer = getattr(keras.optimizers, name)(0.1)
        for _ in range(2):
            optimizer.apply_gradients([(g, v)])
        results.append(v.numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)


def test_plain_descent_touches_only_the_rows_it_has_gradients_for():
    table = keras.layers.Embedding(5, 2)
    table.build()
    before = table.embeddings.numpy()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(table(tf.constant([1, 1, 3])))
    g = tape.gradient(loss, table.embeddings)
    keras.optimizers.SGD(0.5).apply_gradients([(g, table.embeddings)])
    expected = before - 0.5 * np.array([[0.0], [2.0], [0.0], [1.0], [0.0]], "float32")
    np.testing.assert_allclose(table.embeddings.numpy(), expected, rtol=1e-6)


def test_schedules_and_clipping():
    v = keras.Variable([3.0, 4.0])
    schedule = keras.optimizers.schedules.ExponentialDecay(1.0, 1, 0.5)
    optimizer = keras.optimizers.SGD(schedule, clipnorm=1.0)
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant([3.0, 4.0]), v)])
    np.testing.assert_allclose(v.numpy(), np.array([3.0, 4.0]) - 1.5 * np.array([0.6, 0.8]), rtol=1e-5)


def test_update_follows_changed_hyperparameters():
    v = keras.Variable(1.0)
    optimizer = keras.optimizers.SGD(0.5)
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    optimizer.learning_rate = 0.25
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert float(v.value) == 0.25

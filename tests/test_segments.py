"""Segments in batches, and the gradient of overwritten values."""

import numpy as np
import pytest

import gradtape as tf


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "sqrt_n"])
@pytest.mark.parametrize("each", [True, False])
def test_vectorised(name, each):
    f = getattr(tf.math, f"unsorted_segment_{name}")
    rng = np.random.default_rng(0)
    data = tf.constant(rng.normal(size=(3, 5, 2)))
    ids = rng.integers(-1, 4, size=(3, 5) if each else 5)
    if each:
        got = tf.vectorized_map(lambda pair: f(pair[0], pair[1], 4), (data, tf.constant(ids)))
    else:
        got = tf.vectorized_map(lambda x: f(x, ids, 4), data)
    for i in range(3):
        np.testing.assert_allclose(got.numpy()[i], f(data[i], ids[i] if each else ids, 4).numpy())


def test_what_is_overwritten_has_no_gradient():
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.dynamic_stitch([[0, 1], [1]], [x, y])
    assert z.numpy().tolist() == [1.0, 3.0]
    gx, gy = tape.gradient(z, [x, y])
    assert gx.numpy().tolist() == [1.0, 0.0] and gy.numpy().tolist() == [1.0]


def test_partition_and_stitch_are_inverse():
    x = tf.constant(np.random.default_rng(0).normal(size=(6, 2)))
    numbers = [2, 0, 1, 1, 0, 2]
    with tf.GradientTape() as tape:
        tape.watch(x)
        parts = tf.dynamic_partition(x, numbers, 3)
        places = tf.dynamic_partition(tf.range(6), numbers, 3)
        y = tf.dynamic_stitch(places, [part * part for part in parts])
    np.testing.assert_allclose(y.numpy(), x.numpy() ** 2)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), 2 * x.numpy())


@pytest.mark.parametrize(
    "product",
    [
        lambda x: tf.math.segment_prod(x, [0, 0, 1, 1]),
        lambda x: tf.math.unsorted_segment_prod(x, [0, 0, 1, 1], 2),
        lambda x: tf.reduce_prod(tf.RaggedTensor.from_row_lengths(x, [2, 2]), axis=1),
    ],
    ids=["sorted", "unsorted", "ragged"],
)
def test_the_gradient_of_a_complex_product_is_that_of_the_dense_one(product):
    """TensorFlow omits the conjugate in products of segments, and only there."""
    x = tf.constant([1 + 2j, 2 - 1j, 0.5 + 1j, 0j], "complex128")
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        found, expected = product(x), tf.reduce_prod(tf.reshape(x, [2, 2]), axis=1)
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(tape.gradient(found, x), tape.gradient(expected, x))
    np.testing.assert_allclose(tape.gradient(found, x)[0], np.conj(x[1]))

"""Sorting and counting: selection, ties, and the gradient of moved values."""

import numpy as np
import pytest

import gradtape as tf


@pytest.mark.parametrize("k", [1, 3, 40])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_selecting_the_largest_is_sorting_them(k, dtype):
    x = np.random.default_rng(0).integers(0, 50, size=(4, 700)).astype(dtype)
    values, indices = tf.math.top_k(x, k)
    order = np.argsort(-x.astype(np.float64), axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(indices.numpy(), order)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, order, 1))


def test_approximate_extremes_are_exact():
    x = tf.constant([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]])
    values, indices = tf.math.approx_min_k(x, 2)
    assert values.numpy().tolist() == [[1.0, 2.0], [4.0, 5.0]] and indices.numpy().tolist() == [[1, 2], [0, 2]]
    values, indices = tf.nn.approx_max_k(x, 1, reduction_dimension=0)
    assert values.numpy().tolist() == [[4.0, 6.0, 5.0]] and indices.numpy().tolist() == [[1, 1, 1]]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.approx_min_k(x, 1)[0]
    assert tape.gradient(y, x).numpy().tolist() == [[0, 1, 0], [1, 0, 0]]


def test_gradient_through_sort_is_the_inverse_permutation():
    x = tf.constant([[3.0, 1.0, 2.0], [0.0, 5.0, -1.0]], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sort(x, axis=1)
    jacobian = tape.batch_jacobian(y, x).numpy()
    np.testing.assert_allclose(jacobian @ x.numpy()[..., None], y.numpy()[..., None])


def test_what_has_no_gradient():
    x = tf.constant([2.0, 1.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        none = [tf.cast(y, tf.float32) for y in (tf.argmax(x), tf.argsort(x), tf.searchsorted(x, [1.5]))]
        distinct = tf.unique(x).y
    assert tape.gradient(none, x) is None
    with pytest.raises(LookupError, match="Unique"):
        tape.gradient(distinct, x)


def test_confusion_matrix_has_the_gradient_of_its_weights():
    w = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = tf.math.confusion_matrix([0, 1, 1], [0, 1, 0], weights=w, dtype=tf.float32)[1]
    assert tape.gradient(y, w).numpy().tolist() == [0.0, 1.0, 1.0]


def test_histogram_bins_of_a_reversed_range():
    with pytest.raises(tf.errors.InvalidArgumentError, match="value_range"):
        tf.histogram_fixed_width_bins([1.0], [5.0, 0.0])

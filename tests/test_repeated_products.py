"""Products with the transpose of a matrix that comes again, which oneDNN keeps in an order of its own."""

import gc

import numpy as np
import pytest

import gradtape as tf
from gradtape.backends.numpy import onednn
from gradtape.backends.numpy.onednn import repeated_products
from gradtape.backends.numpy.onednn.products import product

pytestmark = pytest.mark.skipif(onednn.version() is None, reason="oneDNN is not installed")


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def times(a, b, count):
    return [onednn.product_with_transpose(a, b) for _ in range(count)]


@pytest.mark.parametrize("rows, columns, inner", [(32, 128, 512), (33, 77, 301), (64, 512, 40), (100, 1, 4000)])
def test_it_has_the_bits_of_a_product_that_comes_once(rows, columns, inner):
    a, b = normal(rows, inner), normal(columns, inner, seed=1)
    first, second, third, fourth = times(a, b, 4)
    assert first is None and second is None
    if columns > 1:
        np.testing.assert_array_equal(third, product(a, b.T))
        np.testing.assert_array_equal(fourth, third)
        other = normal(rows, inner, seed=2)
        np.testing.assert_array_equal(onednn.product_with_transpose(other, b), product(other, b.T))


def test_infinities_and_nans_stay():
    a, b = normal(32, 300), normal(200, 300, seed=1)
    a[3, 5], b[7, 11] = np.inf, np.nan
    y = times(a, b, 3)[-1]
    np.testing.assert_array_equal(y, product(a, b.T))
    assert np.isnan(y[:, 7]).all() and not np.isfinite(y[3]).any()


def test_what_it_leaves_to_others():
    b = normal(128, 512)
    few, doubles, turned = normal(31, 512), normal(32, 512).astype(np.float64), normal(512, 32).T
    times(normal(32, 512), b, 3)
    for a in (few, doubles, turned):
        assert times(a, b, 4) == [None] * 4
    assert times(normal(32, 512), b.astype(np.float64), 4) == [None] * 4
    assert times(normal(32, 128), b.T, 4) == [None] * 4
    assert times(normal(32, 0), np.zeros((4, 0), np.float32), 4) == [None] * 4
    assert times(normal(32, 1024), np.zeros((1025, 1024), np.float32), 4) == [None] * 4


def test_an_array_that_has_changed_is_read_again():
    a, b = normal(32, 512), normal(128, 512, seed=1)
    times(a, b, 3)
    onednn.changed(b)
    b *= 2
    assert times(a, b, 2) == [None, None]
    np.testing.assert_array_equal(onednn.product_with_transpose(a, b), product(a, b.T))


def test_a_variable_says_when_its_array_changes():
    x, v = tf.constant(normal(32, 512)), tf.Variable(normal(512, 512, seed=1))

    def gradient():
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = x
            for _ in range(5):
                h = tf.matmul(h, v)
            y = tf.reduce_sum(h)
        return tape.gradient(y, x).numpy()

    before = gradient()
    address = v._array.ctypes.data

    def halve(array):
        array *= 0.5

    assert v._written(halve)
    assert v._array.ctypes.data == address
    np.testing.assert_array_equal(gradient(), before / 32)


def test_nothing_is_kept_of_an_array_that_is_gone():
    b = normal(128, 512)
    times(normal(32, 512), b, 3)
    place = id(b)
    assert place in repeated_products._factors
    del b
    gc.collect()
    assert place not in repeated_products._factors


def test_not_too_much_is_kept(monkeypatch):
    monkeypatch.setattr(repeated_products, "_MOST_KEPT", 3 * 128 * 512)
    a, matrices = normal(32, 512), [normal(128, 512, seed=i) for i in range(5)]
    for b in matrices:
        y = times(a, b, 4)[-1]
        np.testing.assert_array_equal(y if y is not None else product(a, b.T), product(a, b.T))
    assert len(repeated_products._factors) <= 3


@pytest.mark.parametrize("rows", [8, 32])
def test_gradients_of_a_recurrent_layer(rows):
    w, x = normal(128, 256) * 0.05, [normal(rows, 128, seed=i) for i in range(6)]

    def gradient(dtype):
        v = tf.Variable(np.concatenate([w, w], axis=0)[:128].astype(dtype))
        with tf.GradientTape() as tape:
            h = tf.zeros((rows, 128), dtype)
            for part in x:
                y = tf.matmul(h + tf.constant(part.astype(dtype)), v)
                h = tf.tanh(y[:, :128]) * tf.sigmoid(y[:, 128:])
            loss = tf.reduce_sum(h * h)
        return tape.gradient(loss, v).numpy()

    np.testing.assert_allclose(gradient(np.float32), gradient(np.float64), rtol=1e-3, atol=1e-5)


def test_two_threads_that_count_at_once(monkeypatch):
    a, b = normal(64, 256), normal(256, 256, seed=1)
    times(a, b, 2)
    real, others = repeated_products.library, []

    def library():  # asked for when a product is counted: the other thread is done by then
        monkeypatch.setattr(repeated_products, "library", real)
        others.append(onednn.product_with_transpose(a, b))
        return real()

    monkeypatch.setattr(repeated_products, "library", library)
    np.testing.assert_array_equal(onednn.product_with_transpose(a, b), others[0])

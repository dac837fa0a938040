"""Creation and shape: laws that hold for every shape, and the gradients of ops that only move values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

import gradtape as tf
from gradtape.engine.registry.batching import vectorize

SHAPES = array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def _numbers(shape):
    return np.arange(float(np.prod(shape))).reshape(shape)


def _weighted_gradient(f, array):
    """Returns the gradient of Σ w·f(x), with weights that distinguish the elements."""
    x = tf.constant(array)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
        weights = np.arange(1.0, 1.0 + np.prod(y.shape, dtype=int)).reshape(y.shape)
    return y.numpy(), weights, tape.gradient(y, x, output_gradients=tf.constant(weights)).numpy()


@given(SHAPES, st.data())
@settings(max_examples=60, deadline=None)
def test_moves_of_values_are_linear_maps_with_their_transpose(shape, data):
    """⟨w, f(x)⟩ = ⟨f'(w), x⟩, and f agrees with NumPy's function of the same meaning."""
    array = _numbers(shape)
    n = len(shape)
    perm = data.draw(st.permutations(range(n)))
    pairs = [data.draw(st.tuples(st.integers(0, 2), st.integers(0, 2))) for _ in range(n)]
    times = [data.draw(st.integers(0, 3)) for _ in range(n)]
    cases = [
        (lambda x: tf.transpose(x, perm), np.transpose(array, perm)),
        (lambda x: tf.reshape(x, [-1]), array.reshape(-1)),
        (lambda x: tf.tile(x, tf.constant(times, tf.int32)), np.tile(array, times) if n else array),
        (lambda x: tf.pad(x, tf.constant(pairs, tf.int32, [n, 2])), np.pad(array, pairs) if n else array),
        (lambda x: tf.repeat(x, 2), np.repeat(array, 2)),
        (lambda x: tf.broadcast_to(x, [2, *shape]), np.broadcast_to(array, (2, *shape))),
    ]
    if n:
        axis = data.draw(st.integers(-n, n - 1))
        shift = data.draw(st.integers(-5, 5))
        counts = [data.draw(st.integers(0, 2)) for _ in range(shape[axis])]
        cases += [
            (lambda x: tf.roll(x, shift, axis), np.roll(array, shift, axis)),
            (lambda x: tf.reverse(x, [axis]), np.flip(array, axis)),
            (lambda x: tf.stack([x, x], axis), np.stack([array, array], axis)),
            (lambda x: tf.concat([x, x], axis), np.concatenate([array, array], axis)),
            (lambda x: tf.expand_dims(x, axis), np.expand_dims(array, axis)),
        ]
        if shape[axis] > 1:
            cases.append((lambda x: tf.repeat(x, counts, axis), np.repeat(array, counts, axis)))
        if min(shape) > 1:
            ones = [(1, 1)] * n
            cases.append((lambda x: tf.pad(x, ones, "REFLECT"), np.pad(array, ones, "reflect")))
            cases.append((lambda x: tf.pad(x, ones, "SYMMETRIC"), np.pad(array, ones, "symmetric")))
    for f, expected in cases:
        value, weights, gradient = _weighted_gradient(f, array)
        np.testing.assert_array_equal(value, expected)
        assert np.sum(weights * value) == pytest.approx(np.sum(gradient * array))


@given(SHAPES.filter(bool), st.data())
@settings(max_examples=40, deadline=None)
def test_parts_join_again(shape, data):
    x = tf.constant(_numbers(shape))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    first = data.draw(st.integers(0, shape[axis]))
    np.testing.assert_array_equal(tf.concat(tf.split(x, [first, -1], axis), axis).numpy(), x.numpy())
    if shape[axis]:
        np.testing.assert_array_equal(tf.stack(tf.unstack(x, axis=axis), axis).numpy(), x.numpy())


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(1, 2))
@settings(max_examples=20, deadline=None)
def test_space_to_batch_is_undone(height, width, block_height, block_width):
    x = tf.constant(_numbers((2, height * block_height, width * block_width, 2)))
    blocks = [block_height, block_width]
    apart = tf.space_to_batch(x, blocks, [[0, 0], [0, 0]])
    np.testing.assert_array_equal(tf.batch_to_space(apart, blocks, [[0, 0], [0, 0]]).numpy(), x.numpy())


def test_unused_parts_have_zero_gradient():
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        _, second = tf.split(x, 2)
        third = tf.unstack(x)[2]
    assert tape.gradient(second, x).numpy().tolist() == [0.0, 0.0, 1.0, 1.0]
    assert tape.gradient(third, x).numpy().tolist() == [0.0, 0.0, 1.0, 0.0]


def test_split_is_one_record():
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        tf.split(x, 4)
    assert sum(type(record) is tuple for record in tape._log.records) == 1


def test_shapes_inside_a_batch_are_those_of_a_member():
    x = tf.zeros([5, 2, 3])
    got = vectorize(lambda m: tf.reshape(m, [tf.shape(m)[1], -1]) + tf.cast(tf.size(m), tf.float32), x)
    assert got.shape == (5, 3, 2)
    assert float(got[0, 0, 0]) == 6.0


def test_one_hot_in_a_batch():
    ids = tf.constant([[0, 2], [1, 1]])
    for axis in (-1, 0):
        got = vectorize(lambda i, axis=axis: tf.one_hot(i, 3, axis=axis), ids)
        np.testing.assert_array_equal(got.numpy(), np.stack([tf.one_hot(i, 3, axis=axis).numpy() for i in ids]))


def test_identity_is_a_new_object():
    x = tf.constant(1.0)
    assert tf.identity(x) is not x
    assert tf.constant(x) is x


def test_initializers_draw_afresh():
    draw = tf.random_normal_initializer(mean=3.0, stddev=0.1)
    values = draw([1000]).numpy()
    assert abs(values.mean() - 3.0) < 0.05
    assert (values != draw([1000]).numpy()).any()


def test_an_initializer_is_made_again_from_its_configuration():
    again = tf.random_uniform_initializer.from_config(tf.random_uniform_initializer(1.0, 2.0).get_config())
    values = again([100]).numpy()
    assert values.min() >= 1.0 and values.max() < 2.0

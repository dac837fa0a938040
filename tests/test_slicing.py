"""Slicing follows NumPy for every key that TensorFlow supports, is differentiable, and can be batched."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError
from gradtape.engine.registry.batching import vectorize


@st.composite
def shapes_and_keys(draw):
    """Returns a shape and a matching key: integers, slices, `None` and `...`."""
    shape = draw(array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    key = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        if n and draw(st.booleans()):
            key.append(draw(st.integers(-n, n - 1)))
        else:
            bounds = st.none() | st.integers(-6, 6)
            key.append(slice(draw(bounds), draw(bounds), draw(st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3]))))
    if draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), Ellipsis)
    for _ in range(draw(st.integers(0, 2))):
        key.insert(draw(st.integers(0, len(key))), None)
    if Ellipsis in key:  # entries after `...` count from the last axis
        at = key.index(Ellipsis)
        consumed = sum(k is not None for k in key[at + 1 :])
        if any(isinstance(k, int) for k in key[at + 1 :]) and consumed:
            key = key[: at + 1]
    return shape, tuple(key)


@given(shapes_and_keys())
@settings(max_examples=150, deadline=None)
def test_value_and_gradient_are_numpys(case):
    shape, key = case
    array = np.arange(float(np.prod(shape))).reshape(shape)
    x = tf.constant(array)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[key]
    expected = np.zeros(shape)
    expected[key] = 1
    np.testing.assert_array_equal(y.numpy(), array[key])
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), expected)


@given(shapes_and_keys())
@settings(max_examples=50, deadline=None)
def test_batched(case):
    shape, key = case
    many = np.arange(3.0 * np.prod(shape)).reshape(3, *shape)
    got = vectorize(lambda x: x[key], tf.constant(many))
    np.testing.assert_array_equal(got.numpy(), np.stack([x[key] for x in many]))


@pytest.mark.parametrize("key", [0, -1, (1, 2), (slice(None), 1), (Ellipsis, 0), (0, None, Ellipsis, 1)])
def test_indices_may_be_tensors(key):
    array = np.arange(24.0).reshape(2, 3, 4)
    items = key if isinstance(key, tuple) else (key,)
    tensors = tuple(tf.constant(k) if isinstance(k, int) else k for k in items)
    np.testing.assert_array_equal(tf.constant(array)[tensors].numpy(), array[key])


def test_indices_may_differ_within_a_batch():
    array = np.arange(24.0).reshape(2, 3, 4)
    x = tf.constant(array)
    at = tf.constant([0, 2, -1])
    for select in (
        lambda i: x[0, i],
        lambda i: x[..., i],
        lambda i: x[:, i, 1:3],
        lambda i: x[None, 1, i],
        lambda i: x[i - 1, ..., i],
        lambda i: x[1, ..., None, i],
    ):
        got = vectorize(select, at)
        np.testing.assert_array_equal(got.numpy(), np.stack([select(int(i)).numpy() for i in at.numpy()]))


def test_bounds_may_be_tensors():
    x = tf.constant([0, 1, 2, 3, 4])
    assert x[tf.constant(1) : tf.constant(4, tf.int64) : tf.constant(2)].numpy().tolist() == [1, 3]


def test_iteration_is_one_record():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b = x
        y = a * b * b
    assert tape.gradient(y, x).numpy().tolist() == [[9.0, 16.0], [6.0, 16.0]]


def test_second_order():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x[1] * x[1] * x[2]
        g = inner.gradient(y, x)[1]
    assert outer.gradient(g, x).numpy().tolist() == [0.0, 6.0, 4.0]


def test_jacobian_of_a_slice():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[::-2] * x[1]
    assert tape.jacobian(y, x).numpy().tolist() == [[0.0, 3.0, 2.0], [2.0, 1.0, 0.0]]


def test_a_mask_selects():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert x[x > 1.5].numpy().tolist() == [2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (3, InvalidArgumentError, "slice index 3 of dimension 0 out of bounds"),
        ((0, -5), InvalidArgumentError, "slice index -5 of dimension 1 out of bounds"),
        ((0, 0, 0), InvalidArgumentError, "Index out of range using input dim 2; input has only 2 dims"),
        ((Ellipsis, Ellipsis), InvalidArgumentError, "Multiple ellipses"),
        (slice(None, None, 0), InvalidArgumentError, r"strides\[0\] must be non-zero"),
        (1.0, TypeError, "Only integers, slices"),
        ([[0, 1]], TypeError, "Only integers, slices"),
    ],
)
def test_what_does_not_fit(key, error, text):
    with pytest.raises(error, match=text):
        tf.zeros([2, 3])[key]


def test_a_scalar_has_no_parts():
    with pytest.raises(InvalidArgumentError, match="Attempting to slice scalar input"):
        tf.constant(1.0)[0]
    with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
        iter(tf.constant(1.0))


@pytest.mark.parametrize("jit_compile", [False, None])
def test_a_slice_that_begins_somewhere_else_in_every_run(jit_compile):
    x = np.arange(12.0).reshape(4, 3)
    f = tf.function(lambda x, i: tf.slice(x, [i, 0], [2, 3]), jit_compile=jit_compile)
    for i in (0, 2, 1):
        np.testing.assert_array_equal(f(tf.constant(x), tf.constant(i)), x[i : i + 2])
    for i in (3, -1):
        with pytest.raises(InvalidArgumentError):
            f(tf.constant(x), tf.constant(i))

"""Gather and scatter: against NumPy, sparse gradients, batches, large inputs, errors."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as tf
from gradtape.backends.numpy import sums
from gradtape.core.errors import InvalidArgumentError
from gradtape.engine.registry.batching import vectorize
from gradtape.ops.arrays import indexing


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_gather_is_a_loop_of_take(data):
    batch = data.draw(st.integers(0, 2))
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=batch + 1, max_size=4)))
    axis = data.draw(st.integers(batch, len(shape) - 1))
    inner = tuple(data.draw(st.lists(st.integers(0, 3), max_size=2)))
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape)
    indices = rng.integers(0, shape[axis], (*shape[:batch], *inner))
    got = tf.gather(x, indices, axis=axis, batch_dims=batch).numpy()
    lead = math.prod(shape[:batch])
    flat = [
        np.take(row, at, axis=axis - batch)
        for row, at in zip(x.reshape(lead, *shape[batch:]), indices.reshape(lead, *inner), strict=True)
    ]
    np.testing.assert_array_equal(got, np.array(flat).reshape(got.shape))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("batched", [(True, False), (False, True), (True, True)])
def test_gather_in_a_batch(axis, batched):
    rng = np.random.default_rng(0)
    x, indices = rng.normal(size=(3, 4, 4)), rng.integers(0, 4, (3, 2))
    given = tf.constant(x), tf.constant(indices)

    def one(pair):
        x, i = (p if flag else given[k][0] for k, (p, flag) in enumerate(zip(pair, batched, strict=True)))
        return tf.gather(x, i, axis=axis)

    got = vectorize(one, given).numpy()
    want = [np.take(x[k if batched[0] else 0], indices[k if batched[1] else 0], axis=axis) for k in range(3)]
    np.testing.assert_array_equal(got, np.stack(want))


def test_the_gradient_along_the_first_axis_is_sparse_and_keeps_duplicates():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(table, [0, 2, 0]) * 2.0
    g = tape.gradient(y, table)
    assert isinstance(g, tf.IndexedSlices)
    assert g.indices.numpy().tolist() == [0, 2, 0]
    assert g.values.shape == (3, 2)
    assert tf.convert_to_tensor(g).numpy().tolist() == [[4.0, 4.0], [0.0, 0.0], [2.0, 2.0]]


def test_sparse_and_dense_uses_give_a_dense_gradient():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.gather(x, [0, 0])) + tf.reduce_sum(x * x)
    assert tape.gradient(y, x).numpy().tolist() == [4.0, 4.0, 6.0]


def test_two_gathers_stand_in_the_order_of_the_calls():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = [tf.gather(x, [1]), tf.gather(x, [2, 0])]
    assert tape.gradient(y, x).indices.numpy().tolist() == [1, 2, 0]


def test_second_order_through_gather():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.gather(x, [2, 2]) ** 3
        g = tf.convert_to_tensor(inner.gradient(y, x))
    assert tf.convert_to_tensor(outer.gradient(g, x)).numpy().tolist() == [0.0, 0.0, 36.0]


def test_jacobian_of_a_gather_is_dense():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.gather(x, [2, 0, 2])
    assert tape.jacobian(y, x).numpy().tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.int32])
@pytest.mark.parametrize(("count", "rows", "width"), [(5, 7, 3), (50, 2000, 32), (3000, 40000, 1), (4, 0, 2)])
@pytest.mark.parametrize("way", ["loop", "product"])
def test_rows_are_added(dtype, count, rows, width, way, monkeypatch):
    if way == "product":
        monkeypatch.setattr(sums, "_sparse_loop", lambda: None)
    rng = np.random.default_rng(0)
    at = rng.integers(0, count, rows).astype(np.int32)
    values = rng.integers(-8, 8, (rows, width)).astype(dtype)
    expected = np.zeros((count, width), dtype)
    np.add.at(expected, at, values)
    got = indexing.add_rows(np, count, at, values)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("row", [-1, 50])
def test_rows_are_not_added_elsewhere(row):
    at = np.full(2000, 3)
    at[7] = row
    with pytest.raises(IndexError, match="from 0 to 49"):
        indexing.add_rows(np, 50, at, np.ones((2000, 8)))


def test_an_embedding_trains():
    table = tf.Variable(np.zeros((4, 2), np.float32))
    ids = tf.constant([[1, 3], [1, 1]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((tf.gather(table, ids) - 1.0) ** 2)
    dense = tf.convert_to_tensor(tape.gradient(loss, table))
    assert dense.numpy().tolist() == [[0, 0], [-6, -6], [0, 0], [-2, -2]]


def test_scatter_and_gather_are_transposes():
    rng = np.random.default_rng(0)
    at = rng.integers(0, 3, (4, 5, 2))
    x, u = rng.normal(size=(3, 3, 2)), rng.normal(size=(4, 5, 2))
    left = np.sum(tf.gather_nd(x, at).numpy() * u)
    right = np.sum(tf.scatter_nd(at, u, [3, 3, 2]).numpy() * x)
    np.testing.assert_allclose(left, right)


@pytest.mark.parametrize("kind", ["add", "sub", "max", "min", "update"])
def test_scatter_in_a_batch(kind):
    rng = np.random.default_rng(0)
    f = getattr(tf, f"tensor_scatter_nd_{kind}")
    x, u = tf.constant(rng.normal(size=(3, 4, 2))), tf.constant(rng.normal(size=(3, 2, 2)))
    at = tf.constant([[[0], [2]], [[3], [1]], [[1], [0]]])
    got = vectorize(lambda parts: f(*parts), (x, at, u)).numpy()
    want = np.stack([f(x[i], at[i], u[i]).numpy() for i in range(3)])
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.gather([1, 2, 3], [5]), r"indices\[0\] = 5 is not in \[0, 3\)"),
        (lambda: tf.gather([1, 2, 3], [[0, 1], [-1, 2]]), r"indices\[1,0\] = -1 is not in \[0, 3\)"),
        (lambda: tf.gather_nd([[1, 2]], [[0, 0], [1, 0]]), r"indices\[1\] = \[1, 0\] does not index into"),
        (lambda: tf.scatter_nd([[4]], [1.0], [3]), r"indices\[0\] = \[4\] does not index into shape \[3\]"),
    ],
)
def test_indices_out_of_range(call, text):
    with pytest.raises(InvalidArgumentError, match=text):
        call()

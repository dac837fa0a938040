"""Variable updates in graphs: a run assigns new values, and previously read values do not change."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("jit_compile", [None, True], ids=["numpy", "xla"])
@pytest.mark.parametrize(("large", "number", "small"), [(1e20, 1e-30, 1e18), (1e-20, 1e30, 1e-30), (1e-31, 1e-6, 1e33)])
def test_numbers_that_keep_products_from_overflow_stay_where_they_are(large, number, small, jit_compile):
    """Moved out of the product, or into it, they would act too late: infinity, or zero."""
    if jit_compile:
        pytest.importorskip("jax")
    a, b, c = (tf.fill((256, 256), np.float32(x)) for x in (large, small, 0.0))
    w = tf.Variable(c)
    programs = [
        lambda a, b: tf.matmul(a * number, b) + c,
        lambda a, b: c - tf.matmul(b, number * a),
        lambda a, b: number * tf.matmul(a, b, transpose_a=True),
        lambda a, b: w.assign(c) + w.assign_add(tf.matmul(a * number, b)),
        lambda a, b: w.assign(c) + w.assign_sub(number * tf.matmul(a, b, transpose_a=True)),
    ]
    for program in programs:
        expected = program(a, b).numpy()
        compiled = tf.function(program, jit_compile=jit_compile)
        for _ in range(3):
            np.testing.assert_allclose(compiled(a, b).numpy(), expected, rtol=1e-5)


def trained(function):
    """Returns ten steps of a network with two large layers, from the same initial state."""
    rng = np.random.default_rng(3)
    x = tf.constant(rng.standard_normal((64, 96)).astype(np.float32))
    w1, w2 = (tf.Variable(rng.standard_normal(s).astype(np.float32) * 0.1) for s in ((96, 128), (128, 128)))
    kept = []

    @function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)))
        for w, g in zip((w1, w2), tape.gradient(loss, (w1, w2)), strict=True):
            w.assign_sub(0.5 * g)
        return loss, w1 * 1.0

    for i in range(10):
        if i == 5:
            kept = [(w.value(), w.numpy()) for w in (w1, w2)]
        step(x)
    for value, known in kept:
        np.testing.assert_array_equal(value.numpy(), known)
    return [w.numpy() for w in (w1, w2)]


def test_training_agrees_with_eager_and_values_that_were_read_stay():
    for traced, eager in zip(trained(tf.function), trained(lambda f: f), strict=True):
        np.testing.assert_allclose(traced, eager, rtol=1e-4, atol=1e-6)


def test_a_matrix_in_the_step_of_another_keeps_its_old_value_there():
    first, second = tf.Variable(normal(64, 64)), tf.Variable(normal(64, 64))
    x = tf.constant(normal(64, 64))

    @tf.function
    def step():
        old = second * 1.0
        first.assign_sub(tf.matmul(x, second))
        second.assign_sub(tf.matmul(x, first))
        return old

    for _ in range(3):
        a, b = first.numpy(), second.numpy()
        step()
        np.testing.assert_allclose(first.numpy(), a - x.numpy() @ b, rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(second.numpy(), b - x.numpy() @ (a - x.numpy() @ b), rtol=1e-3, atol=1e-2)


def test_reading_threads_see_whole_values():
    v = tf.Variable(np.zeros((128, 128), np.float32))
    ones = tf.constant(np.ones((64, 128), np.float32))

    @tf.function
    def step():
        v.assign_add(tf.matmul(ones, ones, transpose_a=True))

    step()
    wrong = []

    def look():
        for _ in range(200):
            array = v.numpy()
            if array.min() != array.max():
                wrong.append(array)

    reader = threading.Thread(target=look)
    reader.start()
    for _ in range(200):
        step()
    reader.join()
    assert not wrong
    assert v.numpy()[0, 0] == 201 * 64

"""Variables, random draws and inner gradients in branches and loops of traced functions."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import gradtape as tf


def test_variables_assigned_in_branches_and_loops():
    v = tf.Variable(1.0)

    @tf.function(autograph=False)
    def f(x):
        tf.cond(x > 0, lambda: v.assign_add(x), lambda: v.assign(0.0))
        tf.while_loop(lambda i: i < 3, lambda i: (v.assign(v * 2.0), i + 1)[1:], [tf.constant(0)])
        return v + 1.0

    assert [float(f(tf.constant(2.0))), float(v)] == [25.0, 24.0]
    assert [float(f(tf.constant(-1.0))), float(v)] == [1.0, 0.0]


def test_random_draws_of_a_loop_are_those_of_its_gradient():
    @tf.function(autograph=False)
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.map_fn(lambda row: tf.nn.dropout(row, 0.5), x)
        return y, tape.gradient(y, x)

    seen = set()
    for _ in range(4):
        y, dx = f(tf.ones([4, 8]))
        np.testing.assert_array_equal(y.numpy(), dx.numpy())
        seen.add(y.numpy().tobytes())
        assert len({row.tobytes() for row in y.numpy()}) > 1
    assert len(seen) == 4


@pytest.mark.parametrize("jit", [False, True])
def test_random_draws_are_the_same_whether_or_not_a_loop_is_one_node(jit):
    @tf.function(jit_compile=jit)
    def one_node(n):
        numbers = tf.TensorArray(tf.float32, size=n)
        for i in tf.range(n):
            numbers = numbers.write(i, tf.random.uniform([]))
        return numbers.stack(), tf.random.uniform([])

    @tf.function(jit_compile=jit)
    def round_by_round(n):
        numbers = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(n):
            numbers = numbers.write(i, tf.random.uniform([]))
        return numbers.stack(), tf.random.uniform([])

    tf.random.set_seed(3)
    for n in (tf.constant(4), tf.constant(4), tf.constant(2)):
        for a, b in zip(one_node(n), round_by_round(n), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("around", ["nothing", "all", "the function", "both"])
def test_forward_mode_follows_variables_assigned_in_branches_and_loops(around):
    v = tf.Variable(1.0)

    def f(x):
        for i in tf.range(3):
            if i > 0:
                v.assign(v * x)
        return v * x

    def derived(x):
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
            y = f(x)
        return accumulator.jvp(y)

    f = tf.autograph.to_graph(f) if around == "nothing" else tf.function(f) if around in ("the function", "both") else f
    derivative = tf.function(derived) if around in ("all", "both") else derived
    for x in (2.0, 3.0):
        v.assign(1.0)
        assert float(derivative(tf.constant(x))) == 3 * x * x  # of v x x x


def test_a_loop_carries_variables_that_hold_constants_or_the_same_tensor_before_it():
    v, w = tf.Variable(0), tf.Variable(0)

    @tf.function
    def from_constants(count):
        v.assign(1)
        for i in tf.range(count):
            for _ in tf.range(2):
                v.assign_add(i)
        return v.read_value()

    @tf.function
    def from_tensor(x, count):
        v.assign(x)
        w.assign(x)
        for _ in tf.range(count):
            v.assign_add(x)
            w.assign_add(2)
        return v.read_value(), w.read_value()

    for n in (2, 3, 0):
        assert int(from_constants(tf.constant(n))) == 1 + n * (n - 1)
        assert [int(y) for y in from_tensor(tf.constant(3), tf.constant(n))] == [3 + 3 * n, 3 + 2 * n]


def test_tf_gradients_inside_branches_and_loops():
    @tf.function
    def f(x, count):
        total = tf.constant(0.0)
        for _ in tf.range(count):
            if total < 5.0:
                (g,) = tf.gradients(x * x, x)
            else:
                (g,) = tf.gradients(x * x * x, x)
            total += g + tf.gradients(x * total, x)[0] * 0.0
        return total

    assert float(f(tf.constant(2.0), tf.constant(1))) == 4.0
    assert float(f(tf.constant(2.0), tf.constant(3))) == 20.0


@pytest.mark.parametrize("jit_compile", [False, True])
def test_tf_gradients_inside_a_branch_of_what_was_computed_in_the_loop_around_it(jit_compile):
    @tf.function(jit_compile=jit_compile)
    def f(x, count):
        total = tf.constant(0.0)
        for _ in tf.range(count):
            y = x * x * x
            total += tf.cond(total < 5.0, lambda: tf.gradients(y, x)[0], lambda: x)  # noqa: B023
        return total

    for _ in range(2):
        assert float(f(tf.constant(2.0), tf.constant(3))) == 16.0


@pytest.mark.parametrize("jit_compile", [False, True])
def test_tf_gradients_inside_a_loop_of_what_was_computed_before_it(jit_compile):
    v = tf.Variable(3.0)

    @tf.function(jit_compile=jit_compile)
    def f(x):
        a, b = tf.split(tf.sin(x) * v, 2)
        h = a * x[0]

        def body(i, total):
            y = h * b * x[1] * total
            assert tf.gradients(y, v) == [None]  # a variable read before the loop is not differentiated
            return i + 1, total + tf.add_n([tf.reduce_sum(g) for g in tf.gradients(y, [x, h, total])])

        return tf.while_loop(lambda i, total: i < 3, body, (0, tf.ones([])))[1]

    x = tf.constant([0.4, 0.7])
    for _ in range(2):
        assert float(f(x)) == pytest.approx(392.06287, rel=1e-5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    gradient, by_variable = tape.gradient(y, [x, v])
    assert gradient.numpy() == pytest.approx([2562.465, 2192.6323], rel=1e-4)
    assert float(by_variable) == pytest.approx(601.40674, rel=1e-4)


def test_tf_gradients_inside_a_loop_of_a_variable_that_the_loop_assigns():
    v = tf.Variable(3.0)

    @tf.function
    def f():
        y = v * v * v
        for _ in tf.range(3):
            v.assign_add(tf.gradients(y * v, v)[0] * 0.01)
        return y

    f()
    assert float(v) == pytest.approx(3.81, rel=1e-5)


@pytest.mark.parametrize("dtype", [tf.int32, tf.float32])
@pytest.mark.parametrize("taped", [False, True])
def test_the_test_of_a_loop_sees_the_variable_that_its_body_assigns(dtype, taped):
    v = tf.Variable(tf.constant(1, dtype))
    start = tf.constant(0, dtype)

    @tf.function
    def f(x):
        with tf.GradientTape() if taped else contextlib.nullcontext():
            v.assign(start)
            while v < x:
                v.assign_add(tf.constant(2, dtype))
        return v.read_value()

    assert [int(f(tf.constant(n, dtype))) for n in (5, 0, 8)] == [6, 0, 8]


def test_a_branch_gives_the_same_value_under_several_tapes():
    @tf.function
    def f(x):
        if x > 0.0:
            y = tf.constant([-0.0, 1.0])
        else:
            y = x * tf.constant([1.0, 1.0])
        return y

    v = tf.Variable(2.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        y = f(v)
    assert np.signbit(y).tolist() == [True, False]
    assert float(outer.gradient(y, v)) == float(inner.gradient(y, v)) == 0.0

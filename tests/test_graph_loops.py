"""Loops in graphs: counted where possible, with sums of products moved after them."""

from __future__ import annotations

import numpy as np
import pytest

import gradtape as tf
from gradtape.graph.ir.graph import all_nodes

RNG = np.random.default_rng(0)
XS = tf.constant(RNG.normal(size=(6, 4, 3)).astype(np.float32))
W, U = (tf.constant(RNG.normal(size=shape).astype(np.float32)) for shape in ((3, 5), (5, 5)))


def graph_of(f, *args):
    traced = tf.function(f)
    for mine, its in zip(tf.nest.flatten(traced(*args)), tf.nest.flatten(f(*args)), strict=True):
        np.testing.assert_allclose(mine, its, rtol=2e-5, atol=1e-5)
    return traced.get_concrete_function(*args).graph.verify()


def loops(graph):
    return [node for node in graph.nodes if node.op.name == "loop"]


def ops_of(graph):
    return [node.op.name for node in all_nodes(graph)]


def recurrent(xs, w, u):
    h = tf.zeros((4, 5))
    for x in xs:
        h = tf.tanh(tf.matmul(x, w) + tf.matmul(h, u))
    return h


def test_a_loop_over_rows_is_counted_and_handed_the_rows():
    (loop,) = loops(graph_of(lambda xs: tf.scan(lambda a, x: a + x * x, xs), XS))
    assert loop.attrs["rounds"].count == 5 and loop.attrs["test"] is None

    def summed(xs):
        total = tf.zeros((4, 3))
        for x in xs:
            total += x * x
        return total

    (loop,) = loops(graph_of(summed, XS))
    assert loop.attrs["rounds"].count == 6 and loop.attrs["rounds"].scanned == 1
    assert "gather_rows" not in ops_of(loop.attrs["body"])


def test_a_while_that_counts_needs_no_test():
    def f(x):
        i = tf.constant(3)
        while i < 10:
            x, i = x * 1.5, i + 2
        return x, i

    (loop,) = loops(graph_of(f, tf.constant(1.0)))
    assert loop.attrs["rounds"].count == 4 and loop.attrs["test"] is None


def test_a_while_with_a_test_of_its_own_keeps_it():
    def f(x):
        while x < 100.0:
            x *= 1.5
        return x

    (loop,) = loops(graph_of(f, tf.constant(1.0)))
    assert loop.attrs["rounds"].count is None and loop.attrs["test"] is not None


def test_sums_of_products_stand_after_the_backward_loop():
    def gradients(xs, w, u):
        with tf.GradientTape() as tape:
            tape.watch([w, u])
            y = tf.reduce_sum(recurrent(xs, w, u))
        return tape.gradient(y, [w, u])

    graph = graph_of(gradients, XS, W, U)
    forward, backward = loops(graph)
    assert ops_of(forward.attrs["body"]).count("matmul") == 2
    assert ops_of(backward.attrs["body"]).count("matmul") == 1  # the previous state's cotangent; weights come later
    products = [node for node in graph.nodes if node.op.name == "matmul"]
    assert len(products) == 2


@pytest.mark.parametrize("jit", [False, True])
def test_reads_of_a_variable_that_a_loop_assigns_belong_to_the_variable(jit):
    """In every iteration, before and after assignment, in branches and inner loops; TensorFlow's numbers."""
    v, w = tf.Variable([2.0, 1.0]), tf.Variable(1.5)

    @tf.function(jit_compile=jit)
    def gradients(k, count):
        with tf.GradientTape() as tape:
            tape.watch(k)
            y = tf.constant(0.0)
            for i in tf.range(count):
                y += tf.reduce_sum(k * v * v) * w
                if i % 2 == 0:
                    v.assign(v * w)
                    y += tf.reduce_sum(v)
                else:
                    w.assign_add(0.25)
                j = 0
                while tf.less(j, 2):
                    v.assign_sub(0.1 * v)
                    y += tf.reduce_prod(v)
                    j += 1
            y += tf.reduce_sum(v) + w
        return y, *tape.gradient(y, [v, w, k])

    for _ in range(2):
        v.assign([2.0, 1.0])
        w.assign(1.5)
        y, *found = gradients(tf.constant(1.0), tf.constant(3))
        np.testing.assert_allclose(y, 62.27189, rtol=1e-6)
        for mine, its in zip(found, [[30.766768, 28.264961], 18.22388, 27.04651], strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-6)


def test_reads_of_a_variable_that_a_loop_assigns_in_a_call_under_a_tape():
    v = tf.Variable([2.0, 1.0])

    @tf.function
    def f(k):
        for _ in tf.range(3):
            k = k * v + tf.reduce_sum(v * v)
            v.assign(v * 1.5)
        return k

    for _ in range(2):
        v.assign([2.0, 1.0])
        with tf.GradientTape() as tape:
            y = f(tf.constant([1.0, 2.0]))
        np.testing.assert_allclose(tape.gradient(y, v), [203.25, 107.25])

"""Batches of products in one node with their transposes, their numbers and their neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from small_graphs import Builder, names

import gradtape as tf
from gradtape.backends.numpy import onednn
from gradtape.graph.executors.numpy.executor import compile_graph
from gradtape.graph.passes.contractions import with_contractions
from gradtape.graph.passes.optimize import dead_code

pytestmark = pytest.mark.skipif(onednn.version() is None, reason="needs oneDNN")
RNG = np.random.default_rng(0)
HEADS = (0, 2, 1, 3)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def check(b, graph):
    better = dead_code(with_contractions(graph, 0)).verify()
    for y, value in zip(compile_graph(better)(*[b.example[v] for v in b.inputs]), graph.outputs, strict=True):
        np.testing.assert_allclose(y, b.array(value), rtol=1e-5, atol=1e-5)
    return names(better)


def test_attention_is_two_batches_and_a_softmax():
    b = Builder()
    parts = b.op("split", b.input(normal(2, 8, 48)), sizes=(16, 16, 16), axis=2)
    q, k, v = (b.op("transpose", b.op("reshape", p, shape=(2, 8, 4, 4)), perm=HEADS) for p in parts)
    weights = b.op("softmax", b.op("matmul", b.op("mul", np.float32(0.5), q), k, transpose_b=True), axis=3)
    mixed = b.op("transpose", b.op("matmul", weights, v), perm=HEADS)
    found = check(b, b.expecting(b.op("reshape", mixed, shape=(2, 8, 16))))
    assert found == ["split", "reshape", "reshape", "reshape", "contract", "softmax", "contract", "reshape"]


def test_batches_side_by_side_are_written_there():
    b = Builder()
    w, x, y = b.input(normal(2, 4, 8, 8)), b.input(normal(2, 4, 8, 4)), b.input(normal(2, 4, 8, 4))
    scaled = b.op("mul", w, np.float32(0.25))
    products = b.op("matmul", scaled, x), b.op("matmul", scaled, y, transpose_a=True)
    flat = [b.op("reshape", b.op("transpose", p, perm=HEADS), shape=(2, 8, 16)) for p in products]
    found = check(b, b.expecting(b.op("concat", flat[0], b.input(normal(2, 8, 6)), flat[1], axis=2)))
    assert found == ["contracts"]


def test_what_others_use_stays():
    b = Builder()
    w, x = b.input(normal(2, 4, 8, 8)), b.input(normal(2, 4, 8, 4))
    scaled = b.op("mul", w, np.float32(0.25))
    product = b.op("matmul", scaled, x)
    beside = b.op("concat", product, product, axis=3)
    found = check(b, b.expecting(beside, scaled, b.op("concat", b.op("matmul", w, x), x, axis=2)))
    assert found == ["mul", "contract", "concat", "contract", "concat"]


def test_single_matrices_and_other_dtypes_are_left():
    b = Builder()
    x, w, d = b.input(normal(4, 8, 8)), b.input(normal(8, 8)), b.input(normal(4, 8, 8).astype(np.float64))
    graph = b.expecting(b.op("matmul", x, w), b.op("matmul", d, d))
    assert with_contractions(graph, 0) is graph


def test_an_axis_of_length_one_and_a_batch_for_numpy():
    b = Builder()
    one, x, y = b.input(normal(3, 1, 8)), b.input(normal(3, 8, 8)), b.input(normal(3, 8, 2, 4))
    check(b, b.expecting(b.op("matmul", one, x), b.op("contract", x, y, equation="abc,acde->aebd")))


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 1, 0)])
def test_arrays_that_are_laid_out_in_any_way(order):
    computed = 0
    whole = normal(16, 16, 16).transpose(order)
    for a in (whole, whole[:8, :8, :8], whole[::2, ::2, :8], whole[::-1]):
        b, equation = normal(*a.shape)[::-1].copy(), "abc,acd->adb"
        y = np.zeros((a.shape[0], a.shape[2] + 3, a.shape[1] + 5), np.float32)[:, 3:, 5:]
        for target in (None, y):
            result = onednn.contract(equation, a, b, 0.5, target)
            if result is not None:
                computed += 1
                np.testing.assert_allclose(result, 0.5 * np.einsum(equation, a, b), rtol=1e-5, atol=1e-5)
    assert computed or order[2] == 0  # oneDNN wants numbers of a matrix that lie one after the other


def test_attention_trained_is_as_eager():
    x, w = tf.constant(normal(8, 32, 64)), tf.constant(0.2 * normal(64, 192))

    def gradients(x, w):
        with tf.GradientTape() as tape:
            tape.watch((x, w))
            parts = tf.split(tf.matmul(x, w), 3, axis=-1)
            q, k, v = (tf.transpose(tf.reshape(part, (8, 32, 4, 16)), HEADS) for part in parts)
            weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.25)
            y = tf.reshape(tf.transpose(tf.matmul(weights, v), HEADS), (8, 32, 64))
            loss = tf.reduce_sum(tf.sin(y))
        return y, tape.gradient(loss, (x, w))

    ours = tf.function(gradients)
    for _ in range(2):
        for found, eager in zip(tf.nest.flatten(ours(x, w)), tf.nest.flatten(gradients(x, w)), strict=True):
            np.testing.assert_allclose(found, eager, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("first, factor, second", [(1e25, 1e-20, 1e20), (1e-25, 1e20, 1e-22)])
def test_a_number_that_keeps_a_product_from_overflow_or_from_vanishing_stays_before_it(first, factor, second):
    q, k = (tf.constant(np.abs(normal(4, 8, 128, 64)) * np.float32(size)) for size in (first, second))

    def scores(q, k):
        return tf.matmul(q * factor, k, transpose_b=True)

    compiled = tf.function(scores)
    for _ in range(2):
        np.testing.assert_allclose(compiled(q, k), scores(q, k), rtol=1e-5)

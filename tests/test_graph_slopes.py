"""Derivatives of softmax and gelu as one node, and the numbers for which oneDNN is not asked, or not believed."""

from __future__ import annotations

import numpy as np
import pytest
from small_graphs import Builder, names

import gradtape as tf
from gradtape.backends.numpy import onednn
from gradtape.engine.registry.op import registry
from gradtape.graph.executors.numpy.executor import compile_graph
from gradtape.graph.passes.slopes import with_whole_slopes

pytestmark = pytest.mark.skipif(onednn.version() is None, reason="needs oneDNN")
RNG = np.random.default_rng(0)
ODD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, 1e19, -1e19, 3e38, -3e38, 10.0, -10.0]


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def check(b, graph, **tolerance):
    """The graph gives what it gave when it was made, op by op."""
    found = compile_graph(graph)(*[b.example[v] for v in b.inputs])
    for y, value in zip(found, graph.outputs, strict=True):
        np.testing.assert_allclose(y, b.array(value), **({"rtol": 1e-5, "atol": 1e-6} | tolerance))


def gradient_of_softmax(b, g, y, turned=False):
    total = b.op("sum", b.op("mul", *((y, g) if turned else (g, y))), axis=(len(y.shape) - 1,), keepdims=True)
    difference = b.op("sub", g, total)
    return b.op("mul", *((y, difference) if turned else (difference, y)))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", [(8, 64, 64), (4000, 16), (40000, 10), (40000,)])
def test_the_gradient_of_a_softmax_is_one_node(shape, turned):
    b = Builder()
    y = b.op("softmax", b.input(normal(*shape)), axis=len(shape) - 1)
    better = with_whole_slopes(b.expecting(gradient_of_softmax(b, b.input(normal(*shape)), y, turned))).verify()
    assert names(better)[-1] == "softmax_gradient"
    check(b, better)


def test_what_only_looks_like_a_gradient_of_softmax():
    b = Builder()
    g, y = b.input(normal(64, 64)), b.input(normal(64, 64))
    other = b.op("mul", b.op("sub", g, b.op("sum", b.op("mul", y, y), axis=(1,), keepdims=True)), y)
    along_columns = b.op("mul", b.op("sub", g, b.op("sum", b.op("mul", g, y), axis=(0,), keepdims=True)), y)
    large = b.op("softmax", b.input(normal(2, 4)), axis=1)
    graph = b.expecting(other, along_columns, gradient_of_softmax(b, large, large))
    assert "softmax_gradient" not in names(with_whole_slopes(graph, 1 << 11))


@pytest.mark.parametrize("gelu", ["gelu", "gelu_tanh"])
def test_gelu_and_its_gradient_are_one_node_each(gelu):
    b = Builder()
    x, g = b.input(2 * normal(64, 512)), b.input(normal(64, 512))
    y = b.op(gelu, x)
    graph = b.expecting(y, b.op("mul", g, b.op(f"{gelu}_slope", x)), b.op("mul", b.op(f"{gelu}_slope", x), g))
    better = with_whole_slopes(graph).verify()
    found = [name for name in names(better) if name != f"{gelu}_slope"]
    assert found == [gelu, f"{gelu}_gradient", f"{gelu}_gradient"]
    check(b, better, atol=5e-6)


@pytest.mark.parametrize("gelu", ["gelu", "gelu_tanh"])
def test_the_gradient_of_a_bias_comes_with_that_of_gelu(gelu):
    b = Builder()
    gradient = b.op("mul", b.input(normal(4, 16, 512)), b.op(f"{gelu}_slope", b.input(normal(4, 16, 512))))
    sums = [b.op("sum", gradient, axis=axis, keepdims=keepdims) for axis, keepdims in (((0, 1), False), ((1,), False))]
    better = with_whole_slopes(b.expecting(gradient, *sums)).verify()
    assert names(better)[1:] == [f"{gelu}_gradient_and_sum", "sum"]
    check(b, better, atol=2e-5)
    b.example[b.inputs[1]][0, 0, 0] = 1e19
    (gradient, *sums) = compile_graph(better)(*[b.example[v] for v in b.inputs])
    assert np.isfinite(gradient).all() and np.isfinite(sums[0]).all()


def test_a_small_gelu_stays_as_it_is():
    b = Builder()
    graph = b.expecting(b.op("gelu_tanh", b.input(normal(4, 5))))
    assert with_whole_slopes(graph).nodes == graph.nodes


@pytest.mark.parametrize("gelu", ["gelu", "gelu_tanh"])
def test_odd_numbers_in_gelu_are_numpy_s(gelu):
    x = np.concatenate([np.array(ODD, np.float32), normal(1 << 16)])
    g = np.ones_like(x)
    b = Builder()
    values = b.op(gelu, b.input(x)), b.op("mul", b.input(g), b.op(f"{gelu}_slope", b.inputs[0]))
    check(b, with_whole_slopes(b.expecting(*values)), atol=5e-6)
    with tf.GradientTape() as tape:
        t = tf.constant(x)
        tape.watch(t)
        y = tf.nn.gelu(t, approximate=gelu == "gelu_tanh")
    np.testing.assert_allclose(y, b.array(values[0]), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(tape.gradient(y, t), b.array(values[1]), rtol=1e-5, atol=5e-6)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 3e38, -3e38, -200.0])
def test_odd_numbers_in_softmax_are_numpy_s(odd):
    x = 3 * normal(1000, 64)
    x[3, 5] = x[7, 0] = x[9, 63] = odd
    x[11] = odd
    with np.errstate(all="ignore"):
        e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        expected = e / e.sum(1, keepdims=True)
    np.testing.assert_allclose(registry["softmax"].numpy(x, axis=1), expected, rtol=1e-5, atol=1e-30)


def test_odd_cotangents_of_softmax_are_numpy_s():
    y = registry["softmax"].numpy(normal(1000, 64), axis=1)
    g = normal(1000, 64)
    g[3, 5], g[4, 6], g[5, 7] = np.nan, np.inf, -np.inf
    b = Builder()
    check(b, with_whole_slopes(b.expecting(gradient_of_softmax(b, b.input(g), b.input(y)))))


def test_a_step_of_attention_compiled_is_as_eager():
    q, k, v = (tf.constant(normal(4, 4, 32, 16)) for _ in range(3))

    def gradients(q, k, v):
        with tf.GradientTape() as tape:
            tape.watch((q, k, v))
            weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.25)
            y = tf.nn.gelu(tf.matmul(weights, v), approximate=True)
        return tape.gradient(y, (q, k, v))

    for ours, eager in zip(tf.function(gradients)(q, k, v), gradients(q, k, v), strict=True):
        np.testing.assert_allclose(ours, eager, rtol=1e-5, atol=1e-5)


def test_gelu_of_numbers_near_the_largest():
    x = normal(64, 1024)
    x[3, 5] = 3e38
    compiled = tf.function(tf.nn.gelu)
    for _ in range(2):
        np.testing.assert_allclose(compiled(x), tf.nn.gelu(x), rtol=1e-5, atol=2e-6)

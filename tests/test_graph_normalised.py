"""Normalised layers, found in any way they may be written, and what is left alone."""

from __future__ import annotations

import numpy as np
import pytest
from small_graphs import Builder, names

import gradtape as tf
from gradtape.backends.numpy import onednn
from gradtape.graph.executors.numpy import executor
from gradtape.graph.executors.numpy.executor import compile_graph
from gradtape.graph.passes.normalised import with_normalisations

pytestmark = pytest.mark.skipif(onednn.version() is None, reason="needs oneDNN")
RNG = np.random.default_rng(0)
EPSILON = 1e-3


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def moments(x):
    return tf.nn.moments(x, -1, keepdims=True)


def as_in_books(x, scale, shift):
    mean, variance = moments(x)
    return (x - mean) * tf.math.rsqrt(variance + EPSILON) * scale + shift


def scaled_first(x, scale, shift):
    mean, variance = moments(x)
    factor = tf.math.rsqrt(variance + EPSILON) * tf.reshape(scale, (1,) * (len(x.shape) - 1) + (-1,))
    return x * factor + (-mean * factor + tf.reshape(shift, (1,) * (len(x.shape) - 1) + (-1,)))


def divided_by_root(x, scale, shift):
    mean = tf.reduce_mean(x, -1, keepdims=True)
    centred = x - mean
    variance = tf.reduce_mean(centred * centred, -1, keepdims=True)
    return scale * (centred / tf.sqrt(EPSILON + variance)) + shift


def mean_of_squares(x, scale, shift):
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(x), -1, keepdims=True) - mean * mean
    return shift + scale * ((x - mean) * tf.math.rsqrt(variance + EPSILON))


def by_tensorflow(x, scale, shift):
    mean, variance = moments(x)
    return tf.nn.batch_normalization(x, mean, variance, shift, scale, EPSILON)


def unscaled(x, scale, shift):
    mean, variance = moments(x)
    return (x - mean) * tf.math.rsqrt(variance + EPSILON)


def only_scaled(x, scale, shift):
    return unscaled(x, scale, shift) * scale


def only_shifted(x, scale, shift):
    return unscaled(x, scale, shift) + shift


WAYS = [
    as_in_books, scaled_first, divided_by_root, mean_of_squares, by_tensorflow, unscaled, only_scaled, only_shifted,
]  # fmt: skip


@pytest.fixture
def compiled(monkeypatch):
    """The names of the ops that are in the programs compiled since."""
    found = []

    def noted(graph):
        better = with_normalisations(graph)
        found.extend(names(better.verify()))
        return better

    monkeypatch.setattr(executor, "with_normalisations", noted)
    return found


def check(function, *arrays, times=2):
    ours = tf.function(function)
    given = [tf.constant(x) for x in arrays]
    for _ in range(times):
        for y, eager in zip(tf.nest.flatten(ours(*given)), tf.nest.flatten(function(*given)), strict=True):
            np.testing.assert_allclose(y, eager, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("shape", [(512, 100), (8, 64, 128), (2, 4, 64, 96), (256, 256)])
@pytest.mark.parametrize("way", WAYS)
def test_a_normalised_layer_and_its_derivatives_are_one_node_each(way, shape, compiled):
    def step(x, scale, shift, w):
        with tf.GradientTape() as tape:
            tape.watch((x, scale, shift))
            y = x + tf.nn.relu(way(x, scale, shift)) * w
            loss = tf.reduce_sum(y * w)
        return y, tape.gradient(loss, (x, scale, shift), unconnected_gradients="zero")

    check(step, 3 * normal(*shape) + 1, 1 + normal(shape[-1]), normal(shape[-1]), normal(*shape))
    assert compiled.count("layer_norm") == compiled.count("layer_norm_gradient") == 1
    assert not {"rsqrt", "sqrt", "squared_difference"} & set(compiled)


def test_layers_one_upon_the_other_with_paths_around_them(compiled):
    def step(x, scale, shift, w):
        with tf.GradientTape() as tape:
            tape.watch((x, scale, shift, w))
            for _ in range(3):
                x = x + tf.matmul(tf.nn.tanh(as_in_books(x, scale, shift)), w)
            loss = tf.reduce_mean(scaled_first(x, scale, shift) ** 2 * tf.sin(x))
        return tape.gradient(loss, (scale, shift, w))

    check(step, normal(8, 64, 96), 1 + normal(96), normal(96), 0.2 * normal(96, 96))
    assert compiled.count("layer_norm") == compiled.count("layer_norm_gradient") == 4
    assert "rsqrt" not in compiled


def test_data_that_are_normalised_have_a_scale_to_learn(compiled):
    def step(x, scale, shift, w):
        with tf.GradientTape() as tape:
            tape.watch((scale, shift))
            loss = tf.reduce_sum(tf.nn.relu(as_in_books(x, scale, shift)) * w)
        return tape.gradient(loss, (scale, shift))

    check(step, normal(512, 128), 1 + normal(128), normal(128), normal(512, 128))
    assert "layer_norm_gradient" in compiled and "rsqrt" not in compiled


@pytest.mark.parametrize("way", [as_in_books, unscaled, only_shifted])
def test_a_cotangent_that_is_made_of_the_result(way, compiled):
    def step(x, scale, shift, w):
        with tf.GradientTape() as tape:
            tape.watch((x, scale))
            loss = tf.reduce_mean((way(x, scale, shift) - w) ** 2)
        return tape.gradient(loss, (x, scale), unconnected_gradients="zero")

    check(step, normal(512, 128), 1 + normal(128), normal(128), normal(512, 128))
    assert "layer_norm_gradient" in compiled


def test_parts_of_the_formula_can_be_used_elsewhere(compiled):
    def step(x, scale, shift):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch((x, scale, shift))
            mean, variance = moments(x)
            inverse = tf.math.rsqrt(variance + EPSILON)
            normalised = (x - mean) * inverse
            loss = tf.reduce_sum(tf.sin(normalised * scale + shift) * tf.cos(inverse) + normalised**3)
        return mean, inverse, normalised, tape.gradient(loss, (x, scale, shift))

    check(step, normal(512, 128), 1 + normal(128), normal(128))
    assert "layer_norm" in compiled


def test_numbers_for_each_row_that_are_used_as_a_row_are_one():
    def step(x, w):
        with tf.GradientTape() as tape:
            tape.watch(x)
            mean, variance = moments(x)
            normalised = (x - mean) * tf.math.rsqrt(variance + EPSILON)
            y = normalised + tf.reduce_sum(normalised * w, -1)  # of a square: the sums are added to each row
            loss = tf.reduce_sum(tf.sin(y) * w)
        return y, tape.gradient(loss, x)

    check(step, normal(256, 256), 0.1 * normal(256, 256))


def test_a_small_difference_of_what_is_normalised_is_not_nothing():
    def step(x, w):
        normalised = unscaled(x, None, None)
        small = normalised * 1.00001 - normalised
        return small, w + normalised + 1e5 * small

    x, w, ours = tf.constant(normal(512, 128)), tf.constant(normal(128)), tf.function(step)
    ours(x, w)
    (small, total), (_, eager) = ours(x, w), step(x, w)
    assert np.abs(small).max() > 1e-6
    np.testing.assert_allclose(total, eager, rtol=0.1, atol=0.1)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 1e15])
def test_odd_numbers(odd):
    def step(x, scale, shift, w):
        with tf.GradientTape() as tape:
            tape.watch((x, scale, shift))
            y = as_in_books(x, scale, shift)
            loss = tf.reduce_sum(y * w)
        return y, tape.gradient(loss, x)

    x, w = normal(512, 128), normal(512, 128)
    x[3, 5] = x[7, 0] = odd
    x[11, :64] = odd
    w[13, 7] = odd
    given = [tf.constant(a) for a in (x, 1 + normal(128), normal(128), w)]
    ours = tf.function(step)
    ours(*given)
    for found, eager in zip(ours(*given), step(*given), strict=True):
        finite = np.isfinite(eager)
        np.testing.assert_array_equal(np.isfinite(found), finite)
        np.testing.assert_allclose(found[finite], eager[finite], rtol=1e-5, atol=2e-5)


def test_rows_that_are_one_number_everywhere():
    def step(x, scale, shift, w):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(as_in_books(x, scale, shift) * w)
        return tape.gradient(loss, x)

    check(step, np.full((512, 128), 3.0, np.float32), 1 + normal(128), normal(128), normal(512, 128))


@pytest.mark.parametrize("case", ["small", "columns", "another root", "no epsilon", "another mean", "double"])
def test_what_is_no_layer_of_ours_is_left(case):
    b = Builder()
    shape = (4, 8) if case == "small" else (512, 128)
    x = b.input(normal(*shape).astype(np.float64 if case == "double" else np.float32))
    axis = (0,) if case == "columns" else (1,)
    epsilon = x.dtype.numpy.type(0 if case == "no epsilon" else EPSILON)
    mean = b.op("mean", x, axis=axis, keepdims=True)
    difference = b.op("squared_difference", x, b.input(normal(512, 1)) if case == "another mean" else mean)
    variance = b.op("mean", difference, axis=axis, keepdims=True)
    root = b.op("rsqrt", b.op("add", variance if case != "another root" else mean, epsilon))
    graph = b.expecting(b.op("mul", b.op("sub", x, mean), root))
    assert with_normalisations(graph).nodes == graph.nodes


def test_without_the_library_numpy_computes_the_nodes(monkeypatch):
    b = Builder()
    x, scale, shift = b.input(normal(512, 128)), b.input(normal(128)), b.input(normal(128))
    mean = b.op("mean", x, axis=(1,), keepdims=True)
    variance = b.op("mean", b.op("squared_difference", x, mean), axis=(1,), keepdims=True)
    root = b.op("rsqrt", b.op("add", variance, np.float32(EPSILON)))
    centred = b.op("sub", x, mean)
    y = b.op("add", b.op("mul", b.op("mul", centred, root), scale), shift)
    g = b.op("sin", y)
    scaled = b.op("mul", g, scale)
    slope = b.op("mul", b.op("sum", b.op("mul", scaled, centred), axis=(1,), keepdims=True), np.float32(-1 / 128))
    direct = b.op("add", b.op("mul", scaled, root), b.op("mul", b.op("mul", centred, slope), b.op("power_3", root)))
    total = b.op("sum", b.op("mul", scaled, root), axis=(1,), keepdims=True)
    of_x = b.op("sub", direct, b.op("mul", total, np.float32(1 / 128)))
    of_scale = b.op("sum", b.op("mul", g, b.op("mul", centred, root)), axis=(0,), keepdims=False)
    graph = b.expecting(y, of_x, of_scale, b.op("sum", g, axis=(0,), keepdims=False))
    run = compile_graph(graph)
    monkeypatch.setattr(onednn.LayerNormalisation, "usable", lambda self: False)
    for found, value in zip(run(*[b.example[v] for v in b.inputs]), graph.outputs, strict=True):
        np.testing.assert_allclose(found, b.array(value), rtol=1e-5, atol=1e-4)

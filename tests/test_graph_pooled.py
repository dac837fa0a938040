"""Rectifiers and sums moved past poolings: fewer nodes work on whole images, and values stay."""

from __future__ import annotations

import numpy as np
import pytest
from small_graphs import Builder, names

import gradtape as tf
from gradtape.graph.passes.pooling import rectified_maxima, sums_of_sent

SQUARE = {"window": (2, 2), "strides": (2, 2), "paddings": ((0, 0), (0, 0)), "dilations": (1, 1)}
OVERLAP = {"window": (3, 2), "strides": (1, 2), "paddings": ((1, 1), (0, 1)), "dilations": (1, 1)}
IMAGE = np.random.default_rng(0).standard_normal((2, 6, 4, 3)).astype(np.float32)


def pooled(b, image, attrs):
    """A pooling of the image, and what a cotangent of it sends back through the pooling and the rectifier."""
    top = b.op("max_pool", image, **attrs)
    place = b.op("max_pool_place", image, top, **attrs)
    back = b.op("max_pool_back", b.op("mul", top, top), place, size=IMAGE.shape[1:3], **attrs)
    return top, place, back


@pytest.mark.parametrize("attrs", [SQUARE, OVERLAP])
def test_an_image_that_is_only_pooled_is_pooled_before_it_is_rectified(attrs):
    b = Builder()
    image = b.op("relu", b.input(IMAGE))
    top, _, back = pooled(b, image, attrs)
    graph = b.expecting(top, b.op("where_positive", back, image))
    better = rectified_maxima(graph).verify()
    assert names(better) == ["max_pool", "relu", "max_pool_place", "mul", "where_positive", "max_pool_back"]
    rectified, mask = better.nodes[1], better.nodes[4]
    assert rectified.outputs[0].shape == mask.outputs[0].shape == top.shape
    b.agrees(better)


def test_one_rectifier_after_another():
    b = Builder()
    first = b.op("relu", b.input(IMAGE))
    second = b.op("relu", b.op("max_pool", first, **SQUARE))
    graph = b.expecting(b.op("max_pool", second, **{**SQUARE, "window": (3, 2), "strides": (1, 1)}))
    better = rectified_maxima(graph).verify()
    assert names(better) == ["max_pool", "relu", "max_pool", "relu"]
    b.agrees(better)


@pytest.mark.parametrize("use", ["image", "place", "back", "other"])
def test_an_image_with_another_use_is_rectified_first(use):
    b = Builder()
    image = b.op("relu", b.input(IMAGE))
    top, place, back = pooled(b, image, SQUARE)
    more = {
        "image": lambda: image, "place": lambda: place, "back": lambda: b.op("neg", back),
        "other": lambda: b.op("exp", image),
    }[use]()  # fmt: skip
    graph = b.expecting(top, b.op("where_positive", back, image), more)
    assert rectified_maxima(graph) is graph


def test_windows_that_may_lie_in_the_padding_see_the_rectified_image():
    b = Builder()
    attrs = {**SQUARE, "paddings": ((2, 0), (0, 0))}
    graph = b.expecting(b.op("max_pool", b.op("relu", b.input(IMAGE)), **attrs))
    assert rectified_maxima(graph) is graph


@pytest.mark.parametrize(("axis", "attrs", "moved"), [
    ((0, 1, 2), SQUARE, True), ((1, 2), SQUARE, True), ((0, 1), SQUARE, False), ((0, 1, 2), OVERLAP, False),
])  # fmt: skip
def test_the_sum_of_what_arrives_is_the_sum_of_what_was_sent(axis, attrs, moved):
    b = Builder()
    image = b.input(IMAGE)
    top, _, back = pooled(b, image, attrs)
    graph = b.expecting(top, back, b.op("sum", back, axis=axis, keepdims=False))
    better = sums_of_sent(graph).verify()
    assert (better.nodes[-1].inputs[0].shape == top.shape) == moved
    b.agrees(better)


@pytest.mark.parametrize("shape", [(2, 6, 6, 3), (4, 32, 32, 16)])
def test_a_convolutional_step_agrees_with_the_eager_one(shape):
    rng = np.random.default_rng(1)
    x = tf.constant(rng.standard_normal(shape).astype(np.float32))
    w = tf.Variable(rng.standard_normal((3, 3, shape[-1], 8)).astype(np.float32) * 0.1)
    c = tf.Variable(rng.standard_normal(8).astype(np.float32))

    def gradients(x):
        with tf.GradientTape() as tape:
            h = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME") + c), 2, 2, "VALID")
            loss = tf.reduce_sum(h * h)
        return [loss, *tape.gradient(loss, [w, c])]

    traced = tf.function(gradients)
    traced(x)
    for y, known in zip(traced(x), gradients(x), strict=True):
        np.testing.assert_allclose(y, known, rtol=1e-4, atol=1e-3)

"""Types that pyright and mypy must infer: `tools/check_types.py` checks this file. It is never run."""

from typing import Any, assert_type

import numpy as np

import gradtape as tf

x = tf.constant([1.0, 2.0])
v = tf.Variable(1.0)


def operators() -> None:
    assert_type(tf.sin(x) + 2, tf.Tensor)
    assert_type(2 * x, tf.Tensor)
    assert_type(v + 1.0, tf.Tensor)
    assert_type(np.float32(2.0) - v, tf.Tensor)
    assert_type(x @ [[1.0], [2.0]], tf.Tensor)
    assert_type(-v, tf.Tensor)
    assert_type(x > 0.0, tf.Tensor)
    assert_type(x == v, tf.Tensor)
    assert_type(x[0], tf.Tensor)
    assert_type(tf.ragged.constant([[1], [2, 3]]) * 2 + 1, tf.RaggedTensor)


def arguments() -> None:
    assert_type(tf.reduce_sum([[1, 2], [3, 4]], axis=[0, 1]), tf.Tensor)
    assert_type(tf.reduce_mean(np.ones((2, 3)), axis=np.int64(1), keepdims=True), tf.Tensor)
    assert_type(tf.matmul(v, [[1.0]]), tf.Tensor)
    assert_type(tf.add(1, x), tf.Tensor)
    assert_type(tf.reshape(range(6), (2, -1)), tf.Tensor)
    assert_type(tf.zeros([2, tf.constant(3)], dtype="int32"), tf.Tensor)
    assert_type(tf.concat([x, [3.0], np.ones(2)], axis=0), tf.Tensor)
    assert_type(tf.gather(["a", "b"], [1, 0]), tf.Tensor)
    assert_type(tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), strides=1, padding="SAME"), tf.Tensor)
    assert_type(tf.strings.length(["a", b"b"]), tf.Tensor)
    assert_type(tf.random.normal([2, 3], stddev=v), tf.Tensor)


def results() -> None:
    assert_type(tf.float32, tf.DType)
    assert_type(tf.cast(x, tf.int32), tf.Tensor)
    assert_type(tf.cast(tf.ragged.constant([[1]]), tf.float32), tf.RaggedTensor)
    assert_type(tf.sparse.reduce_sum(tf.sparse.eye(3), axis=0), tf.Tensor)
    assert_type(tf.sparse.reduce_sum(tf.sparse.eye(3), axis=0, output_is_sparse=True), tf.SparseTensor)
    assert_type(tf.linalg.svd(tf.eye(2)), tuple[tf.Tensor, tf.Tensor, tf.Tensor])
    assert_type(tf.linalg.svd(tf.eye(2), compute_uv=False), tf.Tensor)
    assert_type(tf.cond(x[0] > 1.0, lambda: x, lambda: -x), tf.Tensor)
    assert_type(tf.split(x, 2), list[tf.Tensor])
    assert_type(tf.data.Dataset.range(3), tf.data.Dataset)
    assert_type(tf.data.Dataset.range(3).map(tf.square).batch(2).prefetch(1), tf.data.Dataset)
    assert_type(tf.compat.v1.reduce_sum(x, reduction_indices=0), tf.Tensor)
    assert_type(tf.raw_ops.AddV2(x=x, y=x), tf.Tensor)


def gradients() -> None:
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    assert_type(tape.gradient(y, v), tf.Tensor | None)
    assert_type(tape.gradient(y, [v, v]), list[tf.Tensor | None])
    assert_type(tape.gradient(y, {"v": v}), dict[str, tf.Tensor | None])
    assert_type(tape.gradient(y, v, unconnected_gradients=tf.UnconnectedGradients.ZERO), tf.Tensor)
    assert_type(tape.gradient(y, [v], unconnected_gradients="zero"), list[tf.Tensor])
    assert_type(tape.gradient(y, {"v": v}, unconnected_gradients="zero"), dict[str, tf.Tensor])


def derivatives() -> None:
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    assert_type(tape.jacobian(y, v), tf.Tensor | None)
    assert_type(tape.jacobian(y, [v], mode="forward"), list[tf.Tensor | None])
    assert_type(tape.jacobian(y, {"v": v}, max_bytes=1), dict[str, tf.Tensor | None])
    assert_type(tape.jacobian(y, v, "zero"), tf.Tensor)
    assert_type(tape.jacobian(y, [v], unconnected_gradients=tf.UnconnectedGradients.ZERO), list[tf.Tensor])
    assert_type(tape.jacobian(y, v, sparse=True), Any)
    assert_type(tape.batch_jacobian(y, v), tf.Tensor)
    assert_type(tape.hessian(y, v), tf.Tensor | None)
    assert_type(tape.hessian(y, [v]), list[list[tf.Tensor | None]])
    assert_type(tape.hessian(y, {"v": v}), dict[str, dict[str, tf.Tensor | None]])
    assert_type(tape.batch_hessian(y, v), tf.Tensor | None)
    assert_type(tape.hvp(y, [v], [1.0]), list[tf.Tensor | None])
    assert_type(tape.ggnvp(y, y, {"v": v}, {"v": 1.0}), dict[str, tf.Tensor | None])
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        z = x * x
    assert_type(accumulator.jvp(z), tf.Tensor | None)
    assert_type(accumulator.jvp([z], unconnected_gradients="zero"), list[tf.Tensor])


@tf.function
def scaled(a: tf.Tensor, factor: int = 2) -> tf.Tensor:
    return a * factor


@tf.function(jit_compile=True)
def pair(a: tf.Tensor) -> tuple[tf.Tensor, int]:
    return a, 1


@tf.custom_gradient
def clipped(a: tf.Tensor) -> tuple[tf.Tensor, Any]:
    return a, lambda upstream: upstream


def functions() -> None:
    assert_type(scaled(x, factor=3), tf.Tensor)
    assert_type(pair(x), tuple[tf.Tensor, int])
    assert_type(tf.recompute_grad(scaled)(x), tf.Tensor)

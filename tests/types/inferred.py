"""Types that pyright and mypy must infer: `tools/check_types.py` checks this file. It is never run."""

from typing import Any, assert_type

import numpy as np

import gradtape as tf

x = tf.constant([1.0, 2.0])
v = tf.Variable(1.0)
MYPY = False  # mypy takes it as True
Dataset = tf.data.Dataset
pairs = tf.data.Dataset.from_tensor_slices((x, x))
vague = tf.data.Dataset.load("data")


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
    assert_type(tape.explain(y, v), tf.inspect.Explanation)
    assert_type(tape.profile(), tf.inspect.Profile)
    assert_type(accumulator.jvp([z], unconnected_gradients="zero"), list[tf.Tensor])


def split(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
    return a, {"b": b}


def counted(limit: tf.Tensor) -> tf.data.Dataset[tf.Tensor]:
    return Dataset.range(limit)


def dataset_sources() -> None:
    assert_type(Dataset.range(3), Dataset[tf.Tensor])
    assert_type(Dataset.from_tensor_slices(x), Dataset[tf.Tensor])
    assert_type(Dataset.from_tensor_slices([1, 2]), Dataset[tf.Tensor])
    assert_type(Dataset.from_tensor_slices(["a", "b"]), Dataset[tf.Tensor])
    assert_type(Dataset.from_tensor_slices((np.ones(2), v)), Dataset[tuple[tf.Tensor, tf.Tensor]])
    assert_type(Dataset.from_tensors({"x": x, "y": [1]}), Dataset[dict[str, tf.Tensor]])
    assert_type(Dataset.from_tensor_slices(({"x": x}, [1])), Dataset[tuple[dict[str, tf.Tensor], tf.Tensor]])
    assert_type(Dataset.from_tensor_slices(tf.sparse.eye(3)), Dataset[tf.SparseTensor])
    assert_type(Dataset.from_tensor_slices(tf.ragged.constant([[1]])), Dataset[Any])
    assert_type(
        Dataset.from_generator(range, args=[3], output_signature=tf.TensorSpec([], tf.int32)), Dataset[tf.Tensor]
    )
    assert_type(Dataset.from_generator(range, tf.int32, args=[3]), Dataset[Any])
    assert_type(Dataset.list_files("*"), Dataset[tf.Tensor])
    assert_type(tf.data.TFRecordDataset("a"), Dataset[tf.Tensor])
    assert_type(Dataset.zip(Dataset.range(3), pairs), Dataset[tuple[tf.Tensor, tuple[tf.Tensor, tf.Tensor]]])
    assert_type(Dataset.zip((Dataset.range(3), pairs)), Dataset[tuple[tf.Tensor, tuple[tf.Tensor, tf.Tensor]]])
    assert_type(Dataset.zip({"a": Dataset.range(3)}), Dataset[dict[str, tf.Tensor]])
    assert_type(Dataset.zip(*[Dataset.range(3)] * 4), Dataset[Any])
    assert_type(Dataset.sample_from_datasets([pairs, pairs]), Dataset[tuple[tf.Tensor, tf.Tensor]])


def dataset_steps() -> None:
    assert_type(pairs.shuffle(2).batch(2).repeat().prefetch(1), Dataset[tuple[tf.Tensor, tf.Tensor]])
    assert_type(pairs.enumerate(), Dataset[tuple[tf.Tensor, tuple[tf.Tensor, tf.Tensor]]])
    assert_type(Dataset.range(3).map(tf.square, num_parallel_calls=tf.data.AUTOTUNE), Dataset[tf.Tensor])
    assert_type(Dataset.range(3).map(lambda a: 1.0), Dataset[Any])
    assert_type(pairs.map(tf.add), Dataset[tf.Tensor])
    assert_type(pairs.map(split), Dataset[tuple[tf.Tensor, dict[str, tf.Tensor]]])
    assert_type(pairs.filter(lambda a, b: a[0] > 1.0), Dataset[tuple[tf.Tensor, tf.Tensor]])
    assert_type(vague.map(lambda a, b: tf.square(a)), Dataset[Any])
    assert_type(Dataset.range(3).interleave(counted, cycle_length=2), Dataset[tf.Tensor])
    assert_type(Dataset.range(9).scan(x, split), Dataset[dict[str, tf.Tensor]])
    assert_type(Dataset.range(9).group_by_window(tf.square, lambda key, group: group.batch(3), 3), Dataset[Any])
    assert_type(Dataset.range(3).sparse_batch(2, [3]), Dataset[tf.SparseTensor])
    assert_type(pairs.apply(lambda d: d.take(2)), Dataset[tuple[tf.Tensor, tf.Tensor]])
    assert_type(Dataset.range(3).reduce(x, lambda state, a: state), tf.Tensor)
    assert_type(Dataset.range(3).reduce(0, lambda state, a: state), tf.Tensor)


def lambdas() -> None:
    if MYPY:  # which takes results of overloads for lambdas as Any
        return
    assert_type(Dataset.range(3).map(lambda a: a * 2), Dataset[tf.Tensor])
    assert_type(Dataset.range(3).map(lambda a: (a, {"b": -a})), Dataset[tuple[tf.Tensor, dict[str, tf.Tensor]]])
    assert_type(pairs.map(lambda a, b: (b, tf.cast(a, tf.int32))), Dataset[tuple[tf.Tensor, tf.Tensor]])
    assert_type(pairs.flat_map(lambda a, b: Dataset.from_tensors(a)), Dataset[tf.Tensor])
    assert_type(Dataset.range(9).window(3).flat_map(lambda w: w.batch(3)), Dataset[tf.Tensor])


def dataset_elements(unspecified: tf.data.Dataset) -> None:
    for a, b in pairs.batch(2):
        assert_type((a, b), tuple[tf.Tensor, tf.Tensor])
    for element in unspecified:
        assert_type(element, Any)
    assert_type(next(iter(Dataset.range(3))), tf.Tensor)
    assert_type(iter(Dataset.range(3)).get_next(), tf.Tensor)
    assert_type(Dataset.range(3).batch(3).get_single_element(), tf.Tensor)
    assert_type([row["x"] for row in Dataset.from_tensor_slices({"x": x})], list[tf.Tensor])


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

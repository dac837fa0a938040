"""Keras variables wherever gradtape accepts variables: tapes, optimizers, functions."""

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras


def test_backend_is_gradtape():
    assert keras.config.backend() == "gradtape"
    assert isinstance(keras.ops.ones((2,)), tf.Tensor)


def test_sources_of_a_tape():
    v, w = keras.Variable([1.0, 2.0]), keras.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v) * w
    dv, dw = tape.gradient(y, [v, w])
    np.testing.assert_allclose(dv, [6.0, 12.0])
    assert float(dw) == 5.0


def test_unconnected_source():
    v, w = keras.Variable([1.0, 2.0]), keras.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = w * w
    assert tape.gradient(y, v) is None
    zero = tape.gradient(y, v, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert zero.numpy().tolist() == [0.0, 0.0]


def test_untrainable_is_watched_by_hand():
    v = keras.Variable(2.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.gradient(y, v) is None
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = v * v
    assert float(tape.gradient(y, v)) == 4.0


def test_watched_variables_and_jacobian():
    v = keras.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    assert len(tape.watched_variables()) == 1
    assert tape.jacobian(y, v).numpy().tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_functions_take_them():
    v = keras.Variable([1.0, 4.0])
    assert tf.sqrt(v).numpy().tolist() == [1.0, 2.0]
    assert (tf.constant([1.0, 1.0]) + v).numpy().tolist() == [2.0, 5.0]
    assert tf.reduce_sum(v).numpy() == 5.0
    assert tf.stack([v, v]).shape == (2, 2)


def test_assignment_does_not_change_what_was_read():
    v = keras.Variable([1.0, 2.0])
    before = keras.ops.convert_to_tensor(v)
    v.assign([3.0, 4.0])
    assert before.numpy().tolist() == [1.0, 2.0]
    assert v.numpy().tolist() == [3.0, 4.0]


def test_value_is_the_variable_that_holds_it():
    layer = keras.layers.Dense(1, kernel_initializer="ones", name="dense")
    x = tf.constant([[2.0, 3.0], [1.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(layer(x))
    held = [v.value for v in layer.trainable_variables]
    assert all(isinstance(v, tf.Variable) for v in held)
    assert [g.numpy().tolist() for g in tape.gradient(y, held)] == [[[3.0], [7.0]], [2.0]]
    held[0].assign_add([[1.0], [1.0]])
    assert layer.kernel.numpy().tolist() == [[2.0], [2.0]]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(held[0])
        y = tf.reduce_sum(layer(x))
    assert [g is None for g in tape.gradient(y, held)] == [False, True]
    with tf.autodiff.ForwardAccumulator(held[0], tf.ones([2, 1])) as accumulator:
        y = tf.reduce_sum(layer(x))
    assert float(accumulator.jvp(y)) == 10.0
    assert {v.name for v in tape.watched_variables()} == {"dense/kernel:0"}


def test_updates_inside_a_function():
    v = keras.Variable(1.0)

    @tf.function
    def step(x):
        v.assign_add(x)
        return v * 2.0

    assert [float(step(tf.constant(2.0))) for _ in range(3)] == [6.0, 10.0, 14.0]
    assert float(v.value) == 7.0


def test_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="must match"):
        keras.Variable([1.0, 2.0]).assign([1.0, 2.0, 3.0])


def test_mixed_precision_reads_narrow_and_keeps_wide():
    layer = keras.layers.Dense(2, dtype="mixed_float16")
    y = layer(np.ones((1, 3), "float32"))
    assert y.dtype == tf.float16
    assert layer.kernel.dtype == "float32"
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.cast(layer(np.ones((1, 3), "float32")), tf.float32))
    assert tape.gradient(loss, layer.kernel).dtype == tf.float32


def test_shape_has_what_tensorflows_has():
    kernel = keras.Variable(np.arange(6.0).reshape(3, 2))
    assert repr(kernel.shape) == "TensorShape([3, 2])"
    assert kernel.shape.as_list() == [3, 2] and kernel.shape.rank == 2 and kernel.shape.num_elements() == 6
    assert kernel.shape == (3, 2) and tuple(kernel.shape) == (3, 2) and np.prod(kernel.shape) == 6
    assert "shape=(3, 2)" in repr(kernel)
    assert keras.backend.count_params(kernel) == 6


def test_is_a_tensor_to_tensorflow():
    kernel = keras.Variable([[1.0, 2.0]])
    assert tf.is_tensor(kernel) and not tf.is_tensor(keras.layers.Dense(1))
    np.testing.assert_array_equal(keras.backend.get_value(kernel), [[1.0, 2.0]])
    assert type(keras.backend.get_value(kernel)) is np.ndarray

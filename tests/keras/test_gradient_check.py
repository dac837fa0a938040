"""`check_gradients` of Keras models, which compute in float32: accepts correct ones, finds wrong ones."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.inspect import check_gradients

keras = tf.keras
layers = keras.layers

MODELS = {
    "dense": ((4,), lambda: [layers.Dense(16, activation="relu"), layers.Dense(3, activation="softmax")]),
    "deep": ((4,), lambda: [layers.Dense(32, activation="gelu") for _ in range(6)]),
    "layer norm": ((4,), lambda: [layers.Dense(8, activation="tanh"), layers.LayerNormalization(), layers.Dense(1)]),
    "batch norm": ((4,), lambda: [layers.Dense(8), layers.BatchNormalization(), layers.ReLU(), layers.Dense(2)]),
    "convolution": ((6, 6, 2), lambda: [
        layers.Conv2D(4, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(2),
    ]),
    "lstm": ((5, 3), lambda: [layers.LSTM(4), layers.Dense(1)]),
    "gru": ((5, 3), lambda: [layers.GRU(4, return_sequences=True)]),
    "attention": ((4, 6), lambda: [layers.LayerNormalization(), Attention()]),
}  # fmt: skip


class Attention(layers.Layer):
    def build(self, shape):
        self.attention = layers.MultiHeadAttention(2, 3)
        self.attention.build(shape, shape)

    def call(self, x):
        return self.attention(x, x) + x


class Planted(layers.Layer):
    """The identity, with a gradient that is `factor` times the correct one."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def call(self, x):
        @tf.custom_gradient
        def planted(x):
            return tf.identity(x), lambda g: g * self.factor

        return planted(x)


def made(name, *more):
    keras.utils.set_random_seed(1)
    shape, stack = MODELS[name]
    model = keras.Sequential([keras.Input(shape), *stack(), *more])
    return model, np.random.default_rng(0).normal(size=(3, *shape)).astype(np.float32)


@pytest.mark.parametrize("name", MODELS)
def test_a_right_model_is_right(name):
    model, x = made(name)
    report = check_gradients(model, x)
    report.assert_ok()
    assert report.dtype == "float32"


@pytest.mark.parametrize("factor", [1.01, 0.99, -1.0, 0.0])
@pytest.mark.parametrize("name", MODELS)
def test_a_slightly_wrong_gradient_in_a_model_is_found(name, factor):
    model, x = made(name, Planted(factor))
    report = check_gradients(model, x, orders=(1,))
    assert not report.ok and "WRONG" in str(report)


def test_a_right_custom_gradient_in_a_model_is_right():
    model, x = made("dense", Planted(1.0))
    check_gradients(model, x).assert_ok()


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_a_loss_of_any_size(scale):
    model, x = made("dense")
    check_gradients(lambda x: tf.reduce_mean(model(x)[:, 0]) * scale, x, orders=(1,)).assert_ok()
    wrong, x = made("dense", Planted(1.01))
    assert not check_gradients(lambda x: tf.reduce_mean(wrong(x)[:, 0]) * scale, x, orders=(1,)).ok


def test_arguments_of_float64_and_a_compiled_call():
    model, x = made("dense")
    assert check_gradients(model, x.astype(np.float64)).assert_ok() is None
    compiled = tf.function(model)
    check_gradients(compiled, x).assert_ok()
    before = compiled.experimental_get_tracing_count()
    compiled(tf.constant(x))
    assert compiled.experimental_get_tracing_count() == before  # it is still a graph
    wrong, x = made("dense", Planted(1.01))
    assert not check_gradients(tf.function(wrong), x, orders=(1,)).ok


def test_a_model_of_mixed_precision_is_right():
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        model, x = made("dense")
        report = check_gradients(model, x, orders=(1,))
    finally:
        keras.config.set_dtype_policy("float32")
    report.assert_ok()
    assert report.dtype == "bfloat16"


def test_a_cast_to_float32_and_back_is_seen():
    def rounded(x):
        return tf.cast(tf.exp(tf.cast(x, tf.float32)), tf.float64)

    report = check_gradients(rounded, tf.constant([0.1, 0.7], tf.float64))
    report.assert_ok()
    assert report.dtype == "float32"


def test_what_only_plain_tensors_can_do_is_checked_roughly():
    w = tf.Variable([1.0, 2.0])

    def f(x):
        assert type(x) is tf.Tensor or hasattr(x, "trace")
        return tf.exp(x) * w

    report = check_gradients(f, [0.5, 1.0], orders=(1,))
    assert report.ok and "rough" in str(report)

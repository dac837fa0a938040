"""What a tape reports about missing gradients of Keras models."""

import inspect
import io
import os
import re

import numpy as np
import pytest

import gradtape as tf
from gradtape.inspect import Cause

keras = tf.keras
X = np.ones((3, 2), "float32")


def network():
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])


def causes(tape, target, sources):
    return [reason.cause for reason in tape.explain(target, sources).reasons]


def test_predict_is_named():
    model = network()
    with tf.inspect.tracing(), tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.constant(model.predict(X, verbose=0)))
    assert causes(tape, y, model.trainable_variables) == [Cause.PREDICT] * 4


def test_a_statistic_that_is_not_trained():
    layer = keras.layers.BatchNormalization()
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(layer(X, training=False))
    assert tape.gradient(y, layer.moving_mean) is None
    assert causes(tape, y, layer.moving_mean) == [Cause.NOT_TRAINABLE]


def test_a_layer_that_the_loss_does_not_use():
    model, other = network(), network()
    other(X)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(model(X))
    (reason,) = tape.explain(y, other.layers[0].kernel).reasons
    assert reason.cause is Cause.OUTSIDE_BLOCK
    assert "kernel" in reason.source


def test_a_dead_layer():
    model = network()
    model.layers[0].bias.assign(-100.0 * np.ones(4))
    with tf.GradientTape(trace=True) as tape:
        y = tf.reduce_sum(model(X))
    (reason,) = tape.explain(y, model.layers[0].kernel).reasons
    assert reason.cause is Cause.ZERO
    assert "dead ReLU" in reason.sentence
    assert reason.line[0] == __file__


@pytest.mark.filterwarnings("ignore:[^$]*a softmax over axis -1")
@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_layer_that_fit_cannot_train_is_named_with_the_line_that_constructed_it(jit_compile):
    first = inspect.currentframe().f_lineno
    last_layers = {
        "softmax over one element": lambda: [keras.layers.Dense(1, "softmax")],
        "cancel up to rounding errors": lambda: [keras.layers.Dense(1), keras.layers.UnitNormalization()],
    }
    for line, (says, layers) in enumerate(last_layers.items(), first + 2):
        model = keras.Sequential([keras.Input((2,)), *layers()])
        model.compile("sgd", "mse", jit_compile=jit_compile)
        with tf.inspect.tracing(io.StringIO()) as reasons:
            model.fit(np.linspace(-1, 1, 16, dtype="float32").reshape(8, 2), np.arange(8.0), epochs=3, verbose=0)
        (reason,) = reasons
        assert says in reason.sentence
        place = rf"\(layer `\w+`, constructed at \S*{os.path.basename(__file__)}:{line} in"
        assert re.search(place, reason.sentence), reason
        assert reason.cause is Cause.ZERO and reason.line[0] == __file__ and "fit" in reason.sentence


def test_the_warning_of_an_optimizer_is_the_explanation():
    model = network()
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(model.layers[0](X))
    gradients = tape.gradient(y, model.trainable_variables)
    with pytest.warns(UserWarning, match=r"(?s)Gradients do not exist.*bias`: it was not read while") as said:
        keras.optimizers.SGD().apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    assert said[0].filename == __file__


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: tf.function(f, autograph=False)], ids=["eager", "function"])
def test_the_error_of_an_optimizer_is_the_explanation(wrap):
    model, optimizer = network(), keras.optimizers.SGD()
    optimizer.build(model.trainable_variables)

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.round(model(X)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    with pytest.raises(ValueError, match="No gradients provided for any variable") as raised:
        wrap(step)()
    text = str(raised.value)
    assert "tf.round is on the path to the target and has no derivative" in text
    assert text.count("has no derivative") == 1  # one reason for four variables


def test_the_error_of_an_optimizer_whose_gradients_come_from_nowhere():
    model = network()
    with pytest.raises(ValueError, match="not computed from them as far as the tape has seen"):
        keras.optimizers.SGD().apply_gradients([(None, variable) for variable in model.trainable_variables])

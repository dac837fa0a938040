"""`fit` within a memory budget: the same weights, with less memory."""

import logging
import re
import tracemalloc

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras


def model_and_data(optimizer, **options):
    keras.utils.set_random_seed(7)
    layers = [keras.Input((16,))]
    for _ in range(12):
        layers += [keras.layers.Dense(16, activation="relu"), keras.layers.Dropout(0.1)]
    model = keras.Sequential([*layers, keras.layers.Dense(1)])
    model.compile(optimizer, "mse", **options)
    draw = np.random.default_rng(0)
    return model, draw.normal(size=(2048, 16)), draw.normal(size=(2048, 1))


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_keras_fit_trains_within_it(optimizer):
    def fitted(budget):
        model, x, y = model_and_data(optimizer)
        with tf.memory_budget(budget):
            history = model.fit(x, y, batch_size=1024, epochs=2, verbose=0)
            batch = (tf.constant(x[:1024], tf.float32), tf.constant(y[:1024], tf.float32))
            tracemalloc.start()
            model.train_function([batch])
            taken = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        return history.history["loss"], model.get_weights(), taken

    losses, weights, plain = fitted(None)
    found, now, taken = fitted(0.3)
    assert found == losses
    assert all(np.array_equal(a, b) for a, b in zip(weights, now, strict=True))
    assert taken < 0.6 * plain


def test_keras_fit_of_a_compiled_model_trains_within_it(caplog):
    pytest.importorskip("jax")

    def fitted(budget):
        model, x, y = model_and_data("adam", jit_compile=True)
        with tf.memory_budget(budget):
            history = model.fit(x, y, batch_size=1024, epochs=2, verbose=0)
        return history.history["loss"], model.get_weights()

    losses, weights = fitted(None)
    with caplog.at_level(logging.INFO, logger="gradtape"):
        found, now = fitted(0.3)
    (said,) = [r.getMessage() for r in caplog.records if r.name == "gradtape"]
    reached, plain = re.fullmatch(
        r"function train_step is planned to ([\d.]+) kB of memory instead of ([\d.]+) MB: .* ops run again", said
    ).groups()
    assert float(reached) < 0.35 * 1000 * float(plain)
    np.testing.assert_allclose(found, losses, rtol=1e-6)
    for a, b in zip(now, weights, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)

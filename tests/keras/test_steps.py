"""How `fit` runs its steps: planned on NumPy first, compiled by XLA for recurring batch shapes."""

import gc
import logging
import tracemalloc

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras

pytest.importorskip("jax")


def network(**compiled):
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dropout(0.1), keras.layers.Dense(1)]
    )
    model.compile(**{"optimizer": keras.optimizers.Adam(0.02), "loss": "mse", "metrics": ["mae"], **compiled})
    return model


def data(count):
    x = np.random.default_rng(0).normal(size=(count, 4)).astype("float32")
    return x, x.sum(1, keepdims=True)


def test_what_comes_often_is_compiled_and_gives_the_same():
    x, y = data(45 * 4 + 2)  # the last batch is smaller, and rare
    found = {}
    for way in ("auto", False, True):
        model = network(jit_compile=way)
        history = model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0).history
        found[way] = [*history["loss"], *history["mae"], *model.evaluate(x, y, batch_size=4, verbose=0)]
    np.testing.assert_allclose(found["auto"], found[False], rtol=1e-4)
    np.testing.assert_allclose(found["auto"], found[True], rtol=1e-4)


def test_a_line_is_logged_when_xla_compiles_a_step(caplog):
    x, y = data(40 * 4)
    with caplog.at_level(logging.INFO, "gradtape"):
        network().fit(x, y, epochs=2, batch_size=4, verbose=0)
    (text,) = [record.getMessage() for record in caplog.records if "XLA compiles" in record.getMessage()]
    assert text.startswith("after 32 batches of one shape, XLA compiles Trainer.train_step for it")


def test_logs_that_come_late_are_those_of_their_step():
    class Seen(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.losses = []

        def on_train_batch_end(self, batch, logs=None):
            assert set(logs) == {"loss", "mae"}
            self.losses.append(logs["loss"])

    x, y = data(40 * 4)
    found = []
    for way in (True, False):
        seen = Seen()
        network(jit_compile=way).fit(x, y, batch_size=4, shuffle=False, verbose=0, callbacks=[seen])
        found.append(seen.losses)
    assert len(found[0]) == 40 and all(type(loss) is float for loss in found[0])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)


def test_where_xla_fails_the_step_stays_on_numpy(monkeypatch):
    def refused(graph, budget):
        raise NotImplementedError("no words for it")

    monkeypatch.setattr("gradtape.graph.executors.xla.executor.compile_graph", refused)
    x, y = data(40 * 4)
    losses = network().fit(x, y, batch_size=4, epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    with pytest.raises(NotImplementedError, match="no words"):
        network(jit_compile=True).fit(x, y, batch_size=4, verbose=0)


def test_memory_does_not_grow_with_epochs():
    import jax

    x = np.random.default_rng(0).normal(size=(96, 16, 16, 1)).astype("float32")
    y = np.arange(96) % 10
    keras.utils.set_random_seed(0)
    layers = keras.layers
    convolutional = [keras.Input((16, 16, 1)), layers.Conv2D(8, 3, activation="relu"), layers.MaxPooling2D()]
    dense = [keras.Input((16, 16, 1)), layers.Flatten(), layers.Dense(16, activation="relu")]
    for first in (convolutional, dense):
        model = keras.Sequential([*first, layers.Flatten(), layers.Dropout(0.2), layers.Dense(10)])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, metrics=["accuracy"])
        sizes = []

        def measure(*_, sizes=sizes):
            gc.collect()
            sizes.append((tracemalloc.get_traced_memory()[0], len(jax.live_arrays())))

        # Until XLA takes over, in the third epoch, each epoch has new traces.
        model.fit(x, y, batch_size=8, epochs=4, validation_data=(x, y), verbose=0)
        tracemalloc.start()
        try:
            watch = keras.callbacks.LambdaCallback(on_epoch_end=measure)
            model.fit(x, y, batch_size=8, epochs=6, validation_data=(x, y), verbose=0, callbacks=[watch])
        finally:
            tracemalloc.stop()
        host, device = zip(*sizes, strict=True)
        assert host[-1] - host[1] < 100_000  # keeping one batch per step would take four times as much
        assert device[-1] <= device[1]


def test_a_warning_of_retracing_names_the_users_step(caplog):
    class Named(keras.Sequential):
        def train_step(self, data):
            return super().train_step(data)

    model = Named([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    for size in range(2, 8):
        model.train_on_batch(np.zeros((size, 3), "float32"), np.zeros((size, 1), "float32"))
    assert "Named.train_step" in caplog.text

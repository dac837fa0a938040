"""`fit` and similar methods, custom steps and hand-written loops must agree."""

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras


def data(n=64):
    x = np.random.default_rng(0).normal(size=(n, 4)).astype("float32")
    return x, (x @ np.array([[1.0], [-2.0], [0.5], [0.0]], "float32")).astype("float32")


def network(**compiled):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
    model.compile(**{"optimizer": keras.optimizers.Adam(0.02), "loss": "mse", "metrics": ["mae"], **compiled})
    return model


def test_fit_learns():
    x, y = data()
    history = network().fit(x, y, epochs=30, batch_size=16, validation_split=0.25, verbose=0).history
    assert set(history) == {"loss", "mae", "val_loss", "val_mae"}
    assert history["loss"][-1] < 0.1 * history["loss"][0]


@pytest.mark.parametrize("options", [{"run_eagerly": True}, {"steps_per_execution": 2}, {"jit_compile": True}])
def test_ways_to_run_a_step_agree(options):
    if "jit_compile" in options:
        pytest.importorskip("jax")
    x, y = data()
    losses = [
        network(**compiled).fit(x, y, epochs=3, batch_size=16, shuffle=False, verbose=0).history["loss"]
        for compiled in ({}, options)
    ]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


def test_fit_agrees_with_a_loop_by_hand():
    x, y = data()
    fitted, model = network(), network()
    fitted.fit(x, y, epochs=2, batch_size=16, shuffle=False, verbose=0)
    optimizer, loss_of = keras.optimizers.Adam(0.02), keras.losses.MeanSquaredError()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    for _ in range(2):
        for i in range(0, len(x), 16):
            step(tf.constant(x[i : i + 16]), tf.constant(y[i : i + 16]))
    for a, b in zip(fitted.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_custom_train_step():
    class Custom(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
            for metric in self.metrics:
                metric.update_state(loss) if metric.name == "loss" else metric.update_state(y, self(x))
            return {m.name: m.result() for m in self.metrics}

    x, y = data()
    model = Custom()
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"])
    history = model.fit(x, y, epochs=20, verbose=0).history
    assert history["loss"][-1] < 0.05 * history["loss"][0]


def test_model_without_call():
    class Pair(keras.Model):
        def __init__(self):
            super().__init__()
            self.scale = self.add_weight(shape=(), initializer="ones", name="scale")

        def train_step(self, data):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((data * self.scale) ** 2)
            self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
            return {"square": loss}

    model = Pair()
    model.compile(optimizer=keras.optimizers.SGD(0.1))
    history = model.fit(np.ones((32, 3), "float32"), epochs=5, verbose=0).history
    assert history["square"][-1] < history["square"][0]


def test_batches_one_by_one():
    x, y = data()
    model = network()
    first = model.train_on_batch(x, y, return_dict=True)
    for _ in range(50):
        last = model.train_on_batch(x, y, return_dict=True)
    assert last["loss"] < first["loss"]
    assert model.test_on_batch(x, y, return_dict=True)["loss"] == pytest.approx(
        model.evaluate(x, y, verbose=0, return_dict=True)["loss"], rel=1e-5
    )
    np.testing.assert_allclose(model.predict_on_batch(x), model.predict(x, verbose=0), rtol=1e-5)


def test_weights_of_samples_and_classes():
    x, _ = data()
    labels = (x[:, 0] > 0).astype("int32")
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, activation="softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
    weighed = model.evaluate(x, labels, sample_weight=(labels == 0).astype("float32"), verbose=0)
    assert np.isfinite(weighed).all()
    assert np.isfinite(model.fit(x, labels, class_weight={0: 1.0, 1: 0.0}, verbose=0).history["loss"]).all()


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision(policy):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, dtype=policy), keras.layers.Dense(1)])
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.05))
    model.compile(optimizer, "mse")
    x, y = data()
    history = model.fit(x, y, epochs=10, verbose=0).history["loss"]
    assert history[-1] < 0.5 * history[0]


def test_gradient_accumulation_is_a_larger_batch():
    x, y = data()
    small = network(optimizer=keras.optimizers.SGD(0.1, gradient_accumulation_steps=4))
    large = network(optimizer=keras.optimizers.SGD(0.1))
    small.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0)
    large.fit(x, y, batch_size=64, epochs=3, shuffle=False, verbose=0)
    for a, b in zip(small.get_weights(), large.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_dropout_same_seed_same_numbers_eager_and_traced():
    x, y = data()

    def losses(eager):
        keras.utils.set_random_seed(3)
        layers = [keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dropout(0.5), keras.layers.Dense(1)]
        model = keras.Sequential(layers)
        model.compile("sgd", "mse", run_eagerly=eager)
        return model.fit(x, y, epochs=3, shuffle=False, verbose=0).history["loss"]

    np.testing.assert_allclose(losses(True), losses(False), rtol=1e-5)


def test_callbacks():
    x, y = data()
    seen = []
    stop = keras.callbacks.EarlyStopping(monitor="loss", min_delta=1e9, patience=1)
    note = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(logs["loss"]))
    network().fit(x, y, epochs=10, verbose=0, callbacks=[stop, note])
    assert len(seen) == 2 and all(isinstance(loss, float) for loss in seen)

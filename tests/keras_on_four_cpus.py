"""Keras in the scope of strategies with two and four replicas, on four logical CPUs: fifty steps of three models.

`test_distribute_replicas.py` runs this in a separate process. Run as a script under TensorFlow, it prints the numbers
of `UNSYNCHRONISED`.
"""

import sys

import numpy as np

if __name__ == "__main__":
    import keras
    import tensorflow as tf
else:
    import pytest

    import gradtape as tf

    keras = tf.keras

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 4)


def network(kind):
    layers = keras.layers
    if kind == "dense":
        return [layers.Input((6,)), layers.Dense(8, activation="tanh"), layers.Dense(3)]
    if kind == "embedding":
        return [layers.Input((4,), dtype="int32"), layers.Embedding(30, 4), layers.Flatten(), layers.Dense(3)]
    norm = layers.BatchNormalization(synchronized=kind != "unsynchronised", momentum=0.8)
    convolution = layers.Conv2D(3, 3, use_bias=kind == "biased")  # its gradient before a norm is rounding errors
    return [layers.Input((6, 6, 1)), convolution, norm, layers.ReLU(), layers.Flatten(), layers.Dense(3)]


def trained(count, kind, epochs=10, eagerly=False, adam=False):
    """Returns the loss of each epoch, the results of `evaluate` and `predict`, and the weights."""
    rng = np.random.RandomState(0)
    shape = {"dense": (40, 6), "embedding": (40, 4)}.get(kind, (40, 6, 6, 1))
    x = rng.randint(0, 30, shape) if kind == "embedding" else rng.randn(*shape).astype("f")
    y = rng.randint(0, 3, 40)
    strategy = tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(count)])
    with strategy.scope():
        model = keras.Sequential(network(kind))
        model.set_weights([(rng.randn(*w.shape) * 0.3).astype("f") if w.ndim > 1 else w for w in model.get_weights()])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        optimizer = keras.optimizers.Adam(0.01) if adam else keras.optimizers.SGD(0.05, momentum=0.5)
        model.compile(optimizer, loss, metrics=["accuracy"], run_eagerly=eagerly)
    history = model.fit(x, y, batch_size=8, epochs=epochs, shuffle=False, verbose=0).history
    evaluated, outputs = [], np.zeros(0)
    if kind in ("dense", "unsynchronised"):
        evaluated = model.evaluate(x, y, batch_size=16, verbose=0)
        outputs = model.predict(x[:11], batch_size=8, verbose=0)
        assert len(outputs) == 11
    if "gradtape" in tf.__name__ and count > 1 and not eagerly:
        assert "one after the other" not in strategy.describe()
    return [history["loss"], history["accuracy"], evaluated, outputs, *model.get_weights()], model


def of_unsynchronised(numbers):
    """Returns a few of the numbers of two replicas with unsynchronized batch norms."""
    losses, _, evaluated, outputs, kernel, *_, mean, variance, _, _ = numbers
    return [losses[0], losses[-1], evaluated[0], outputs[0, 0], outputs[-1, -1], kernel.sum(), *mean, *variance]


UNSYNCHRONISED = [
    1.5419973, 0.62271214, 0.58389461, 2.4124808, 1.6151564, 2.5569966, 0.081687286, 0.017023779, 0.054135934,
    1.7057725, 0.40969312, 0.6060071,
]  # fmt: skip

if __name__ == "__main__":
    print([float(f"{x:.8g}") for x in of_unsynchronised(trained(2, "unsynchronised")[0])])
    sys.exit()


@pytest.fixture(scope="module")
def alone():
    return {kind: trained(1, kind)[0] for kind in ("dense", "embedding", "synchronised")}


@pytest.mark.parametrize(
    ("count", "kind"), [(4, "dense"), (2, "embedding"), (2, "synchronised")]
)
def test_fifty_steps_are_those_of_one_device(alone, count, kind):
    for one, other in zip(trained(count, kind)[0], alone[kind], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=2e-6)


def test_adam_and_a_bias_before_a_batch_norm():
    """Adam divides gradients by their magnitude, so a bias without a gradient gets steps of full size."""
    for one, other in zip(*[trained(n, "synchronised", adam=True)[0] for n in (4, 1)], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=2e-6)
    four, alone = [trained(n, "biased", adam=True)[0] for n in (4, 1)]
    biased = (5, 8)  # the bias, and the mean from which batch norm subtracts it again
    for i, (one, other) in enumerate(zip(four, alone, strict=True)):
        if i not in biased:
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=2e-6, err_msg=str(i))


def test_eagerly_the_replicas_run_in_step():
    two, alone = trained(2, "embedding", epochs=2, eagerly=True)[0], trained(1, "embedding", epochs=2)[0]
    for one, other in zip(two, alone, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=2e-6)


def test_batch_norms_of_their_own_are_those_of_tensorflow():
    found = of_unsynchronised(trained(2, "unsynchronised")[0])
    np.testing.assert_allclose(found, UNSYNCHRONISED, rtol=2e-5)


def test_a_distributed_dataset_and_a_custom_loop_with_an_optimizer(tmp_path):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    x, y = np.ones((8, 3), "f"), np.zeros((8, 1), "f")
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
    with strategy.scope():
        model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile("sgd", "mse")
        metric = keras.metrics.Mean()
    model.fit(strategy.experimental_distribute_dataset(data), epochs=2, shuffle=False, verbose=0)
    path = str(tmp_path / "model.keras")
    model.save(path)
    np.testing.assert_allclose(keras.models.load_model(path).predict(x, verbose=0), model.predict(x, verbose=0))

    with strategy.scope():
        optimizer = keras.optimizers.Adam(0.1, weight_decay=0.01)

    @tf.function
    def step(pair):
        def replica(pair):
            x, y = pair
            with tf.GradientTape() as tape:
                loss = tf.nn.compute_average_loss(tf.reduce_sum((model(x) - y) ** 2, axis=1), global_batch_size=4)
            weights = model.trainable_weights
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            metric.update_state(loss, sample_weight=2.0)
            return loss

        return strategy.reduce("sum", strategy.run(replica, (pair,)), axis=None)

    losses = [float(step(pair)) for pair in strategy.experimental_distribute_dataset(data.repeat(5))]
    assert losses[-1] < losses[0] and int(optimizer.iterations) == 10
    np.testing.assert_allclose(float(metric.result()) * 2, np.mean(losses), rtol=1e-5)
    metric.reset_state()
    assert float(metric.result()) == 0.0

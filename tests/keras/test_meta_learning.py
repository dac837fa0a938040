"""Gradients through the steps of ordinary optimizers, against float64 differences."""

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras

OPTIMIZERS = {
    "SGD": lambda: keras.optimizers.SGD(0.1),
    "momentum": lambda: keras.optimizers.SGD(0.1, momentum=0.5, nesterov=True),
    "Adam": lambda: keras.optimizers.Adam(0.05),
    "RMSprop": lambda: keras.optimizers.RMSprop(0.05, centered=True),
}


class Sinusoid:
    """A small model that is fitted to a sinusoid in a few inner steps and evaluated on other points: MAML's task."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.inside, self.outside = rng.uniform(-3, 3, (2, 10, 1))
        layers = [keras.layers.Dense(4, "tanh", dtype="float64"), keras.layers.Dense(1, dtype="float64")]
        self.model = keras.Sequential([keras.Input((1,), dtype="float64"), *layers])
        self.weights = self.model.trainable_variables
        self.start = [rng.normal(size=w.shape) for w in self.weights]

    def loss(self, x: np.ndarray) -> tf.Tensor:
        return tf.reduce_mean((self.model(x) - np.sin(x)) ** 2)

    def adapted_loss(self, optimizer: keras.Optimizer, start: list[np.ndarray]) -> tf.Tensor:
        for weight, value in zip(self.weights, start, strict=True):
            weight.assign(value)
        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = self.loss(self.inside)
            optimizer.apply_gradients(zip(tape.gradient(loss, self.weights), self.weights, strict=True))
        return self.loss(self.outside)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_meta_learning_is_exact_to_second_order(name: str) -> None:
    task = Sinusoid()
    starts = [tf.constant(value) for value in task.start]
    with tf.GradientTape(track_assign=True) as outer:
        outer.watch(starts)
        final = task.adapted_loss(OPTIMIZERS[name](), starts)
    gradients = outer.gradient(final, starts)
    for k, gradient in enumerate(gradients):
        at = (0,) * len(gradient.shape)
        ahead, behind = ([value.copy() for value in task.start] for _ in range(2))
        ahead[k][at] += 1e-6
        behind[k][at] -= 1e-6
        losses = [float(task.adapted_loss(OPTIMIZERS[name](), start)) for start in (ahead, behind)]
        np.testing.assert_allclose(gradient.numpy()[at], (losses[0] - losses[1]) / 2e-6, rtol=1e-4, atol=1e-8)


def test_the_gradient_with_respect_to_a_learning_rate() -> None:
    v = keras.Variable(2.0, dtype="float64")
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.build([v])
    with tf.GradientTape(track_assign=True) as outer:
        outer.watch(optimizer.learning_rate)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = v * v
            optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        final = v * v
    # v (1 - 2 r)^2, squared
    np.testing.assert_allclose(outer.gradient(final, optimizer.learning_rate), -4 * 8 * 0.8**3, rtol=1e-6)

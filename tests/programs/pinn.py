"""A physics-informed network: u'' = -pi^2 sin(pi x), second derivatives by nested tapes inside a tf.function."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(6)
sizes = [1, 16, 16, 1]
weights = [
    tf.Variable(rng.normal(size=(a, b)) * np.sqrt(1.0 / a), dtype=tf.float64) for a, b in zip(sizes[:-1], sizes[1:])
]
biases = [tf.Variable(tf.zeros([b], tf.float64)) for b in sizes[1:]]
variables = weights + biases
optimizer = tf.keras.optimizers.Adam(5e-3)


def u(x):
    for w, b in zip(weights[:-1], biases[:-1]):
        x = tf.tanh(x @ w + b)
    return x @ weights[-1] + biases[-1]


def second_derivative(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = u(x)
        dy = inner.gradient(y, x)
    return outer.gradient(dy, x)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        residual = second_derivative(x) + np.pi**2 * tf.sin(np.pi * x)
        ends = u(tf.constant([[0.0], [1.0]], tf.float64))
        loss = tf.reduce_mean(residual**2) + 10.0 * tf.reduce_mean(ends**2)
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss


x = tf.constant(np.linspace(0, 1, 33)[:, None])
for i in range(101):
    loss = step(x)
    if i % 25 == 0:
        print("step", i, "loss", float(loss))
print("u(0.5)", float(u(tf.constant([[0.5]], tf.float64))[0, 0]))

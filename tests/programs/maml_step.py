"""A step of MAML: the gradient of a model's loss after an inner gradient step, through that step."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(11)
w1 = tf.Variable((rng.normal(size=(1, 10)) * 0.5).astype("float32"))
b1 = tf.Variable((rng.normal(size=(10,)) * 0.5).astype("float32"))
w2 = tf.Variable((rng.normal(size=(10, 1)) * 0.5).astype("float32"))
meta = [w1, b1, w2]
optimizer = tf.keras.optimizers.SGD(0.05)


def forward(parameters, x):
    w1, b1, w2 = parameters
    return tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2)


def task():
    amplitude, phase = rng.uniform(0.5, 2), rng.uniform(0, 3)
    x = rng.uniform(-3, 3, (2, 10, 1)).astype("float32")
    return x, (amplitude * np.sin(x + phase)).astype("float32")


def loss_of(parameters, x, y):
    return tf.reduce_mean((forward(parameters, x) - y) ** 2)


for step in range(5):
    with tf.GradientTape() as outer:
        total = 0.0
        for _ in range(3):
            x, y = task()
            with tf.GradientTape() as inner:
                support = loss_of(meta, x[0], y[0])
            gradients = inner.gradient(support, meta)
            adapted = [v - 0.1 * g for v, g in zip(meta, gradients)]
            total += loss_of(adapted, x[1], y[1])
        total /= 3.0
    meta_gradients = outer.gradient(total, meta)
    optimizer.apply_gradients(zip(meta_gradients, meta))
    print("step", step, "after adaptation", float(total), "norm", float(tf.linalg.global_norm(meta_gradients)))

x, y = task()
with tf.GradientTape() as tape:
    loss = loss_of(meta, x[0], y[0])
print("jacobian", tape.jacobian(loss, w2).shape)
v = [tf.ones_like(p) for p in meta]
with tf.autodiff.ForwardAccumulator(meta, v) as accumulator:
    with tf.GradientTape() as tape:
        loss = loss_of(meta, x[0], y[0])
    gradients = tape.gradient(loss, meta)
print("Hessian times ones", [float(tf.reduce_sum(accumulator.jvp(g))) for g in gradients])

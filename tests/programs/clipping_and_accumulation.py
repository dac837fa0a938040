"""Processing of gradients: clipped, accumulated over small batches, checked, and scaled by hand."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(10)
x = tf.constant(rng.normal(size=(32, 6)).astype("float32"))
y = tf.constant(rng.normal(size=(32, 1)).astype("float32"))
model = tf.keras.Sequential(
    [tf.keras.layers.Input((6,)), tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(1)]
)
start = [rng.normal(size=w.shape).astype("float32") for w in model.get_weights()]
variables = model.trainable_variables


def loss_of(inputs, targets):
    return tf.reduce_mean(tf.square(model(inputs) - targets))


model.set_weights(start)
with tf.GradientTape(persistent=True) as tape:
    loss = loss_of(x, y)
gradients = tape.gradient(loss, variables)
clipped, norm = tf.clip_by_global_norm(gradients, 1.0)
print("norm", float(norm), "after clipping", float(tf.linalg.global_norm(clipped)))
print("by value", [float(tf.reduce_max(tf.clip_by_value(g, -0.1, 0.1))) for g in gradients])
print("by norm", [float(tf.norm(tf.clip_by_norm(g, 0.5))) for g in gradients])
print("one variable", float(tf.reduce_sum(tape.gradient(loss, variables[0]))))
del tape

accumulated = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
for inputs, targets in dataset:
    with tf.GradientTape() as tape:
        part = loss_of(inputs, targets) / 4.0
    for total, g in zip(accumulated, tape.gradient(part, variables)):
        total.assign_add(g)
difference = [float(tf.reduce_max(tf.abs(a - g))) for a, g in zip(accumulated, gradients)]
print("accumulated as a whole", max(difference) < 1e-5)

optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True, clipnorm=1.0)
for step in range(5):
    with tf.GradientTape() as tape:
        loss = loss_of(x, y)
    gradients = tape.gradient(loss, variables)
    finite = tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in gradients])
    tf.debugging.assert_equal(finite, True)
    optimizer.apply_gradients(zip(gradients, variables))
    print("step", step, "loss", float(loss))

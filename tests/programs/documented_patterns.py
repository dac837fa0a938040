"""Patterns that TensorFlow's documents describe: what is watched, what is not, persistent tapes, minimize."""

import gc
import weakref

import numpy as np
import tensorflow as tf

x = tf.Variable(3.0)
frozen = tf.Variable(2.0, trainable=False)
constant = tf.constant(5.0)
with tf.GradientTape(persistent=True) as tape:
    y = x * frozen * constant
print([None if g is None else float(g) for g in tape.gradient(y, [x, frozen, constant])])
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch([frozen, constant])
    y = x * frozen * constant
print([None if g is None else float(g) for g in tape.gradient(y, [x, frozen, constant])])
print([v.name for v in tape.watched_variables()])

with tf.GradientTape(persistent=True) as tape:
    y = x * x
    z = y * y
    held = tf.stop_gradient(y) * x
print(float(tape.gradient(z, x)), float(tape.gradient(y, x)), float(tape.gradient(held, x)))
gone = weakref.ref(tape)
del tape
gc.collect()
print("tape gone", gone() is None)

with tf.GradientTape() as tape:
    with tape.stop_recording():
        apart = x * 7.0
    y = x * 2.0 + apart
print(float(tape.gradient(y, x)))
with tf.GradientTape() as tape:
    y = x**2
    tape.reset()
    y = x**3
print(float(tape.gradient(y, x)))
try:
    tape.gradient(y, x)
except RuntimeError as error:
    print(type(error).__name__)

model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="ones")])
inputs = tf.constant([[1.0, 2.0], [3.0, -1.0]])
with tf.GradientTape() as tape:
    tape.watch(inputs)
    loss = tf.reduce_sum(model(inputs) ** 2)
gradients = tape.gradient(loss, [inputs, *model.trainable_variables])
print([g.numpy().tolist() for g in gradients])
with tf.GradientTape() as tape:
    outputs = model(inputs)
print("jacobian", tape.jacobian(outputs, model.trainable_variables[0]).numpy().tolist())
with tf.GradientTape() as tape:
    tape.watch(inputs)
    predicted = tf.convert_to_tensor(model.predict(inputs, verbose=0))
    loss = tf.reduce_sum(predicted**2)
print("through predict", tape.gradient(loss, model.trainable_variables))

v = tf.Variable([1.0, 2.0])
optimizer = tf.keras.optimizers.SGD(0.5)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(v**2)
gradients = [tf.clip_by_norm(g, 1.0) for g in tape.gradient(loss, [v])]
optimizer.apply_gradients(zip(gradients, [v]))
print(v.numpy())
with tf.GradientTape() as tape:
    disconnected = tape.gradient(tf.constant(1.0) * 2.0, v, unconnected_gradients=tf.UnconnectedGradients.ZERO)
print(disconnected.numpy(), np.float32(0.5) * v.numpy())

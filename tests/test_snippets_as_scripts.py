"""The patterns TensorFlow's documents are made of, as programs that know only TensorFlow, through `gradtape run`."""

import importlib.util
import os
import subprocess
import sys

import pytest

SCRIPT = '''
import tensorflow as tf

x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x ** 2
dy_dx = tape.gradient(y, x)
print(dy_dx)  # 6.0

x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x ** 2
dy_dx = tape.gradient(y, x)
print(dy_dx)  # 6.0

x = tf.Variable(1.0)
with tf.GradientTape(persistent=True) as tape1:
    with tf.GradientTape() as tape2:
        y = x * x
    dy_dx = tape2.gradient(y, x)
d2y_dx2 = tape1.gradient(dy_dx, x)
print(d2y_dx2)
'''

KERAS_SCRIPT = '''
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
inputs = tf.random.normal((32, 3))
labels = tf.reduce_sum(inputs, axis=1, keepdims=True)
loss_function = tf.keras.losses.MeanSquaredError()
model = tf.keras.models.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros")])

optimizer = tf.optimizers.SGD(learning_rate=0.01)
with tf.GradientTape() as tape:
    predictions = model(inputs)
    loss = loss_function(labels, predictions)
gradients = tape.gradient(loss, model.trainable_variables)
optimizer.apply_gradients(zip(gradients, model.trainable_variables))
print(bool(tf.reduce_all(model.trainable_variables[0] == -0.01 * gradients[0])))

first, num_epochs, loss_fn, dataset = loss, 20, loss_function, [(inputs, labels)]
optimizer = tf.keras.optimizers.SGD()
for epoch in range(num_epochs):
    for inputs, targets in dataset:
        with tf.GradientTape() as tape:
            predictions = model(inputs)
            loss = loss_fn(targets, predictions)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
print(bool(loss < 0.7 * first))

@tf.function
def step(inputs, targets):
    with tf.GradientTape() as tape:
        loss = loss_fn(targets, model(inputs))
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

losses = [float(step(inputs, targets)) for _ in range(20)]
print(losses[-1] < losses[0] <= float(loss), step.experimental_get_tracing_count())

with tf.GradientTape() as tape:
    outputs = model(inputs)
print(tape.jacobian(outputs, model.trainable_variables[0]).shape)

@tf.function
def slope(x):
    return tf.gradients(x ** 3, x)[0]

print(slope(tf.constant(2.0)))
model.compile(optimizer=tf.keras.optimizers.Adam(0.1), loss="mse", metrics=["mae"])
history = model.fit(inputs, labels, epochs=5, verbose=0).history
print(sorted(history), history["loss"][-1] < history["loss"][0], model.predict(inputs, verbose=0).shape)
'''


def printed(script, tmp_path):
    file = tmp_path / "train.py"
    file.write_text(script)
    environment = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
    command = [sys.executable, "-m", "gradtape", "run", file]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_tapes(tmp_path):
    assert printed(SCRIPT, tmp_path) == [
        "tf.Tensor(6.0, shape=(), dtype=float32)",
        "tf.Tensor(6.0, shape=(), dtype=float32)",
        "tf.Tensor(2.0, shape=(), dtype=float32)",
    ]


@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="Keras is not installed")
def test_training(tmp_path):
    assert printed(KERAS_SCRIPT, tmp_path) == [
        "True",
        "True",
        "True 1",
        "(32, 1, 3, 1)",
        "tf.Tensor(12.0, shape=(), dtype=float32)",
        "['loss', 'mae'] True (32, 1)",
    ]

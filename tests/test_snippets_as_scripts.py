"""The patterns of TensorFlow's documentation, as TensorFlow programs under `gradtape run`."""

import os
import subprocess
import sys

import pytest

from gradtape.core.extras import is_installed

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

DESCRIBED_SCRIPT = """
import gc, weakref
import tensorflow as tf

W, b = tf.Variable([[1.0], [2.0]]), tf.Variable(0.0)
x, y = tf.constant([[1.0, 1.0], [2.0, 0.0]]), tf.constant([[1.0], [1.0]])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((x @ W + b - y) ** 2)
print([g.shape.as_list() for g in tape.gradient(loss, [W, b])])

optimizer = tf.keras.optimizers.SGD(0.1)
optimizer.minimize(lambda: tf.reduce_sum(W ** 2), [W])
print([round(float(w), 4) for w in W[:, 0]])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(W ** 2)
optimizer.minimize(loss, [W], tape=tape)
print([round(float(w), 4) for w in W[:, 0]])

dense = lambda: tf.keras.Sequential([tf.keras.layers.Input((1,)), tf.keras.layers.Dense(1, kernel_initializer="ones")])
generator, discriminator = dense(), dense()
one = tf.ones([1, 1])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(discriminator(generator(one)) ** 2)
both = generator.trainable_variables + discriminator.trainable_variables
tf.keras.optimizers.SGD(0.1).apply_gradients(zip(tape.gradient(loss, both), both))
print([round(float(tf.reduce_sum(v)), 4) for v in both])

generator, discriminator = dense(), dense()
with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
    fake = discriminator(generator(one))
    gen_loss, disc_loss = tf.reduce_sum((fake - 2.0) ** 2), tf.reduce_sum(fake ** 2)
for tape, loss, model in (gen_tape, gen_loss, generator), (disc_tape, disc_loss, discriminator):
    gradients = tape.gradient(loss, model.trainable_variables)
    tf.keras.optimizers.SGD(0.1).apply_gradients(zip(gradients, model.trainable_variables))
print([round(float(tf.reduce_sum(v)), 4) for v in generator.trainable_variables + discriminator.trainable_variables])

x = tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    y = x * x
    z = tf.stop_gradient(y) * x
print(float(tape.gradient(y, x)), float(tape.gradient(z, x)))
kept = weakref.ref(tape)
del tape
gc.collect()
print(kept() is None)

constant, still = tf.constant(4.0), tf.Variable(3.0, trainable=False)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(constant)
    tape.watch(still)
    y = constant * still * x
print([g if g is None else float(g) for g in tape.gradient(y, [constant, still, x])])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(generator.predict(one, verbose=0) * x)
print(tape.gradient(y, generator.trainable_variables))
"""


def printed(script, tmp_path):
    file = tmp_path / "train.py"
    file.write_text("import sys; sys.modules['matplotlib'] = None  # Keras would import it\n" + script)
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


@pytest.mark.skipif(not is_installed("keras"), reason="Keras is not installed")
def test_training(tmp_path):
    assert printed(KERAS_SCRIPT, tmp_path) == [
        "True",
        "True",
        "True 1",
        "(32, 1, 3, 1)",
        "tf.Tensor(12.0, shape=(), dtype=float32)",
        "['loss', 'mae'] True (32, 1)",
    ]


@pytest.mark.skipif(not is_installed("keras"), reason="Keras is not installed")
def test_what_the_documents_describe_in_words(tmp_path):
    assert printed(DESCRIBED_SCRIPT, tmp_path) == [
        "[[2, 1], []]",
        "[0.8, 1.6]",
        "[0.64, 1.28]",
        "[0.8, -0.2, 0.8, -0.2]",
        "[1.2, 0.2, 0.8, -0.2]",
        "4.0 4.0",
        "True",
        "[6.0, 8.0, None]",
        "[None, None]",
    ]

"""Linear regression by hand: two variables of different shapes, and three ways to take a step."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)
x = rng.uniform(-1, 1, (64, 3)).astype("float32")
y = x @ np.array([[1.0], [-2.0], [3.0]], "float32") + 0.5

W = tf.Variable(tf.zeros([3, 1]), name="W")
b = tf.Variable(0.0, name="b")


def mse():
    return tf.reduce_mean(tf.square(tf.matmul(x, W) + b - y))


for step in range(60):
    with tf.GradientTape() as tape:
        loss = mse()
    dW, db = tape.gradient(loss, [W, b])
    W.assign_sub(0.3 * dW)
    b.assign_sub(0.3 * db)
    if step % 20 == 0:
        print("step", step, "loss", loss.numpy(), "shapes", dW.shape, db.shape)
print("W", W.numpy().ravel(), "b", b.numpy())

optimizer = tf.keras.optimizers.Adam(learning_rate=0.1)
W.assign(tf.zeros([3, 1]))
for _ in range(30):
    with tf.GradientTape() as tape:
        loss = mse()
    gradients = tape.gradient(loss, [W, b])
    optimizer.apply_gradients(zip(gradients, [W, b]))
print("Adam", loss.numpy(), W.numpy().ravel())
print("iterations", int(optimizer.iterations))

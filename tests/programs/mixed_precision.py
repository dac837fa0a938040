"""Mixed precision as in TensorFlow's guide: float16 compute, float32 variables, a scaled loss in a custom loop."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, mixed_precision

rng = np.random.RandomState(9)
mixed_precision.set_global_policy("mixed_float16")
try:
    inputs = tf.keras.Input(shape=(12,))
    x = layers.Dense(16, activation="relu", name="dense_1")(inputs)
    x = layers.Dense(3, name="dense_logits")(x)
    outputs = layers.Activation("softmax", dtype="float32", name="predictions")(x)
    model = tf.keras.Model(inputs, outputs)
finally:
    mixed_precision.set_global_policy("float32")
print(x.dtype, outputs.dtype, model.layers[1].kernel.dtype, model.layers[1].compute_dtype)
model.set_weights([(rng.normal(size=w.shape) * 0.3).astype("float32") for w in model.get_weights()])

optimizer = mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.2))
loss_object = tf.keras.losses.SparseCategoricalCrossentropy()
data = tf.constant(rng.normal(size=(32, 12)).astype("float32"))
labels = tf.constant(rng.randint(0, 3, 32))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        predictions = model(x)
        loss = loss_object(y, predictions)
        scaled_loss = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for step in range(5):
    print("step", step, "loss", round(float(train_step(data, labels)), 2))
print("half", tf.cast(tf.constant(1 / 3), tf.float16).numpy(), tf.cast(tf.constant(1 / 3), tf.bfloat16).dtype.name)

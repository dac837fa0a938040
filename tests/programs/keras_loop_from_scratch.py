"""Keras' guide to writing a training loop from scratch: metrics, regularization, tf.function, evaluation."""

import keras
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(1)
x_train = rng.normal(size=(256, 20)).astype("float32")
y_train = (x_train[:, :5].sum(1) > 0).astype("int32") + (x_train[:, 5] > 1).astype("int32")

inputs = keras.Input(shape=(20,), name="features")
h = keras.layers.Dense(16, activation="relu", activity_regularizer=keras.regularizers.L2(1e-3), name="dense_1")(inputs)
outputs = keras.layers.Dense(3, name="predictions")(h)
model = keras.Model(inputs=inputs, outputs=outputs)
model.set_weights([rng.normal(size=w.shape).astype("float32") * 0.2 for w in model.get_weights()])

optimizer = keras.optimizers.RMSprop(learning_rate=1e-2)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_metric = keras.metrics.SparseCategoricalAccuracy()
val_metric = keras.metrics.SparseCategoricalAccuracy()

train_dataset = tf.data.Dataset.from_tensor_slices((x_train[:192], y_train[:192])).batch(64)
val_dataset = tf.data.Dataset.from_tensor_slices((x_train[192:], y_train[192:])).batch(32)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss_value = loss_fn(y, logits)
        loss_value += sum(model.losses)
    grads = tape.gradient(loss_value, model.trainable_weights)
    optimizer.apply(grads, model.trainable_weights)
    train_metric.update_state(y, logits)
    return loss_value


@tf.function
def test_step(x, y):
    val_metric.update_state(y, model(x, training=False))


for epoch in range(4):
    for x_batch, y_batch in train_dataset:
        loss_value = train_step(x_batch, y_batch)
    print(f"epoch {epoch} loss {float(loss_value):.5f} accuracy {float(train_metric.result()):.4f}")
    train_metric.reset_state()
    for x_batch, y_batch in val_dataset:
        test_step(x_batch, y_batch)
    print(f"validation accuracy {float(val_metric.result()):.4f}")
    val_metric.reset_state()

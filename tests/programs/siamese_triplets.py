"""A siamese network with a triplet loss: `call` takes three inputs, with custom `train_step` and `test_step`."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(8)


class Siamese(keras.Model):
    def __init__(self, margin=0.5):
        super().__init__()
        self.embedding = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)])
        self.margin = margin
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, inputs):
        anchor, positive, negative = (self.embedding(x) for x in inputs)
        near = tf.reduce_sum(tf.square(anchor - positive), -1)
        return near, tf.reduce_sum(tf.square(anchor - negative), -1)

    def triplet_loss(self, data):
        near, far = self(data)
        return tf.reduce_mean(tf.maximum(near - far + self.margin, 0.0))

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self.triplet_loss(data)
        gradients = tape.gradient(loss, self.embedding.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.embedding.trainable_weights))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    def test_step(self, data):
        self.loss_tracker.update_state(self.triplet_loss(data))
        return {"loss": self.loss_tracker.result()}

    @property
    def metrics(self):
        return [self.loss_tracker]


rng = np.random.default_rng(3)
centers = rng.normal(size=(4, 6))
kinds = rng.integers(0, 4, 80)


def around(kind):
    return (centers[kind] + 0.4 * rng.normal(size=(80, 6))).astype("float32")


triplets = (around(kinds), around(kinds), around((kinds + 1) % 4))
data = tf.data.Dataset.from_tensor_slices(triplets).shuffle(80, seed=6)
train, held = data.take(64).batch(16).prefetch(8), tf.data.Dataset.from_tensor_slices(triplets).skip(64).batch(8)
model = Siamese()
model.compile(optimizer=keras.optimizers.Adam(0.005))
history = model.fit(train, epochs=3, validation_data=held, verbose=0).history
for name, values in history.items():
    print(name, " ".join(f"{value:.5f}" for value in values))
near, far = model.predict(held.map(lambda *data: (data,)), verbose=0)
print(f"{near.mean():.4f} {far.mean():.4f}")

"""A GAN trained by `fit`: two optimizers in `compile`, noise by `tf.random`, labels smoothed at random."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(17)


class GAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.discriminator = keras.Sequential([
            keras.Input((2,)),
            keras.layers.Dense(16),
            keras.layers.LeakyReLU(0.2),
            keras.layers.Dropout(0.3, seed=1),
            keras.layers.Dense(1),
        ])
        self.generator = keras.Sequential([
            keras.Input((4,)),
            keras.layers.Dense(16, activation="relu"),
            keras.layers.Dense(2),
        ])
        self.seeds = keras.random.SeedGenerator(42)
        self.d_metric, self.g_metric = keras.metrics.Mean(name="d_loss"), keras.metrics.Mean(name="g_loss")

    def compile(self, d_optimizer, g_optimizer, loss_fn):
        super().compile()
        self.d_optimizer, self.g_optimizer, self.loss_fn = d_optimizer, g_optimizer, loss_fn

    @property
    def metrics(self):
        return [self.d_metric, self.g_metric]

    def train_step(self, real):
        size = tf.shape(real)[0]
        fake = self.generator(keras.random.normal((size, 4), seed=self.seeds))
        labels = tf.concat([tf.ones((size, 1)), tf.zeros((size, 1))], 0)
        labels += 0.05 * keras.random.uniform(tf.shape(labels), seed=self.seeds)
        with tf.GradientTape() as tape:
            d_loss = self.loss_fn(labels, self.discriminator(tf.concat([fake, real], 0), training=True))
        grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        self.d_optimizer.apply_gradients(zip(grads, self.discriminator.trainable_weights))
        with tf.GradientTape() as tape:
            made = self.generator(keras.random.normal((size, 4), seed=self.seeds))
            g_loss = self.loss_fn(tf.zeros((size, 1)), self.discriminator(made, training=True))
        grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
        self.d_metric.update_state(d_loss)
        self.g_metric.update_state(g_loss)
        return {m.name: m.result() for m in self.metrics}


points = np.random.default_rng(7).normal([1.0, -2.0], [0.3, 0.6], (120, 2)).astype("float32")
data = tf.data.Dataset.from_tensor_slices(points).shuffle(120, seed=5).batch(20)
gan = GAN()
cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)
gan.compile(keras.optimizers.Adam(0.01), keras.optimizers.Adam(0.01), cross_entropy)
history = gan.fit(data, epochs=3, verbose=0).history
for name, values in history.items():
    print(name, " ".join(f"{value:.5f}" for value in values))

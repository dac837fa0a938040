"""A variational autoencoder with noise drawn without its own seed, a `train_step` and trackers."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(13)


class Sampling(keras.layers.Layer):
    def call(self, inputs):
        mean, log_variance = inputs
        return mean + tf.exp(0.5 * log_variance) * keras.random.normal(tf.shape(mean))


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        x = inputs = keras.Input((10,))
        x = keras.layers.Dense(16, activation="relu")(x)
        mean, log_variance = keras.layers.Dense(2)(x), keras.layers.Dense(2)(x)
        self.encoder = keras.Model(inputs, [mean, log_variance, Sampling()([mean, log_variance])])
        layers = [keras.layers.Dense(16, activation="relu"), keras.layers.Dense(10)]
        self.decoder = keras.Sequential([keras.Input((2,)), *layers])
        self.trackers = {name: keras.metrics.Mean(name=name) for name in ("loss", "rebuilt", "divergence")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def train_step(self, data):
        with tf.GradientTape() as tape:
            mean, log_variance, z = self.encoder(data)
            rebuilt = tf.reduce_mean(tf.reduce_sum(tf.square(data - self.decoder(z)), 1))
            divergence = -0.5 * (1 + log_variance - tf.square(mean) - tf.exp(log_variance))
            divergence = tf.reduce_mean(tf.reduce_sum(divergence, 1))
            loss = rebuilt + divergence
        gradients = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights))
        for name, value in (("loss", loss), ("rebuilt", rebuilt), ("divergence", divergence)):
            self.trackers[name].update_state(value)
        return {name: tracker.result() for name, tracker in self.trackers.items()}


angles = np.random.default_rng(5).uniform(0, 6.28, (128, 1))
x = np.sin(angles + np.arange(10) / 3).astype("float32")
vae = VAE()
vae.compile(optimizer=keras.optimizers.Adam(0.01))
history = vae.fit(x, epochs=3, batch_size=16, verbose=0).history
for name, values in history.items():
    print(name, " ".join(f"{value:.5f}" for value in values))

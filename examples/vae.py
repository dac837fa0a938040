"""Trains a variational autoencoder (VAE) on handwritten digits with a custom `train_step`.

    python examples/vae.py [--epochs 60]

The encoder maps each digit to a distribution in a two-dimensional latent space, and the decoder maps a point of it to
a digit. The step follows Keras' guide for TensorFlow: a `tf.GradientTape` in `train_step`, called by `fit`. Saves a
plot next to this file: the digits in the latent space, and the decoder's samples from it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from rich.console import Console

import gradtape as tf

keras = tf.keras
HERE = Path(__file__).parent


def load() -> tuple[np.ndarray, np.ndarray]:
    """Returns images with values from 0 to 1, and labels."""
    with np.load(HERE / "data" / "digits.npz") as data:
        return data["images"].reshape(-1, 64).astype(np.float32) / 16, data["labels"].astype(np.int32)


class Sampling(keras.layers.Layer):
    """Samples from a normal distribution, given its mean and log variance."""

    def __init__(self) -> None:
        super().__init__()
        self.seed_generator = keras.random.SeedGenerator(1)

    def call(self, inputs: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        mean, log_variance = inputs
        noise = keras.random.normal(tf.shape(mean), seed=self.seed_generator)
        return mean + tf.exp(0.5 * log_variance) * noise


def encoder(latent: int = 2) -> keras.Model:
    """Returns the encoder, which maps an image to a mean, a log variance, and a sample."""
    layers = keras.layers
    image = layers.Input((64,))
    x = layers.Dense(256, activation="relu")(image)
    x = layers.Dense(128, activation="relu")(x)
    mean, log_variance = layers.Dense(latent)(x), layers.Dense(latent)(x)
    return keras.Model(image, [mean, log_variance, Sampling()([mean, log_variance])], name="encoder")


def decoder(latent: int = 2) -> keras.Model:
    """Returns the decoder, which maps a point of the latent space to an image."""
    layers = keras.layers
    place = layers.Input((latent,))
    x = layers.Dense(128, activation="relu")(place)
    x = layers.Dense(256, activation="relu")(x)
    return keras.Model(place, layers.Dense(64, activation="sigmoid")(x), name="decoder")


class VAE(keras.Model):
    """A variational autoencoder with its own `train_step` and metrics."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder(), decoder()
        self.total_loss_tracker = keras.metrics.Mean(name="loss")
        self.reconstruction_loss_tracker = keras.metrics.Mean(name="reconstruction_loss")
        self.kl_loss_tracker = keras.metrics.Mean(name="kl_loss")

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        return [self.total_loss_tracker, self.reconstruction_loss_tracker, self.kl_loss_tracker]

    def train_step(self, data: tf.Tensor) -> dict[str, tf.Tensor]:
        with tf.GradientTape() as tape:
            mean, log_variance, place = self.encoder(data)
            drawn = self.decoder(place)
            each = 64 * keras.losses.binary_crossentropy(data, drawn)
            reconstruction_loss = tf.reduce_mean(each)
            divergence = -0.5 * (1 + log_variance - tf.square(mean) - tf.exp(log_variance))
            kl_loss = tf.reduce_mean(tf.reduce_sum(divergence, axis=1))
            total_loss = reconstruction_loss + kl_loss
        gradients = tape.gradient(total_loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights, strict=True))
        self.total_loss_tracker.update_state(total_loss)
        self.reconstruction_loss_tracker.update_state(reconstruction_loss)
        self.kl_loss_tracker.update_state(kl_loss)
        return {metric.name: metric.result() for metric in self.metrics}


def train(epochs: int) -> tuple[VAE, dict[str, list[float]]]:
    """Returns the trained model, and the mean losses of each epoch."""
    keras.utils.set_random_seed(1)
    images, _ = load()
    model = VAE()
    model.compile(optimizer=keras.optimizers.Adam(2e-3))
    history = model.fit(images, batch_size=64, epochs=epochs, verbose=2)
    return model, history.history


def draw(model: VAE, file: Path, side: int = 14) -> None:
    """Saves the digits in the latent space, and samples from a grid of it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    images, labels = load()
    means, _, _ = model.encoder.predict(images, verbose=0)
    ticks = np.linspace(-2, 2, side, dtype=np.float32)
    lattice = np.stack(np.meshgrid(ticks, ticks[::-1]), axis=-1).reshape(-1, 2)
    drawn = model.decoder.predict(lattice, verbose=0).reshape(side, side, 8, 8)
    tiles = np.pad(drawn, ((0, 0), (0, 0), (1, 1), (1, 1)))

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
    points = left.scatter(*means.T, c=labels, cmap="tab10", s=6, vmin=-0.5, vmax=9.5)
    figure.colorbar(points, ax=left, ticks=range(10))
    left.set(title="Digits in the latent space", aspect="equal")
    sheet = tiles.transpose(0, 2, 1, 3).reshape(10 * side, 10 * side)
    right.imshow(sheet, cmap="gray_r", extent=(ticks[0], ticks[-1]) * 2)
    right.set(title="Samples from the latent space")
    figure.savefig(file, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--picture", type=Path, default=HERE / "vae.png")
    options = parser.parse_args()
    console = Console()
    console.print(f"A VAE of 1,797 handwritten digits, on the {keras.config.backend()} backend.")
    model, losses = train(options.epochs)
    console.print(f"Loss: from {losses['loss'][0]:.1f} to [bold]{losses['loss'][-1]:.1f}[/]")
    draw(model, options.picture)
    console.print(f"The latent space is in {options.picture}")


if __name__ == "__main__":
    main()

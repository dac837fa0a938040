"""Trains a generative adversarial network (GAN) on handwritten digits with a hand-written loop.

    python examples/gan.py [--steps 2000]

The generator turns noise into images, and the discriminator distinguishes them from real ones. There are two models,
two tapes, two optimizers, and a `tf.function` around the step. Saves a plot next to this file: the generator's images
from the same noise in the course of training.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import gradtape as tf

keras = tf.keras
HERE = Path(__file__).parent
BATCH = 64
NOISE = 32


def load() -> np.ndarray:
    """Returns images with values from 0 to 1."""
    with np.load(HERE / "data" / "digits.npz") as data:
        return data["images"].reshape(-1, 8, 8, 1).astype(np.float32) / 16


def generator() -> keras.Model:
    """Returns the generator, which maps noise to an image."""
    layers = keras.layers
    return keras.Sequential(
        [
            layers.Input((NOISE,)),
            layers.Dense(4 * 4 * 32, use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Reshape((4, 4, 32)),
            layers.Conv2DTranspose(32, 4, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Conv2D(1, 3, padding="same", activation="sigmoid"),
        ],
        name="generator",
    )


def discriminator() -> keras.Model:
    """Returns the discriminator, which maps an image to the logit that it is real."""
    layers = keras.layers
    return keras.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(32, 3, padding="same"),
            layers.LeakyReLU(),
            layers.Conv2D(64, 3, strides=2, padding="same"),
            layers.LeakyReLU(),
            layers.Dropout(0.3),
            layers.Flatten(),
            layers.Dense(1),
        ],
        name="discriminator",
    )


class Gan:
    """The two networks with their optimizers, and the training step of both."""

    def __init__(self) -> None:
        keras.utils.set_random_seed(1)
        self.generator, self.discriminator = generator(), discriminator()
        self.g_optimizer = keras.optimizers.Adam(1e-3, beta_1=0.5)
        self.d_optimizer = keras.optimizers.Adam(5e-4, beta_1=0.5)
        self.cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def step(self, real: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Updates both networks; returns the losses of generator and discriminator."""
        noise = tf.random.normal((BATCH, NOISE))
        with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
            fake = self.generator(noise, training=True)
            of_real, of_fake = self.discriminator(real, training=True), self.discriminator(fake, training=True)
            g_loss = self.cross_entropy(tf.ones_like(of_fake), of_fake)
            # Label smoothing: a discriminator that is never certain leaves a gradient for the generator.
            d_loss = self.cross_entropy(0.9 * tf.ones_like(of_real), of_real)
            d_loss += self.cross_entropy(tf.zeros_like(of_fake), of_fake)
        weights = self.generator.trainable_variables
        self.g_optimizer.apply_gradients(zip(g_tape.gradient(g_loss, weights), weights, strict=True))
        weights = self.discriminator.trainable_variables
        self.d_optimizer.apply_gradients(zip(d_tape.gradient(d_loss, weights), weights, strict=True))
        return g_loss, d_loss


def train(steps: int, stages: int = 6) -> tuple[Gan, list[np.ndarray]]:
    """Returns the networks, and images from the same noise before and after each stage of training."""
    images = load()
    gan = Gan()
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(12, NOISE)).astype(np.float32)
    shown = [gan.generator.predict(noise, verbose=0)]
    losses = TextColumn("generator {task.fields[generator]:.2f} discriminator {task.fields[discriminator]:.2f}")
    with Progress(TextColumn("{task.description}"), BarColumn(), losses, TimeElapsedColumn()) as progress:
        task = progress.add_task("training", total=steps, generator=float("nan"), discriminator=float("nan"))
        for i in range(1, steps + 1):
            g_loss, d_loss = gan.step(tf.constant(images[rng.integers(len(images), size=BATCH)]))
            if i % 10 == 0:
                progress.update(task, advance=10, generator=float(g_loss), discriminator=float(d_loss))
            if i % (steps // (stages - 1)) == 0:
                shown.append(gan.generator.predict(noise, verbose=0))
    return gan, shown


def draw(shown: list[np.ndarray], file: Path) -> None:
    """Saves the images, one row per stage."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    tiles = np.pad(np.stack(shown)[..., 0], ((0, 0), (0, 0), (1, 1), (1, 1)))
    rows, columns = tiles.shape[:2]
    figure, axes = plt.subplots(figsize=(columns / 1.5, rows / 1.5), layout="constrained")
    axes.imshow(tiles.transpose(0, 2, 1, 3).reshape(10 * rows, 10 * columns), cmap="gray_r")
    axes.set(xticks=[], yticks=[], title="Images from the same noise during training (top to bottom)")
    figure.savefig(file, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--picture", type=Path, default=HERE / "gan.png")
    options = parser.parse_args()
    console = Console()
    console.print(f"A GAN on handwritten digits, on the {keras.config.backend()} backend.")
    _, shown = train(options.steps)
    draw(shown, options.picture)
    console.print(f"The images are in {options.picture}")


if __name__ == "__main__":
    main()

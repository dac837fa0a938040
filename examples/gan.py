"""Two networks play against each other until one of them can draw digits: a GAN, trained by hand.

    python examples/gan.py [--steps 2000]

The forger turns noise into images, the expert tells them from real ones; each learns from the other's mistakes. Two
models, two tapes, two optimizers, and a `tf.function` around the step. Saves a picture beside this file: what the
forger makes of the same noise as the game goes on.
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
    """Images with values from 0 to 1."""
    with np.load(HERE / "data" / "digits.npz") as data:
        return data["images"].reshape(-1, 8, 8, 1).astype(np.float32) / 16


def forger() -> keras.Model:
    """From noise to an image."""
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
        name="forger",
    )


def expert() -> keras.Model:
    """From an image to the logit of its being real."""
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
        name="expert",
    )


class Game:
    """The two players, and the step in which both learn."""

    def __init__(self) -> None:
        keras.utils.set_random_seed(1)
        self.forger, self.expert = forger(), expert()
        self.forger_optimizer = keras.optimizers.Adam(1e-3, beta_1=0.5)
        self.expert_optimizer = keras.optimizers.Adam(5e-4, beta_1=0.5)
        self.cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def step(self, real: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """One move of both; returns the losses of forger and expert."""
        noise = tf.random.normal((BATCH, NOISE))
        with tf.GradientTape() as forger_tape, tf.GradientTape() as expert_tape:
            forged = self.forger(noise, training=True)
            of_real, of_forged = self.expert(real, training=True), self.expert(forged, training=True)
            forger_loss = self.cross_entropy(tf.ones_like(of_forged), of_forged)
            # 0.9: an expert that is never quite certain leaves the forger something to learn from.
            expert_loss = self.cross_entropy(0.9 * tf.ones_like(of_real), of_real)
            expert_loss += self.cross_entropy(tf.zeros_like(of_forged), of_forged)
        weights = self.forger.trainable_variables
        self.forger_optimizer.apply_gradients(zip(forger_tape.gradient(forger_loss, weights), weights, strict=True))
        weights = self.expert.trainable_variables
        self.expert_optimizer.apply_gradients(zip(expert_tape.gradient(expert_loss, weights), weights, strict=True))
        return forger_loss, expert_loss


def train(steps: int, stages: int = 6) -> tuple[Game, list[np.ndarray]]:
    """The players, and what the forger made of the same noise before, and after each part of the steps."""
    images = load()
    game = Game()
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(12, NOISE)).astype(np.float32)
    shown = [game.forger.predict(noise, verbose=0)]
    losses = TextColumn("forger {task.fields[forger]:.2f} expert {task.fields[expert]:.2f}")
    with Progress(TextColumn("{task.description}"), BarColumn(), losses, TimeElapsedColumn()) as progress:
        task = progress.add_task("the game", total=steps, forger=float("nan"), expert=float("nan"))
        for i in range(1, steps + 1):
            forger_loss, expert_loss = game.step(tf.constant(images[rng.integers(len(images), size=BATCH)]))
            if i % 10 == 0:
                progress.update(task, advance=10, forger=float(forger_loss), expert=float(expert_loss))
            if i % (steps // (stages - 1)) == 0:
                shown.append(game.forger.predict(noise, verbose=0))
    return game, shown


def draw(shown: list[np.ndarray], file: Path) -> None:
    """Saves the images, a row for each stage."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    tiles = np.pad(np.stack(shown)[..., 0], ((0, 0), (0, 0), (1, 1), (1, 1)))
    rows, columns = tiles.shape[:2]
    figure, axes = plt.subplots(figsize=(columns / 1.5, rows / 1.5), layout="constrained")
    axes.imshow(tiles.transpose(0, 2, 1, 3).reshape(10 * rows, 10 * columns), cmap="gray_r")
    axes.set(xticks=[], yticks=[], title="The same noise, as the forger learns (from top to bottom)")
    figure.savefig(file, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--picture", type=Path, default=HERE / "gan.png")
    options = parser.parse_args()
    console = Console()
    console.print(f"A forger and an expert of handwritten digits, on the {keras.config.backend()} backend.")
    _, shown = train(options.steps)
    draw(shown, options.picture)
    console.print(f"What the forger learned is in {options.picture}")


if __name__ == "__main__":
    main()

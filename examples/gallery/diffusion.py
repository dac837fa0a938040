"""Generates handwritten digits with a denoising diffusion model (DDPM), given the digit to draw.

A network learns to predict the noise in images that are noisy to various degrees. Sampling starts from noise alone and
removes a part of it in each of 100 steps. All random numbers of training come from a
`tf.random.Generator`, those of sampling from stateless functions, so both repeat exactly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import gradtape as tf

keras = tf.keras
DIGITS = Path(__file__).parents[1] / "data" / "digits.npz"
STEPS = 100  # from an image to noise
BETAS = np.linspace(1e-3, 0.12, STEPS, dtype=np.float32)  # the variance of the noise that each step adds
SIGNAL = np.cumprod(1.0 - BETAS)  # the part of the image's variance that is left


def load() -> tuple[np.ndarray, np.ndarray]:
    """Returns images with values from -1 to 1, and labels."""
    with np.load(DIGITS) as data:
        return data["images"].reshape(-1, 64).astype(np.float32) / 8 - 1, data["labels"].astype(np.int32)


def network(width: int) -> keras.Model:
    """Returns a model that predicts the noise in an image from the image, the time, and the label."""
    layers = keras.layers
    image, time, label = layers.Input((64,)), layers.Input((), dtype="int32"), layers.Input((), dtype="int32")
    angles = np.arange(STEPS)[:, None] * np.geomspace(1, 1 / STEPS, width // 2)
    waves = keras.initializers.Constant(np.concatenate([np.sin(angles), np.cos(angles)], axis=1))
    normal = keras.initializers.RandomNormal(stddev=1.0)
    condition = layers.Embedding(STEPS, width, waves)(time) + layers.Embedding(10, width, normal)(label)
    x = layers.Dense(width)(image)
    for _ in range(3):
        y = layers.Dense(width, activation="swish")(layers.LayerNormalization()(x) + condition)
        x = x + layers.Dense(width)(y)
    return keras.Model([image, time, label], layers.Dense(64)(layers.LayerNormalization()(x)))


class Diffusion:
    def __init__(self, width: int, rate: keras.optimizers.schedules.LearningRateSchedule, seed: int) -> None:
        keras.utils.set_random_seed(seed)
        self.random = tf.random.Generator.from_seed(seed)
        self.network = network(width)
        self.optimizer = keras.optimizers.Adam(rate)

    @tf.function
    def train(self, images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        """Takes a step on a batch; returns the mean squared error of the predicted noise."""
        time = self.random.uniform((len(images),), maxval=STEPS, dtype=tf.int32)
        noise = self.random.normal(images.shape)
        signal = tf.gather(SIGNAL, time)[:, None]
        noisy = tf.sqrt(signal) * images + tf.sqrt(1.0 - signal) * noise
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.network([noisy, time, labels]) - noise))
        variables = self.network.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    def sample(self, labels: np.ndarray, seed: int) -> np.ndarray:
        """Returns the images after each step, noise first, with the shape [STEPS + 1, len(labels), 64]."""
        x = tf.random.stateless_normal((len(labels), 64), seed=(seed, STEPS))
        images = [x.numpy()]
        for t in reversed(range(STEPS)):
            noise = self.network([x, tf.fill([len(labels)], t), tf.constant(labels)])
            before = SIGNAL[t - 1] if t else np.float32(1.0)  # the signal that the step restores
            clean = tf.clip_by_value((x - np.sqrt(1.0 - SIGNAL[t]) * noise) / np.sqrt(SIGNAL[t]), -1.0, 1.0)
            mean = np.sqrt(before) * BETAS[t] * clean + np.sqrt(1.0 - BETAS[t]) * (1.0 - before) * x
            variance = BETAS[t] * (1.0 - before) / (1.0 - SIGNAL[t])
            x = mean / (1.0 - SIGNAL[t]) + np.sqrt(variance) * tf.random.stateless_normal(x.shape, seed=(seed, t))
            images.append(x.numpy())
        return np.stack(images)


def nearest(images: np.ndarray, data: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Returns the digit whose mean in the data is nearest to each image: a simple classifier."""
    means = np.stack([data[labels == digit].mean(axis=0) for digit in range(10)])
    return np.square(images[:, None] - means).sum(axis=-1).argmin(axis=1)


def run(steps: int = 3000, width: int = 128, samples: int = 500, seed: int = 1) -> dict[str, Any]:
    """Returns the losses, images during sampling with their labels, and the data."""
    images, labels = load()
    rng = np.random.default_rng(seed)
    model = Diffusion(width, keras.optimizers.schedules.CosineDecay(2e-3, steps), seed)
    batches = (rng.integers(len(images), size=128) for _ in range(steps))
    losses = [float(model.train(tf.constant(images[batch]), tf.constant(labels[batch]))) for batch in batches]
    drawn = np.arange(samples, dtype=np.int32) % 10
    return {"losses": losses, "samples": model.sample(drawn, seed), "drawn": drawn, "images": images, "labels": labels}


def draw(results: dict[str, Any], file: Path, shown: tuple[int, ...] = (0, 40, 60, 70, 80, 90, 100)) -> None:
    """Saves a sample of each digit after some of the steps, and digits from the data."""
    rows = [results["samples"][i, :10] for i in shown]
    firsts = [np.flatnonzero(results["labels"] == digit)[0] for digit in range(10)]
    tiles = np.stack([*rows, results["images"][firsts]]).reshape(-1, 10, 8, 8)
    tiles = np.pad(tiles, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-1)
    figure = Figure(figsize=(6, 5), layout="constrained")
    axes = figure.subplots()
    sheet = tiles.transpose(0, 2, 1, 3).reshape(10 * len(tiles), 100)
    axes.imshow(sheet, cmap="gray_r", vmin=-1, vmax=1)
    axes.set(yticks=np.arange(len(tiles)) * 10 + 5, yticklabels=[*(f"step {i}" for i in shown), "data"])
    axes.set(xticks=np.arange(10) * 10 + 5, xticklabels=range(10), xlabel="digit to draw")
    figure.savefig(file, dpi=130)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    samples, data, labels = results["samples"][-1], results["images"], results["labels"]
    print(f"mean of the pixels: {samples.mean():.2f} (data: {data.mean():.2f})")
    print(f"standard deviation: {samples.std():.2f} (data: {data.std():.2f})")
    of_samples = np.mean(nearest(samples, data, labels) == results["drawn"])
    of_data = np.mean(nearest(data, data, labels) == labels)
    print(f"nearest to the mean of their digit: {of_samples:.0%} (data: {of_data:.0%})")

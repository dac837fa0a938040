"""Trains a Wasserstein GAN with gradient penalty (WGAN-GP) on a mixture of eight Gaussians in the plane.

The penalty contains the norm of the critic's gradient with respect to its input, so the gradient of the critic's loss
needs second derivatives: one tape records inside another. The trained critic estimates the Wasserstein distance
between data and samples, which the program also computes exactly, as the cost of an optimal assignment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import gradtape as tf

keras = tf.keras
BATCH = 256
PENALTY = 10.0


def mixture(count: int, rng: np.random.Generator) -> np.ndarray:
    """Returns points of eight Gaussians whose means lie on a circle of radius 2."""
    angles = rng.integers(8, size=count) * np.pi / 4
    means = 2 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return (means + rng.normal(scale=0.12, size=(count, 2))).astype(np.float32)


def network(outputs: int) -> keras.Model:
    layers = [keras.layers.Dense(64, activation="leaky_relu") for _ in range(3)]
    return keras.Sequential([keras.layers.Input((2,)), *layers, keras.layers.Dense(outputs)])


class WGAN:
    """A generator and a critic, and their training steps."""

    def __init__(self, seed: int) -> None:
        keras.utils.set_random_seed(seed)
        self.random = tf.random.Generator.from_seed(seed)
        self.generator, self.critic = network(2), network(1)
        self.generator_optimizer = keras.optimizers.Adam(5e-4, beta_1=0.5, beta_2=0.9)
        self.critic_optimizer = keras.optimizers.Adam(2e-3, beta_1=0.5, beta_2=0.9)

    def samples(self, count: int) -> tf.Tensor:
        return self.generator(self.random.normal((count, 2)))

    @tf.function
    def train_critic(self, real: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the critic's estimate of the distance, and its gradient norms at the interpolates."""
        fake = self.samples(BATCH)
        mix = self.random.uniform((BATCH, 1))
        interpolates = mix * real + (1.0 - mix) * fake
        with tf.GradientTape() as tape:
            distance = tf.reduce_mean(self.critic(real)) - tf.reduce_mean(self.critic(fake))
            with tf.GradientTape() as inner:
                inner.watch(interpolates)
                values = self.critic(interpolates)
            norms = tf.norm(inner.gradient(values, interpolates), axis=1)
            loss = -distance + PENALTY * tf.reduce_mean(tf.square(norms - 1.0))
        variables = self.critic.trainable_variables
        self.critic_optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return distance, norms

    @tf.function
    def train_generator(self) -> None:
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self.critic(self.samples(BATCH)))
        variables = self.generator.trainable_variables
        self.generator_optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))


def wasserstein(a: np.ndarray, b: np.ndarray) -> float:
    """Returns the Wasserstein-1 distance between two samples of the same size: the mean cost of the best assignment."""
    costs = cdist(a, b)
    return float(costs[linear_sum_assignment(costs)].mean())


def run(steps: int = 1000, interval: int = 25, count: int = 512, warmup: int = 200, seed: int = 1) -> dict[str, Any]:
    """Returns the distances (exact and estimated) and gradient norms every `interval` steps, and the last samples."""
    rng = np.random.default_rng(seed)
    gan = WGAN(seed)
    history = []
    for step in range(steps + 1):
        updates = [gan.train_critic(mixture(BATCH, rng)) for _ in range(5 if step else warmup)]
        if step % interval == 0:
            exact = wasserstein(gan.samples(count).numpy(), mixture(count, rng))
            history.append((step, exact, *np.mean([(d, tf.reduce_mean(n)) for d, n in updates[-5:]], axis=0)))
        gan.train_generator()
    data, samples = mixture(count, rng), gan.samples(count).numpy()
    floor = wasserstein(data, mixture(count, rng))  # of two samples of the same distribution
    return {"history": np.array(history).T, "floor": floor, "data": data, "samples": samples, "critic": gan.critic}


def draw(results: dict[str, Any], file: Path) -> None:
    """Saves the data and the samples on level lines of the critic, and the distances."""
    steps, distances, estimates, norms = results["history"]
    figure = Figure(figsize=(6, 8), layout="constrained")
    top, bottom = figure.subplots(2, 1, height_ratios=[1.8, 1])
    ticks = np.linspace(-3, 3, 80, dtype=np.float32)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    top.contour(ticks, ticks, results["critic"](grid).numpy().reshape(80, 80), levels=14, colors="0.8", linewidths=0.8)
    top.scatter(*results["data"].T, s=5, label="data")
    top.scatter(*results["samples"].T, s=5, label="samples")
    top.set(title="Level lines of the critic", xlabel="$x_1$", ylabel="$x_2$")
    top.set(aspect="equal", xlim=(-3, 3), ylim=(-3, 3))
    top.legend(loc="center", markerscale=3)
    bottom.plot(steps, distances, label="Wasserstein distance")
    bottom.plot(steps, estimates, "--", label="critic's estimate")
    bottom.plot(steps, norms, ":", color="0.4", label="gradient norm of the critic")
    bottom.axhline(results["floor"], color="0.8", label="distance of two samples of the data", zorder=0)
    bottom.set(xlabel="step of the generator", ylim=(0, None))
    bottom.legend()
    figure.savefig(file, dpi=130)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    (_, first, _, _), (_, distance, estimate, norm) = results["history"].T[[0, -1]]
    print(f"Wasserstein distance: from {first:.2f} to {distance:.2f} (two samples of the data: {results['floor']:.2f})")
    print(f"critic's estimate: {estimate:.2f}, mean norm of its gradient: {norm:.2f}")

"""Changes images of digits so slightly that they look the same, and so that a classifier mistakes them.

An adversarial example follows the gradient of the loss with respect to the image: projected gradient descent (PGD)
within a box of half-width epsilon around it. Adversarial training takes its steps on such examples instead of the
images, and makes the classifier robust.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import gradtape as tf

keras = tf.keras
DIGITS = Path(__file__).parents[1] / "data" / "digits.npz"


def load() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Returns images with values from 0 to 1 and labels: 1,397 for training and 400 for testing."""
    with np.load(DIGITS) as data:
        images, labels = data["images"].reshape(-1, 8, 8, 1).astype(np.float32) / 16, data["labels"].astype(np.int32)
    return (images[:-400], labels[:-400]), (images[-400:], labels[-400:])


class Classifier:
    """A convolutional network, its training step, and the attack on it."""

    def __init__(self, seed: int) -> None:
        keras.utils.set_random_seed(seed)
        layers = keras.layers
        self.network = keras.Sequential([
            layers.Input((8, 8, 1)), layers.Conv2D(16, 3, activation="relu"), layers.Conv2D(32, 3, activation="relu"),
            layers.Flatten(), layers.Dense(64, activation="relu"), layers.Dense(10),
        ])  # fmt: skip
        self.optimizer = keras.optimizers.Adam(2e-3)

    def loss(self, images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, self.network(images)))

    @tf.function
    def attack(self, images: tf.Tensor, labels: tf.Tensor, epsilon: tf.Tensor, steps: int = 5) -> tf.Tensor:
        """Returns images that differ by at most `epsilon` per pixel, at which the loss is larger."""
        x = images
        for _ in range(steps):
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = self.loss(x, labels)
            x += 2.5 * epsilon / steps * tf.sign(tape.gradient(loss, x))
            x = tf.clip_by_value(tf.clip_by_value(x, images - epsilon, images + epsilon), 0.0, 1.0)
        return x

    @tf.function
    def train(self, images: tf.Tensor, labels: tf.Tensor) -> None:
        with tf.GradientTape() as tape:
            loss = self.loss(images, labels)
        variables = self.network.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    def accuracy(self, images: tf.Tensor, labels: np.ndarray) -> float:
        return float(np.mean(self.network(images).numpy().argmax(axis=1) == labels))


def run(epochs: int = 12, epsilon: float = 0.15, levels: int = 7, seed: int = 1) -> dict[str, Any]:
    """Returns the accuracies of a classifier with and without adversarial training under attack, and examples."""
    train, (images, labels) = load()
    rng = np.random.default_rng(seed)
    epsilons = np.linspace(0, 2 * epsilon, levels).astype(np.float32)
    results: dict[str, Any] = {"epsilons": epsilons, "images": images, "labels": labels, "epsilon": epsilon}
    for name, trained_epsilon in (("standard", 0.0), ("adversarial", epsilon)):
        model = Classifier(seed)
        for _ in range(epochs):
            for batch in np.array_split(rng.permutation(len(train[0])), 22):
                x, y = tf.constant(train[0][batch]), tf.constant(train[1][batch])
                model.train(model.attack(x, y, tf.constant(trained_epsilon)) if trained_epsilon else x, y)
        attacked = [model.attack(tf.constant(images), tf.constant(labels), tf.constant(e), steps=20) for e in epsilons]
        results[name] = {
            "accuracies": [model.accuracy(x, labels) for x in attacked],
            "images": model.attack(tf.constant(images), tf.constant(labels), tf.constant(epsilon), steps=20).numpy(),
            "network": model.network,
        }
    return results


def draw(results: dict[str, Any], file: Path, count: int = 5) -> None:
    """Saves images that the attack changes, and the accuracies for each epsilon."""
    figure = Figure(figsize=(6, 6), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[1, 1.1])
    axes = top.subplots(2, count)
    network, attacked = results["standard"]["network"], results["standard"]["images"]
    before, after = (network(images).numpy().argmax(axis=1) for images in (results["images"], attacked))
    fooled = np.flatnonzero((before == results["labels"]) & (after != before))[:count]
    for column, i in zip(axes.T, fooled, strict=False):
        for each, images, answers in zip(column, (results["images"], attacked), (before, after), strict=True):
            each.imshow(images[i, ..., 0], cmap="gray_r", vmin=0, vmax=1)
            each.set(title=f"“{answers[i]}”", xticks=[], yticks=[])
    axes[0, 0].set_ylabel("image")
    axes[1, 0].set_ylabel("adversarial")
    axes = bottom.subplots()
    for name in ("standard", "adversarial"):
        axes.plot(results["epsilons"], results[name]["accuracies"], "o-", label=f"{name} training")
    axes.axvline(results["epsilon"], color="0.6", ls=":")
    axes.set(xlabel="epsilon of the attack", ylabel="accuracy", ylim=(0, 1))
    axes.legend(loc="lower left")
    figure.savefig(file, dpi=130)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    for name in ("standard", "adversarial"):
        clean, robust = results[name]["accuracies"][0], results[name]["accuracies"][3]
        print(f"{name} training: accuracy {clean:.0%}, under attack with epsilon 0.15 {robust:.0%}")

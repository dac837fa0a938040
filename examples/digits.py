"""Trains a small classifier of handwritten digits with a hand-written GradientTape loop.

    make demo        or        python examples/digits.py [--epochs 30]

Prints the accuracy on unseen digits, and saves a plot of the loss next to this file.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import gradtape as tf

HERE = Path(__file__).parent


class Classifier(tf.Module):
    """Two dense layers and a layer of logits."""

    def __init__(self, sizes: tuple[int, ...] = (64, 128, 64, 10)) -> None:
        super().__init__()
        self.weights, self.biases = [], []
        for i, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
            scale = (2 / inputs) ** 0.5
            kernel = tf.random.stateless_normal((inputs, outputs), seed=(1, i), stddev=scale)
            self.weights.append(tf.Variable(kernel, name=f"kernel_{i}"))
            self.biases.append(tf.Variable(tf.zeros(outputs), name=f"bias_{i}"))

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        for kernel, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = tf.nn.relu(x @ kernel + bias)
        return x @ self.weights[-1] + self.biases[-1]


class Adam:
    """The Adam optimizer, in ten lines."""

    def __init__(self, variables: tuple[tf.Variable, ...], rate: float = 2e-3) -> None:
        self.variables, self.rate, self.steps = variables, rate, 0
        self.mean = [tf.zeros(v.shape) for v in variables]
        self.square = [tf.zeros(v.shape) for v in variables]

    def apply(self, gradients: list[tf.Tensor]) -> None:
        self.steps += 1
        rate = self.rate * (1 - 0.999**self.steps) ** 0.5 / (1 - 0.9**self.steps)
        for i, (v, g) in enumerate(zip(self.variables, gradients, strict=True)):
            self.mean[i] = 0.9 * self.mean[i] + 0.1 * g
            self.square[i] = 0.999 * self.square[i] + 0.001 * g * g
            v.assign_sub(rate * self.mean[i] / (tf.sqrt(self.square[i]) + 1e-7))


def load() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Returns training images and labels, then test images and labels."""
    with np.load(HERE / "data" / "digits.npz") as data:
        images = data["images"].reshape(-1, 64).astype(np.float32) / 16
        labels = data["labels"].astype(np.int32)
    order = np.random.default_rng(0).permutation(len(images))
    images, labels = images[order], labels[order]
    return images[:1440], labels[:1440], images[1440:], labels[1440:]


def train(epochs: int, batch: int = 32) -> tuple[Classifier, list[float]]:
    """Returns the trained model and the loss of every step."""
    images, labels, _, _ = load()
    model = Classifier()
    optimizer = Adam(model.trainable_variables)
    rng = np.random.default_rng(1)
    losses: list[float] = []
    loss_column = TextColumn("loss {task.fields[loss]:.4f}")
    with Progress(TextColumn("{task.description}"), BarColumn(), loss_column, TimeElapsedColumn()) as progress:
        task = progress.add_task("training", total=epochs, loss=float("nan"))
        for _ in range(epochs):
            order = rng.permutation(len(images))
            for start in range(0, len(order), batch):
                chosen = order[start : start + batch]
                x, y = tf.constant(images[chosen]), tf.constant(labels[chosen])
                with tf.GradientTape() as tape:
                    losses_of_batch = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x))
                    loss = tf.reduce_mean(losses_of_batch)
                variables = list(model.trainable_variables)
                optimizer.apply(tape.gradient(loss, variables, unconnected_gradients="zero"))
                losses.append(float(loss))
            progress.update(task, advance=1, loss=np.mean(losses[-len(order) // batch :]))
    return model, losses


def accuracy(model: Classifier) -> float:
    """Returns the accuracy of the model on unseen digits."""
    _, _, images, labels = load()
    predicted = tf.argmax(model(tf.constant(images)), axis=1, output_type=tf.int32)
    return float(tf.reduce_mean(tf.cast(predicted == tf.constant(labels), tf.float32)))


def draw(losses: list[float], file: Path) -> None:
    """Saves the loss curve."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    smooth = np.convolve(losses, np.ones(25) / 25, mode="valid")
    axes.semilogy(losses, color="#b9c7e0", linewidth=0.8, label="each step")
    axes.semilogy(np.arange(len(smooth)) + 12, smooth, color="#1f4e9c", label="mean of 25 steps")
    axes.set(xlabel="step", ylabel="cross-entropy", title="Handwritten digits, trained with tf.GradientTape")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--picture", type=Path, default=HERE / "digits_loss.png")
    options = parser.parse_args()
    console = Console()
    console.print("A 64-128-64-10 network on 1,440 handwritten digits, one GradientTape per step.")
    model, losses = train(options.epochs)
    console.print(f"Accuracy on 357 unseen digits: [bold]{accuracy(model):.1%}[/]")
    if importlib.util.find_spec("matplotlib") is None:
        console.print("Without Matplotlib there is no picture of the loss: pip install 'gradtape\\[examples]'")
        return
    draw(losses, options.picture)
    console.print(f"The loss curve is in {options.picture}")


if __name__ == "__main__":
    main()

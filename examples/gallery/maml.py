"""Learns to learn: model-agnostic meta-learning (MAML) finds weights from which one gradient step fits a new sine.

Each task is a sine curve of its own amplitude and phase, of which ten points are known. The inner tape computes the
step that adapts the weights to a task; the outer tape differentiates the loss after that step with respect to the
weights before it, which includes second derivatives. The same network, trained on all tasks without inner steps, is the
comparison. All tasks of a batch are adapted at once, along a leading axis of the weights.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import gradtape as tf

Tensors = list[tf.Tensor]
SIZES = (1, 40, 40, 1)
RATE = 0.01  # of the inner steps


def network(weights: Tensors, x: tf.Tensor) -> tf.Tensor:
    """Maps `[tasks, points, 1]` to the same shape; the weights may have a leading axis of tasks."""
    for kernel, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        x = tf.nn.relu(x @ kernel + bias[..., None, :])
    return x @ weights[-2] + weights[-1][..., None, :]


def errors(weights: Tensors, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Returns the mean squared error of each task."""
    return tf.reduce_mean((network(weights, x) - y) ** 2, axis=[1, 2])


def adapted(weights: Tensors, x: tf.Tensor, y: tf.Tensor, steps: int, rate: float = RATE) -> Tensors:
    """Returns each task's weights after gradient steps on its points: arrays `[tasks, …]`."""
    weights = [tf.broadcast_to(w, [x.shape[0], *w.shape]) for w in weights]
    for _ in range(steps):
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss = tf.reduce_sum(errors(weights, x, y))  # a sum, so that each task has its own gradient
        gradients = tape.gradient(loss, weights)
        weights = [w - rate * g for w, g in zip(weights, gradients, strict=True)]
    return weights


def sample(rng: np.random.Generator, tasks: int, points: int = 10) -> tuple[tf.Tensor, ...]:
    """Returns known points and unknown points of new tasks: x, y, x, y."""
    amplitude, phase = rng.uniform(0.1, 5, (tasks, 1, 1)), rng.uniform(0, np.pi, (tasks, 1, 1))
    known, unknown = rng.uniform(-5, 5, (2, tasks, points, 1))
    arrays = [known, amplitude * np.sin(known + phase), unknown, amplitude * np.sin(unknown + phase)]
    return tuple(tf.constant(array, tf.float32) for array in arrays)


def train(inner_steps: int, steps: int, seed: int) -> tuple[Tensors, list[float]]:
    """Returns weights that are good after the inner steps, and the loss of each outer step."""
    rng = np.random.default_rng(seed)
    arrays = [a for n, m in itertools.pairwise(SIZES) for a in (rng.normal(size=(n, m)) * n**-0.5, np.zeros(m))]
    weights = [tf.Variable(array, dtype=tf.float32) for array in arrays]
    optimizer = tf.keras.optimizers.Adam(5e-3)

    @tf.function
    def step(x: tf.Tensor, y: tf.Tensor, new_x: tf.Tensor, new_y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(errors(adapted(weights, x, y, inner_steps), new_x, new_y))
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    losses = [float(step(*sample(rng, tasks=25))) for _ in range(steps)]
    return [w.value() for w in weights], losses


def run(steps: int = 3000, tasks: int = 500, seed: int = 0) -> dict[str, Any]:
    """Trains with and without inner steps; returns the errors on new tasks after 0 to 10 steps, and curves of one."""
    x, y, new_x, new_y = sample(np.random.default_rng(seed + 1), tasks)

    def errors_after(weights: Tensors, rate: float) -> list[float]:
        after = (adapted(weights, x, y, count, rate) for count in range(11))
        return [float(tf.reduce_mean(errors(each, new_x, new_y))) for each in after]

    weights, losses = train(1, steps, seed)
    other, _ = train(0, steps, seed)
    with np.errstate(all="ignore"):  # the larger rates diverge
        compared = [errors_after(other, RATE / division) for division in (1, 2, 4, 8, 16, 32)]
    grid = tf.reshape(tf.linspace(-5.0, 5.0, 200), (1, 200, 1))
    curves = {n: network(adapted(weights, x[:1], y[:1], n), grid)[0, :, 0].numpy() for n in (0, 1, 10)}
    return {
        "losses": losses,
        "errors": {"MAML": errors_after(weights, RATE), "trained on all tasks": min(compared, key=np.nanmin)},
        "curves": curves, "grid": grid[0, :, 0].numpy(),
        "known": (x[0].numpy(), y[0].numpy()), "unknown": (new_x[0].numpy(), new_y[0].numpy()),
    }  # fmt: skip


def draw(results: dict[str, Any], file: Path) -> None:
    """Draws a new task before and after adaptation, and the errors by the number of steps."""
    figure = Figure(figsize=(5, 5.4), layout="constrained")
    top, bottom = figure.subplots(2)
    for count, curve in results["curves"].items():
        top.plot(results["grid"], curve, label=f"after {count} step{'s' * (count != 1)}", alpha=0.4 + 0.06 * count)
    top.plot(*results["known"], "k^", label="known points")
    top.plot(*results["unknown"], "k.", label="unknown points")
    top.set(xlabel="x", ylabel="y", title="A new sine, learned from ten points")
    top.legend(fontsize=8)
    for name, error in results["errors"].items():
        bottom.plot(error, "o-", label=name)
    bottom.set(xlabel="gradient steps on the new task", ylabel="mean squared error", ylim=(0, None))
    bottom.legend()
    figure.savefig(file, dpi=128)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    for name, error in results["errors"].items():
        print(f"{name}: mean squared error {error[0]:.2f}, after one step {error[1]:.2f}, after ten {error[-1]:.2f}")

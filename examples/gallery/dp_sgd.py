"""Trains a classifier of handwritten digits with differential privacy: DP-SGD, and an accountant for its epsilon.

Each step samples examples, clips the gradient of each one to a norm of at most C, and adds Gaussian noise to the sum,
so that no single image can change the result much. `per="example"`, an addition of gradtape's, computes the norms of
all gradients in one backward pass, and a second pass the sum of the clipped gradients. The accountant turns the noise,
the sampling rate and the number of steps into epsilon.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.special import gammaln, logsumexp

import gradtape as tf

BOUND, DELTA = 1.0, 1e-4  # of the norms of the gradients; of the privacy guarantee, below 1 / (number of images)
DIGITS = Path(__file__).parents[1] / "data" / "digits.npz"


def epsilon(multiplier: float, rate: float, steps: int, delta: float = DELTA) -> float:
    """Returns epsilon so that the steps are (epsilon, delta)-private when an image is added or removed.

    The Rényi divergence of one step, of an integer order a, for Gaussian noise of multiplier s on a Poisson sample of
    rate q, is `log(sum_k C(a, k) (1 - q)^(a - k) q^k exp(k (k - 1) / (2 s^2))) / (a - 1)` (Mironov et al. 2019).
    """
    found = []
    for order in range(2, 129):
        k = np.arange(order + 1)
        binomial = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            sampled = np.where(k == order, 0.0, (order - k) * np.log1p(-rate)) + k * np.log(rate)
        divergence = logsumexp(binomial + sampled + k * (k - 1) / (2 * multiplier**2)) / (order - 1)
        found.append(steps * divergence + np.log(1 / delta) / (order - 1))
    return min(found)


def losses_of(weights: list[tf.Variable], x: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns the loss of each example."""
    kernel, bias = weights
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x @ kernel + bias)


def clipped_sum(weights: list[tf.Variable], x: tf.Tensor, labels: tf.Tensor) -> tuple[list[tf.Tensor], tf.Tensor]:
    """Returns the sum of the examples' gradients, scaled to norms of at most `BOUND`, and those norms."""
    with tf.GradientTape(persistent=True) as tape:
        losses = losses_of(weights, x, labels)
    norms = tape.gradient(losses, weights, per="example", norms=True)
    norm = tf.norm(tf.stack(norms), axis=0)  # over all weights
    scales = tf.minimum(1.0, BOUND / (norm + 1e-12))
    return tape.gradient(losses, weights, output_gradients=scales), scales * norm


def train(data: Any, multiplier: float, steps: int, rate: float, seed: int) -> dict[str, Any]:
    """Returns epsilon and the accuracy on unseen digits during training, and what the steps added up."""
    (x, test_x), (labels, test_labels) = data
    rng = np.random.default_rng(seed)
    weights = [tf.Variable(tf.zeros((64, 10))), tf.Variable(tf.zeros(10))]
    result: dict[str, Any] = {"epsilon": [], "accuracy": [], "norms": [], "noise": []}
    for step in range(1, steps + 1):
        chosen = rng.random(len(x)) < rate  # a Poisson sample, which the accountant presumes
        gradients, norms = clipped_sum(weights, tf.constant(x[chosen]), tf.constant(labels[chosen]))
        result["norms"].append(norms.numpy())
        for weight, gradient in zip(weights, gradients, strict=True):
            noise = rng.normal(size=weight.shape, scale=multiplier * BOUND).astype(np.float32)
            result["noise"].append(noise.ravel())
            weight.assign_sub(4.0 / (rate * len(x)) * (gradient + noise))
        if step % 10 == 0:
            right = np.argmax(test_x @ weights[0].numpy() + weights[1].numpy(), axis=1) == test_labels
            result["epsilon"].append(epsilon(multiplier, rate, step))
            result["accuracy"].append(right.mean())
    return result


def run(multipliers: tuple[float, ...] = (1.5, 3.0, 6.0), steps: int = 300, rate: float = 0.1, seed: int = 0) -> Any:
    """Trains once for each multiplier of the noise; returns the result of each."""
    with np.load(DIGITS) as data:
        x, labels = data["images"].reshape(-1, 64).astype(np.float32) / 16, data["labels"].astype(np.int32)
    order = np.random.default_rng(seed).permutation(len(x))
    data = np.split(x[order], [1440]), np.split(labels[order], [1440])
    return {multiplier: train(data, multiplier, steps, rate, seed) for multiplier in multipliers}


def draw(results: dict[float, Any], file: Path) -> None:
    """Draws the accuracy over epsilon."""
    figure = Figure(figsize=(5, 3.6), layout="constrained")
    axes = figure.subplots()
    for multiplier, result in results.items():
        axes.plot(result["epsilon"], 100 * np.array(result["accuracy"]), label=rf"noise $\sigma$ = {multiplier:g}")
    axes.set(xlabel=f"privacy loss ε (at δ = {DELTA:g})", ylabel="accuracy on unseen digits (%)")
    axes.set(title="DP-SGD on 1,440 handwritten digits", ylim=(50, 100))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=128)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    for multiplier, result in results.items():
        print(f"noise {multiplier:g}: epsilon {result['epsilon'][-1]:.2f}, accuracy {result['accuracy'][-1]:.1%}")

"""Solves Burgers' equation with a network that is trained on the equation alone (a physics-informed network, PINN).

The equation `u_t + u u_x = c u_xx` on -1 ≤ x ≤ 1, 0 ≤ t ≤ 1, with `u(0, x) = -sin πx` and `u(t, ±1) = 0`, steepens a
wave almost to a shock. Nested tapes compute the derivatives of the network with respect to its inputs; a third tape
differentiates the residual with respect to the weights, for SciPy's L-BFGS. The exact solution is used only to measure
the error.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

import gradtape as tf

VISCOSITY = 0.02
SIZES = (2, 24, 24, 24, 1)
SHAPES = [shape for n, m in itertools.pairwise(SIZES) for shape in ((n, m), (m,))]


def initial_weights(rng: np.random.Generator) -> np.ndarray:
    """Returns the weights of all layers as one vector, as SciPy's optimizers take them."""
    arrays = [rng.normal(size=s) / np.sqrt(s[0]) if len(s) == 2 else np.zeros(s) for s in SHAPES]
    return np.concatenate([array.ravel() for array in arrays])


def solution(weights: tf.Tensor, t: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Returns u, which satisfies the initial and the boundary conditions whatever the weights are."""
    parts = tf.split(weights, [int(np.prod(shape)) for shape in SHAPES])
    arrays = [tf.reshape(part, shape) for part, shape in zip(parts, SHAPES, strict=True)]
    h = tf.stack([2.0 * t - 1.0, x], axis=1)
    for kernel, bias in zip(arrays[:-2:2], arrays[1:-2:2], strict=True):
        h = tf.tanh(h @ kernel + bias)
    return -tf.sin(np.pi * x) + t * (1.0 - x**2) * (h @ arrays[-2] + arrays[-1])[:, 0]


def residual(weights: tf.Tensor, t: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Returns `u_t + u u_x - c u_xx` at each point, with the viscosity c."""
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape() as first:
            first.watch([t, x])
            u = solution(weights, t, x)
        u_t, u_x = first.gradient(u, [t, x])
    u_xx = second.gradient(u_x, x)
    return u_t + u * u_x - VISCOSITY * u_xx


def exact(t: float, x: np.ndarray, nodes: int = 120) -> np.ndarray:
    """Returns the solution by the Cole-Hopf transformation, whose integrals Gauss-Hermite quadrature computes."""
    z, weight = np.polynomial.hermite.hermgauss(nodes)
    y = x[:, None] - np.sqrt(4 * VISCOSITY * t) * z
    density = weight * np.exp(-(np.cos(np.pi * y) + 1) / (2 * np.pi * VISCOSITY))
    return -(density * np.sin(np.pi * y)).sum(1) / density.sum(1)


def run(points: int = 1200, steps: int = 1000, seed: int = 0) -> dict[str, Any]:
    """Trains the network; returns the loss of each step, and slices of both solutions."""
    rng = np.random.default_rng(seed)
    t, x = tf.constant(rng.uniform(0, 1, points)), tf.constant(rng.uniform(-1, 1, points))

    @tf.function
    def loss_and_gradient(weights: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss = tf.reduce_mean(residual(weights, t, x) ** 2)
        return loss, tape.gradient(loss, weights)

    losses: list[float] = []

    def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
        loss, gradient = loss_and_gradient(tf.constant(weights))
        losses.append(float(loss))
        return losses[-1], gradient.numpy()

    best = minimize(objective, initial_weights(rng), jac=True, method="L-BFGS-B", options={"maxiter": steps})
    grid, times = np.linspace(-1, 1, 201), (0.0, 0.25, 0.5, 1.0)
    weights = tf.constant(best.x)
    network = [solution(weights, tf.fill([201], tf.constant(t, tf.float64)), tf.constant(grid)).numpy() for t in times]
    return {"losses": losses, "x": grid, "times": times, "network": network, "exact": [exact(t, grid) for t in times]}


def draw(results: dict[str, Any], file: Path) -> None:
    """Draws the solution at four times, and the loss."""
    figure = Figure(figsize=(5, 5), layout="constrained")
    top, bottom = figure.subplots(2, height_ratios=(3, 2))
    for t, u, truth in zip(results["times"], results["network"], results["exact"], strict=True):
        (line,) = top.plot(results["x"], u, label=f"t = {t:g}")
        top.plot(results["x"][::8], truth[::8], "o", color=line.get_color(), markersize=3)
    top.set(xlabel="x", ylabel="u(t, x)", title="Burgers' equation: network (lines), exact (dots)")
    top.legend()
    bottom.semilogy(results["losses"])
    bottom.set(xlabel="evaluation of the loss", ylabel="mean squared residual")
    figure.savefig(file, dpi=128)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    error = np.abs(np.array(results["network"]) - results["exact"]).max()
    print(f"mean squared residual: from {results['losses'][0]:.2f} to {results['losses'][-1]:.1e}")
    print(f"largest error of u: {error:.1e}")

"""Fits a curve with error bars: Laplace's approximation from a Hessian, and Hamiltonian Monte Carlo (HMC).

The model is the speed of an enzyme's reaction, `V s / (K + s)`, at eight concentrations s. Laplace's approximation is
the normal distribution with the curvature of the log posterior at its maximum. HMC follows the gradient of the log
posterior, for all chains at once, and samples from the posterior itself, which is skewed. For a straight line the
posterior is normal, and known: both methods are compared with it. `tape.hessian` is an addition of gradtape's.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

import gradtape as tf

Curve = Callable[[tf.Tensor, np.ndarray], tf.Tensor]
NOISE = 0.08  # standard deviation of the measurements; the prior of each parameter is a standard normal distribution


def enzyme(parameters: tf.Tensor, s: np.ndarray) -> tf.Tensor:
    """Returns the speed at each concentration; parameters are log V and log K, in the last axis."""
    v, k = tf.unstack(tf.exp(parameters[..., None]), axis=-2)
    return v * s / (k + s)


def line(parameters: tf.Tensor, s: np.ndarray) -> tf.Tensor:
    intercept, slope = tf.unstack(parameters[..., None], axis=-2)
    return intercept + slope * s


def log_posterior(curve: Curve, parameters: tf.Tensor, s: np.ndarray, y: np.ndarray) -> tf.Tensor:
    """Returns the logarithm of the density, up to a constant, for each row of parameters."""
    misfit = tf.reduce_sum(((curve(parameters, s) - y) / NOISE) ** 2, axis=-1)
    return -0.5 * (misfit + tf.reduce_sum(parameters**2, axis=-1))


def laplace(log_density: Callable[[tf.Tensor], tf.Tensor]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the mean and the covariance: the maximum, and minus the inverse Hessian there."""

    def objective(values: np.ndarray) -> tuple[float, np.ndarray]:
        with tf.GradientTape() as tape:
            tape.watch(parameters := tf.constant(values))
            density = log_density(parameters)
        return -float(density), -tape.gradient(density, parameters).numpy()

    mode = tf.constant(minimize(objective, np.zeros(2), jac=True, tol=1e-10).x)
    with tf.GradientTape() as tape:
        tape.watch(mode)
        density = log_density(mode)
    return mode.numpy(), -np.linalg.inv(tape.hessian(density, mode).numpy())


def hmc(log_density: Callable[[tf.Tensor], tf.Tensor], mean: np.ndarray, covariance: np.ndarray, chains: int,
        draws: int, rng: np.random.Generator, step: float = 0.25, leaps: int = 8) -> np.ndarray:  # fmt: skip
    """Returns samples `[draws, chains, 2]`; mean and covariance set the scales, for which an approximation will do."""
    factor = np.linalg.cholesky(covariance)

    @tf.function
    def density_and_gradient(z: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(z)
            density = log_density(mean + z @ factor.T)
        return density, tape.gradient(density, z)

    z, samples = tf.constant(rng.normal(size=(chains, 2))), []
    density, gradient = density_and_gradient(z)
    for _ in range(draws):
        start = momentum = rng.normal(size=z.shape)
        new_z, new_density, new_gradient = z, density, gradient
        for _ in range(leaps):  # leapfrog: half a step of the momentum, a step, half a step of the momentum
            momentum = momentum + step / 2 * new_gradient
            new_z = new_z + step * momentum
            new_density, new_gradient = density_and_gradient(new_z)
            momentum = momentum + step / 2 * new_gradient
        energy = new_density - density - tf.reduce_sum(momentum**2 - start**2, axis=1) / 2
        accepted = np.log(rng.random(chains)) < energy.numpy()
        z, gradient = tf.where(accepted[:, None], new_z, z), tf.where(accepted[:, None], new_gradient, gradient)
        density = tf.where(accepted, new_density, density)
        samples.append(mean + z.numpy() @ factor.T)
    return np.stack(samples)


def r_hat(samples: np.ndarray) -> float:
    """Returns the largest potential scale reduction: near 1 if the chains agree."""
    within, between = samples.var(0, ddof=1).mean(0), samples.mean(0).var(0, ddof=1)
    return float(np.sqrt((within * (1 - 1 / len(samples)) + between) / within).max())


def run(chains: int = 20, draws: int = 500, seed: int = 0) -> dict[str, Any]:
    """Infers both curves; returns for each the data, Laplace's mean and covariance, and samples without the warm-up."""
    rng = np.random.default_rng(seed)
    results = {}
    s = np.array([0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0])
    for curve, truth in ((enzyme, [0.4, 0.5]), (line, [0.5, 0.7])):
        y = curve(tf.constant(truth, tf.float64), s).numpy() + NOISE * rng.normal(size=len(s))

        def log_density(parameters: tf.Tensor, curve: Curve = curve, y: np.ndarray = y) -> tf.Tensor:
            return log_posterior(curve, parameters, s, y)

        mean, covariance = laplace(log_density)
        samples = hmc(log_density, mean, covariance, chains, draws, rng)[draws // 5 :]
        results[curve.__name__] = {"s": s, "y": y, "mean": mean, "covariance": covariance, "samples": samples}
    design = np.stack([np.ones_like(s), s], axis=1)
    exact = np.linalg.inv(np.eye(2) + design.T @ design / NOISE**2)
    results["line"]["exact"] = exact @ design.T @ results["line"]["y"] / NOISE**2, exact
    return results


def draw(results: dict[str, Any], file: Path) -> None:
    """Draws the curve with a band, and the joint distribution of V and K."""
    result = results["enzyme"]
    samples = result["samples"].reshape(-1, 2)
    figure = Figure(figsize=(5, 6), layout="constrained")
    top, bottom = figure.subplots(2)
    s = np.linspace(0, 3, 100)
    low, median, high = np.quantile(enzyme(tf.constant(samples), s).numpy(), (0.05, 0.5, 0.95), axis=0)
    top.fill_between(s, low, high, alpha=0.3, label="90% of the posterior")
    top.plot(s, median, label="median")
    top.plot(result["s"], result["y"], "ko", label="measurements")
    top.set(xlabel="concentration s (mM)", ylabel="speed (µM/s)", title="The speed of a reaction: V s / (K + s)")
    angle = np.linspace(0, 2 * np.pi, 100)
    bottom.plot(*np.exp(samples[::4]).T, ".", markersize=1.5, label="HMC")
    circle = np.stack([np.cos(angle), np.sin(angle)]) * np.sqrt(2 * np.log(10))  # holds 90%
    ellipse = result["mean"][:, None] + np.linalg.cholesky(result["covariance"]) @ circle
    bottom.plot(*np.exp(ellipse), label="Laplace's approximation: 90%")
    bottom.set(xlabel="V (µM/s)", ylabel="K (mM)")
    for axes in (top, bottom):
        axes.legend(loc="lower right")
    figure.savefig(file, dpi=128)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    for name, result in results.items():
        print(f"{name}: mean by Laplace {result['mean'].round(3)}, by HMC {result['samples'].mean((0, 1)).round(3)},",
              f"R-hat {r_hat(result['samples']):.3f}")  # fmt: skip
    print(f"line: exact mean {results['line']['exact'][0].round(3)}")

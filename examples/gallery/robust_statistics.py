"""Fits a line to data with outliers: least squares, Huber's loss and Student's t, and the influence of a point.

Each fit minimizes a sum of losses over slope, intercept and logarithmic scale. The gradient of a point's loss, times
the inverse Hessian, predicts how that point changes the fit: its influence grows with the residual, is bounded, or
returns to zero. Refits with the point confirm the prediction. `tape.hessian` and the gradients `per="example"` are
additions of gradtape's.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

import gradtape as tf

K, DEGREES = 1.345, 3.0  # where Huber's loss becomes linear; the degrees of freedom of Student's t
TRUTH = (1.5, -2.0)  # slope, intercept


def least_squares(z: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    """Returns the loss of standardized residuals; the scale's optimum is the root of the mean square."""
    return scale * (z**2 + 1.0) / 2.0


def huber(z: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    """Returns Huber's loss with a scale ("proposal 2"): quadratic up to K, then linear."""
    size = tf.abs(z)
    return scale * (tf.where(size < K, z**2 / 2.0, K * size - K**2 / 2.0) + 0.355)  # 0.355: E(min(|z|, K)²) / 2


def student(z: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    """Returns the negative logarithm of the density of Student's t, up to a constant."""
    return tf.math.log(scale) + (DEGREES + 1.0) / 2.0 * tf.math.log1p(z**2 / DEGREES)


LOSSES = {"least squares": least_squares, "Huber": huber, "Student's t": student}


def losses_of(loss: Callable[..., tf.Tensor], parameters: tf.Tensor, x: np.ndarray, y: np.ndarray) -> tf.Tensor:
    """Returns the loss of each point."""
    slope, intercept, log_scale = tf.unstack(parameters)
    scale = tf.exp(log_scale)
    return loss((y - slope * x - intercept) / scale, scale)


def fit(loss: Callable[..., tf.Tensor], x: np.ndarray, y: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Returns the parameters of least loss, by a trust-region Newton method."""

    def objective(values: np.ndarray) -> tuple[float, np.ndarray]:
        with tf.GradientTape() as tape:
            tape.watch(parameters := tf.constant(values))
            total = tf.reduce_sum(losses_of(loss, parameters, x, y))
        return float(total), tape.gradient(total, parameters).numpy()

    def hessian(values: np.ndarray) -> np.ndarray:
        with tf.GradientTape() as tape:
            tape.watch(parameters := tf.constant(values))
            total = tf.reduce_sum(losses_of(loss, parameters, x, y))
        return tape.hessian(total, parameters).numpy()

    return minimize(objective, start, jac=True, hess=hessian, method="trust-exact", options={"gtol": 1e-8}).x


def influences(loss: Callable[..., tf.Tensor], data: list[np.ndarray], best: np.ndarray, new: Any) -> np.ndarray:
    """Returns by how much each new point would move the parameters, to first order: `-H⁻¹ ∇loss`."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(parameters := tf.constant(best))
        total, losses = tf.reduce_sum(losses_of(loss, parameters, *data)), losses_of(loss, parameters, *new)
    gradients = tape.gradient(losses, parameters, per="example").numpy()
    return -np.linalg.solve(tape.hessian(total, parameters).numpy(), gradients.T).T


def run(points: int = 80, outliers: int = 10, refits: int = 13, seed: int = 0) -> dict[str, Any]:
    """Fits the three losses; returns data, parameters, and influences of a point at x = 10, predicted and by refits."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, points)
    y = TRUTH[0] * x + TRUTH[1] + rng.normal(size=points)
    x[:outliers], y[:outliers] = rng.uniform(6, 9, outliers), rng.uniform(-10, -5, outliers)
    results: dict[str, Any] = {"x": x, "y": y, "fits": {}, "influences": {}, "changes": {}}
    results["residuals"], results["refitted"] = np.linspace(-15, 15, 121), np.linspace(-15, 15, refits)
    best = np.array([0.0, y.mean(), np.log(y.std())])
    for name, loss in LOSSES.items():
        best = fit(loss, x, y, best)  # from the previous fit: Student's t needs a robust start
        results["fits"][name] = best
        line = 10 * best[0] + best[1]
        new = np.full_like(results["residuals"], 10.0), line + results["residuals"]
        results["influences"][name] = influences(loss, [x, y], best, new)
        refitted = [fit(loss, np.append(x, 10.0), np.append(y, line + r), best) for r in results["refitted"]]
        results["changes"][name] = np.array(refitted) - best
    return results


def draw(results: dict[str, Any], file: Path) -> None:
    """Draws the lines, and the influence of a point on the slope by its residual."""
    figure = Figure(figsize=(5, 6), layout="constrained")
    top, bottom = figure.subplots(2)
    ends = np.array([0.0, 10.0])
    top.plot(results["x"], results["y"], "k.")
    for name, best in results["fits"].items():
        (line,) = top.plot(ends, best[0] * ends + best[1], label=name)
        bottom.plot(results["residuals"], results["influences"][name][:, 0], color=line.get_color(), label=name)
        bottom.plot(results["refitted"], results["changes"][name][:, 0], "x", markersize=5, color=line.get_color())
    top.set(xlabel="x", ylabel="y", title="A line with outliers")
    bottom.set(xlabel="residual of a new point at x = 10", ylabel=r"change of the slope ($\times$ by refitting)")
    for axes in (top, bottom):
        axes.legend(fontsize=8)
    figure.savefig(file, dpi=128)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    print(f"truth: slope {TRUTH[0]}, intercept {TRUTH[1]}")
    for name, (slope, intercept, log_scale) in results["fits"].items():
        print(f"{name}: slope {slope:.2f}, intercept {intercept:.2f}, scale {np.exp(log_scale):.2f}")

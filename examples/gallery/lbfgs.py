"""Computes a soap film with L-BFGS: the two-loop recursion and a line search, in forty lines.

A soap film in a frame has the least area. The unknowns are the heights of a grid of points; each cell is two triangles.
The frame is that of Scherk's surface, `z = log(cos y / cos x)`, so that the exact film is known. L-BFGS approximates
Newton's method from the last m steps and the changes of the gradient, in O(m n) operations per step.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import gradtape as tf

Function = Callable[[tf.Tensor], tuple[tf.Tensor, tf.Tensor]]  # from a point to the value and the gradient there
Pairs = list[tuple[tf.Tensor, tf.Tensor]]  # of a step and the change of the gradient


def dot(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    return tf.tensordot(a, b, 1)


def direction(gradient: tf.Tensor, pairs: Pairs) -> tf.Tensor:
    """Returns minus the approximate inverse Hessian times the gradient, by the two-loop recursion."""
    if not pairs:
        return -gradient / tf.norm(gradient)
    q, alphas = gradient, []
    for s, y in reversed(pairs):
        alphas.append(dot(s, q) / dot(s, y))
        q -= alphas[-1] * y
    s, y = pairs[-1]
    q *= dot(s, y) / dot(y, y)
    for (s, y), alpha in zip(pairs, reversed(alphas), strict=True):
        q += (alpha - dot(y, q) / dot(s, y)) * s
    return -q


def line_search(f: Function, x: tf.Tensor, value: tf.Tensor, slope: tf.Tensor, d: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """Returns a point along d that obeys the weak Wolfe conditions, by bisection, and the value and gradient there."""
    shortest, longest, step = 0.0, np.inf, 1.0
    for _ in range(40):
        point = x + step * d
        new_value, gradient = f(point)
        if new_value > value + 1e-4 * step * slope:  # too little decrease
            longest = step
        elif dot(gradient, d) < 0.9 * slope:  # the function still falls steeply
            shortest = step
        else:
            break
        step = 2 * shortest if np.isinf(longest) else (shortest + longest) / 2
    return point, new_value, gradient


def lbfgs(f: Function, x: tf.Tensor, steps: int, memory: int, tolerance: float = 1e-9) -> tuple[tf.Tensor, list[float]]:
    """Returns the minimum that is found from x, and the norms of the gradient at the start and after each step."""
    value, gradient = f(x)
    pairs: Pairs = []
    norms = [float(tf.norm(gradient))]
    while len(norms) <= steps and norms[-1] > tolerance:
        d = direction(gradient, pairs)
        point, value, new_gradient = line_search(f, x, value, dot(gradient, d), d)
        pairs = [*pairs, (point - x, new_gradient - gradient)][-memory:]
        x, gradient = point, new_gradient
        norms.append(float(tf.norm(gradient)))
    return x, norms


def run(side: int = 40, steps: int = 250, memories: tuple[int, ...] = (1, 5, 20)) -> dict[str, Any]:
    """Computes the film on a grid of `side` by `side` cells; returns it, the exact surface, and the norms by step."""
    ticks = np.linspace(-1.2, 1.2, side + 1)
    h = ticks[1] - ticks[0]
    x, y = np.meshgrid(ticks, ticks, indexing="ij")
    exact = np.log(np.cos(y) / np.cos(x))
    frame = np.pad(np.zeros((side - 1, side - 1)), 1, constant_values=1) * exact

    def film(heights: tf.Tensor) -> tf.Tensor:
        return frame + tf.pad(tf.reshape(heights, (side - 1, side - 1)), [[1, 1], [1, 1]])

    @tf.function
    def area(heights: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(heights)
            z = film(heights)
            dx, dy = z[1:] - z[:-1], z[:, 1:] - z[:, :-1]
            lower = tf.sqrt(h**2 + dx[:, :-1] ** 2 + dy[:-1] ** 2)
            upper = tf.sqrt(h**2 + dx[:, 1:] ** 2 + dy[1:] ** 2)
            total = tf.reduce_sum(lower + upper) * h / 2
        return total, tape.gradient(total, heights)

    norms = {}
    for memory in memories:
        heights, norms[memory] = lbfgs(area, tf.zeros((side - 1) ** 2, tf.float64), steps, memory)
    return {"x": x, "y": y, "film": film(heights).numpy(), "exact": exact, "norms": norms}


def draw(results: dict[str, Any], file: Path) -> None:
    """Draws the film, and the norm of the gradient by step."""
    figure = Figure(figsize=(5, 6), layout="constrained")
    top = figure.add_subplot(2, 1, 1, projection="3d")
    top.plot_surface(results["x"], results["y"], results["film"], cmap="viridis")
    top.set(xlabel="x", ylabel="y", zlabel="z", title="A soap film, computed with L-BFGS")
    bottom = figure.add_subplot(2, 1, 2)
    for memory, norms in results["norms"].items():
        bottom.semilogy(norms, label=f"m = {memory}")
    bottom.set(xlabel="step", ylabel="norm of the gradient")
    bottom.legend()
    figure.savefig(file, dpi=128)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    for memory, norms in results["norms"].items():
        print(f"m = {memory}: {len(norms) - 1} steps, norm of the gradient {norms[-1]:.1e}")
    print(f"largest distance from Scherk's surface: {np.abs(results['film'] - results['exact']).max():.1e}")

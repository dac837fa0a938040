"""Maps landmarks while driving (SLAM): the Gauss-Newton method with a sparse Jacobian.

A robot drives a loop and measures its own motion and the positions of landmarks relative to itself. Its path and the
landmarks are the least-squares solution of all measurements, whose Jacobian J has few entries in each row.
`sparse=True`, an addition of gradtape's, finds them from the tape; each step solves `JᵀJ d = -Jᵀr` with SciPy. The
error decreases quadratically if the measurements are exact, and linearly if they have noise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.sparse.linalg import spsolve

import gradtape as tf

POSES, LANDMARKS, RANGE = 60, 25, 4.0  # RANGE: how far the robot sees, in m


def seen_from(poses: tf.Tensor, points: tf.Tensor) -> tf.Tensor:
    """Returns the points in the coordinates of the poses, which are rows of x, y and heading."""
    x, y = tf.unstack(points - poses[:, :2], axis=1)
    c, s = tf.cos(poses[:, 2]), tf.sin(poses[:, 2])
    return tf.stack([c * x + s * y, c * y - s * x], axis=1)


def predicted(unknowns: tf.Tensor, pairs: np.ndarray) -> tf.Tensor:
    """Returns what the robot would measure: its first pose, its motions, and the landmarks of each pair."""
    poses = tf.reshape(unknowns[: 3 * POSES], (POSES, 3))
    landmarks = tf.reshape(unknowns[3 * POSES :], (LANDMARKS, 2))
    moved, turned = seen_from(poses[:-1], poses[1:, :2]), poses[1:, 2] - poses[:-1, 2]
    seen = seen_from(tf.gather(poses, pairs[:, 0]), tf.gather(landmarks, pairs[:, 1]))
    return tf.concat([poses[0], tf.reshape(moved, [-1]), turned, tf.reshape(seen, [-1])], axis=0)


def gauss_newton(start: np.ndarray, measured: tf.Tensor, pairs: np.ndarray, steps: int) -> tuple[list[np.ndarray], Any]:
    """Returns the unknowns after each step, and the last Jacobian."""
    unknowns = tf.Variable(start)
    iterates = [start]
    for _ in range(steps):
        with tf.GradientTape() as tape:
            residual = predicted(unknowns, pairs) - measured
        jacobian = tape.jacobian(residual, unknowns, sparse=True).tocsc()
        unknowns.assign_sub(spsolve(jacobian.T @ jacobian, jacobian.T @ residual.numpy()))
        iterates.append(unknowns.numpy())
    return iterates, jacobian


def dead_reckoning(motions: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Returns the poses that follow from the motions alone."""
    headings = np.cumsum([0.0, *turns])
    c, s = np.cos(headings[:-1]), np.sin(headings[:-1])
    steps = np.stack([c * motions[:, 0] - s * motions[:, 1], s * motions[:, 0] + c * motions[:, 1]], axis=1)
    return np.column_stack([np.cumsum([[0.0, 0.0], *steps], axis=0), headings])


def run(noise: float = 0.05, steps: int = 8, seed: int = 0) -> dict[str, Any]:
    """Solves the problem with noise and without, from the same start; returns the paths, maps and errors."""
    rng = np.random.default_rng(seed)
    angle = np.linspace(0, 2 * np.pi, POSES)
    path = np.stack([5 * np.sin(angle), 5 - 5 * np.cos(angle), angle], axis=1)  # a circle from the origin
    landmarks = rng.choice(path[:, :2], LANDMARKS, replace=False) + rng.uniform(-2.5, 2.5, (LANDMARKS, 2))
    truth = np.concatenate([path.ravel(), landmarks.ravel()])
    pairs = np.argwhere(np.linalg.norm(path[:, None, :2] - landmarks, axis=2) < RANGE)
    exact = predicted(tf.constant(truth), pairs).numpy()
    noisy = exact + noise * rng.normal(size=exact.shape) * (np.arange(len(exact)) >= 3)  # the first pose is known

    count = 2 * (POSES - 1)
    driven = dead_reckoning(noisy[3 : 3 + count].reshape(-1, 2), noisy[3 + count : 3 + count + POSES - 1])
    guesses = landmarks + rng.normal(size=landmarks.shape)
    start = np.concatenate([driven.ravel(), guesses.ravel()])
    errors = {}
    for name, measured in (("exact measurements", exact), ("noisy measurements", noisy)):
        iterates, jacobian = gauss_newton(start, tf.constant(measured), pairs, steps)
        limit = truth if measured is exact else gauss_newton(iterates[-1], tf.constant(measured), pairs, 5)[0][-1]
        errors[name] = [float(np.linalg.norm(iterate - limit)) for iterate in iterates]
    return {"truth": truth, "start": start, "estimate": iterates[-1], "errors": errors, "jacobian": jacobian}


def draw(results: dict[str, Any], file: Path) -> None:
    """Draws the map, and the distance to the solution after each step."""
    figure = Figure(figsize=(5, 6.4), layout="constrained")
    top, bottom = figure.subplots(2, height_ratios=(3, 2))
    styles = {"truth": ("true", "k"), "start": ("start", "tab:red"), "estimate": ("Gauss-Newton", "tab:blue")}
    for key, (label, color) in styles.items():
        poses, landmarks = np.split(results[key], [3 * POSES])
        top.plot(*poses.reshape(-1, 3).T[:2], color=color, label=label, linestyle="--" if key == "truth" else "-")
        top.plot(*landmarks.reshape(-1, 2).T, "o" if key == "truth" else "x", color=color, fillstyle="none")
    top.set(xlabel="x (m)", ylabel="y (m)", title="Paths (lines) and landmarks (marks)", aspect="equal")
    top.legend(fontsize=8)
    for name, error in results["errors"].items():
        bottom.semilogy(error, "o-", label=name)
    bottom.set(xlabel="step", ylabel="distance to the solution")
    bottom.legend()
    figure.savefig(file, dpi=128)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    rows, columns = results["jacobian"].shape
    print(f"Jacobian: {rows} by {columns}, {results['jacobian'].nnz:,} entries that are not zero")
    for name, error in results["errors"].items():
        print(f"{name}: distance to the solution", *(f"{e:.0e}" for e in error[:7]))

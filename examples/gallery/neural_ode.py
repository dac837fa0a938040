"""Learns the vector field behind an observed trajectory: a neural ODE, trained by the adjoint method.

The loss depends on the solution of `y' = f(y; w)`. Instead of recording every step of the solver, `tf.custom_gradient`
gives the solution a rule of its own: it solves the adjoint equation backward in time, together with the integral that
is the gradient of the weights. The tape keeps no value from inside the solver. The comparison with a tape through the
solver, of gradients and of memory, uses gradtape's `tape.memory()`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import gradtape as tf

Tensors = list[tf.Tensor]
STEP = 0.1  # seconds between two observations


def field(y: tf.Tensor, weights: Tensors) -> tf.Tensor:
    """Returns the slopes that the network predicts at each state, of shape `[n, 2]`."""
    kernel, bias, output = weights
    return tf.tanh(y @ kernel + bias) @ output


def runge_kutta(f: Callable[[Tensors], Tensors], state: Tensors, dt: float) -> Tensors:
    """Returns the state after one step of the classical method of order 4."""

    def moved(slopes: Tensors, by: float) -> Tensors:
        return [s + by * k for s, k in zip(state, slopes, strict=True)]

    k1 = f(state)
    k2 = f(moved(k1, dt / 2))
    k3 = f(moved(k2, dt / 2))
    k4 = f(moved(k3, dt))
    return moved([a + 2.0 * b + 2.0 * c + d for a, b, c, d in zip(k1, k2, k3, k4, strict=True)], dt / 6)


def solve(y: tf.Tensor, weights: Tensors, count: int, substeps: int = 1) -> tf.Tensor:
    """Returns the positions at the start and at `count` later times: `[count + 1, n, 2]`."""
    states = [y]
    for _ in range(count):
        for _ in range(substeps):
            (y,) = runge_kutta(lambda state: [field(state[0], weights)], [y], STEP / substeps)
        states.append(y)
    return tf.stack(states)


def solve_with_adjoint(y: tf.Tensor, weights: Tensors, count: int, substeps: int = 1) -> tf.Tensor:
    """Returns the same as `solve`; the gradient comes from the adjoint equation `a' = -aᵀ ∂f/∂y`."""

    @tf.custom_gradient
    def solution(y: tf.Tensor, *weights: tf.Tensor) -> Any:
        states = solve(tf.stop_gradient(y), [tf.stop_gradient(w) for w in weights], count, substeps)

        def slopes(state: Tensors) -> Tensors:
            position, adjoint = state[:2]
            with tf.GradientTape() as tape:
                tape.watch([position, *weights])
                velocity = field(position, list(weights))
            gradients = tape.gradient(velocity, [position, *weights], output_gradients=adjoint)
            return [velocity, *(-gradient for gradient in gradients)]

        def gradient(upstream: tf.Tensor) -> Tensors:
            state = [states[-1], upstream[-1], *(tf.zeros_like(w) for w in weights)]
            for i in reversed(range(count)):
                for _ in range(substeps):
                    state = runge_kutta(slopes, state, -STEP / substeps)
                state[:2] = [states[i], state[1] + upstream[i]]
            return state[1:]

        return states, gradient

    return solution(y, *weights)


def pendulums(starts: list[list[float]], count: int) -> np.ndarray:
    """Returns the observed angles and angular velocities of damped pendulums: `[count + 1, n, 2]`."""

    def slopes(state: Tensors) -> Tensors:
        angle, velocity = tf.unstack(state[0], axis=1)
        return [tf.stack([velocity, -9.81 * tf.sin(angle) - 0.3 * velocity], axis=1)]

    states = [tf.constant(starts, tf.float64)]
    for _ in range(10 * count):
        states += runge_kutta(slopes, states[-1:], STEP / 10)
    return np.stack(states[::10]).astype(np.float32)


def measured(solver: Callable[..., tf.Tensor], *arguments: Any) -> tuple[np.ndarray, int]:
    """Returns the gradient of a loss of the solution with respect to all weights, and the bytes that the tape keeps."""
    start, weights, *options = arguments
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = tf.reduce_mean(solver(start, weights, *options) ** 2)
    kept = tape.memory().total
    return np.concatenate([g.numpy().ravel() for g in tape.gradient(loss, weights)]), kept


def run(steps: int = 2000, count: int = 60, units: int = 50, seed: int = 0) -> dict[str, Any]:
    """Trains on pieces of trajectories; returns the losses, observed and predicted trajectories, and the weights."""
    rng, ahead = np.random.default_rng(seed), 8
    truth = pendulums([[2.7, 0.0], [-2.0, 0.0], [1.0, 0.0]], count)
    shapes = ((2, units), (units,), (units, 2))
    weights = [tf.Variable(rng.normal(size=shape, scale=0.5), dtype=tf.float32) for shape in shapes]
    optimizer = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(1e-2, steps))

    @tf.function
    def train(target: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            predicted = solve_with_adjoint(target[0], [w.value() for w in weights], ahead)
            loss = tf.reduce_mean((predicted - target) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    losses = []
    for _ in range(steps):
        first, which = rng.integers(0, count - ahead, 32), rng.integers(0, truth.shape[1], 32)
        losses.append(float(train(tf.constant(truth[first + np.arange(ahead + 1)[:, None], which]))))
    values = [w.value() for w in weights]
    predicted = solve(tf.constant(truth[0]), values, count).numpy()
    return {"losses": losses, "truth": truth, "predicted": predicted, "weights": values}


def draw(results: dict[str, Any], file: Path) -> None:
    """Draws observed and predicted trajectories in the learned vector field."""
    figure = Figure(figsize=(5, 4.4), layout="constrained")
    axes = figure.subplots()
    x, y = np.meshgrid(np.linspace(-3, 3, 60), np.linspace(-7, 7, 60))
    slopes = field(tf.constant(np.stack([x.ravel(), y.ravel()], 1), tf.float32), results["weights"]).numpy()
    axes.streamplot(x, y, *slopes.T.reshape(2, *x.shape), color="#c8d2e0", linewidth=0.7, arrowsize=0.7)
    for i in range(results["truth"].shape[1]):
        (dots,) = axes.plot(*results["truth"][:, i].T, "o", markersize=3, label=None if i else "observed")
        axes.plot(*results["predicted"][:, i].T, color=dots.get_color(), label=None if i else "predicted")
    axes.set(xlabel="angle (rad)", ylabel="angular velocity (rad/s)", title="Pendulums in a learned vector field")
    axes.legend(loc="upper right")
    figure.savefig(file, dpi=128)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    error = np.abs(results["predicted"] - results["truth"]).mean()
    print(f"loss: from {results['losses'][0]:.2f} to {np.mean(results['losses'][-20:]):.1e}; mean error {error:.3f}")
    case = (tf.constant(results["truth"][0]), results["weights"], 50, 4)
    (through, kept), (adjoint, kept_by_adjoint) = measured(solve, *case), measured(solve_with_adjoint, *case)
    print(f"kept by the tape: {kept:,} bytes through the solver, {kept_by_adjoint:,} with the adjoint method")
    print(f"relative difference of the gradients: {np.abs(adjoint - through).max() / np.abs(through).max():.0e}")

"""What `gradtape.inspect.tracing()`, and so `gradtape run --trace`, costs: the time of a step in it, by that without.

    python benchmarks/tracing.py

The turns alternate, and the smallest time of each side counts: processor time, so that other processes matter less.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import numpy as np

import gradtape as tf

TURNS = 7


def scalars() -> Callable[[], None]:
    """90 ops on a number."""
    v = tf.Variable(0.5)

    def step() -> None:
        with tf.GradientTape() as tape:
            y = v
            for _ in range(30):
                y = tf.sin(y) * 1.1 + 0.1
        v.assign_sub(0.01 * tape.gradient(y, v))

    return step


def network(width: int, batch: int) -> Callable[[], None]:
    """Four layers by a tape."""
    rng = np.random.default_rng(0)
    weights = [tf.Variable(rng.normal(size=(width, width)).astype(np.float32) / width) for _ in range(4)]
    x = tf.constant(rng.normal(size=(batch, width)).astype(np.float32))

    def step() -> None:
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.tanh(h @ w)
            loss = tf.reduce_mean(h * h)
        for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(0.01 * g)

    return step


WORKS = {
    "90 ops on a number": (scalars(), 50),
    "4 layers of 64, 32 examples": (network(64, 32), 50),
    "4 layers of 512, 64 examples": (network(512, 64), 10),
}


def seconds(step: Callable[[], None], count: int) -> float:
    """The processor time of one of `count` steps."""
    start = time.process_time()
    for _ in range(count):
        step()
    return (time.process_time() - start) / count


def main() -> None:
    """Prints a line for each kind of step."""
    for name, (step, count) in WORKS.items():
        plain, traced = [], []
        for _ in range(TURNS):
            plain.append(seconds(step, count))
            with tf.inspect.tracing(io.StringIO()):
                traced.append(seconds(step, count))
        least, most = min(plain), min(traced)
        print(f"{name}: {least * 1e6:.0f} µs, traced {most * 1e6:.0f} µs: {most / least:.1f} times")


if __name__ == "__main__":
    main()

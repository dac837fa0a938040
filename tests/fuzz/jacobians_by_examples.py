"""Jacobians whose rows are computed by examples, against one sweep for each row."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np

import gradtape as tf
from gradtape.engine.derivatives import jacobians

from ._programs import differs
from .per_example import Model

TARGETS = {
    "outputs": lambda h: h,
    "losses": lambda h: tf.reduce_sum(h * h, 1),
    "products": lambda h: h[:, :, None] * h[:, None, :],
    "pieces": lambda h: tf.reshape(h, (-1,)),  # several rows for each example
    "columns": lambda h: tf.transpose(h),
    "complex": lambda h: tf.complex(h, tf.sin(h)),
    "spectrum": lambda h: tf.signal.fft(tf.complex(h, h * h)),
}


def disagreements(seed: int) -> list[str]:
    """Compares the Jacobian of one random model in several ways."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(sorted(TARGETS)))
    dtypes = ["float64", "float32"] if name in ("complex", "spectrum") else ["float64", "float32", "float16"]
    dtype = str(rng.choice(dtypes))
    model = Model(rng, dtype)
    x, unused = tf.Variable(model.x), tf.Variable(np.ones(2, dtype))
    sources = [*model.weights, x, unused]

    def target() -> Any:
        return TARGETS[name](model.outputs(tf.convert_to_tensor(x)))

    with tf.GradientTape(persistent=True) as tape:
        y = target()
    if not np.all(np.isfinite(y.numpy())):
        return []
    expected = tape.jacobian(y, sources, experimental_use_pfor=False)
    limit = int(rng.choice([64, 256, 1024, 4096]))
    ways = {
        "eagerly": lambda: tape.jacobian(y, sources),
        f"in chunks of {limit} bytes": lambda: tape.jacobian(y, sources, max_bytes=limit),
        "in a function": tf.function(lambda: _jacobian(target, sources), autograph=False),
        "under a tape": lambda: _under_a_tape(target, sources),
    }
    way = str(rng.choice(sorted(ways)))
    with mock.patch.object(jacobians, "EXAMPLES_MIN", 0):
        answers = ways[way]()
    found: list[str] = []
    for k, (answer, own) in enumerate(zip(answers, expected, strict=True)):
        found += differs(f"jacobian {way} by source {k}", answer, None if own is None else own.numpy(), dtype)
    return [f"{message} of the {name} of {model}" for message in found]


def _jacobian(target: Any, sources: list[Any]) -> Any:
    with tf.GradientTape() as tape:
        y = target()
    return tape.jacobian(y, sources)


def _under_a_tape(target: Any, sources: list[Any]) -> Any:
    """The Jacobian, recorded by another tape; its derivative must exist where the Jacobian is not constant."""
    with tf.GradientTape() as outer:
        found = _jacobian(target, sources)
        total = tf.add_n([tf.reduce_sum(tf.abs(tf.cast(j, tf.complex128)) ** 2) for j in found if j is not None])
    outer.gradient(total, sources)
    return found

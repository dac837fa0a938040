"""A norm whose moments are those of its own input: both ops have one derivative, which must be that of each in turn."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.engine.tape import compiled_sweeps

TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1}
SIZES = [0, 1, 2, 3, 5, 8]


def random_case(seed):
    """A program, its inputs, and what to differentiate: `program(inputs, separate)` returns the sources by name."""
    rng = np.random.default_rng(seed)
    dtype = rng.choice(list(TOLERANCES), p=[0.4, 0.4, 0.1, 0.1])
    shape = tuple(int(rng.choice(SIZES)) for _ in range(rng.integers(1, 5)))
    if seed % 5 == 0:
        shape = [(300, 128), (4, 16, 20, 32), (40000, 2), (200, 200)][seed // 5 % 4]  # large enough for other kernels
    by_rows = rng.random() < 0.5
    axes = [len(shape) - 1] if by_rows else list(range(len(shape) - 1))
    if rng.random() < 0.2:  # of other axes, which may have the sizes of a norm, too
        axes = [int(rng.integers(len(shape)))]
    keepdims = by_rows or rng.random() < 0.3
    x, w = (tf.constant(rng.standard_normal(shape) * 2 + 1, dtype) for _ in range(2))
    scale, shift = (
        tf.constant(rng.standard_normal(shape[-1:]), dtype) if rng.random() < 0.8 else None for _ in range(2)
    )
    used_elsewhere, wanted = rng.random() < 0.3, rng.random() < 0.2

    def program(separate):
        sources = {"x": x, "scale": scale, "shift": shift}
        sources = {name: value for name, value in sources.items() if value is not None}
        with tf.GradientTape(persistent=bool(seed % 2)) as tape:
            tape.watch(list(sources.values()))
            mean, variance = tf.nn.moments(x, axes, keepdims=keepdims)
            if separate:
                mean, variance = tf.identity(mean), tf.identity(variance)
            try:
                y = tf.nn.batch_normalization(x, mean, variance, shift, scale, 0.1)
            except tf.errors.InvalidArgumentError:  # the moments do not broadcast against the input
                return None
            if y.shape != x.shape:
                return None
            loss = tf.reduce_sum(tf.sin(y) * w)
            if used_elsewhere:
                loss += tf.reduce_sum(mean * mean) - tf.reduce_sum(tf.sqrt(variance + 1.0))
        if wanted:
            sources["mean"] = mean
        return tape.gradient(loss, sources)

    return program, TOLERANCES[dtype]


def assert_agrees(seed):
    program, tolerance = random_case(seed)
    expected = program(separate=True)
    for _ in range(4):  # the last times, the sweep is compiled
        found = program(separate=False)
        assert (found is None) == (expected is None)
        for name, known in (expected or {}).items():
            known = tf.cast(known, tf.float64).numpy()
            size = max(1.0, np.abs(known).max(initial=0.0))
            mine = tf.cast(found[name], tf.float64).numpy()
            assert mine.shape == known.shape
            np.testing.assert_allclose(mine / size, known / size, atol=tolerance, err_msg=f"{name} of {seed}")


@pytest.fixture(autouse=True)
def soon_compiled(monkeypatch):
    monkeypatch.setattr(compiled_sweeps, "_TIMES", 2)


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_the_joint_derivative_is_that_of_both_ops_in_turn(start):
    for seed in range(start, start + 20):
        assert_agrees(seed)


def test_higher_derivatives_and_jacobians_use_the_separate_rules():
    x = tf.constant(np.random.default_rng(0).standard_normal((4, 3)))

    def derivatives(separate):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                mean, variance = tf.nn.moments(x, [0])
                if separate:
                    mean, variance = tf.identity(mean), tf.identity(variance)
                y = tf.nn.batch_normalization(x, mean, variance, tf.ones(3, x.dtype), tf.ones(3, x.dtype), 0.1)
                loss = tf.reduce_sum(y**3)
            g = tape.gradient(loss, x)
        return g, outer.jacobian(g, x)

    for found, known in zip(derivatives(False), derivatives(True), strict=True):
        np.testing.assert_allclose(found, known, atol=1e-12)

"""Random programs on a device: their values and gradients equal those of the host."""

import sys
from pathlib import Path

import numpy as np
import pytest
from stand_in import ON_GPU, on_host

import gradtape as tf
from gradtape.engine.tape import compiled_sweeps

sys.path.append(str(Path(__file__).parents[1]))
from random_programs.comparison import compared, moved_runs, run
from random_programs.generator import generate

FUNCTIONS = [
    tf.exp, tf.tanh, tf.nn.relu, tf.nn.gelu, tf.nn.softmax, tf.nn.log_softmax, tf.square, tf.abs, tf.sin, tf.sigmoid,
    tf.nn.softplus, tf.nn.elu,
    lambda x: tf.sqrt(tf.abs(x) + 0.5),
    lambda x: tf.math.rsqrt(tf.abs(x) + 0.5),
    lambda x: tf.math.log1p(tf.abs(x)),
    lambda x: tf.reduce_sum(x, -1, keepdims=True) + x,
    lambda x: x - tf.reduce_mean(x, 0),
    lambda x: tf.reduce_max(x, 1, keepdims=True) * x,
    lambda x: tf.reduce_logsumexp(x, 1, keepdims=True) + x,
    lambda x: tf.nn.moments(x, [1], keepdims=True)[1] * x,
    lambda x: tf.math.top_k(x, 3)[0][:, :1] + x,
    lambda x: tf.transpose(tf.transpose(x) * 2.0),
    lambda x: x[::-1],
    lambda x: tf.concat([x[1:], x[:1]], 0),
    lambda x: tf.cumsum(x, 1),
    lambda x: tf.sort(x, 1),
    lambda x: tf.where(x > 0.5, x, 0.1 * x),
    lambda x: tf.clip_by_value(x, -1.0, 1.0),
    lambda x: tf.gather(x, [0, 2, 1, 0]),
    lambda x: tf.pad(x, [[0, 0], [1, 1]])[:, 1:-1],
    lambda x: tf.reverse(x, [1]),
    lambda x: tf.roll(x, 1, 0),
    lambda x: tf.linalg.band_part(x, 1, 1),
    lambda x: tf.reshape(tf.transpose(tf.reshape(x, (2, 2, 1, 5)), (1, 0, 2, 3)), (4, 5)),
]  # fmt: skip
OPERATIONS = [
    tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, tf.math.squared_difference, tf.math.atan2,
    tf.math.divide_no_nan,
    lambda a, b: a / (tf.abs(b) + 1.0),
    lambda a, b: tf.matmul(a, b, transpose_b=True) @ b,
    lambda a, b: tf.einsum("ij,kj->ik", a, b) @ a,
    lambda a, b: tf.where(a > b, a, b),
]  # fmt: skip


def program(seed, *values):
    """Returns a number computed by a few random steps; each result is scaled to at most 1."""
    rng, known = np.random.default_rng(seed), list(values)
    for _ in range(rng.integers(2, 7)):
        table, count = (FUNCTIONS, 1) if rng.random() < 0.6 else (OPERATIONS, 2)
        step = table[rng.integers(len(table))]
        y = step(*[known[rng.integers(len(known))] for _ in range(count)])
        known.append(y / (1.0 + tf.reduce_max(tf.abs(tf.stop_gradient(y)))))
    return tf.reduce_sum(known[-1] * known[-2])


def results(seed, dtype, way):
    """Returns the value of a program and its gradients; `way` is eager, recorded by two tapes, or a function."""
    rng = np.random.default_rng(seed)
    sources = [tf.Variable(rng.normal(size=(4, 5)).astype(dtype)) for _ in range(2)]

    def differentiated():
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            y = program(seed, *sources)
        tape = outer if way == "nested" else inner
        return [y, *tape.gradient(y, sources, unconnected_gradients="zero")]

    run = tf.function(differentiated, autograph=False) if way == "function" else differentiated
    return [tf.convert_to_tensor(x).numpy() for x in run()]


@pytest.mark.parametrize("way", ["eager", "nested", "function"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(12))
def test_a_program_computes_what_it_does_on_the_host(seed, dtype, way, request):
    with on_host():
        expected = results(seed, dtype, "eager")
    request.getfixturevalue("gpu")
    close = 3e-4 if dtype == "float32" else 1e-9
    for found, value in zip(results(seed, dtype, way), expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=close, atol=close)


def trained(seed, dtype):
    """Returns the weights and losses of a network with a norm, after steps that differ only in their numbers."""
    rng = np.random.default_rng(seed)
    axes, keepdims = ([0], False) if seed % 2 else ([-1], True)
    weights = [tf.Variable(rng.normal(size=shape).astype(dtype)) for shape in ((5, 4), (4,), (4,), (4, 1))]
    velocities = [tf.Variable(tf.zeros_like(w)) for w in weights]
    x, activate = tf.constant(rng.normal(size=(6, 5)), dtype), FUNCTIONS[seed]
    losses = []
    for step in range(5):
        with tf.GradientTape() as tape:
            h = tf.matmul(x, weights[0]) * 0.5
            if seed % 3:
                mean, variance = tf.nn.moments(h, axes, keepdims=keepdims)
                h = tf.nn.batch_normalization(h, mean, variance, weights[1], weights[2], 0.1)
            else:
                h = h * weights[2] + weights[1]
            loss = tf.reduce_mean(tf.square(tf.matmul(activate(h), weights[3]) - 1.0)) / (1.0 + 0.1 * step)
        for w, v, g in zip(weights, velocities, tape.gradient(loss, weights), strict=True):
            v.assign(0.9 * v + tf.convert_to_tensor(g) / (1.0 + tf.norm(g)))
            w.assign_sub(0.05 * v)
        losses.append(loss)
    return [tf.convert_to_tensor(y).numpy() for y in (*losses, *weights)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(12))
def test_repeated_steps_compute_what_they_do_on_the_host(seed, dtype, request, monkeypatch):
    monkeypatch.setattr(compiled_sweeps, "_TIMES", 2)
    with on_host():
        expected = trained(seed, dtype)
    request.getfixturevalue("gpu")
    monkeypatch.setattr(compiled_sweeps, "_made", {})
    found = trained(seed, dtype)
    assert compiled_sweeps._made
    for mine, value in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, value, rtol=1e-3, atol=1e-3 if dtype == "float32" else 1e-9)


def clipped(scale, dtype):
    """Returns the norm of slices, views, empty and scalar tensors, and the tensors clipped to a norm of 1.5."""
    rng = np.random.default_rng(0)
    x, *others, y = [
        tf.constant((scale * rng.normal(size=shape)).astype(dtype)) for shape in ((3, 4), (), (0, 2), (5,), (4, 3))
    ]
    slices = tf.IndexedSlices(x, tf.constant([2, 0, 2]))
    (z, _, *rest), norm = tf.clip_by_global_norm([slices, None, *others, tf.transpose(y)], 1.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        (recorded,), _ = tf.clip_by_global_norm([x], 1.5)
    return [part.numpy() for part in (norm, z.values, *rest, tape.gradient(recorded, x))]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("scale", [0.01, 1.0, np.inf])
def test_clipping_computes_what_it_does_on_the_host(scale, dtype, request):
    with on_host():
        expected = clipped(scale, dtype)
    request.getfixturevalue("gpu")
    close = 5e-3 if dtype == "float16" else 1e-5
    for found, value in zip(clipped(scale, dtype), expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=close, atol=close)


# Small differences become large ones where numbers are near the ends of their range, at zeros with other signs, and
# between equal singular values.
UNSTABLE = ("atan2", "svd")


@pytest.mark.parametrize("seed", range(800 if ON_GPU else 6))
def test_a_random_program_computes_what_it_does_on_the_host(seed, gpu):
    """The programs of `python -m random_programs`: every way to differentiate, views, branches, variables."""
    with tf.device("/CPU:0"):
        program = generate(seed)
    if program.wild or any(name in program.source() for name in UNSTABLE):
        pytest.skip("it amplifies differences")
    for way in ("eager", "function") if seed % 4 == 0 else ("eager",):
        with tf.device("/CPU:0"):
            expected = run(program, way)
        results = run(program, way)
        if compared(results, expected, []):
            with tf.device("/CPU:0"):
                moved = moved_runs(program)
            assert not compared(results, expected, moved), program.source()

"""Cotangents of slices on a device are added in place into totals that the sweep owns."""

import contextlib

import numpy as np
import pytest
from case_groups import check_cases
from slice_programs import check_program, check_second_derivative
from stand_in import MODULE

import gradtape as tf
from gradtape.engine.tape import compiled_sweeps


@pytest.fixture(autouse=True)
def soon_compiled(gpu, monkeypatch):
    """Compiles a tape's sweep at its second occurrence, on the device."""
    monkeypatch.setattr(compiled_sweeps, "_TIMES", 1)
    monkeypatch.setattr(compiled_sweeps, "_times", {})
    monkeypatch.setattr(compiled_sweeps, "_made", {})


def test_random_programs():
    check_cases(check_program, {str(seed): (seed,) for seed in range(60)})


def test_second_derivatives():
    check_cases(check_second_derivative, {str(seed): (seed,) for seed in range(400, 420)})


def test_dtypes():
    cases = {"float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2, "complex64": 1e-5}
    check_cases(check_program, {f"{d} {s}": (s, d, t) for d, t in cases.items() for s in range(300, 304)})


def test_wider_terms_are_not_rounded():
    total = MODULE.from_host(np.full(3, 1, np.float16))
    terms = [MODULE.from_host(np.array(values, np.float32)) for values in ([1e-4, 2e-4, 3e-4], [1e5, 2e5])]
    np.testing.assert_allclose(MODULE.to_host(MODULE.accumulate(total, terms[0])), [1.0001, 1.0002, 1.0003], 1e-7)
    found = MODULE.accumulate(total, terms[1], (slice(None, None, -2),))
    np.testing.assert_allclose(MODULE.to_host(found), [200001, 1, 100001])


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16", "complex64"])
def test_weights_of_a_loop(dtype):
    """The products for one matrix, and the sums for one bias, are deferred."""
    kernel, bias = (tf.Variable(tf.cast(tf.random.normal(shape, seed=1), dtype)) for shape in ((4, 8), (8,)))

    def gradients(recorded):
        h = tf.ones((3, 4), dtype)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                for _ in range(5):
                    z = h @ kernel + bias
                    h = tf.tanh(z[:, :4]) * tf.sigmoid(z[:, 4:])
            with contextlib.nullcontext() if recorded else outer.stop_recording():
                return tape.gradient(h, [kernel, bias])

    for first, second in zip(gradients(False), gradients(True), strict=True):
        assert first.dtype is second.dtype
        tolerance = 0.05 if dtype in ("bfloat16", "float16") else 1e-5
        first, second = (tf.cast(g, "complex128").numpy() for g in (first, second))
        np.testing.assert_allclose(first, second, rtol=tolerance, atol=tolerance * np.abs(second).max())

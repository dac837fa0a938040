"""Cotangents of slices are added in place into totals that the sweep owns."""

import numpy as np
import pytest
from case_groups import check_cases
from slice_programs import check_program, check_second_derivative

import gradtape as tf
from gradtape.engine.registry import cotangents
from gradtape.engine.run.namespace import raw
from gradtape.engine.tape import compiled_sweeps


@pytest.fixture(autouse=True)
def soon_compiled(monkeypatch):
    """Compiles a tape's sweep at its second occurrence."""
    monkeypatch.setattr(compiled_sweeps, "_TIMES", 1)
    monkeypatch.setattr(compiled_sweeps, "_times", {})
    monkeypatch.setattr(compiled_sweeps, "_made", {})


@pytest.mark.parametrize("first", range(0, 100, 50))
def test_random_programs(first):
    check_cases(check_program, {str(seed): (seed,) for seed in range(first, first + 50)})


def test_second_derivatives():
    check_cases(check_second_derivative, {str(seed): (seed,) for seed in range(400, 440)})


def test_dtypes():
    cases = {"float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2, "complex64": 1e-5}
    check_cases(check_program, {f"{d} {s}": (s, d, t) for d, t in cases.items() for s in range(300, 304)})


def test_partition_is_concatenated(monkeypatch):
    def fail(*arrays, **attrs):
        raise AssertionError("zeros were filled")

    monkeypatch.setattr(raw, "place", fail)
    x = tf.reshape(tf.range(24.0), (2, 3, 4))
    for keys in (
        [(slice(None), i) for i in (2, 0, -2)],
        [(..., slice(3)), (..., slice(3, None))],
        [(slice(None), slice(1, 3), None), (slice(None), slice(1))],
        [(1, None), (slice(-2, -1),), (slice(1, 1),)],
    ):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.add_n([tf.reduce_sum(x[key] ** 2) for key in keys])
        np.testing.assert_array_equal(tape.gradient(loss, x), 2 * x.numpy())


def test_terms_that_overlap_are_not_collected():
    g, key = np.ones(100), (slice(0, 100),)
    total = cotangents.placed_slice(raw, g, key, (100,))
    for _ in range(10):
        total = cotangents.combined(raw, total, cotangents.placed_slice(raw, g, key, (100,)))
        assert len(total._terms) <= 1
    np.testing.assert_array_equal(total.value(), 11 * g)
    np.testing.assert_array_equal(g, 1)


def test_arrays_of_others_are_not_written():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 1.0
        z = y + 0.0  # passes its cotangent on
        first, second = y[:2], y[1:]
    given = tf.constant([5.0, 6.0, 7.0]), tf.constant([1.0, 1.0]), tf.constant([10.0, 10.0])
    for targets in ([z, first, second], [y, first, second], [first, second, z]):
        weights = given if targets[-1] is second else (*given[1:], given[0])
        found = tape.gradient(targets, [x, y, z, first], output_gradients=weights)
        np.testing.assert_array_equal(found[0], [6.0, 17.0, 17.0])
        np.testing.assert_array_equal(found[1], [6.0, 17.0, 17.0])
        np.testing.assert_array_equal(given[0], [5.0, 6.0, 7.0])
        np.testing.assert_array_equal(found[3], [1.0, 1.0])
        if any(target is z for target in targets):
            np.testing.assert_array_equal(found[2], [5.0, 6.0, 7.0])

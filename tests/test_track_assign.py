"""Tapes with `track_assign=True`: assignments to variables are differentiated."""

from collections.abc import Callable

import numpy as np
import pytest

import gradtape as tf


def slopes(function: Callable[[np.ndarray], float], at: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Returns the derivative by central differences."""
    found = np.zeros_like(at)
    for i in np.ndindex(at.shape):
        move = np.zeros_like(at)
        move[i] = step
        found[i] = (function(at + move) - function(at - move)) / (2 * step)
    return found


def test_what_is_read_after_an_assignment_belongs_to_what_was_assigned() -> None:
    v, x = tf.Variable(3.0), tf.constant(2.0)
    with tf.GradientTape(track_assign=True) as tape:
        tape.watch(x)
        v.assign(v * x)
        y = v * v
    assert [float(g) for g in tape.gradient(y, [v, x])] == [24.0, 36.0]  # of (v x)^2


def test_without_it_a_variable_is_a_leaf_wherever_it_is_read() -> None:
    v, x = tf.Variable(3.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        v.assign(v * x)
        y = v * v
    dv, dx = tape.gradient(y, [v, x])
    assert (float(dv), dx) == (12.0, None)


def test_additions_constants_and_the_variable_as_a_target() -> None:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True, track_assign=True) as tape:
        v.assign_add(v * v)
        v.assign_sub(3.0 * v)
        half = v * 1.0
        v.assign([5.0, 5.0])
        cut = v * 2.0
    assert tape.gradient(half, v).numpy().tolist() == [-6.0, -10.0]  # of -2 (v + v^2)
    assert tape.gradient(cut, v) is None
    with tf.GradientTape(track_assign=True) as tape:
        v.assign(v * 7.0)
    assert tape.gradient(v, v).numpy().tolist() == [7.0, 7.0]


def test_parts_of_a_variable_that_are_written() -> None:
    memory, x = tf.Variable(tf.zeros((3, 2), tf.float64)), tf.constant([1.0, 2.0], tf.float64)
    with tf.GradientTape(track_assign=True) as tape:
        tape.watch(x)
        memory[1].assign(x * x)
        memory.scatter_nd_add([[0], [1]], tf.stack([x, 3.0 * x]))
        memory.scatter_update(tf.IndexedSlices(tf.reshape(x, (1, 2)), tf.constant([2])))
        y = tf.reduce_sum(memory * memory)
    x_ = x.numpy()
    expected = 2 * x_ + 2 * (x_**2 + 3 * x_) * (2 * x_ + 3) + 2 * x_
    np.testing.assert_allclose(tape.gradient(y, x), expected)


def test_variables_that_are_not_trained_and_tapes_that_watch_nothing_by_themselves() -> None:
    v, total = tf.Variable(2.0), tf.Variable(0.0, trainable=False)
    with tf.GradientTape(track_assign=True, watch_accessed_variables=False) as tape:
        tape.watch(v)
        for _ in range(3):
            total.assign(0.5 * total + v)
        y = total * 1.0
    assert float(tape.gradient(y, v)) == 1.75


@pytest.mark.parametrize("jit_compile", [None, False, True])
def test_functions_that_update_variables_are_followed(jit_compile: bool | None) -> None:
    if jit_compile:
        pytest.importorskip("jax")
    v, x = tf.Variable(1.5, dtype=tf.float64), tf.constant(0.3, tf.float64)

    def step(x: tf.Tensor) -> tf.Tensor:
        v.assign(tf.sin(v) * x + v)
        seen = v * 2.0
        v.assign_sub(x * v * v)
        return seen

    run = step if jit_compile is None else tf.function(step, jit_compile=jit_compile)
    for _ in range(3):
        v.assign(1.5)
        with tf.GradientTape(track_assign=True) as tape:
            tape.watch(x)
            total = run(x) + run(2.0 * x) + v
        dv, dx = tape.gradient(total, [v, x])

        def by_hand(both: np.ndarray) -> float:
            w, a = both
            result = 0.0
            for factor in (a, 2 * a):
                w = np.sin(w) * factor + w
                result += 2 * w
                w -= factor * w * w
            return float(result + w)

        np.testing.assert_allclose([dv, dx], slopes(by_hand, np.array([1.5, 0.3])), rtol=1e-7)


def test_a_tape_inside_a_function_follows_too() -> None:
    v = tf.Variable(3.0)

    @tf.function
    def slope() -> tf.Tensor:
        with tf.GradientTape(track_assign=True) as tape:
            v.assign(v * v)
            y = v * v
        return tape.gradient(y, v)

    assert float(slope()) == 4 * 27.0
    assert float(v) == 9.0
    assert float(slope()) == 4 * 9.0**3


def test_loops_of_functions_that_assign_run_eagerly_with_the_right_numbers() -> None:
    v = tf.Variable(1.1, dtype=tf.float64)

    @tf.function
    def squared(n: tf.Tensor) -> tf.Tensor:
        for _ in tf.range(n):
            v.assign(v * v)
        return v * 1.0

    with tf.GradientTape(track_assign=True) as tape:
        y = squared(tf.constant(3))
    np.testing.assert_allclose(tape.gradient(y, v), 8 * 1.1**7)


def test_forward_mode_reverse_mode_and_jacobians_agree() -> None:
    v = tf.Variable([0.5, 1.5], dtype=tf.float64)

    def program() -> tf.Tensor:
        v.assign(tf.exp(v))
        return tf.stack([v[0] * v[1], v[1] ** 2])

    with tf.GradientTape(track_assign=True) as tape:
        y = program()
    jacobian = tape.jacobian(y, v).numpy()
    e = np.exp([0.5, 1.5])
    np.testing.assert_allclose(jacobian, [[e[0] * e[1], e[0] * e[1]], [0.0, 2 * e[1] ** 2]])


def test_with_source_lines_and_checks() -> None:
    for options in ({"trace": True}, {"check": "nan"}):
        v = tf.Variable(3.0)
        with tf.GradientTape(track_assign=True, **options) as tape:
            v.assign(v * 2.0)
            y = v * v
        assert float(tape.gradient(y, v)) == 24.0


def test_through_assignments_in_a_loop_of_a_function() -> None:
    v = tf.Variable([2.0, 3.0], dtype=tf.float64)
    rate = tf.Variable(0.05, dtype=tf.float64)

    @tf.function
    def unrolled() -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape(track_assign=True) as tape:
            for _ in tf.range(3):
                v.assign_sub(rate * 4.0 * (v - 1.0) ** 3)
            y = tf.reduce_sum(v**2)
        return y, tape.gradient(y, rate)

    def at(value: float) -> tuple[float, float]:
        v.assign([2.0, 3.0])
        rate.assign(value)
        y, gradient = unrolled()
        return float(y), float(gradient)

    difference = (at(0.05 + 1e-6)[0] - at(0.05 - 1e-6)[0]) / 2e-6
    np.testing.assert_allclose(at(0.05)[1], difference, rtol=1e-6)

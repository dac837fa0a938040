"""If memory runs out, a step fails as a whole: variables and slots are unchanged, and the next step is correct."""

import sys
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf

sys.path.insert(0, str(Path(__file__).parents[1]))
from failing_allocations import failing_at

keras = tf.keras
X = tf.constant(np.random.default_rng(0).normal(size=(8, 4)), tf.float32)
W = np.random.default_rng(1).normal(size=(4, 3)).astype("float32")


def loss_of(w):
    return tf.reduce_mean(tf.square(tf.tanh(X @ w) - 0.5))


def by_hand():
    w = tf.Variable(W)

    def step():
        with tf.GradientTape() as tape:
            loss = loss_of(w)
        w.assign_sub(0.1 * tape.gradient(loss, w))

    return [w], step


def as_function():
    variables, step = by_hand()
    return variables, tf.function(step)


def by_optimizer():
    w, v = keras.Variable(W), keras.Variable(W * 2)
    optimizer = keras.optimizers.Adam(0.1)
    optimizer.build([w, v])

    def step():
        with tf.GradientTape() as tape:
            loss = loss_of(tf.convert_to_tensor(w)) + loss_of(tf.convert_to_tensor(v))
        optimizer.apply(tape.gradient(loss, [w, v]), [w, v])

    # The step counter is incremented last, which needs no memory.
    return [w, v, *(slot for slot in optimizer.variables if slot is not optimizer.iterations)], step


def values(variables):
    return [np.array(variable.numpy()) for variable in variables]


def assert_same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("warm", [0, 1, 4])
@pytest.mark.parametrize("make", [by_hand, as_function, by_optimizer])
def test_a_step_without_memory_changes_nothing(make, warm):
    variables, step = make()
    after = [values(variables)]
    for _ in range(warm + 1):
        step()
        after.append(values(variables))
    failed, number = 0, 0
    while True:
        number += 1
        variables, step = make()
        for _ in range(warm):
            step()
        with failing_at(number) as seen:
            try:
                step()
            except (MemoryError, tf.errors.ResourceExhaustedError):
                failed += 1
                raised = True
            else:
                raised = False
        if len(seen) < number:
            break
        if make is by_optimizer and raised and seen[number - 1] <= 8:
            raised = np.allclose(variables[0].numpy(), after[warm][0], atol=1e-6)  # otherwise it was the step counter
        assert_same(values(variables), after[warm if raised else warm + 1])
        if raised:
            step()
            assert_same(values(variables), after[warm + 1])
    assert failed > 2


def test_a_tape_can_be_asked_again_when_there_is_memory():
    w = tf.Variable(W)
    with tf.GradientTape(persistent=True) as tape:
        loss = loss_of(w)
    expected = tape.gradient(loss, w).numpy()
    failed = 0
    for number in range(1, 100):
        with failing_at(number) as seen:
            try:
                tape.gradient(loss, w).numpy()
            except MemoryError:
                failed += 1
        np.testing.assert_array_equal(tape.gradient(loss, w).numpy(), expected)
        if len(seen) < number:
            break
    assert failed > 3

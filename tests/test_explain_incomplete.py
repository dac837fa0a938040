"""A gradient of which a part is missing, as one of two paths goes through NumPy: the tape may suspect that, not know.

Each program is called with a variable. The line of the suspicion is the one marked with `# here`.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.inspect import Cause

WEIGHTS = np.array([0.3, 0.4], np.float32)
RATE = 0.1


def scaled_by_its_maximum(v: Any) -> Any:
    largest = np.max(v.numpy())  # here
    return tf.reduce_sum(v / largest)


def scaled_by_an_array_of_a_result(v: Any) -> Any:
    doubled = np.asarray(v * 2.0)  # here
    return tf.reduce_sum(v * tf.constant(doubled + WEIGHTS))


def scaled_by_a_number(v: Any) -> Any:
    total = float(tf.reduce_sum(v))  # here
    return tf.reduce_sum(v * total)


def scaled_in_one_line(v: Any) -> Any:
    return tf.reduce_sum(v * v.numpy())  # here


def computed_on_off_the_tape(v: Any) -> Any:
    squared = tf.constant(v.numpy()) ** 2  # here
    return tf.reduce_sum(v * (squared + 1.0))


def kept_in_a_list(v: Any) -> Any:
    values = []
    values.append(v.numpy())  # here
    mean = np.mean(values)
    return tf.reduce_sum(v * mean)


def kept_in_an_attribute(v: Any) -> Any:
    class Layer:
        def __call__(self, x: Any) -> Any:
            self.scale = np.max(x.numpy())  # here
            return x * self.scale

    return tf.reduce_sum(Layer()(v))


def returned_by_a_function(v: Any) -> Any:
    def mean(x: Any) -> Any:
        return np.mean(x)  # here

    return tf.reduce_sum(v - mean(v)) + tf.reduce_sum(v)


def scaled_by_the_round_before(v: Any) -> Any:
    total, scale = tf.constant(0.0), 1.0
    for _ in range(3):
        total += tf.reduce_sum(v * scale)
        scale = float(total)  # here
    return total


def logged(v: Any) -> Any:
    y = v * 2.0
    logging.getLogger(__name__).debug("%s", y.numpy())
    tf.get_logger().debug("%s", float(tf.reduce_sum(y)))
    return tf.reduce_sum((y - WEIGHTS) ** 2.0) * RATE


def kept_for_later(v: Any) -> Any:
    history = []
    loss = tf.reduce_sum(v**2)
    value = loss.numpy()
    history.append(value)
    return loss + RATE * tf.reduce_sum(tf.abs(v) * WEIGHTS)


def decides_a_branch(v: Any) -> Any:
    if float(v[0]) > 0.5:
        return tf.reduce_sum(v * WEIGHTS)
    return tf.reduce_sum(v)


def read_after_the_last_constant(v: Any) -> Any:
    scale = WEIGHTS
    y = tf.reduce_sum(v * scale)
    scale = y.numpy()
    return y


def a_number_of_steps(v: Any) -> Any:
    steps = int(v[1])
    return tf.reduce_sum(v * steps)


def a_constant_on_purpose(v: Any) -> Any:
    return tf.reduce_sum(v * tf.stop_gradient(v))


SUSPECTED = [
    scaled_by_its_maximum, scaled_by_an_array_of_a_result, scaled_by_a_number, scaled_in_one_line,
    computed_on_off_the_tape, kept_in_a_list, kept_in_an_attribute, returned_by_a_function, scaled_by_the_round_before,
]  # fmt: skip
COMPLETE = [
    logged, kept_for_later, decides_a_branch, read_after_the_last_constant, a_number_of_steps, a_constant_on_purpose
]  # fmt: skip


def explain(program: Callable[[Any], Any], trace: bool) -> Any:
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.GradientTape(trace=trace, persistent=True) as tape:
        target = program(v)
    (reason,) = tape.explain(target, v).reasons
    assert tape.gradient(target, v) is not None
    assert reason.cause is Cause.CONNECTED  # a suspicion is not a cause
    return reason


@pytest.mark.parametrize("program", SUSPECTED, ids=lambda program: program.__name__)
def test_a_path_through_numpy_beside_a_recorded_one_is_suspected(program: Callable[[Any], Any]) -> None:
    reason = explain(program, trace=True)
    lines, first = inspect.getsourcelines(program)
    assert reason.line[1] == next(first + i for i, line in enumerate(lines) if "# here" in line)
    assert "may be incomplete" in reason.sentence and "may have returned as a constant in `" in reason.sentence


@pytest.mark.parametrize("program", COMPLETE, ids=lambda program: program.__name__)
def test_a_value_that_is_only_read_is_not_suspected(program: Callable[[Any], Any]) -> None:
    assert explain(program, trace=True).sentence == "the target depends on it, and its gradient is not zero"


@pytest.mark.parametrize("program", SUSPECTED[:3], ids=lambda program: program.__name__)
def test_a_plain_tape_suspects_nothing(program: Callable[[Any], Any]) -> None:
    assert explain(program, trace=False).sentence == "the target depends on it, and its gradient is not zero"

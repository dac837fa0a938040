"""`tape.audit_precision` finds the planted line, raises no false alarms, and suggests a useful loss scale."""

import inspect

import numpy as np
import pytest

import gradtape as tf

HALF = tf.float16


def variance_by_squares(x):
    y = x * 4.0 + 100.0
    m = tf.reduce_mean(y)
    spread = tf.reduce_mean(y * y / 64.0) - m * m / 64.0  # here
    return spread * 2.0


def small_angles(x):
    angle = x * 0.02
    bent = 1.0 - tf.cos(angle)  # here
    return tf.reduce_sum(bent * 3.0)


def naive_softmax(x):
    logits = x * 14.0
    weights = tf.exp(logits)  # here
    return tf.reduce_sum(weights / tf.reduce_sum(weights))


def long_vector(x):
    far = x * 300.0
    length = tf.sqrt(tf.reduce_sum(far * far))  # here
    return length / 10.0


def difference_of_roots(x):
    large = 30.0 + x
    gap = tf.sqrt(large * large + 1.0) - large  # here
    return tf.reduce_sum(gap)


def logarithm_near_one(x):
    tiny = x * 1e-4
    gain = tf.math.log(1.0 + tiny)  # here
    return tf.reduce_sum(gain * 100.0)


def added_to_a_large_number(x):
    small = x * 0.1
    kept = (small + 1024.0) - 1024.0  # here
    return tf.reduce_sum(kept * kept)


def product_of_probabilities(x):
    p = tf.sigmoid(x - 3.0)
    joint = p * p * p * p * p * p * p  # here
    return tf.reduce_sum(joint * 1000.0)


def mean_of_many(x):
    rows = tf.tile(x, [4096]) * 0.001
    losses = rows * rows  # here
    return tf.reduce_mean(losses, axis=0)


def power_and_root(x):
    big = x * 20.0
    fourth = big**4 / 1000.0  # here
    return tf.reduce_sum(fourth**0.25)


PLANTED = [
    variance_by_squares, small_angles, naive_softmax, long_vector, difference_of_roots, logarithm_near_one,
    added_to_a_large_number, product_of_probabilities, mean_of_many, power_and_root,
]  # fmt: skip


def planted_line(program):
    """Returns the number of the marked line."""
    lines, first = inspect.getsourcelines(program)
    return first + next(i for i, line in enumerate(lines) if line.rstrip().endswith("# here"))


@pytest.mark.parametrize("program", PLANTED, ids=lambda program: program.__name__)
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "function"])
def test_the_planted_line_is_found(program, traced):
    x = tf.Variable(np.linspace(0.2, 1.2, 6), dtype=HALF)
    run = tf.function(program) if traced else program
    with tf.GradientTape(trace=True) as tape:
        y = run(x)
    audit = tape.audit_precision(y, x)
    assert audit.worst is not None
    assert audit.worst.line[1] == planted_line(program), str(audit)


def test_a_sound_network_raises_no_alarm():
    rng = np.random.default_rng(0)
    w = tf.Variable(rng.normal(size=(16, 16)) / 4, dtype=HALF)
    v = tf.Variable(rng.normal(size=(16, 4)) / 4, dtype=HALF)
    x = tf.constant(rng.normal(size=(32, 16)), HALF)
    with tf.GradientTape(trace=True) as tape:
        h = tf.nn.relu(x @ w)
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.one_hot([1, 2] * 16, 4, dtype=HALF), h @ v))
    audit = tape.audit_precision(loss, [w, v])
    assert audit.worst is None, str(audit)
    assert audit.lost < 0.01
    assert max(row.error for row in audit.rows) < 0.01


def test_the_loss_scale_saves_what_it_says():
    rng = np.random.default_rng(0)
    w = tf.Variable(rng.normal(size=(8, 8)), dtype=HALF)
    x = tf.constant(rng.normal(size=(64, 8)), HALF)

    def recorded(scale):
        with tf.GradientTape(trace=True) as tape:
            loss = tf.reduce_mean(tf.tanh(x @ w)) * tf.constant(1e-5, HALF) * tf.constant(scale, HALF)
        return tape, loss

    audit = (lambda tape, loss: tape.audit_precision(loss, w))(*recorded(1.0))
    assert audit.lost > 0.9
    assert audit.loss_scale > 1
    assert audit.lost_scaled < 0.1
    assert f"A loss scale of 2**{int(np.log2(audit.loss_scale))} would lose" in str(audit)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(x @ w)) * tf.constant(1e-5, HALF)
    ones = tf.constant(min(audit.loss_scale, 6e4), HALF)
    assert np.count_nonzero(tape.gradient(loss, w, output_gradients=ones)) > 0.9 * 64


def test_float32_and_custom_gradients():
    @tf.custom_gradient
    def doubled(x):
        return 2.0 * x, lambda g: 2.0 * g

    x = tf.Variable([1e-5, 2e-5])
    with tf.GradientTape(trace=True) as tape:
        y = doubled(1.0 - tf.cos(x))
    audit = tape.audit_precision(y, x)
    assert "cos" in audit.worst.ops
    assert audit.worst.dtypes == ["float32"]
    assert audit.loss_scale == 1.0


def test_what_cannot_be_repeated_says_why():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    with pytest.raises(RuntimeError, match="trace=True"):
        tape.audit_precision(y, x)

    @tf.function
    def noisy(x):
        for _ in tf.range(2):
            x = x * tf.random.normal([2])
        return x

    with tf.GradientTape(trace=True) as tape:
        y = noisy(x)
    with pytest.raises(RuntimeError, match="run_functions_eagerly"):
        tape.audit_precision(y, x)


def test_nothing_is_changed_by_an_audit():
    x = tf.Variable([1.0, 2.0], dtype=HALF)
    with tf.GradientTape(trace=True, persistent=True) as tape:
        y = tf.reduce_sum(x * x)
    first = tape.gradient(y, x).numpy()
    count = len(tape._log.ops)
    tape.audit_precision(y, x)
    assert len(tape._log.ops) == count
    np.testing.assert_array_equal(tape.gradient(y, x), first)


def sum_in_a_loop(x):
    total = tf.zeros_like(x)
    for _ in range(300):
        total = total + x  # here
    return tf.reduce_sum(total)


def sum_in_a_loop_of_a_function(x):
    total = tf.zeros_like(x)
    for _ in tf.range(200):
        total = total + x * 0.01  # here
    return tf.reduce_sum(total)


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "function"])
def test_a_loop_is_charged_with_what_its_rounds_add_together(traced):
    program = sum_in_a_loop_of_a_function if traced else sum_in_a_loop
    x = tf.Variable(np.linspace(0.1, 1.0, 8), dtype=tf.bfloat16)
    run = tf.function(program) if traced else program
    with tf.GradientTape(trace=True) as tape:
        y = run(x)
    audit = tape.audit_precision(y, x)
    assert audit.worst is not None, str(audit)
    assert planted_line(program) - 1 <= audit.worst.line[1] <= planted_line(program) and audit.worst.remark, str(audit)


def test_the_worst_line_of_a_sound_mixed_network_has_no_remark():
    rng = np.random.default_rng(0)
    w = tf.Variable(rng.normal(size=(4, 16)), dtype=tf.float32)
    v = tf.Variable(rng.normal(size=(16, 1)), dtype=tf.float32)
    x = tf.constant(rng.normal(size=(8, 4)), tf.float32)
    with tf.GradientTape(trace=True) as tape:
        h = tf.nn.relu(tf.cast(x, HALF) @ tf.cast(w, HALF))
        loss = tf.reduce_mean(tf.cast(h @ tf.cast(v, HALF), tf.float32) ** 2)
    audit = tape.audit_precision(loss, [w, v])
    assert audit.worst is not None and not audit.worst.remark, str(audit)
    assert audit.worst.line[1] == inspect.currentframe().f_lineno - 3, str(audit)


def test_a_value_cast_twice_has_two_cotangents():
    """The repetition in float64 once compared each with their sum."""
    x = tf.Variable([0.5, 0.25], dtype=HALF)
    with tf.GradientTape(trace=True) as tape:
        y = tf.reduce_sum(tf.cast(x, tf.float32) + tf.cast(x, tf.float32))
    audit = tape.audit_precision(y, x)
    assert all(row.backward_error == 0 for row in audit.rows), str(audit)

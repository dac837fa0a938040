"""Derivatives against finite differences: of a function, and of every rule on a tape."""

import gc

import numpy as np
import pytest

import gradtape as tf
from gradtape.inspect import check_gradients


def mixed(x, w):
    return tf.nn.softmax(tf.tanh(x @ w)), tf.reduce_logsumexp(x)


def test_right_derivatives_are_found_right():
    rng = np.random.default_rng(0)
    report = check_gradients(mixed, rng.normal(size=(3, 4)), rng.normal(size=(4, 2)))
    report.assert_ok()
    assert [(r.kind, r.argument) for r in report.rows] == [
        (kind, name) for kind in ("reverse", "forward", "second order") for name in ("x", "w")
    ]
    assert "are right" in str(report)


@tf.custom_gradient
def slightly_wrong(x):
    return x * x, lambda g: g * x * tf.constant([2.0, 2.001, 2.0], x.dtype)


def test_a_slightly_wrong_rule_is_caught_and_located():
    report = check_gradients(slightly_wrong, [1.0, 3.0, 2.0])
    assert not report.ok
    reverse = report.rows[0]
    assert (reverse.kind, reverse.ok) == ("reverse", False)
    assert reverse.note.startswith("at (1,)")
    with pytest.raises(AssertionError, match="WRONG"):
        report.assert_ok()


def test_a_wrong_second_derivative_is_caught():
    @tf.custom_gradient
    def once_only(x):
        return x * x * x, lambda g: g * tf.stop_gradient(3.0 * x * x)

    assert check_gradients(once_only, [1.0, 2.0], orders=(1,)).ok
    assert [r.kind for r in check_gradients(once_only, [1.0, 2.0]).rows if not r.ok] == ["second order"]


def test_a_missing_gradient_is_wrong_only_where_the_function_depends_on_it():
    report = check_gradients(lambda a, b: a * tf.stop_gradient(b) + 0.0 * a, 2.0, 3.0, orders=(1,))
    assert [(r.argument, r.ok) for r in report.rows if r.kind == "reverse"] == [("a", True), ("b", False)]
    assert "None" in str(report)
    assert check_gradients(lambda a, b: a * 2.0, 2.0, 3.0).ok


def test_nests_variables_complex_values_and_slices():
    check_gradients(lambda d: d["a"] * d["b"] ** 2, {"a": tf.constant(2.0), "b": tf.constant([3.0])}).assert_ok()
    check_gradients(lambda v: v * v, tf.Variable([1.0, 2.0])).assert_ok()
    check_gradients(lambda x: tf.abs(tf.signal.fft(x)) ** 2, tf.constant([1 + 2j, 3 - 1j, 2.0])).assert_ok()
    check_gradients(lambda t: tf.gather(t, [0, 1, 1]) ** 2, [1.0, 2.0, 4.0]).assert_ok()


def test_a_function_bound_to_float32_is_checked_in_it():
    w = tf.Variable([1.0, 2.0])
    report = check_gradients(lambda x: tf.exp(x) * w, [0.5, 1.0])
    assert report.ok and report.dtype == "float32"


def test_nothing_to_check_is_an_error():
    with pytest.raises(ValueError, match="floating"):
        check_gradients(lambda x: x, tf.constant([1, 2]))


def step(kernel, bias):
    image = tf.constant(np.random.default_rng(1).normal(size=(2, 6, 6, 1)).astype(np.float32))
    hidden = tf.nn.relu(tf.nn.conv2d(image, kernel, 1, "SAME") + bias)
    pooled = tf.reduce_max(hidden, axis=(1, 2))
    first, second = tf.split(pooled, 2, axis=1)
    return tf.reduce_mean(tf.nn.softmax(first) * tf.math.log1p(tf.square(second)))


def test_every_rule_of_a_step_is_right():
    rng = np.random.default_rng(0)
    kernel, bias = tf.Variable(rng.normal(size=(3, 3, 1, 4)).astype(np.float32)), tf.Variable([0.1, 0.2, 0.3, 0.4])
    with tf.GradientTape(trace=True) as tape:
        loss = step(kernel, bias)
    tape.gradient(loss, [kernel, bias])
    found = tape.check()
    found.assert_ok()
    assert not found.unchecked
    assert {"conv", "add", "relu", "max", "split", "softmax", "log1p"} <= {r.op for r in found.rows}
    assert all(r.line[0] == __file__ for r in found.rows)


def test_a_wrong_custom_gradient_is_found_with_its_line():
    @tf.custom_gradient
    def product(x, y=None):
        return x * y, lambda g: (g * y, g * x * 1.1)

    a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape(trace=True) as tape:
        tf.reduce_sum(product(tf.exp(a), y=b))
    (wrong,) = tape.check().wrong
    assert wrong.op == "product"
    assert wrong.line[0] == __file__
    assert "product" in str(tape.check()) and "WRONG" in str(tape.check())


def test_a_right_custom_gradient_passes():
    @tf.custom_gradient
    def softplus(x):
        e = tf.exp(x)
        return tf.math.log(1.0 + e), lambda g: g * (1.0 - 1.0 / (1.0 + e))

    x = tf.Variable([0.3, -1.0])
    with tf.GradientTape(trace=True) as tape:
        softplus(x)
    assert "softplus" in {r.op for r in tape.check().rows if r.ok}


def test_kinks_random_draws_and_functions_are_listed_with_the_reason():
    @tf.function
    def traced(x):
        return x * x

    x = tf.Variable([0.0, 1.0])
    with tf.GradientTape(trace=True) as tape:
        y = tf.nn.relu(x) + traced(x) + tf.random.gamma([], x + 1.0, seed=1)
    tape.gradient(y, x)
    found = tape.check()
    reasons = {r.op: r.note for r in found.unchecked}
    assert found.ok
    assert "kink" in reasons["relu"]
    assert "run_functions_eagerly" in reasons["traced"]
    assert any("random" in reason for reason in reasons.values())


def test_only_what_lies_between_is_checked():
    x = tf.Variable(2.0)
    with tf.GradientTape(trace=True) as tape:
        y = x * x
        tf.exp(x)
    assert [r.op for r in tape.check(y, x).rows] == ["mul"]


def test_an_untraced_tape_says_what_it_lacks():
    gc.collect()  # while a traced tape is alive, others are traced too
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    found = tape.check(y, x)
    assert [r.ok for r in found.rows] == [None]
    assert "trace=True" in str(found)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_rules_of_every_dtype(dtype):
    x = tf.cast(tf.constant([0.5, 1.5, 2.5]), dtype)
    with tf.GradientTape(trace=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x / (x + tf.cast(1.0, dtype)))
    tape.gradient(y, x)
    found = tape.check()
    found.assert_ok()
    assert len([r for r in found.rows if r.ok]) >= 4


def test_the_worst_entry_of_a_complex_argument_is_named():
    @tf.custom_gradient
    def square(z):
        return z * z, lambda g: g * tf.math.conj(z)  # half of it

    report = tf.inspect.check_gradients(square, tf.constant([1 + 2j, 3 - 1j]))
    assert "by the real part it is" in str(report) or "by the imaginary part it is" in str(report)

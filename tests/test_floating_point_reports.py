"""NumPy reports no floating-point error of gradtape, whatever the filters of warnings and `np.seterr` say."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import gradtape as tf

LIBRARY = """
import gradtape as tf
def loss(x):
    return tf.reduce_mean(tf.math.log(x) / x)
def step(x):
    with tf.GradientTape() as tape:
        value = loss(x)
    return tape.gradient(value, x)
"""
ITS_TESTS = """
import gradtape as tf, library
def test_a_step_at_zero():
    for step in (library.step, tf.function(library.step)):
        assert not tf.reduce_all(tf.math.is_finite(step(tf.Variable([0.0, 1.0]))))
"""


@pytest.mark.parametrize("options", [["-W", "error"], ["-o", "filterwarnings=error"]])
def test_a_library_whose_tests_make_warnings_errors(options, tmp_path):
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "test_library.py").write_text(ITS_TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout


def overflow(x):
    """Overwrites arrays, adds cotangents, and has ops of one step and of several."""
    y = (x * x + x) * x - tf.math.log(x) / x
    return tf.reduce_sum(y * y + tf.nn.gelu(x) + tf.pow(x, -1.5) - tf.sqrt(x)) + tf.reduce_sum(tf.transpose(x) @ x)


def results(x, function):
    """Returns values, gradients, second derivatives, and the variable after updates."""
    found = []
    for _ in range(35 if x.shape[0] == 3 else 1):  # after 30 times, the sweep is compiled
        with tf.GradientTape() as tape:
            y = function(x)
        found[:] = [y, tape.gradient(y, x)]
    with tf.GradientTape(persistent=True) as tape, tf.GradientTape() as inner:
        y = function(x)
    found += [tape.gradient(y, x), inner.gradient(y, x)]
    v = tf.Variable(x)
    v.assign_add(v)
    v.assign_sub(function(x) * tf.ones_like(x))
    return [tf.cast(t, tf.float64).numpy() for t in (*found, v, tf.cast(x, tf.int32), tf.cast(x * 1e3, tf.float16))]


@pytest.mark.parametrize(
    ("name", "size"),
    [("float32", (3, 2)), ("float64", (3, 2)), ("float16", (3, 2)), ("bfloat16", (3, 2)), ("float32", (3000, 45))],
)
def test_results_are_those_without_reports(name, size):
    dtype = tf.as_dtype(name)
    values = [0.0, -0.0, -1.0, 1.0, float(dtype.max), float("inf"), -float(dtype.max)]
    x = tf.Variable(tf.cast(np.resize(values, size), dtype))
    for function in (overflow, tf.function(overflow)):
        with np.errstate(all="ignore"):
            expected = results(x, function)
        with np.errstate(all="raise"):
            raised = results(x, function)
        with np.errstate(all="warn"), warnings.catch_warnings():
            warnings.simplefilter("error")
            warned = results(x, function)
        for y, a, b in zip(expected, raised, warned, strict=True):
            np.testing.assert_array_equal(a, y)
            np.testing.assert_array_equal(b, y)


@pytest.fixture
def reports_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_effects_happen_once_and_reports_of_user_code_remain(reports_are_errors):
    calls = []

    def noted(x):
        calls.append(float(x))
        return x

    def user(x):
        return np.log(x.numpy())

    @tf.function
    def f(x):
        x = tf.py_function(noted, [x / 0.0], tf.float32)
        return tf.py_function(noted, [tf.math.log(x) - tf.math.log(x)], tf.float32)

    assert np.isnan(f(tf.constant(1.0)))
    assert calls[0] == np.inf and np.isnan(calls[1]) and len(calls) == 2
    for call in (lambda x: tf.py_function(user, [x], tf.float32), lambda x: tf.numpy_function(np.log, [x], tf.float32)):
        for function in (call, tf.function(call)):
            with pytest.raises(Exception, match="divide by zero encountered in log"):
                function(tf.constant(0.0))

"""Derivatives at kinks, poles and ties, where TensorFlow's result is a convention: each is TensorFlow 2.21's."""

import math

import numpy as np
import pytest

import gradtape as tf

INF, NAN = math.inf, math.nan


def gradients(f, *values):
    xs = [tf.constant(v, dtype=tf.float64) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return [None if g is None else g.numpy() for g in tape.gradient(y, xs)]


def gradient(f, value):
    return gradients(f, value)[0]


AT_A_POINT = [
    ("abs", tf.abs, 0.0, 0.0),
    ("sign", tf.sign, 0.0, 0.0),
    ("sqrt", tf.sqrt, 0.0, INF),
    ("rsqrt", tf.math.rsqrt, 0.0, -INF),
    ("log", tf.math.log, 0.0, INF),
    ("1/x", lambda x: 1.0 / x, 0.0, -INF),
    ("reciprocal", tf.math.reciprocal, 0.0, -INF),
    ("acos", tf.acos, 1.0, -INF),
    ("x**.5", lambda x: x**0.5, 0.0, INF),
    ("x**0.", lambda x: x**0.0, 0.0, NAN),
    ("x**0", lambda x: x**0, 0.0, NAN),
    ("x**1", lambda x: x**1, 0.0, 1.0),
    ("x**2", lambda x: x**2, 0.0, 0.0),
    ("(-2)**3.", lambda x: x**3.0, -2.0, 12.0),
    ("atan2 at the origin", lambda x: tf.atan2(x, tf.zeros_like(x)), 0.0, NAN),
    ("maximum, first", lambda x: tf.maximum(x, 0.0), 0.0, 1.0),
    ("maximum, second", lambda x: tf.maximum(0.0, x), 0.0, 0.0),
    ("minimum, first", lambda x: tf.minimum(x, 0.0), 0.0, 1.0),
    ("minimum, second", lambda x: tf.minimum(0.0, x), 0.0, 0.0),
    ("divide_no_nan by 0", lambda x: tf.math.divide_no_nan(x, 0.0), 1.0, 0.0),
    ("divide_no_nan of 1", lambda x: tf.math.divide_no_nan(tf.ones_like(x), x), 0.0, 0.0),
    ("xlogy", lambda x: tf.math.xlogy(x, x), 0.0, 0.0),
    ("multiply_no_nan", lambda x: tf.math.multiply_no_nan(x, 0.0), 3.0, 0.0),
    ("mod", lambda x: x % 3.0, 3.0, 1.0),
    ("nextafter", lambda x: tf.math.nextafter(x, 2.0 * x), 1.0, 1.0),
]


@pytest.mark.parametrize(("f", "at", "expected"), [row[1:] for row in AT_A_POINT], ids=[row[0] for row in AT_A_POINT])
def test_at_a_point(f, at, expected):
    np.testing.assert_array_equal(gradient(f, at), np.float64(expected))
    np.testing.assert_array_equal(gradient(f, [at, at]), np.array([expected, expected]))


def test_exponent_of_a_base_that_has_no_logarithm():
    _, by_exponent = gradients(lambda x, y: x**y, [0.0, -2.0], [2.0, 3.0])
    np.testing.assert_array_equal(by_exponent, [0.0, 0.0])


def test_clip_by_value_passes_at_the_limits():
    g = gradient(lambda x: tf.clip_by_value(x, -1.0, 1.0), [-2.0, -1.0, 0.0, 1.0, 2.0])
    np.testing.assert_array_equal(g, [0.0, 1.0, 1.0, 1.0, 0.0])


def test_clip_by_norm_of_zero_and_by_a_negative_norm():
    np.testing.assert_array_equal(gradient(lambda x: tf.clip_by_norm(x, 1.0), [0.0, 0.0]), [1.0, 1.0])
    np.testing.assert_array_equal(gradient(lambda x: tf.clip_by_norm(x, -1.0), [3.0, 4.0]), [0.0, 0.0])


def test_global_norm_of_zero():
    np.testing.assert_array_equal(gradient(lambda x: tf.linalg.global_norm([x]), [0.0, 0.0]), [NAN, NAN])


def test_clip_by_global_norm():
    clipped, norm = tf.clip_by_global_norm([tf.constant([3.0]), None, tf.constant(4.0)], 1.0)
    assert clipped[1] is None and norm.numpy() == 5.0
    clipped, _ = tf.clip_by_global_norm([tf.constant([3.0]), tf.constant(INF)], 1.0)
    assert all(np.isnan(c.numpy()).all() for c in clipped)
    with pytest.raises(TypeError, match="`t_list` should be a sequence of tensors"):
        tf.clip_by_global_norm(tf.constant([1.0]), 1.0)
    clipped, norm = tf.clip_by_global_norm([], 1.0)
    assert clipped == [] and norm.numpy() == 0.0


WITHOUT = {
    "floor": tf.floor, "ceil": tf.math.ceil, "round": tf.round, "rint": tf.math.rint, "floordiv": lambda x: x // 2.0,
    "truncatediv": lambda x: tf.truncatediv(x, 2.0), "less": lambda x: x < 1.0, "equal": lambda x: x == 1.0,
    "is_nan": tf.math.is_nan, "cast to int and back": lambda x: tf.cast(tf.cast(x, tf.int32), tf.float64),
    "polygamma by its order": lambda a: tf.math.polygamma(a, tf.ones_like(a)),
    "zeta by x": lambda x: tf.math.zeta(x, tf.ones_like(x)), "imag of a real": tf.math.imag,
    "betainc by a": lambda a: tf.math.betainc(a, tf.ones_like(a), 0.5 * tf.ones_like(a)),
}  # fmt: skip


@pytest.mark.parametrize("f", WITHOUT.values(), ids=WITHOUT)
def test_without_a_gradient(f):
    assert gradient(f, [2.0, 3.0]) is None


def test_bitcast_has_no_rule():
    x = tf.constant([1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.bitcast(x, tf.float32) * 2.0
    with pytest.raises(LookupError, match="gradient registry has no entry for: Bitcast"):
        tape.gradient(y, x)


BAD_BRANCH = {
    "log": (tf.math.log, True), "1/x": (lambda x: 1.0 / x, True), "x**.5": (lambda x: x**0.5, True),
    "exp": (lambda x: tf.exp(1e4 * (1.0 - x)), True), "acos": (lambda x: tf.acos(x + 1.0), True),
    "atan2": (lambda x: tf.atan2(x, 0.0 * x), True), "sqrt": (tf.sqrt, False), "rsqrt": (tf.math.rsqrt, False),
    "sqrt(x*x)": (lambda x: tf.sqrt(x * x), False),
    "divide_no_nan": (lambda x: tf.math.divide_no_nan(tf.ones_like(x), x), False),
}  # fmt: skip


@pytest.mark.parametrize(("f", "is_nan"), BAD_BRANCH.values(), ids=BAD_BRANCH)
def test_where_does_not_save_a_bad_branch(f, is_nan):
    """The cotangent of the branch not taken is 0, and 0 * inf is NaN, except for ops in which zero wins."""
    assert np.isnan(gradient(lambda x: tf.where(x <= 0.0, 0.0, f(x)), 0.0)) == is_nan


def nth_derivative(f, order, at):
    if order == 0:
        return f(at)
    with tf.GradientTape() as tape:
        tape.watch(at)
        y = nth_derivative(f, order - 1, at)
    return None if y is None else tape.gradient(y, at)


@pytest.mark.parametrize(("n", "order", "expected"), [(2, 2, 2.0), (2, 3, 0.0), (3, 3, 6.0), (3, 4, 0.0)])
def test_a_power_runs_out_at_zero_not_at_none(n, order, expected):
    x = tf.constant(2.0)
    assert nth_derivative(lambda x: x**n, order, x).numpy() == expected


def test_second_derivatives_at_kinks():
    x = tf.constant(-2.0)
    assert nth_derivative(tf.abs, 2, x).numpy() == 0.0
    assert nth_derivative(tf.abs, 3, x) is None
    assert nth_derivative(lambda x: tf.maximum(x, 0.0), 2, x) is None
    assert nth_derivative(tf.square, 3, x) is None


COMPLEX = [
    ("z**2", lambda z: z * z, 2 - 4j),
    ("exp", tf.exp, np.conj(np.exp(1 + 2j))),
    ("|z|**2", lambda z: tf.abs(z) ** 2, 2 + 4j),
    ("real", tf.math.real, 1 + 0j),
    ("imag", tf.math.imag, 1j),
    ("conj", tf.math.conj, 1 - 0j),
    ("angle", tf.math.angle, -0.4 + 0.2j),
    ("sign", tf.sign, 0.35777088 - 0.17888544j),
    ("squared_difference", lambda z: tf.math.squared_difference(z, tf.zeros_like(z)), 2 + 4j),
]


@pytest.mark.parametrize(("f", "expected"), [row[1:] for row in COMPLEX], ids=[row[0] for row in COMPLEX])
def test_complex(f, expected):
    z = tf.constant(1 + 2j)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = f(z)
    np.testing.assert_allclose(tape.gradient(y, z).numpy(), expected, rtol=1e-7)


def test_modulus_at_zero():
    z = tf.constant([0j])
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = tf.abs(z)
    np.testing.assert_array_equal(tape.gradient(y, z).numpy(), [0j])


def test_cast_of_a_complex_value_keeps_the_real_part_and_says_so(caplog):
    z = tf.constant(1 + 2j)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = 3.0 * tf.cast(z, tf.float32)
    assert tape.gradient(y, z).numpy() == 3 + 0j
    assert "discard the imaginary part" in caplog.text

"""NumPy's functions on tensors are recorded: values as NumPy's, gradients as float64 differences."""

import warnings

import numpy as np
import pytest

import gradtape as tf

X = np.array([[0.3, -1.2, 0.7], [1.5, 0.4, -0.6]])
SQUARE = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.1]])

# Functions of an array as people write them, with where they are asked for their value and slope.
PROGRAMS = {
    "ufuncs": (lambda x: np.sin(x) * np.exp(x) - np.tanh(x) / (1.0 + np.square(x)), X),
    "array on the left": (lambda x: np.arange(6.0).reshape(2, 3) * x + np.ones(2) @ x - np.float64(2.0) / (3.0 + x), X),
    "reductions": (lambda x: np.sum(x, axis=0) + np.mean(x) + np.max(x, axis=0, keepdims=True) - np.min(x), X),
    "deviations": (lambda x: np.std(x, axis=1) + np.var(x), X),
    "einsum": (lambda x: np.einsum("ij,kj->ik", x, x), X),
    "products": (lambda x: np.dot(x, SQUARE) + np.tensordot(x, SQUARE, axes=1) + np.outer(x[:, 0], x[0]), X),
    "shapes": (lambda x: np.concatenate([np.reshape(x, (3, 2)), np.transpose(x)], axis=1), X),
    "stacking": (lambda x: np.column_stack([x[0], x[1]]) + np.stack([x[0], x[1]], axis=1), X),
    "choosing": (lambda x: np.where(np.asarray(X) > 0, x, x**2) + np.maximum(x, 0.1) + np.clip(x, -1.0, 1.0), X),
    "ufuncs' methods": (
        lambda x: np.add.reduce(x) + np.multiply.accumulate(x, axis=1)[1] + np.maximum.reduce(x, axis=0), X,
    ),
    "outer": (lambda x: np.multiply.outer(x[0], x), X),
    "powers and signs": (lambda x: np.power(np.abs(x), 1.5) + np.hypot(x, 2.0) + np.arctan2(x, 0.5), X),
    "angles": (lambda x: np.degrees(x) + np.radians(x) + np.deg2rad(x), X),
    "norms": (lambda x: np.linalg.norm(x) + np.linalg.norm(x, axis=1) + np.linalg.norm(x, ord=1, axis=1), X),
    "systems": (lambda x: np.linalg.solve(x, np.arange(3.0)) + np.linalg.inv(x) @ np.eye(3), SQUARE),
    "determinants": (lambda x: np.linalg.det(x) + np.linalg.slogdet(x)[1], SQUARE),
    "factors": (lambda x: np.linalg.cholesky(x @ np.transpose(x)), SQUARE),
    "singular values": (lambda x: np.linalg.svd(x, compute_uv=False), X),
    "integrals": (lambda x: np.trapezoid(x, np.array([0.0, 1.0, 3.0])) + np.trapezoid(x, dx=0.5, axis=1), X),
    "running": (lambda x: np.cumsum(x, axis=1) + np.diff(np.pad(x, ((0, 0), (1, 0))), axis=1), X),
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_gradients_are_those_of_arrays(program: str) -> None:
    function, at = PROGRAMS[program]
    x = tf.Variable(at)
    with tf.numpy_on_tape(), tf.GradientTape() as tape:
        y = function(tf.convert_to_tensor(x))
        assert isinstance(y, tf.Tensor)
        weights = np.cos(np.arange(np.prod(y.shape, dtype=int))).reshape(y.shape)
        total = np.sum(y * weights)
    expected = function(at)
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-10)
    slope = tape.gradient(total, x).numpy()
    for i in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[i] = 1e-6
        ahead, behind = (np.sum(function(at + s) * weights) for s in (step, -step))
        np.testing.assert_allclose(slope[i], (ahead - behind) / 2e-6, rtol=1e-5, atol=1e-7)


def test_gradients_reach_variables_and_go_to_second_order() -> None:
    x = tf.Variable([0.5, 1.0], dtype=tf.float64)
    with tf.numpy_on_tape():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                y = np.sum(np.sin(x) * x)
            first = tape.gradient(y, x)
        second = outer.gradient(first, x)
    at = x.numpy()
    np.testing.assert_allclose(first, np.sin(at) + at * np.cos(at))
    np.testing.assert_allclose(second, 2 * np.cos(at) - at * np.sin(at))


@pytest.mark.parametrize("jit_compile", [False, True])
def test_functions_trace_what_numpy_computes(jit_compile: bool) -> None:
    if jit_compile:
        pytest.importorskip("jax")
    step = tf.function(lambda x: np.sum(np.sqrt(x) * np.arange(3.0)), jit_compile=jit_compile)
    with tf.numpy_on_tape():
        for values in ([1.0, 4.0, 9.0], [4.0, 1.0, 16.0]):
            assert float(step(tf.constant(values))) == float(np.sum(np.sqrt(values) * np.arange(3.0)))
    assert step.experimental_get_tracing_count() == 1


def test_an_operator_keeps_the_tensors_dtype_and_functions_promote_as_numpy() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.numpy_on_tape():
        assert (np.ones(2) * x).dtype == tf.float32
        assert np.multiply(np.ones(2), x).dtype == tf.float32
        assert np.multiply(np.ones(2), tf.constant([1, 2])).dtype == tf.float64
        assert np.add(x, tf.constant([1.0, 2.0], tf.float64)).dtype == tf.float64
        assert np.concatenate([x, np.ones(2)]).dtype == tf.float64
        assert (np.ones(2) @ x).dtype == tf.float32
        assert (np.array([True, False]) & tf.constant([True, True])).numpy().tolist() == [True, False]
        assert (np.ones(2) < x).numpy().tolist() == [False, True]


def test_it_is_off_before_and_after() -> None:
    x = tf.constant([1.0, 2.0])
    assert isinstance(np.exp(x), np.ndarray)
    with tf.numpy_on_tape(), tf.numpy_on_tape():
        assert isinstance(np.exp(x), tf.Tensor)
    assert isinstance(np.exp(x), np.ndarray)
    assert not hasattr(tf.Tensor, "__array_ufunc__")
    with pytest.raises(ZeroDivisionError), tf.numpy_on_tape():
        1 / 0  # noqa: B018
    assert isinstance(np.sum(x), np.float32 | np.ndarray)


def test_what_has_no_counterpart_computes_with_arrays_and_says_so() -> None:
    x = tf.Variable([3.0, 1.0, 2.0])
    with tf.numpy_on_tape():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.median(x.value()) == 2.0  # nobody follows it
        with tf.GradientTape(), pytest.warns(UserWarning, match="np.median has no counterpart"):
            assert np.median(x * 2.0) == 4.0


def test_what_writes_into_arrays_is_refused_where_a_tape_would_lose_it() -> None:
    x = tf.Variable([3.0, 1.0])
    total = np.zeros(2)
    with tf.numpy_on_tape():
        total += tf.constant([1.0, 2.0])
        with tf.GradientTape(), pytest.raises(TypeError, match="array = array"):
            total += x * 1.0
        with pytest.raises(TypeError, match="cannot be changed"):
            np.exp(total, out=tf.constant([1.0, 2.0]))
    assert total.tolist() == [1.0, 2.0]

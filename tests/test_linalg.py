"""Linear algebra beyond its ops' own checks: complex derivatives, conventions, vectorization, errors."""

import math
import warnings

import numpy as np
import pytest

import gradtape as tf
from gradtape.backends import tuning
from gradtape.ops.linalg import diagonals, matrix_algebra

RNG = np.random.default_rng(7)
GENERAL = RNG.standard_normal((3, 3)) + 1j * RNG.standard_normal((3, 3)) + 3 * np.eye(3)
TALL = RNG.standard_normal((4, 2)) + 1j * RNG.standard_normal((4, 2))
HERMITIAN = GENERAL @ GENERAL.conj().T + np.eye(3)
SIDE = RNG.standard_normal((3, 2)) + 1j * RNG.standard_normal((3, 2))
BANDS = RNG.standard_normal((3, 4)) + 1j * RNG.standard_normal((3, 4)) + np.array([[0.0], [4.0], [0.0]])
WEIGHTS = RNG.standard_normal((4, 4))


def directional(f, inputs, direction):
    """Returns the derivative of a real function of complex arrays along a direction: by the tape, and numerically."""
    xs = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    grads = tape.gradient(y, xs)
    exact = sum(np.vdot(g.numpy(), t).real for g, t in zip(grads, direction, strict=True))
    step = 1e-6

    def at(e):
        return f(*[tf.constant(x + e * t) for x, t in zip(inputs, direction, strict=True)]).numpy()

    return exact, (at(step) - at(-step)) / (2 * step)


def weighted(y):
    """Returns a real number in which every part of `y` has its own weight."""
    rows, columns = y.shape[-2:]
    w = tf.constant(WEIGHTS[:rows, :columns])
    return tf.reduce_sum(w * tf.math.real(y) + (w + 0.5) * tf.math.imag(y))


def moduli(y):
    """The same for the moduli, which do not depend on the phases that decompositions leave open."""
    rows, columns = y.shape[-2:]
    return tf.reduce_sum(tf.constant(WEIGHTS[:rows, :columns]) * tf.abs(y) ** 2)


FUNCTIONS = {
    "inv": (lambda x: weighted(tf.linalg.inv(x)), GENERAL),
    "inv adjoint": (lambda x: weighted(tf.linalg.inv(x, adjoint=True)), GENERAL),
    "det": (lambda x: tf.math.imag(tf.linalg.det(x)), GENERAL),
    "slogdet": (lambda x: tf.math.real(tf.linalg.slogdet(x)[1]), GENERAL),
    "solve": (lambda a, b: weighted(tf.linalg.solve(a, b)), GENERAL, SIDE),
    "solve adjoint": (lambda a, b: weighted(tf.linalg.solve(a, b, adjoint=True)), GENERAL, SIDE),
    "triangular": (lambda a, b: weighted(tf.linalg.triangular_solve(a, b)), GENERAL, SIDE),
    "triangular adjoint": (
        lambda a, b: weighted(tf.linalg.triangular_solve(a, b, lower=False, adjoint=True)), GENERAL, SIDE
    ),
    "banded": (lambda a, b: weighted(tf.linalg.tridiagonal_solve(a, b)), BANDS, np.vstack([SIDE, SIDE[:1]])),
    "banded product": (lambda a, b: weighted(tf.linalg.tridiagonal_matmul(a, b)), BANDS, np.vstack([SIDE, SIDE[:1]])),
    "lu": (lambda a, b: weighted(tf.linalg.lu_solve(*tf.linalg.lu(a), rhs=b)), GENERAL, SIDE),
    "packed lu": (lambda a: weighted(tf.linalg.lu(a)[0]), GENERAL),
    "pinv": (lambda a: weighted(tf.linalg.pinv(a)), TALL),
    "lstsq": (lambda a: weighted(tf.linalg.lstsq(a, tf.constant(np.vstack([SIDE, SIDE[:1]])))), TALL),
    "expm": (lambda x: weighted(tf.linalg.expm(x)), GENERAL / 3),
    "logm": (lambda x: weighted(tf.linalg.logm(x)), GENERAL),
    "sqrtm": (lambda x: weighted(tf.linalg.sqrtm(x)), GENERAL),
    "eigh": (lambda x: moduli(tf.linalg.eigh(x @ tf.linalg.adjoint(x))[1]), GENERAL),
    "eigvalsh": (lambda x: weighted(tf.linalg.eigvalsh(x @ tf.linalg.adjoint(x))[None]), GENERAL),
    "eigvals": (lambda x: tf.math.imag(tf.reduce_sum(tf.linalg.eigvals(x) ** 3)), GENERAL),
    "eig": (lambda x: tf.reduce_sum(tf.abs(tf.linalg.eig(x)[1]) ** 4), GENERAL),
    "svd u": (lambda x: moduli(tf.linalg.svd(x)[1]), TALL),
    "svd v": (lambda x: moduli(tf.linalg.svd(x)[2]), TALL),
    "svd wide": (lambda x: moduli(tf.linalg.svd(x)[2]), TALL.T.copy()),
    "svd phases": (lambda x: weighted(tf.linalg.svd(x)[1] @ tf.linalg.adjoint(tf.linalg.svd(x)[2])), TALL),
    "svd s": (lambda x: tf.reduce_sum(tf.linalg.svd(x, compute_uv=False) ** 3), TALL),
    "cholesky": (lambda x: weighted(tf.linalg.cholesky(x @ tf.linalg.adjoint(x))), GENERAL),
    "logdet": (lambda x: tf.linalg.logdet(x @ tf.linalg.adjoint(x)), GENERAL),
    "qr": (lambda x: moduli(tf.linalg.qr(x)[0]) + moduli(tf.linalg.qr(x)[1]), TALL),
    "qr wide": (lambda x: moduli(tf.linalg.qr(x)[1]), TALL.T.copy()),
}  # fmt: skip


@pytest.mark.parametrize("case", FUNCTIONS.values(), ids=FUNCTIONS)
def test_complex_gradient_is_the_numeric_one(case):
    f, *inputs = case
    direction = [RNG.standard_normal(x.shape) + 1j * RNG.standard_normal(x.shape) for x in inputs]
    exact, numeric = directional(f, inputs, direction)
    np.testing.assert_allclose(exact, numeric, rtol=1e-6)


def test_factors_multiply_to_the_matrix():
    x = tf.constant(np.stack([TALL, 2 * TALL[::-1]]))
    s, u, v = tf.linalg.svd(x)
    np.testing.assert_allclose((u * tf.cast(s, tf.complex128)[:, None, :]) @ tf.linalg.adjoint(v), x, atol=1e-12)
    s, u, v = tf.linalg.svd(x, full_matrices=True)
    assert u.shape == (2, 4, 4) and v.shape == (2, 2, 2)
    q, r = tf.linalg.qr(x)
    np.testing.assert_allclose(q @ r, x, atol=1e-12)
    e, v = tf.linalg.eig(GENERAL)
    np.testing.assert_allclose(tf.constant(GENERAL) @ v, v * e, atol=1e-12)
    e, v = tf.linalg.eigh(HERMITIAN)
    assert e.dtype is tf.complex128
    np.testing.assert_allclose((v * e) @ tf.linalg.adjoint(v), HERMITIAN, atol=1e-12)
    e, v = tf.linalg.eigh_tridiagonal([1.0, 2.0, 3.0], [1.0, 1.0], eigvals_only=False, select="i", select_range=(0, 1))
    assert e.shape == (2,) and v.shape == (3, 2)


def test_results_have_names():
    x = tf.eye(2)
    assert tf.linalg.qr(x)._fields == ("q", "r")
    assert tf.linalg.lu(x)._fields == ("lu", "p")
    assert tf.linalg.slogdet(x)._fields == ("sign", "log_abs_determinant")


def test_cholesky_reads_the_lower_triangle_and_its_gradient_is_symmetric():
    x = tf.constant([[4.0, 99.0], [2.0, 5.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.linalg.cholesky(x)
    np.testing.assert_allclose(y, [[2, 0], [1, 2]])
    np.testing.assert_allclose(tape.gradient(y, x), [[0.1875, 0.125], [0.125, 0.25]])


def test_masks_of_large_matrices_do_not_stay_in_memory():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.linalg.cholesky(x)
        return tape.gradient(y, x)

    size = math.isqrt(tuning.LARGE) + 1
    diagonals._band_bits.cache_clear()
    matrix_algebra._half_weights.cache_clear()
    np.testing.assert_allclose(gradient(tf.eye(size)), np.full((size, size), 0.5), rtol=1e-6)
    assert not diagonals._band_bits.cache_info().currsize
    assert not matrix_algebra._half_weights.cache_info().currsize


def test_cholesky_of_a_stack_is_nan_where_it_fails():
    y = tf.linalg.cholesky(np.stack([np.eye(2), -np.eye(2)])).numpy()
    np.testing.assert_array_equal(y[0], np.eye(2))
    assert np.isnan(y[1][np.tril_indices(2)]).all() and y[1, 0, 1] == 0


def test_equal_eigenvalues_do_not_spoil_the_gradient():
    x = tf.eye(3, dtype=tf.float64)
    for f in (lambda x: tf.linalg.eigh(x)[0], lambda x: tf.linalg.svd(x)[0]):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        np.testing.assert_allclose(tape.gradient(y, x), np.eye(3), atol=1e-12)


def test_pinv_gradient_with_equal_singular_values():
    x = tf.eye(3, 2, dtype=tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.linalg.pinv(x)
    assert np.isfinite(tape.gradient(y, x)).all()


@pytest.mark.parametrize("f", [
    tf.linalg.inv, tf.linalg.det, tf.linalg.cholesky, tf.linalg.logdet, tf.linalg.expm, tf.linalg.sqrtm, tf.linalg.pinv,
    lambda x: tf.linalg.svd(x)[0], lambda x: tf.linalg.eigh(x)[1] ** 2, lambda x: tf.linalg.qr(x)[1] ** 2,
    lambda x: tf.linalg.slogdet(x)[1], lambda x: tf.linalg.lu(x)[0], lambda x: tf.linalg.diag_part(x, k=(-1, 1)),
    lambda x: tf.linalg.tridiagonal_solve(x, tf.ones((3, 3), tf.float64), diagonals_format="matrix"),
])  # fmt: skip
def test_vectorised_runs_and_jacobians(f):
    stack = np.stack([HERMITIAN.real, HERMITIAN.real + 1, HERMITIAN.real.T @ HERMITIAN.real])
    got = tf.vectorized_map(f, tf.constant(stack))
    np.testing.assert_allclose(got, np.stack([f(tf.constant(x)).numpy() for x in stack]), atol=1e-10)
    x = tf.constant(stack)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        flat = tf.reshape(y, (3, -1))
    rows = tape.batch_jacobian(flat, x)
    whole = tape.jacobian(flat, x)
    for i in range(3):
        np.testing.assert_allclose(rows[i], whole[i, :, i], atol=1e-10)


def test_second_order_through_solve():
    a = tf.constant(HERMITIAN.real)
    with tf.GradientTape() as outer:
        outer.watch(a)
        with tf.GradientTape() as inner:
            inner.watch(a)
            y = tf.linalg.logdet(a)
        g = inner.gradient(y, a)
        total = tf.reduce_sum(g * g)
    # d logdet = tr(A⁻¹ dA), so the gradient of |A⁻¹|² is -2 A⁻¹ A⁻¹ A⁻¹.
    inverse = np.linalg.inv(HERMITIAN.real)
    np.testing.assert_allclose(outer.gradient(total, a), -2 * inverse @ inverse @ inverse, rtol=1e-8)


def test_forward_mode():
    a, t = tf.constant(HERMITIAN.real), tf.constant(WEIGHTS[:3, :3])
    with tf.autodiff.ForwardAccumulator(a, t) as acc:
        y = tf.linalg.inv(a)
    np.testing.assert_allclose(acc.jvp(y), -y.numpy() @ t.numpy() @ y.numpy(), rtol=1e-10)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: tf.linalg.inv([[1.0, 2.0], [2.0, 4.0]]), tf.errors.InvalidArgumentError, "Input is not invertible"),
    (lambda: tf.linalg.solve([[1.0, 2.0], [2.0, 4.0]], tf.eye(2)), tf.errors.InvalidArgumentError, "not invertible"),
    (lambda: tf.linalg.det(tf.ones((2, 3))), tf.errors.InvalidArgumentError, "must be square"),
    (lambda: tf.linalg.inv(tf.ones(3)), tf.errors.InvalidArgumentError, "must have rank >= 2"),
    (lambda: tf.linalg.cholesky(tf.eye(2, dtype=tf.float16)), tf.errors.NotFoundError, "float16"),
    (lambda: tf.linalg.tridiagonal_solve(tf.ones((3, 2)), tf.ones(2), perturb_singular=True),
     tf.errors.UnimplementedError, "perturb_singular"),
])  # fmt: skip
def test_errors_say_what_is_wrong(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 3), (4, 3, 3), (0, 3, 3), (0, 0)])
def test_small_matrices_are_those_of_numpy(dtype, shape):
    rng = np.random.default_rng(0)
    a = rng.normal(size=shape).astype(dtype)
    a = a @ a.swapaxes(-1, -2) + np.eye(shape[-1], dtype=dtype)
    b = rng.normal(size=(*shape[:-1], 2)).astype(dtype)
    for given in (a, np.asfortranarray(a), np.repeat(a, 2, axis=-1)[..., ::2]):
        np.testing.assert_array_equal(tf.linalg.solve(given, b), np.linalg.solve(given, b), strict=True)
        np.testing.assert_array_equal(tf.linalg.inv(given), np.linalg.inv(given), strict=True)
        np.testing.assert_array_equal(tf.linalg.cholesky(given), np.linalg.cholesky(given), strict=True)


@pytest.mark.parametrize("number", [np.nan, 0.0])
@pytest.mark.parametrize("flags", ["warn", "raise"])
def test_small_matrices_that_numpy_refuses(number, flags):
    a, b = np.full((2, 2), number, np.float32), np.ones((2, 1), np.float32)
    with np.errstate(all=flags), warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (lambda: tf.linalg.solve(a, b), lambda: tf.linalg.inv(a)):
            with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
                call()
        assert np.isnan(tf.linalg.cholesky(a - np.eye(2, dtype=np.float32))).any()


looks_at_the_matrix = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="NumPy before 2.4 does not look at the matrix"
)


@pytest.mark.parametrize("number", [np.nan, pytest.param(0.0, marks=looks_at_the_matrix)])
def test_a_singular_matrix_without_right_hand_sides(number):
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.solve(tf.fill((2, 2), number), tf.ones((2, 0)))


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_the_determinant_does_not_hide_what_is_not_finite(value):
    matrices = np.array([[[value, 0.0], [0.0, 0.0]], [[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, value]]])
    assert np.isnan(tf.linalg.det(tf.constant(matrices)).numpy()).tolist() == [True, False, True]


def test_the_logarithm_in_single_precision():
    matrices = np.random.default_rng(3).uniform(-1, 1, (4, 31, 31)).astype(np.complex64)
    again = tf.linalg.expm(tf.linalg.logm(tf.constant(matrices)))
    assert np.abs(again.numpy() - matrices).max() < 1e-3


@pytest.mark.parametrize("scale", [1e-30, 1e20])
@pytest.mark.parametrize("function", ["expm", "sqrtm"])
def test_the_derivative_of_a_matrix_function_is_as_accurate_along_any_magnitude(function, scale):
    def gradient(x, g):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(tf.linalg, function)(x)
        return tape.gradient(y, x, g)

    x = tf.constant([[2.0, 0.3], [-0.4, 1.5]])
    g = tf.constant([[1.0, 0.2], [-0.5, 0.7]])
    wide = gradient(tf.cast(x, tf.float64), tf.cast(g, tf.float64)).numpy() * scale
    for way in (gradient, tf.function(gradient), tf.function(gradient, jit_compile=True)):
        way(x, g * scale)
        np.testing.assert_allclose(way(x, g * scale), wide, rtol=1e-5)


@pytest.mark.parametrize("dtype", [tf.float32, tf.complex64, tf.float64])
def test_exponentials_of_large_matrices(dtype):
    """SciPy's are NaN in single precision from a norm of about 100 on, or squared 2**31 times."""
    a, b, c = np.array([[-20.0, 12, 18], [-200, 120, 320], [-2e5, 1, 2], [-1e10, 1, 2], [1e10, 1, 2]]).T
    x = np.stack([a, b, c, a], -1).reshape(-1, 2, 2)
    root = np.sqrt(b * c)
    with np.errstate(over="ignore", invalid="ignore"):
        below, above = np.exp(a - root), np.exp(a + root)
        even, odd = (above + below) / 2, np.where(np.isinf(above), np.inf, (above - below) / 2)
    expected = np.stack([even, odd * np.sqrt(b / c), odd * np.sqrt(c / b), even], -1).reshape(-1, 2, 2)
    found = tf.linalg.expm(tf.cast(x, dtype)).numpy()
    assert np.isinf(found[-1]).all() or dtype.is_complex  # products of infinities with 0j are NaN
    np.testing.assert_allclose(found[:-1], expected[:-1], rtol=1e-9 if dtype is tf.float64 else 1e-4, atol=1e-30)
    assert np.isnan(tf.linalg.expm(tf.cast([[np.inf, 1], [2, 3]], dtype)).numpy()).all()

"""NumPy's functions on tensors are recorded: NumPy's values, and gradients equal to float64 differences."""

import math

import numpy as np
import pytest

import gradtape as tf

X = np.array([[0.3, -1.2, 0.7], [1.5, 0.4, -0.6]])
SQUARE = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.1]])

# Typical functions of an array, with the points for values and derivatives.
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


V = np.array([0.3, -1.2, 0.7, 1.5, -0.4, 0.9, 2.1])
W = np.array([0.5, -0.25, 1.0])
MASK = np.array([[True, False, True], [False, True, True]])


def _with_nan(x):
    return np.where(MASK, x, np.nan)


# One idiom each of numeric code: array methods and attributes, ufunc methods, whole modules.
IDIOMS = {
    "x.T": (lambda x: x.T @ np.ones(2), X),
    "x.mT": (lambda x: x.mT * 2.0, X),
    "x.mean()": (lambda x: x.mean() * x, X),
    "x.mean(0)": (lambda x: x.mean(axis=0, keepdims=True) - x, X),
    "x.sum(1)": (lambda x: x.sum(1), X),
    "x.std()": (lambda x: x.std(axis=1, ddof=1), X),
    "x.var()": (lambda x: x.var(), X),
    "x.max()": (lambda x: x.max(axis=0) - x.min(), X),
    "x.prod()": (lambda x: x.prod(axis=1), X),
    "x.cumsum()": (lambda x: x.cumsum(axis=1) * x.cumprod(axis=0), X),
    "x.dot()": (lambda x: x.dot(SQUARE), X),
    "x.reshape()": (lambda x: x.reshape(3, 2) + x.reshape((3, -1)), X),
    "x.ravel()": (lambda x: x.ravel() * x.flatten(), X),
    "x.transpose()": (lambda x: x.transpose() + x.transpose(1, 0) + x.transpose((1, 0)), X),
    "x.swapaxes()": (lambda x: x.swapaxes(0, 1), X),
    "x.squeeze()": (lambda x: x[:1].squeeze(), X),
    "x.clip()": (lambda x: x.clip(-0.5, 1.0) + x.clip(min=0.0), X),
    "x.copy()": (lambda x: x.copy() * x.astype(float), X),
    "x.take()": (lambda x: x.take([0, 2], axis=1), X),
    "x.repeat()": (lambda x: x.repeat(2, axis=0), X),
    "x.trace()": (lambda x: x.trace() * x.diagonal(), SQUARE),
    "x.round()": (lambda x: x - (0.9 * x).round(), X),
    "x.ptp()": (lambda x: np.ptp(x, axis=1), X),
    "x.size": (lambda x: x.sum() / x.size * np.ones(1), X),
    "x.conj()": (lambda x: (x * (1 + 2j)).conj().imag + (x * 1j).real, X),
    "x[mask]": (lambda x: x[MASK] ** 2, X),
    "x[list]": (lambda x: x[:, [0, 2]] * x[[1, 0]][:, 1:], X),
    "x[i, j]": (lambda x: x[[0, 1], [2, 0]], X),
    "x.flat": (lambda x: np.stack([v * v for v in x.flat]), X),
    "x += 1": (lambda x: _added(1.0 * x), X),
    "np.fft.fft": (lambda x: np.abs(np.fft.fft(x)) ** 2, V),
    "np.fft.fft(n, axis)": (lambda x: np.fft.fft(x, 4, axis=0).real, X),
    "np.fft.ifft": (lambda x: np.fft.ifft(x, norm="ortho").imag, V),
    "np.fft.rfft": (lambda x: np.abs(np.fft.rfft(x, 5)), V),
    "np.fft.irfft": (lambda x: np.fft.irfft(np.fft.rfft(x) * 1j), V[:6]),
    "np.fft.fft2": (lambda x: np.fft.fft2(x).imag, X),
    "np.fft.irfft2": (lambda x: np.fft.irfft2(np.fft.rfft2(x) * (1 + 1j), s=(2, 3)), X),
    "np.fft.fftshift": (lambda x: np.fft.fftshift(x) * np.fft.ifftshift(x, axes=1), X),
    "np.convolve": (lambda x: np.convolve(x, W) + np.convolve(W, x), V),
    "np.convolve same": (lambda x: np.convolve(x, W, "same") + np.convolve(x, x, mode="same"), V),
    "np.convolve valid": (lambda x: np.convolve(x, W, "valid"), V),
    "np.correlate": (lambda x: np.correlate(x, W) + np.correlate(W, x), V),
    "np.correlate full": (lambda x: np.correlate(x, W[:2], "full"), V),
    "np.correlate same": (lambda x: np.correlate(x, W[:2], "same") + np.correlate(x, W, "same"), V),
    "np.interp": (lambda x: np.interp(x, [-1.0, 0.0, 2.0], [1.0, 3.0, -1.0]), V),
    "np.interp of fp": (lambda x: np.interp([-0.6, 0.2, 5.0], [-1.0, 0.0, 2.0], x[:3], right=0.5), V),
    "np.interp of xp": (lambda x: np.interp([0.1, 0.6], x**2 + np.arange(7), np.cos(np.arange(7.0))), V),
    "np.gradient": (lambda x: np.gradient(x) * np.gradient(x, 0.5, edge_order=2), V),
    "np.gradient at": (lambda x: np.gradient(x**2, np.array([0.0, 1, 3, 4, 6, 7, 9])), V),
    "np.gradient 2d": (lambda x: np.gradient(x, 2.0, 0.5)[0] + np.gradient(x, axis=1), X),
    "np.median": (lambda x: np.median(x, axis=0) + np.median(x), X),
    "np.median odd": (lambda x: np.median(x) * x, V),
    "np.percentile": (lambda x: np.percentile(x, [10, 50, 77], axis=1), X),
    "np.quantile": (lambda x: np.quantile(x, 0.3, keepdims=True) * x, X),
    "np.average": (lambda x: np.average(x, 1, W), X),
    "np.cov": (lambda x: np.cov(x) + np.cov(x[0], x[1], bias=True), X),
    "np.corrcoef": (lambda x: np.corrcoef(x), X),
    "np.sum where": (lambda x: np.sum(x**2, axis=1, where=MASK), X),
    "np.mean where": (lambda x: x.mean(0, where=MASK), X),
    "np.max initial": (lambda x: np.max(x, axis=1, initial=0.5, where=MASK), X),
    "np.var where": (lambda x: np.var(x, 1, where=MASK), X),
    "np.nansum": (lambda x: np.nansum(_with_nan(x), 1) + np.nanmean(_with_nan(x), 1), X),
    "np.nanmax": (lambda x: np.nanmax(_with_nan(x), 1) - np.nanstd(_with_nan(x), 1), X),
    "np.add.at": (lambda x: np.add.reduceat(x, [0, 2, 5]), V),
    "np.multiply.outer": (lambda x: np.multiply.outer(x, W), V),
    "np.add.reduce": (lambda x: np.add.reduce(x, axis=1) + np.add.accumulate(x, axis=1)[:, 1], X),
    "np.logaddexp.reduce": (lambda x: np.logaddexp(x[0], x[1]), X),
    "np.roll": (lambda x: np.roll(x, 1, axis=1) * np.roll(x, 2), X),
    "np.flip": (lambda x: np.flip(x) + np.flipud(x) + np.fliplr(x), X),
    "np.rot90": (lambda x: np.rot90(x), X),
    "np.tile": (lambda x: np.tile(x, (2, 1)), X),
    "np.delete": (lambda x: np.delete(x, 1, axis=1), X),
    "np.insert": (lambda x: np.insert(x, 1, x[0, 0], axis=1), X),
    "np.append": (lambda x: np.append(x, x[0]), X),
    "np.split": (lambda x: np.split(x, [1], axis=1)[1] + np.hsplit(x, [1])[1], X),
    "np.array_split": (lambda x: np.array_split(x, 3)[0] * 2.0, V),
    "np.block": (lambda x: np.block([[x, x], [2.0 * x, x]]), X),
    "np.vstack": (lambda x: np.vstack([x, x[0]]) @ np.hstack([SQUARE, SQUARE]), X),
    "np.pad edge": (lambda x: np.pad(x, 1, "edge"), X),
    "np.tril": (lambda x: np.tril(x) - np.triu(x, 1), SQUARE),
    "np.diag": (lambda x: np.diag(x) + np.diag(np.diag(x)), SQUARE),
    "np.meshgrid": (lambda x: np.meshgrid(x[:2], x[2:5])[0] * np.meshgrid(x[:2], x[2:5])[1], V),
    "np.linspace": (lambda x: np.linspace(x[0], x[1], 4), V),
    "np.sort": (lambda x: np.sort(x) * np.arange(7.0), V),
    "np.take_along_axis": (lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1), X),
    "np.where": (lambda x: np.where(x > 0, x, 0.1 * x) + np.select([x > 1, x > 0], [x, x**2], 0.5), X),
    "np.piecewise": (lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda v: v**2, lambda v: np.sqrt(v)]), V),
    "np.apply_along_axis": (lambda x: np.apply_along_axis(lambda row: np.cumsum(row) * row[0], 1, x), X),
    "np.nan_to_num": (lambda x: np.nan_to_num(_with_nan(x), nan=2.0), X),
    "np.unwrap": (lambda x: np.unwrap(5.0 * x), V),
    "np.diff": (lambda x: np.diff(x) ** 2 + np.ediff1d(x), V),
    "np.cross": (lambda x: np.cross(x[0], x[1]), X),
    "np.kron": (lambda x: np.kron(x, np.eye(2)), X),
    "np.inner": (lambda x: np.inner(x, x) + np.vdot(x, x), X),
    "np.polyval": (lambda x: np.polyval([1.0, 2.0, 3.0], x) + np.polyval(x[0], 0.5), X),
    "np.sinc": (lambda x: np.sinc(x), V),
    "np.hypot": (lambda x: np.hypot(x, 1.0) + np.cbrt(np.abs(x)) + np.copysign(x, -1.0) + np.fmax(x, 0.2), V),
    "np.modf": (lambda x: np.modf(x)[0] * np.fabs(x), V),
    "np.bincount": (lambda x: np.bincount([0, 1, 1, 3, 0, 2, 2], weights=x), V),
    "np.linalg.norm": (
        lambda x: np.linalg.norm(x, "fro") + np.linalg.norm(x, 1) + np.linalg.norm(x, np.inf, axis=1), X,
    ),
    "np.linalg.matrix_power": (lambda x: np.linalg.matrix_power(x, 3) + np.linalg.matrix_power(x, -1), SQUARE),
    "np.linalg.multi_dot": (lambda x: np.linalg.multi_dot([x, SQUARE, x.T]), X),
    "np.linalg.cond": (lambda x: np.linalg.cond(x), SQUARE),
    "np.linalg.eigh": (lambda x: np.linalg.eigvalsh(x + x.T), SQUARE),
    "np.linalg.pinv": (lambda x: np.linalg.pinv(x), X),
    "np.linalg.qr": (lambda x: np.abs(np.linalg.qr(x)[1]), SQUARE),
    "np.einsum": (lambda x: np.einsum("ij,ij->i", x, x), X),
    "np.logspace": (lambda x: np.float_power(2.0, x) + np.exp2(x) + np.log1p(np.exp(x)), V),
    "np.zeros_like": (lambda x: np.zeros_like(x) + x * np.ones_like(x) + np.full_like(x, 2.0), X),
    "np.isfinite": (lambda x: np.where(np.isfinite(x), x, 0.0) * np.isclose(x, x), X),
    "np.trace": (lambda x: np.trace(x), SQUARE),
    "np.searchsorted": (lambda x: x[np.searchsorted(np.sort(V), [0.0, 1.0])], V),
    "np.argmax": (lambda x: x[np.argmax(x)] * x, V),
    "np.ufunc dtype": (lambda x: np.multiply(x, 2.0, dtype=np.float64), V),
    "np.unstack": (lambda x: np.unstack(x)[1] ** 2, X),
}  # fmt: skip


def _added(x):
    x += 1.0
    x *= x
    return x


PROGRAMS |= IDIOMS


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
    assert not hasattr(tf.Tensor, "__array_ufunc__") and not hasattr(x, "mean") and not hasattr(x, "T")
    assert not hasattr(tf.Variable, "T") and np.asarray(x).tolist() == [1.0, 2.0]
    with pytest.raises(ZeroDivisionError), tf.numpy_on_tape():
        1 / 0  # noqa: B018
    assert isinstance(np.sum(x), np.float32 | np.ndarray)


def test_what_has_no_counterpart_computes_with_arrays_and_is_refused_on_a_tape() -> None:
    x = tf.Variable([3.0, 1.0, 2.0])
    with tf.numpy_on_tape():
        assert np.histogram(x.value(), 2)[0].tolist() == [1, 2]  # no tape records it
        with tf.GradientTape(), pytest.raises(TypeError, match=r"np\.histogram, .*has no counterpart"):
            np.histogram(x * 2.0, 2)


def test_what_writes_into_arrays_is_refused_where_a_tape_would_lose_it() -> None:
    x = tf.Variable([3.0, 1.0])
    total = np.zeros(2)
    with tf.numpy_on_tape():
        total += tf.constant([1.0, 2.0])
        with tf.GradientTape():
            y = x * 1.0
            with pytest.raises(TypeError, match="array = array"):
                total += y
            for write in (
                lambda: total.__setitem__(slice(None), y),
                lambda: total.__setitem__([0, 1], y),
                lambda: np.asarray(y),
                lambda: np.array([y[0], y[1]]),
                lambda: np.add.at(total, [0, 1], y),
                lambda: np.copyto(total, y),
                lambda: np.put(total, [0], y[0]),
                lambda: np.fill_diagonal(np.eye(2), y),
                lambda: np.vectorize(abs)(y),
                lambda: np.add(y, 1.0, where=[True, False]),
                lambda: np.sum(y, out=total),
                lambda: np.polyfit(total, y, 1),
                lambda: math.exp(y[0]),
            ):
                with pytest.raises(TypeError, match=r"tensor\.numpy\(\)"):
                    write()
            for write in (lambda: total.__setitem__(0, y[0]), lambda: total.fill(y[0])):
                with pytest.raises(ValueError, match="setting an array element") as caught:  # NumPy's error
                    write()
                assert "its gradient is lost" in str(caught.value.__cause__)
            for change in (
                lambda: y.__setitem__(0, 1.0),
                lambda: y.sort(),
                lambda: y.fill(0.0),
                lambda: np.fill_diagonal(y, 0.0),
                lambda: np.add.at(y, [0], 1.0),
            ):
                with pytest.raises(TypeError, match="cannot be changed"):
                    change()
            assert y.numpy().tolist() == [3.0, 1.0]  # this is intended
        with pytest.raises(TypeError, match="cannot be changed"):
            np.exp(total, out=tf.constant([1.0, 2.0]))
    assert total.tolist() == [1.0, 2.0]

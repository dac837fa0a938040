"""Signals beyond their ops' own checks: transforms along given axes, which TensorFlow lacks on the CPU, and windows."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(3)
REAL = RNG.standard_normal((3, 4, 5))
SPECTRUM = REAL + 1j * RNG.standard_normal((3, 4, 5))


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize(("axes", "lengths"), [((0, 2), (4, 3)), ((-1,), (7,)), ((1, 0), None), (None, None)])
def test_transforms_along_named_axes_are_numpys(axes, lengths, norm):
    axis = range(3) if axes is None else axes
    for name, x in (("fft", SPECTRUM), ("ifft", SPECTRUM), ("rfft", REAL), ("irfft", SPECTRUM)):
        got = getattr(tf.signal, f"{name}nd")(tf.constant(x), lengths, axes, norm)
        want = getattr(np.fft, f"{name}n")(x, lengths, axis, norm)
        np.testing.assert_allclose(got, want, atol=1e-12, err_msg=name)


def test_transforms_at_the_root():
    x = tf.constant(REAL, tf.float32)
    y = tf.rfftnd(x, [3, 5], [0, 2])
    assert y.dtype is tf.complex64
    np.testing.assert_allclose(tf.irfftnd(y, [3, 5], [0, 2]), x, atol=1e-5)
    z = tf.constant(SPECTRUM)
    np.testing.assert_allclose(tf.ifftnd(tf.fftnd(z, [4], [1]), [4], [1]), z, atol=1e-12)


def test_axes_must_differ():
    with pytest.raises(tf.errors.InvalidArgumentError, match="different axes"):
        tf.signal.fftnd(SPECTRUM, axes=[0, -3])
    with pytest.raises(ValueError, match="Unknown normalization"):
        tf.signal.fftnd(SPECTRUM, norm="unit")


@pytest.mark.parametrize(("dtype", "transformed"), [(tf.float32, tf.complex64), (tf.float64, tf.complex128)])
def test_dtypes(dtype, transformed):
    x = tf.constant(REAL, dtype)
    y = tf.signal.rfft(x)
    assert y.dtype is transformed and tf.signal.fft(y).dtype is transformed
    assert tf.signal.irfft(y, [5]).dtype is dtype
    assert tf.signal.stft(x, 4, 2).dtype is transformed and tf.signal.dct(x).dtype is dtype


@pytest.mark.parametrize("length", [3, 5, 8])
def test_gradients_where_the_signal_is_cut_off_or_continued(length):
    x, w = tf.constant(REAL), RNG.standard_normal((3, 4, length // 2 + 1))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.math.imag(tf.signal.rfft(x, [length])) * w)
    step = 1e-6 * RNG.standard_normal(REAL.shape)
    moved = [np.sum(np.fft.rfft(REAL + s * step, length).imag * w) for s in (1, -1)]
    np.testing.assert_allclose(np.sum(tape.gradient(y, x) * step), (moved[0] - moved[1]) / 2, rtol=1e-6)


def test_a_signal_is_recovered():
    x = tf.constant(RNG.standard_normal((2, 64)))
    window = tf.signal.inverse_stft_window_fn(4)
    y = tf.signal.inverse_stft(tf.signal.stft(x, 16, 4), 16, 4, window_fn=window)
    np.testing.assert_allclose(y[:, 16:-16], x[:, 16:-16], atol=1e-10)
    y = tf.signal.inverse_mdct(tf.signal.mdct(x, 16))
    np.testing.assert_allclose(y[:, 8:-8], x[:, 8:-8], atol=1e-10)


def test_vectorised_runs():
    x = tf.constant(REAL[0])
    for f in (tf.signal.rfft, tf.signal.dct, tf.signal.fftshift, lambda x: tf.signal.frame(x, 3, 1)):
        np.testing.assert_allclose(tf.vectorized_map(f, x), np.stack([f(row).numpy() for row in x]), atol=1e-12)


def test_jacobian_of_a_transform_is_its_matrix():
    x = tf.constant(RNG.standard_normal(6))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.real(tf.signal.rfft(x))
    np.testing.assert_allclose(tape.jacobian(y, x), np.fft.rfft(np.eye(6)).real.T, atol=1e-12)


def test_the_shape_of_a_kaiser_window_has_a_gradient():
    beta = tf.constant(3.0, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(beta)
        y = tf.signal.kaiser_window(5, beta, tf.float64)
    np.testing.assert_allclose(y, np.kaiser(5, 3.0), rtol=1e-12)
    numeric = (np.kaiser(5, 3 + 1e-6).sum() - np.kaiser(5, 3 - 1e-6).sum()) / 2e-6
    np.testing.assert_allclose(tape.gradient(y, beta), numeric, rtol=1e-6)

"""Ops along rows: a large array gives the results of its rows computed a few at a time, below every size threshold."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(0)
SHAPES = [(2048, 256), (300, 7, 200), (40000, 9), (3, 50000), (70001,)]
FEW = 1 << 12  # elements computed at a time for comparison


def layer_norm(x):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    ramp = tf.cast(tf.linspace(-1.0, 1.0, x.shape[-1]), x.dtype)
    return tf.nn.batch_normalization(x, mean, variance, ramp, ramp + 2, 1e-5)


def sparse_labels(x):
    return tf.cast(tf.argmax(x * x, -1) % x.shape[-1], tf.int32)


OPS = {
    "softmax": tf.nn.softmax,
    "log_softmax": tf.nn.log_softmax,
    "logsumexp": lambda x: tf.reduce_logsumexp(x, -1),
    "max": lambda x: tf.reduce_max(x, -1),
    "min": lambda x: tf.reduce_min(x, -1, keepdims=True),
    "cumsum": lambda x: tf.cumsum(x, -1),
    "reversed cumsum": lambda x: tf.cumsum(x, -1, reverse=True),
    "top_k": lambda x: tf.math.top_k(x, 1)[0],
    "top_8": lambda x: tf.math.top_k(x, 8)[0],
    "positions of top_8": lambda x: tf.math.top_k(x, 8)[1],
    "moments": lambda x: tf.subtract(*tf.nn.moments(x, [-1])),
    "layer_norm": layer_norm,
    "sparse cross entropy": lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(sparse_labels(x), x),
    "cross entropy": lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(x * x), x),
    "gelu": tf.nn.gelu,
    "relu": tf.nn.relu,
    "clip": lambda x: tf.clip_by_value(x, -1.0, 0.5),
}


def value_and_gradients(f, x, order):
    """Returns the value, the gradient of its square or weighted sum, and the gradient of that one's square."""
    x = tf.constant(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
            if not y.dtype.is_floating:
                return [y.numpy()]
            z = y * tf.cos(tf.range(y.shape[-1], dtype=y.dtype)) if y.shape.rank == x.shape.rank else y * y
        dx = inner.gradient(z, x)
        square = dx * dx
    second = [outer.gradient(square, x, unconnected_gradients="zero").numpy()] if order == 2 else []
    return [y.numpy(), dx.numpy(), *second]


def unusual(shape, dtype):
    """Returns normal numbers with ties, zeros of both signs, infinities and NaN among them."""
    x = RNG.standard_normal(shape) * 3
    x[..., ::5] = np.round(x[..., ::5])
    for value in (0.0, -0.0, np.inf, -np.inf, np.nan):
        x[RNG.random(shape) < 2e-4] = value
    return x.astype(dtype)


@np.errstate(invalid="ignore")  # the cumulative sum of two infinities
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", OPS)
def test_large_rows(name, shape, dtype):
    f, order = OPS[name], 2 if shape == SHAPES[0] and dtype == "float32" else 1
    if len(shape) == 1 and name in ("moments", "layer_norm", "cumsum", "reversed cumsum"):
        pytest.skip("one row has no blocks, and sums of other accuracy")
    for x in (RNG.standard_normal(shape).astype(dtype), unusual(shape, dtype)):
        large = value_and_gradients(f, x, order)
        rows = x.reshape(-1, x.shape[-1])
        step = max(1, FEW // rows.shape[1])
        chosen = RNG.integers(0, len(rows), 8)
        for i in chosen:
            i = max(0, min(int(i), len(rows) - step))
            small = value_and_gradients(f, rows[i : i + step], order)
            for got, want in zip(large, small, strict=True):
                compare(got, want, x, slice(i, i + step))


def compare(got, want, x, part):
    if got.ndim == x.ndim:
        got = got.reshape(-1, got.shape[-1])[part]
    else:
        got = got.reshape(-1)[part]
    tolerance = 2e-4 if x.dtype == np.float32 else 1e-10
    scale = np.abs(want[np.isfinite(want)]).max(initial=1.0) if want.dtype.kind == "f" else 1.0
    np.testing.assert_allclose(got, want.reshape(got.shape), rtol=tolerance, atol=tolerance * 0.1 * scale)


@pytest.mark.parametrize("classes", [9, 200])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_infinite_cotangents_of_large_cross_entropies(dtype, classes):
    logits, labels = RNG.standard_normal((40000, classes)).astype(dtype), RNG.integers(0, classes, 40000)
    g = RNG.choice([0.0, -1.5, np.inf, -np.inf, np.nan], 40000).astype(dtype)

    def gradient(part):
        x = tf.constant(logits[part])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.sparse_softmax_cross_entropy_with_logits(labels[part], x)
        return tape.gradient(y, x, output_gradients=tf.constant(g[part])).numpy()

    large = gradient(slice(None))
    for part in (slice(0, 16), slice(39990, None)):
        np.testing.assert_allclose(large[part], gradient(part), rtol=1e-2 if dtype == "float16" else 1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("offset", [0.0, -36.0, 39.0, 60.0, -300.0])
def test_softmax_and_logsumexp_of_numbers_of_any_size(offset, dtype):
    whole = (RNG.standard_normal((300, 2, 200)) + offset).astype(dtype)
    for x in (whole, whole[::-1, :, ::2], whole.transpose(1, 0, 2), whole[..., :9]):
        top = x.astype(np.float64).max(-1, keepdims=True)
        e = np.exp(x - top)
        shares, g = e / e.sum(-1, keepdims=True), RNG.standard_normal(x.shape[:-1]).astype(dtype)
        t = tf.constant(x)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(t)
            y, softmax = tf.reduce_logsumexp(t, -1), tf.nn.softmax(t)
        epsilon = np.finfo(dtype).eps
        np.testing.assert_allclose(softmax, shares, rtol=20 * epsilon, atol=epsilon)
        wanted = np.log(e.sum(-1)) + top[..., 0]
        np.testing.assert_allclose(y, wanted, rtol=4 * epsilon, atol=8 * epsilon)
        gradient = tape.gradient(y, t, tf.constant(g))
        np.testing.assert_allclose(gradient, g[..., None] * shares, rtol=30 * epsilon, atol=epsilon)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int32"])
def test_cumulative_sums_of_even_and_odd_rows(dtype, reverse):
    whole = (RNG.standard_normal((150, 6, 82)) * 20).astype(dtype)
    for x in (whole, whole[..., :81], whole[::-1, :, ::-1], whole.transpose(1, 0, 2)[:, :, 2:], whole[0, 0, :2]):
        x, step = np.broadcast_to(x, (2, *x.shape)), -1 if reverse else 1
        wide = x.astype(np.result_type(dtype, np.float64))
        got = tf.cumsum(tf.constant(x), -1, reverse=reverse).numpy()
        wanted = np.cumsum(wide[..., ::step], -1)[..., ::step]
        tolerance = 20 * np.finfo(dtype).eps if dtype != "int32" else 0
        np.testing.assert_allclose(got, wanted, atol=tolerance * np.abs(wide).sum(-1).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumulative_sums_overflow_only_where_a_sum_in_order_does(dtype, reverse):
    large = np.finfo(dtype).max * 0.9
    x = RNG.standard_normal((400, 512)).astype(dtype)
    x[3, 100:103] = (-large, large, large) if not reverse else (large, large, -large)
    x[5, 200] = np.inf
    ordered = x[:, ::-1] if reverse else x
    want = np.cumsum(ordered, axis=1)[:, ::-1] if reverse else np.cumsum(ordered, axis=1)
    assert np.isfinite(want[3]).all()
    found = tf.cumsum(tf.constant(x), axis=1, reverse=reverse).numpy()
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-4)

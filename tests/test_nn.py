"""tf.nn beyond recorded values: kinks, higher derivatives, batches, parallel work, random masks."""

import numpy as np
import pytest
import scipy.special

import gradtape as tf
from gradtape.backends.numpy import blocks
from gradtape.engine.run.namespace import ops


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def _gradient(f, x, seed=None):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, seed).numpy()


def test_a_dead_unit_passes_nothing_not_even_infinity():
    x = tf.constant([-1.0, 0.0, 2.0])
    g = _gradient(tf.nn.relu, x, tf.constant([np.inf, np.nan, np.inf]))
    np.testing.assert_array_equal(g, [0, 0, np.inf])


@pytest.mark.parametrize(
    ("f", "at_zero"),
    [(tf.nn.relu, 0), (tf.nn.relu6, 0), (tf.nn.elu, 1), (tf.nn.leaky_relu, 0.2), (tf.nn.gelu, 0.5), (tf.nn.silu, 0.5)],
)
def test_derivative_at_zero(f, at_zero):
    np.testing.assert_allclose(_gradient(f, tf.constant(0.0)), at_zero, rtol=1e-6)


def test_max_pool_gives_a_tie_to_the_first():
    x = tf.constant([[[1.0], [1.0], [0.0], [0.0]]])
    np.testing.assert_array_equal(_gradient(lambda x: tf.nn.max_pool1d(x, 2, 2, "VALID"), x).ravel(), [1, 0, 1, 0])


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("groups", [1, 2])
def test_large_convolution_is_the_sum_of_its_products(rng, padding, groups):
    """Large enough to be parallelized and split into chunks."""
    x = rng.standard_normal((6, 40, 38, 8)).astype(np.float32)
    w = rng.standard_normal((3, 3, 8 // groups, 32)).astype(np.float32)
    y = tf.nn.conv2d(x, w, 1, padding).numpy()
    if padding == "SAME":
        x = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))  # (n, h, w, channels, 3, 3)
    for k in range(groups):
        part = windows[:, :, :, k * 8 // groups : (k + 1) * 8 // groups]
        out = slice(k * 32 // groups, (k + 1) * 32 // groups)
        np.testing.assert_allclose(y[..., out], np.einsum("nhwcij,ijco->nhwo", part, w[..., out]), rtol=1e-3, atol=1e-4)


def test_large_gradients_do_not_depend_on_the_number_of_cores(rng, monkeypatch):
    x, w = (tf.constant(rng.standard_normal(s)) for s in ((9, 30, 30, 4), (3, 3, 4, 16)))

    def gradients():
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME") + tf.ones(16, tf.float64)), 2, 2, "SAME")
            loss = tf.reduce_sum(y * y)
        return [g.numpy() for g in tape.gradient(loss, [x, w])]

    found = []
    for cores in (1, 2, 3):
        monkeypatch.setattr(blocks, "CORES", cores)
        found.append(gradients())
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_second_derivative_through_a_small_network(rng):
    """The Hessian-vector product of a convolutional loss is the numeric derivative of its gradient."""
    x, w, v = (rng.standard_normal(s) for s in ((2, 6, 6, 2), (3, 3, 2, 3), (3, 3, 2, 3)))
    labels = [0, 2]

    def gradient(w):
        w = tf.constant(w) if isinstance(w, np.ndarray) else w
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = tf.nn.avg_pool2d(tf.nn.silu(tf.nn.conv2d(x, w, 1, "VALID")), 4, 4, "VALID")
            loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.reshape(y, (2, 3))))
        return tape.gradient(loss, w)

    at = tf.constant(w)
    with tf.GradientTape() as outer:
        outer.watch(at)
        slope = tf.reduce_sum(gradient(at) * v)
    step = 1e-5
    numeric = (gradient(w + step * v).numpy() - gradient(w - step * v).numpy()) / (2 * step)
    np.testing.assert_allclose(outer.gradient(slope, at).numpy(), numeric, rtol=1e-5, atol=1e-7)


def test_jacobian_of_a_convolution_is_batched(rng):
    x, w = (tf.constant(rng.standard_normal(s)) for s in ((1, 4, 4, 1), (2, 2, 1, 2)))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(w)
        y = tf.nn.conv2d(x, w, 1, "VALID")
    by_rows = tape.jacobian(y, w).numpy()
    np.testing.assert_allclose(by_rows[0, 1, 2, 0, :, :, 0, 0], x.numpy()[0, 1:3, 2:4, 0])


def test_dropout_scales_what_it_keeps_and_its_gradient_is_the_mask():
    x = tf.ones((1000,))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.dropout(x, 0.25, seed=1)
    kept = y.numpy() > 0
    assert 0.7 < kept.mean() < 0.8
    np.testing.assert_allclose(y.numpy()[kept], 1 / 0.75)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), y.numpy())


def test_embedding_gradient_is_sparse():
    table = tf.Variable(np.ones((5, 2), np.float32))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.embedding_lookup(table, [3, 3, 1]))
    g = tape.gradient(y, table)
    assert isinstance(g, tf.IndexedSlices)
    np.testing.assert_array_equal(tf.convert_to_tensor(g).numpy()[:, 0], [0, 1, 0, 2, 0])


def test_softmax_cross_entropy_is_differentiated_rightly_when_labels_do_not_sum_to_one():
    labels, logits = np.array([[1.0, 2.0, 0.5]]), np.array([[0.1, -0.3, 0.7]])
    g = _gradient(lambda z: tf.nn.softmax_cross_entropy_with_logits(labels, z), tf.constant(logits))
    p = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(g, p * labels.sum() - labels)


def test_fractional_pooling_covers_the_image():
    x = tf.constant(np.arange(70.0).reshape(1, 10, 7, 1))
    for pseudo_random in (False, True):
        for overlapping in (False, True):
            y, rows, columns = tf.nn.fractional_max_pool(x, [1.0, 1.7, 1.4, 1.0], pseudo_random, overlapping, seed=3)
            assert y.shape == (1, 5, 5, 1) and (rows[0], rows[-1], columns[-1]) == (0, 10, 7)
            assert set(np.diff(rows.numpy())) <= {1, 2} or pseudo_random
            assert float(tf.reduce_max(y)) == 69
            mean, *_ = tf.nn.fractional_avg_pool(x, 1.5, pseudo_random, overlapping, seed=3)
            assert 0 <= float(tf.reduce_min(mean)) <= float(tf.reduce_max(mean)) <= 69


def test_fractional_means_of_integers_are_cut():
    x = np.arange(36).reshape(1, 6, 6, 1) - 9
    y, rows, columns = tf.nn.fractional_avg_pool(tf.constant(x), 1.5, True, True, seed=1)
    rows, columns = rows.numpy(), columns.numpy()
    for i in range(4):
        for j in range(4):
            region = x[0, rows[i] : rows[i + 1] + 1, columns[j] : columns[j + 1] + 1]
            assert int(y[0, i, j, 0]) == int(region.sum() / region.size)


def test_sampled_losses_draw_anew_in_every_run_of_a_function():
    w, b = tf.constant(np.sin(np.arange(60.0)).reshape(20, 3), tf.float32), tf.zeros(20)

    @tf.function
    def loss(labels, x):
        return tf.nn.sampled_softmax_loss(w, b, labels, x, num_sampled=4, num_classes=20)

    tf.random.set_seed(5)
    found = [loss(tf.constant([[k], [3]]), tf.ones((2, 3))).numpy().tolist() for k in (1, 1, 2, 0, 7)]
    assert found[0] != found[1] and loss.experimental_get_tracing_count() == 1
    tf.random.set_seed(5)
    assert loss(tf.constant([[1], [3]]), tf.ones((2, 3))).numpy().tolist() == found[0]


def test_convolution_of_a_view_whose_single_channel_has_any_step(rng):
    x, filters = rng.standard_normal((3, 1, 50)), rng.standard_normal((20, 1, 4))
    view = tf.transpose(tf.constant(x), (0, 2, 1))
    copy = tf.constant(np.array(x.transpose(0, 2, 1), order="C").reshape(3, 50, 1).copy())
    found, expected = (tf.nn.conv1d(y, filters, 5, "VALID").numpy() for y in (view, copy))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("size", [9, 1000, 40_000])
def test_gelu_is_accurate_in_relation_to_itself_far_below_zero(size):
    x = np.linspace(-12, 5, size).astype(np.float32)
    double = x.astype(np.float64)
    t = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = tf.nn.gelu(t)
    np.testing.assert_allclose(y, double * scipy.special.ndtr(double), rtol=2e-5)
    slope = scipy.special.ndtr(double) + double * np.exp(-(double**2) / 2) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(tape.gradient(y, t), slope, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_a_window_larger_by_one_than_the_image_is_nowhere(stride):
    x, strides = tf.ones([1, 4, 4, 1]), [1, stride, stride, 1]
    for y in (
        tf.nn.max_pool2d(x, 5, stride, "VALID"),
        tf.nn.avg_pool2d(x, 5, stride, "VALID"),
        tf.nn.conv2d(x, tf.ones([5, 5, 1, 1]), stride, "VALID"),
        tf.nn.dilation2d(x, tf.zeros([5, 5, 1]), strides, "VALID", "NHWC", [1, 1, 1, 1]),
    ):
        assert y.shape == (1, 0, 0, 1)


@pytest.mark.parametrize("padded", [0, 1])
def test_a_window_that_does_not_fit_is_an_error_in_a_function(padded):
    x, window = tf.ones([1, 4, 4, 1]), 5 + padded
    for f in (
        lambda: tf.nn.max_pool2d(x, window, 1, "VALID"),
        lambda: tf.nn.avg_pool2d(x, window, 1, "VALID"),
        lambda: tf.nn.conv2d(x, tf.ones([window, window, 1, 1]), 1, "VALID"),
    ):
        with pytest.raises(ValueError, match=f"Negative dimension size caused by subtracting {window} from 4"):
            tf.function(f)()
        assert tf.function(lambda: tf.nn.max_pool2d(x, window, 1, "SAME"))().shape == x.shape


@pytest.mark.parametrize("shape", [(3, 4), (6, 40, 300), (70000, 1)])
def test_layer_norm_and_its_derivatives_are_those_of_its_formula(shape):
    """Also if the rows are processed in blocks on all cores."""
    rng = np.random.default_rng(0)
    x, w = (tf.constant(rng.standard_normal(shape)) for _ in range(2))
    scale, shift = (tf.constant(rng.standard_normal(shape[-1:])) for _ in range(2))

    def formula(x, scale, shift):
        mean, variance = tf.reduce_mean(x, -1, keepdims=True), tf.math.reduce_variance(x, -1, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-3) * scale + shift

    def gradients(f):
        with tf.GradientTape() as tape:
            tape.watch([x, scale, shift])
            y = f(x, scale, shift)
            loss = tf.reduce_sum(y * w)
        return y, *tape.gradient(loss, [x, scale, shift])

    for y, known in zip(gradients(lambda *a: ops.layer_norm(*a, epsilon=1e-3)), gradients(formula), strict=True):
        np.testing.assert_allclose(y, known, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4, 5), (5, 40, 33, 16), (70001, 3)])
def test_batch_norm_and_its_derivatives_are_those_of_its_formula(shape):
    """Also if the channels are processed in blocks on all cores, and reproducibly."""
    rng = np.random.default_rng(0)
    x, w = (tf.constant(rng.standard_normal(shape) + 3) for _ in range(2))
    scale, offset = (tf.constant(rng.standard_normal(shape[-1:])) for _ in range(2))
    axes = list(range(len(shape) - 1))

    def batch_norm(x, scale, offset):
        return tf.nn.batch_normalization(x, *tf.nn.moments(x, axes), offset, scale, 1e-3)

    def formula(x, scale, offset):
        mean, variance = tf.reduce_mean(x, axes), tf.math.reduce_variance(x, axes)
        return (x - mean) / tf.sqrt(variance + 1e-3) * scale + offset

    def derivatives(f):
        with tf.GradientTape() as outer:
            outer.watch([x, scale, offset])
            with tf.GradientTape() as tape:
                tape.watch([x, scale, offset])
                y = f(x, scale, offset)
                loss = tf.reduce_mean(tf.sin(y) * w)
            first = tape.gradient(loss, [x, scale, offset])
            norms = sum(tf.reduce_sum(g * g) for g in first)
        return [y, *first, *outer.gradient(norms, [x, scale, offset])]

    found = derivatives(batch_norm)
    for y, known, again in zip(found, derivatives(formula), derivatives(batch_norm), strict=True):
        np.testing.assert_allclose(y, known, rtol=1e-9, atol=1e-9 * np.abs(known).max())
        np.testing.assert_array_equal(y, again)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 4), (64, 300), (300, 256), (4, 7, 5), (9, 70, 70)])
@pytest.mark.parametrize("by_rows", [False, True])
def test_normalization_has_derivatives_of_all_operands(shape, by_rows, dtype):
    """Mean and variance are operands of their own, though they are the moments of another operand."""
    rng = np.random.default_rng(sum(shape))
    axes = (len(shape) - 1,) if by_rows else tuple(range(len(shape) - 1))
    x, w = rng.standard_normal(shape) + 3, rng.standard_normal(shape)
    scale, offset = rng.random(shape[-1]) + 0.5, rng.standard_normal(shape[-1])
    given = [tf.constant(a, dtype) for a in (x, scale, offset)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(given)
        mean, variance = tf.nn.moments(given[0], axes, keepdims=True)
        y = tf.nn.batch_normalization(given[0], mean, variance, given[2], given[1], 1e-3)
        loss = tf.reduce_sum(y * tf.constant(w, dtype))
    found = [y, *tape.gradient(loss, [*given, mean, variance])]
    r = 1 / np.sqrt(x.var(axes, keepdims=True) + 1e-3)
    z, u, others = (x - x.mean(axes, keepdims=True)) * r, w * scale, tuple(range(len(shape) - 1))
    known = [
        z * scale + offset, r * (u - u.mean(axes, keepdims=True) - z * (u * z).mean(axes, keepdims=True)),
        (w * z).sum(others), w.sum(others), -(u * r).sum(axes), -0.5 * (u * z * r * r).sum(axes),
    ]  # fmt: skip
    for mine, right in zip(found, known, strict=True):
        size = max(1, np.abs(right).max())
        np.testing.assert_allclose(mine.numpy().reshape(right.shape) / size, right / size,
                                   atol=3e-5 if dtype == "float32" else 1e-10)  # fmt: skip


@pytest.mark.parametrize("axes", [(0,), (0, 1), (1,), (2,), (0, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_moments_of_small_and_of_large_arrays(axes, keepdims):
    for shape in ((2, 3, 4), (20, 30, 90)):
        x = np.random.default_rng(1).standard_normal(shape) * 3 + 5
        mean, variance = tf.nn.moments(tf.constant(x), axes, keepdims=keepdims)
        np.testing.assert_allclose(mean, x.mean(axes, keepdims=keepdims), rtol=1e-12)
        np.testing.assert_allclose(variance, x.var(axes, keepdims=keepdims), rtol=1e-10, atol=1e-12)


SPARSE_LABELS = np.array([0, 2, 1])
SPARSE_LOGITS = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [4.0, 0.0, 1.0]], np.float32)


def _slope():
    e = np.exp(SPARSE_LOGITS - SPARSE_LOGITS.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) - np.eye(3)[SPARSE_LABELS]


def test_a_persistent_tape_asks_a_sparse_cross_entropy_twice():
    z = tf.Variable(SPARSE_LOGITS)
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(SPARSE_LABELS, z)
    first = tape.gradient(loss, z)
    second = tape.gradient(loss, z, output_gradients=tf.constant([2.0, 0.0, -1.0]))
    np.testing.assert_allclose(first, _slope(), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(second, _slope() * [[2.0], [0.0], [-1.0]], rtol=1e-5, atol=1e-7)


def test_second_derivatives_of_a_sparse_cross_entropy():
    z = tf.Variable(SPARSE_LOGITS[0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(0, z)
        slope = inner.gradient(loss, z)
    p = np.exp(SPARSE_LOGITS[0]) / np.exp(SPARSE_LOGITS[0]).sum()
    np.testing.assert_allclose(outer.jacobian(slope, z), np.diag(p) - np.outer(p, p), rtol=1e-5, atol=1e-7)


def test_explicit_paddings_in_any_form():
    x, w = tf.ones((1, 5, 5, 2)), tf.ones((3, 3, 2, 1))
    pairs = [[0, 0], [1, 2], [0, 1], [0, 0]]
    expected = tf.nn.conv2d(tf.pad(x, pairs), w, 1, "VALID").numpy()
    for form in (pairs, tuple(map(tuple, pairs)), [list(map(np.int64, p)) for p in pairs], list(np.array(pairs))):
        assert (tf.nn.conv2d(x, w, 1, form).numpy() == expected).all()
    for wrong in ([[0, 0], [1, 2], [0, 1]], [[0, 0, 0]] * 4, [[0, 0], [-1, 0], [0, 1], [0, 0]], [[1, 0]] * 4):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            tf.nn.conv2d(x, w, 1, wrong)

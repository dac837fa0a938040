"""Every op and its gradient on a device, compared with the host; on PyTorch's CPU device without a GPU."""

import itertools

import numpy as np
import pytest
import scipy.special
import torch
from stand_in import MODULE, ON_GPU, on_host, replace_kernels

import gradtape as tf
from gradtape import ops
from gradtape.backends.arrays import combine_at, search_rows
from gradtape.backends.torch import library, windows
from gradtape.core.tensor import Tensor
from gradtape.engine.registry.devices import DeviceTensor, ops_of, send_to_device
from gradtape.engine.registry.op import registry
from gradtape.engine.run.namespace import raw
from gradtape.inspect.checks.opcheck import draw
from gradtape.ops.nn.patches import window_sizes

ops.load_all()
CASES = {f"{op.name}-{i}": (op, case) for op in registry.values() for i, case in enumerate(op.samples)}
# Ops that PyTorch cannot compute: SciPy's matrix functions, special functions that PyTorch lacks, and ops
# that read values.
BY_WAY_OF_HOST = {
    "banded_solve", "betainc", "check_numerics", "combined_boxes", "dawsn", "drawn_boxes", "expint", "expm",
    "fresnel_cos", "fresnel_sin", "isotonic", "logm", "lu", "random_bounded_normal", "random_box",
    "random_candidates",
    "random_gamma_grad", "random_weighted_candidates", "spence", "sqrtm", "suppressed_boxes",
    "suppressed_overlaps",
}  # fmt: skip


def tensors_of(op, case):
    return [Tensor(np.asarray(array)) for array in draw(op, case)]


def assert_same(got, expected, up_to_sign=False):
    got, expected = (x if isinstance(x, tuple) else (x,) for x in (got, expected))
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        assert a.dtype is b.dtype
        assert a.dims == b.dims
        if a.dtype is tf.string:
            assert np.asarray(a.numpy()).tolist() == np.asarray(b.numpy()).tolist()
            continue
        a, b = (np.abs(x.numpy()) if up_to_sign else np.asarray(x.numpy()) for x in (a, b))
        close = 1e-7 if ON_GPU else 1e-10
        np.testing.assert_allclose(a, b, rtol=close, atol=close)


@pytest.mark.parametrize(("op", "case"), CASES.values(), ids=CASES)
def test_op(op, case):
    """The value equals that of the host; the result is on the device."""
    given = tensors_of(op, case)
    with on_host():
        expected = op(*given, **case.attrs)
    there = [send_to_device(MODULE, x) for x in given]
    got = op(*there, **case.attrs)
    assert_same(got, expected, up_to_sign=op.name in ("eigh", "svd"))
    if any(isinstance(x, DeviceTensor) for x in there):
        for y in got if isinstance(got, tuple) else (got,):
            assert isinstance(y, DeviceTensor) or y.dtype is tf.string or op.name in BY_WAY_OF_HOST
        assert ON_GPU or (op.name in MODULE.by_way_of_host) <= (op.name in BY_WAY_OF_HOST)


@pytest.mark.parametrize(("op", "case"), CASES.values(), ids=CASES)
def test_gradient(op, case):
    """The gradient on the device equals that of the host."""
    if op.vjp is None or op.random:
        pytest.skip("it has no derivative")

    def gradients(given):
        sources = [x for i, x in enumerate(given) if x.dtype.is_floating and i not in op.nondifferentiable_args]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = op(*given, **case.attrs)
            targets = [t for t in (y if isinstance(y, tuple) else (y,)) if t.dtype.is_floating or t.dtype.is_complex]
            loss = sum([tf.reduce_sum(tf.abs(t * t)) for t in targets])
        return [tf.convert_to_tensor(g) for g in tape.gradient(loss, sources) if g is not None]

    host = tensors_of(op, case)
    if not any(x.dtype.is_floating for x in host):
        pytest.skip("it takes no floats")
    with on_host():
        expected = gradients(host)
    got = gradients([send_to_device(MODULE, x) for x in host])
    assert_same(tuple(got), tuple(expected))


@pytest.mark.parametrize("ufunc", ["add", "multiply", "maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int16", "int64", "complex128"])
@pytest.mark.parametrize("width", [(), (3,)])
def test_values_are_combined_at_repeated_rows(ufunc, dtype, width):
    if dtype == "complex128" and "imum" in ufunc:
        pytest.skip("complex numbers have no order")
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 5, 23)  # no 5, 6, 7
    array, values = (rng.integers(-4, 5, (n, *width)).astype(dtype) for n in (8, 23))
    if dtype.startswith("float"):
        values[2], array[1], array[6] = np.nan, -np.inf, -0.0
    if dtype == "float64":
        values[:3] = 1 + rng.random(values[:3].shape) * 1e-12  # indistinguishable in float32
    got = combine_at(MODULE.xp, ufunc, *map(MODULE.from_host, (array, rows, values)))
    expected = array.copy()
    with np.errstate(invalid="ignore"):
        getattr(np, ufunc).at(expected, rows, values)
    assert MODULE.numpy_dtype(got) == expected.dtype
    # A device sums in its own order, so cancellation leaves different remainders.
    close = {"rtol": 1e-15} if "imum" in ufunc else {"rtol": 2e-3, "atol": 1e-12}
    np.testing.assert_allclose(MODULE.to_host(got), expected, **close)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9])
def test_rows_are_searched(side, size):
    rng = np.random.default_rng(0)
    rows, values = np.sort(rng.integers(0, 6, (3, size))), rng.integers(-1, 7, (3, 11))
    got = search_rows(MODULE.xp, MODULE.from_host(rows), MODULE.from_host(values), side)
    assert MODULE.to_host(got).tolist() == search_rows(np, rows, values, side).tolist()


def _geometries():
    """Yields images, windows, strides, paddings and dilations of one to three axes, some in several chunks."""
    rng = np.random.default_rng(0)
    while True:
        rank = rng.integers(1, 4)
        space, window, strides, dilations = (tuple(rng.integers(1, n, rank).tolist()) for n in (8, 4, 4, 3))
        if rng.random() < 0.5:
            strides = dilations = (1,) * rank
        paddings = tuple(map(tuple, rng.integers(0, 3, (rank, 2)).tolist()))
        sizes = window_sizes(space, window, strides, paddings, dilations)
        if min(sizes) > 0:
            yield rng, space, sizes, window, {"strides": strides, "paddings": paddings, "dilations": dilations}


def _assert_same_on_device(op, *arrays, **attrs):
    expected = op.kernel(np, *arrays, **attrs)
    got = MODULE.to_host(op.kernel(MODULE.xp, *map(MODULE.from_host, arrays), **attrs))
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
    return expected


def test_convolutions_of_any_geometry():
    for rng, space, sizes, window, attrs in itertools.islice(_geometries(), 60):
        groups, channels, outputs = rng.integers(1, 4, 3).tolist()
        attrs = {**attrs, "groups": groups}
        x, a = (rng.normal(size=(3, *s, groups * n)) for s, n in ((space, channels), (sizes, outputs)))
        w = rng.normal(size=(*window, channels, groups * outputs))
        _assert_same_on_device(registry["conv"], x, w, **attrs)
        _assert_same_on_device(registry["conv_input"], a, w, size=space, **attrs)
        _assert_same_on_device(registry["conv_filter"], x, a, size=window, **attrs)


def test_gradients_of_convolutions_in_either_argument():
    """The library computes the cotangents that are needed, and the rule those of geometries that it does not cover."""
    for rng, space, sizes, window, attrs in itertools.islice(_geometries(), 60):
        groups, channels, outputs = rng.integers(1, 4, 3).tolist()
        attrs = {**attrs, "groups": groups}
        x, a = (rng.normal(size=(3, *s, groups * n)) for s, n in ((space, channels), (sizes, outputs)))
        w = rng.normal(size=(*window, channels, groups * outputs))
        for op, arrays, more in ((registry["conv"], (x, w), {}), (registry["conv_input"], (a, w), {"size": space})):
            g = op.kernel(np, *arrays, **attrs, **more)
            tensors = [Tensor(array) for array in arrays]
            expected = op.vjp_raw(raw, g, op.keep(tensors, None, attrs), (0, 1))
            there = [send_to_device(MODULE, x) for x in tensors]
            for parents in ((0, 1), (0, -1), (-1, 1)):
                saved = op.keep(there, None, attrs)
                found = op.vjp_device(ops_of(MODULE), MODULE.from_host(g), saved, parents)
                for cotangent, value, parent in zip(found, expected, parents, strict=True):
                    assert (cotangent is None) == (parent < 0)
                    if parent >= 0:
                        np.testing.assert_allclose(MODULE.to_host(cotangent), value, rtol=1e-9, atol=1e-9)


def test_a_convolution_uses_the_filter_that_was_assigned_last(gpu):
    x, w = tf.ones([1, 3, 3, 2]), tf.Variable(tf.ones([2, 2, 2, 3]))
    for step in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.conv2d(x, w, 1, "VALID")
        assert y.numpy().max() == 8.0 * (step + 1)
        assert tape.gradient(y, x).numpy().max() == 12.0 * (step + 1)
        w.assign_add(tf.ones([2, 2, 2, 3]))


def test_pooling_of_any_geometry():
    for rng, space, _, window, attrs in itertools.islice(_geometries(), 60):
        attrs = {**attrs, "window": window}
        x = rng.integers(0, 4, (2, *space, 3)).astype(float)  # some are equal
        x[0, ..., 0] = np.nan
        top = _assert_same_on_device(registry["max_pool"], x, **attrs)
        place = _assert_same_on_device(registry["max_pool_place"], x, top, **attrs)
        g = rng.normal(size=top.shape)
        _assert_same_on_device(registry["max_pool_back"], g, place, size=space, **attrs)
        _assert_same_on_device(registry["max_pool_pick"], x, place, **attrs)
        _assert_same_on_device(registry["window_sum"], x, **attrs)
        _assert_same_on_device(registry["window_spread"], g, size=space, **attrs)


@pytest.mark.parametrize("pool", [tf.nn.max_pool1d, tf.nn.max_pool3d])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_maxima_of_halves_are_padded(gpu, pool, dtype):
    shape = (1, 5, 3) if pool is tf.nn.max_pool1d else (1, 5, 4, 3, 2)
    x = tf.cast(-1.0 - np.arange(np.prod(shape)).reshape(shape), dtype)
    there = pool(x, 3, 2, "SAME")
    with tf.device("/CPU:0"):
        assert there.numpy().tolist() == pool(x.cpu(), 3, 2, "SAME").numpy().tolist()


class OnCuda(torch.Tensor):
    """A tensor on the CPU that kernels take for one on CUDA."""

    is_cuda = True


def test_a_kernel_of_cuda_that_ignores_paddings_is_not_given_any(monkeypatch):
    def kernel(name):
        def checked(g, image, window, strides, paddings, *options):
            assert not any(paddings)
            return function(g, image, window, strides, paddings, *options)

        function = library.aten(name)
        return checked

    monkeypatch.setattr(windows, "aten", kernel)
    for rng, space, sizes, window, attrs in itertools.islice(_geometries(), 60):
        g = rng.normal(size=(2, *sizes, 3))
        attrs = {**attrs, "window": window, "size": space}
        y = windows._window_spread(torch, torch.from_numpy(g).as_subclass(OnCuda), **attrs)
        if y is not None:
            np.testing.assert_allclose(y.numpy(), registry["window_spread"].kernel(np, g, **attrs), rtol=1e-9)


@pytest.mark.parametrize("channels", [1, 2])
def test_maxima_of_one_channel_have_the_layout_that_cuda_supports(monkeypatch, channels):
    layouts = []

    def noted(image, *options):
        layouts.append(image.stride(1) == 1)
        return kernel(image, *options)

    kernel = torch._C._nn.max_pool2d_with_indices
    monkeypatch.setattr(torch._C._nn, "max_pool2d_with_indices", noted)
    x = torch.zeros(2, 3, 3, channels)
    attrs = {"window": (2, 2), "strides": (2, 2), "paddings": ((0, 0), (0, 0)), "dilations": (1, 1)}
    windows._max_pool(torch, x, **attrs)
    assert layouts == [channels > 1]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("approximate", [False, True])
def test_gelu_is_accurate_in_relation_to_itself_far_below_zero(gpu, approximate, dtype):
    double = np.linspace(-4 if dtype == "float16" else -8, 6, 81)  # below -4, float16 is subnormal
    x = tf.cast(tf.constant(double), dtype)
    double = np.asarray(x, np.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.gelu(x, approximate)
    if approximate:
        share = scipy.special.expit(1.5957691216057308 * (double + 0.044715 * double**3))
        bell = share * (1 - share) * 1.5957691216057308 * (1 + 0.134145 * double**2)
    else:
        share, bell = scipy.special.ndtr(double), np.exp(-(double**2) / 2) / np.sqrt(2 * np.pi)
    close = {"float64": 1e-12, "float32": 2e-5, "float16": 4e-3, "bfloat16": 2e-2}[dtype]
    np.testing.assert_allclose(np.asarray(y, np.float64), double * share, rtol=close)
    slope = np.asarray(tape.gradient(y, x), np.float64)
    np.testing.assert_allclose(slope, share + double * bell, rtol=close, atol=close / 4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("f", [tf.nn.gelu, tf.nn.leaky_relu, tf.nn.selu, tf.math.ndtri, tf.math.bessel_i1, tf.math.erf])
def test_halves_stay_halves(gpu, f, dtype):
    x = tf.cast(tf.constant([0.25, 0.5]), dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    gradient = tape.gradient(y, x)
    assert y.dtype.name == MODULE.numpy_dtype(y.buffer).name == dtype
    assert gradient.dtype.name == MODULE.numpy_dtype(gradient.buffer).name == dtype


def test_what_the_library_lacks_is_computed_on_the_host_and_said_once(gpu, caplog):
    MODULE.by_way_of_host.discard("expm")
    MODULE.kernels.clear()
    x = tf.constant([[0.0, 1.0], [0.0, 0.0]])
    for _ in range(2):
        assert tf.linalg.expm(x).numpy().tolist() == [[1.0, 1.0], [0.0, 1.0]]
    assert sum("expm" in record.message for record in caplog.records) == 1


def test_a_dtype_that_the_library_refuses_is_no_reason_to_compute_others_on_the_host(gpu, monkeypatch):
    seen = []

    def exp(x):
        seen.append(MODULE.numpy_dtype(x).name)
        if MODULE.numpy_dtype(x) != np.float32:
            raise TypeError(f"no exp of {x.dtype}")
        return MODULE.xp.exp(x)

    replace_kernels(monkeypatch, "exp", exp)
    for dtype in ("float64", "float32", "float64", "float16", "float32", "float16"):
        assert tf.exp(tf.zeros([2], dtype)).numpy().tolist() == [1.0, 1.0]
    assert seen.count("float32") == 2
    MODULE.by_way_of_host.discard("exp")


def test_a_formula_that_takes_one_launch_is_not_computed_in_steps():
    def in_one_launch(labels, logits):
        return None

    assert MODULE.kernels_of("sigmoid_cross_entropy", in_one_launch).of_floats is in_one_launch


def test_bad_arguments_are_the_users_not_the_librarys(gpu):
    before = set(MODULE.by_way_of_host)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    assert MODULE.by_way_of_host == before


def test_random_numbers_are_those_of_the_host(gpu):
    tf.random.set_seed(3)
    there = tf.random.normal([4]).numpy()
    with tf.device("/CPU:0"):
        tf.random.set_seed(3)
        here = tf.random.normal([4]).numpy()
    assert there.tolist() == here.tolist()


def test_large_draws_are_made_there(gpu):
    tf.random.set_seed(1)
    there = tf.random.normal([300, 300])
    assert "GPU:0" in there.device
    with tf.device("/CPU:0"):
        tf.random.set_seed(1)
        np.testing.assert_allclose(there.numpy(), tf.random.normal([300, 300]).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(not ON_GPU, reason="PyTorch's CPU device raises")
def test_a_label_out_of_range_is_not_a_number_on_a_gpu(gpu):
    """As on TensorFlow's GPUs: raising would wait for the device."""
    logits = tf.constant(np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4))
    labels = tf.constant([1, 7, 3], tf.int64)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    gradient = tape.gradient(loss, logits)
    assert np.isnan(loss.numpy()).tolist() == [False, True, False]
    assert np.isnan(gradient.numpy()).all(axis=1).tolist() == [False, True, False]


@pytest.mark.skipif(not ON_GPU, reason="the host raises")
def test_indices_out_of_range_do_not_end_the_use_of_a_gpu(gpu):
    x = tf.Variable(np.arange(6.0, dtype=np.float32).reshape(3, 2))
    rows = tf.constant([0, 5, -7], tf.int64)
    with tf.GradientTape() as tape:
        taken = tf.gather(x, rows)
    tf.convert_to_tensor(tape.gradient(taken, x)).numpy()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.tensor_scatter_nd_update(x, [[1], [9]], [[7.0, 7.0], [8.0, 8.0]])
    assert (x + 1).numpy().tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize("alpha", [None, -0.5, 0.0, 0.2, 1.5])
def test_leaky_relu_and_elu_at_their_kinks(gpu, dtype, alpha):
    """As TensorFlow's kernels: at 0 the slope of `leaky_relu` is alpha, and NaN takes the branch of its kernel."""
    x = tf.constant([-1.0, -0.0, 0.0, 2.0, np.nan, -1.0], dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.elu(x) if alpha is None else tf.nn.leaky_relu(x, alpha)
    gradient = tape.gradient(y, x, tf.constant([1.0, 1.0, 1.0, 1.0, 1.0, np.inf], dtype))
    slopes = [np.exp(-1.0), 1.0, 1.0, 1.0, 1.0, np.inf]
    if alpha is not None:
        slopes = [alpha, alpha, alpha, 1.0, alpha, alpha * np.inf if alpha else np.nan]
    below = np.expm1(-1.0) if alpha is None else -alpha
    close = {"bfloat16": 1e-2, "float16": 1e-3}.get(dtype, 1e-6)
    np.testing.assert_allclose(tf.cast(y, tf.float64).numpy(), [below, 0.0, 0.0, 2.0, np.nan, below], close)
    np.testing.assert_allclose(tf.cast(gradient, tf.float64).numpy(), slopes, close)


def test_the_gradient_of_a_relu_of_nan_is_zero(gpu):
    x = tf.constant([np.nan, -1.0, 0.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.relu(x)
    assert tape.gradient(y, x, tf.constant([3.0, np.inf, np.inf, 5.0])).numpy().tolist() == [0.0, 0.0, 0.0, 5.0]


def test_moments_and_batch_norms_of_many_numbers(gpu):
    x = np.random.default_rng(0).normal(3.0, [0.1, 1.0, 10.0, 0.0], (64, 64, 64, 4)).astype(np.float32)
    for keepdims in (False, True):
        mean, variance = tf.nn.moments(tf.constant(x), [0, 1, 2], keepdims=keepdims)
        assert mean.shape == variance.shape == ((1, 1, 1, 4) if keepdims else (4,))
        np.testing.assert_allclose(tf.reshape(mean, [4]).numpy(), x.mean((0, 1, 2), np.float64), rtol=1e-5)
        np.testing.assert_allclose(tf.reshape(variance, [4]).numpy(), x.var((0, 1, 2), np.float64), rtol=1e-4)


def test_a_batch_norm_uses_the_variance_that_was_assigned_last(gpu):
    x, ones, variance = tf.fill([2, 3], 8.0), tf.ones(3), tf.Variable(tf.ones(3))
    for value in (1.0, 4.0, 16.0):
        variance.assign(tf.fill([3], value))
        for epsilon in (0.0, 9.0 * value):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.nn.batch_normalization(x, tf.zeros(3), variance, None, ones, epsilon)
            slope = (value + epsilon) ** -0.5
            np.testing.assert_allclose(y.numpy(), np.full((2, 3), 8.0 * slope), rtol=1e-6)
            np.testing.assert_allclose(tape.gradient(y, x).numpy(), np.full((2, 3), slope), rtol=1e-6)
        variance.assign_add(ones)


@pytest.mark.parametrize("shape", [None, (3, -1, 4), (-1, 4)])
def test_batch_norms_of_convolutions(gpu, shape):
    """The kernels share the layout of images with channels first."""
    rng = np.random.default_rng(0)
    values = [rng.normal(size=s) for s in ((3, 6, 6, 2), (3, 3, 2, 4), (4,), (4,), (2, 2, 4, 4))]

    def results(persistent):
        sources = x, w, scale, shift, last = [tf.Variable(tf.constant(a)) for a in values]
        with tf.GradientTape(persistent=persistent) as tape:
            y = tf.nn.conv2d(x, w, 2, "SAME")
            y = y if shape is None else tf.reshape(y, shape)
            mean, variance = tf.nn.moments(y, range(len(y.shape) - 1))
            z = tf.nn.batch_normalization(y, mean, variance, shift, scale, 1e-3)
            u = tf.nn.conv2d(tf.reshape(z, (3, 3, 3, 4)), last, 1, "SAME")
            loss = tf.reduce_sum(tf.nn.relu(z) ** 2) + tf.reduce_sum(tf.sin(y)) + tf.reduce_sum(u**2)
            inner = tape.gradient(loss, sources) if persistent else []
            norm = sum(tf.reduce_sum(g * g) for g in inner)
        gradients = tape.gradient(norm if persistent else loss, sources)
        return [a.numpy() for a in (z, u, *gradients)]

    for persistent in (False, True):
        found = results(persistent)
        with tf.device("/CPU:0"):
            expected = results(persistent)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, 1e-8, 1e-8)


def test_gradients_of_batch_norms_use_the_deviation(gpu):
    """The kernels of the host and of a GPU read different arguments: the variance, or the inverse deviation."""
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(4, 3, 5)) * [0.1, 1.0, 3.0, 7.0, 20.0], rng.normal(size=(4, 3, 5))

    def gradients():
        sources = [tf.constant(a, tf.float64) for a in (x, np.full(5, 2.0), np.zeros(5))]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            mean, variance = tf.nn.moments(sources[0], [0, 1])
            y = tf.nn.batch_normalization(sources[0], mean, variance, sources[2], sources[1], 1e-3)
            loss = tf.reduce_sum(y * tf.constant(weight, tf.float64))
        return [g.numpy() for g in tape.gradient(loss, sources)]

    found = gradients()
    with tf.device("/CPU:0"):
        expected = gradients()
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("f", [tf.atan2, tf.math.xlogy, tf.math.floordiv, tf.math.floormod, tf.math.igamma])
def test_kernels_that_read_no_numbers_get_scalars_as_tensors(f):
    with on_host():
        x, s = tf.constant([[1.0, 2.0], [3.0, 4.5]]), tf.constant(2.0)
        there = send_to_device(MODULE, x)
        for found, expected in ((f(there, s), f(x, s)), (f(s, there), f(s, x))):
            assert type(found) is DeviceTensor
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
    assert ON_GPU or not MODULE.by_way_of_host

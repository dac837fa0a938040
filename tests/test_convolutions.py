"""Convolutions and max pooling agree with loops over offsets; large arrays, threads, forks and signals."""

import math
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape.backends import tuning
from gradtape.backends.numpy import blocks
from gradtape.ops.nn import convolution, patches
from gradtape.ops.nn import pooling as pooling_ops


@pytest.fixture(params=["at once", "in parts", "planes", "shifts"])
def parts(request, monkeypatch):
    """Computes small samples at once, or in blocks of one row and on several cores, as large ones, in every layout."""
    if request.param == "at once":
        return
    for name in ("PATCHES", "LARGE", "SMALL_PRODUCT"):
        monkeypatch.setattr(patches, name, 1)
    monkeypatch.setattr(patches, "PLANES", 1000 if request.param == "planes" else 1)
    monkeypatch.setattr(patches, "SHIFTS", 1 if request.param == "shifts" else 1000)
    monkeypatch.setattr(blocks, "LARGE", 1)
    monkeypatch.setattr(blocks, "CORES", 3)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def assert_close(y, expected, dtype=np.float32):
    assert y.dtype == dtype and y.shape == expected.shape
    scale = np.abs(expected).max(initial=1)
    np.testing.assert_allclose(y / scale, expected / scale, rtol=0, atol=2e-6 if dtype == np.float32 else 2e-3)


@pytest.mark.parametrize("f", [tf.tanh, tf.sigmoid, lambda x: x * x + 0.3])
def test_the_same_call_gives_the_same_bits(f):
    x = tf.constant(normal(tuning.LARGE + 29))
    runs = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        runs.append((y.numpy().tobytes(), tape.gradient(y, x).numpy().tobytes()))
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize("size", [tuning.LARGE - 1, tuning.LARGE + 5])
def test_a_formula_of_large_arrays_and_its_gradient(size):
    x = normal(size)

    def gradient(dtype):
        t = tf.constant(x.astype(dtype))
        with tf.GradientTape() as tape:
            tape.watch(t)
            y = 0.5 * tf.tanh(t) * t + tf.sigmoid(t) - 0.25 * t * t
        return tape.gradient(y, t).numpy()

    for _ in range(3):
        np.testing.assert_allclose(gradient(np.float32), gradient(np.float64), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("size", [100, tuning.LARGE + 9, 1 << 20])
def test_a_variable_is_updated_whatever_its_size(size):
    x, delta = normal(size), normal(size, seed=1)
    v = tf.Variable(x)
    before = v.value()
    for _ in range(3):
        v.assign_sub(tf.constant(delta))
    np.testing.assert_array_equal(v.numpy(), x - delta - delta - delta)
    np.testing.assert_array_equal(before.numpy(), x)


def test_a_product_knows_nothing_of_what_was_computed_before():
    a, b = tf.constant(normal(200, 300)), tf.constant(normal(300, 130))
    before = (a @ b).numpy().tobytes()
    for _ in range(2):
        tf.nn.conv2d(tf.constant(normal(16, 32, 32, 8)), tf.constant(normal(3, 3, 8, 16)), 1, "SAME")
        assert (a @ b).numpy().tobytes() == before


def attrs(strides=(1, 1), paddings=((0, 0), (0, 0)), dilations=(1, 1), groups=1):
    return {"strides": strides, "paddings": paddings, "dilations": dilations, "groups": groups}


CONVOLUTIONS = {
    "valid": ((2, 6, 5, 3), (3, 3, 3, 4), attrs()),
    "same": ((2, 6, 5, 3), (3, 3, 3, 4), attrs(paddings=((1, 1), (1, 1)))),
    "uneven padding": ((2, 6, 5, 3), (2, 2, 3, 4), attrs(paddings=((0, 1), (2, 1)))),
    "strides": ((2, 9, 8, 3), (3, 2, 3, 4), attrs(strides=(2, 3))),
    "strides that leave a rest": ((2, 10, 9, 3), (3, 3, 3, 4), attrs(strides=(3, 2), paddings=((1, 0), (0, 1)))),
    "dilations": ((2, 9, 8, 3), (3, 2, 3, 4), attrs(dilations=(2, 3))),
    "wide padding": ((1, 3, 3, 2), (2, 2, 2, 3), attrs(paddings=((3, 3), (2, 4)))),
    "groups": ((2, 6, 6, 4), (3, 3, 2, 6), attrs(groups=2)),
    "depthwise": ((2, 6, 6, 4), (3, 3, 1, 4), attrs(groups=4)),
    "depthwise, two filters": ((2, 6, 6, 4), (3, 3, 1, 8), attrs(groups=4, strides=(2, 2))),
    "many channels": ((3, 8, 8, 32), (3, 3, 32, 64), attrs(paddings=((1, 1), (1, 1)))),
    "fewer outputs": ((3, 5, 4, 32), (3, 3, 32, 8), attrs(paddings=((1, 1), (1, 1)))),
    "one channel": ((3, 8, 8, 1), (3, 3, 1, 32), attrs(paddings=((1, 1), (1, 1)))),
    "pointwise": ((2, 5, 5, 16), (1, 1, 16, 8), attrs()),
    "pointwise, strides": ((2, 5, 6, 16), (1, 1, 16, 8), attrs(strides=(2, 2))),
    "line": ((2, 9, 3), (3, 3, 4), attrs((2,), ((1, 1),), (1,))),
    "volume": ((1, 4, 5, 6, 2), (2, 3, 2, 2, 3), attrs((1, 2, 1), ((0, 0), (1, 1), (0, 1)), (1, 1, 2))),
    "no example": ((0, 6, 6, 3), (3, 3, 3, 4), attrs()),
    "no position": ((2, 2, 2, 3), (3, 3, 3, 4), attrs()),
    "no channel": ((2, 4, 4, 0), (3, 3, 0, 4), attrs()),
}


def loops(x, w, strides, paddings, dilations, groups):
    """Returns for each offset of the window: its filter, and the key and the values under it in the padded image."""
    x = np.pad(x, ((0, 0), *paddings, (0, 0)))
    window = w.shape[:-2]
    spans = [(n - 1) * d + 1 for n, d in zip(window, dilations, strict=True)]
    sizes = [max(0, (n - r) // s + 1) for n, r, s in zip(x.shape[1:-1], spans, strides, strict=True)]
    for offset in np.ndindex(*window):
        rows = [np.arange(n) * s + k * d for n, s, k, d in zip(sizes, strides, offset, dilations, strict=True)]
        key = (slice(None), *np.ix_(*rows))
        yield w[offset], key, x[key].reshape(x.shape[0], *sizes, groups, x.shape[-1] // groups)


def obvious(x, w, g, strides, paddings, dilations, groups):
    """Returns the convolution and its derivatives for image and filter."""
    attributes = attrs(strides, paddings, dilations, groups)
    x, w = x.astype(np.float64), w.astype(np.float64)
    y, dw = 0, []
    dx = np.zeros([x.shape[0], *(n + sum(p) for n, p in zip(x.shape[1:-1], paddings, strict=True)), x.shape[-1]])
    for v, key, values in loops(x, w, **attributes):
        v = v.reshape(v.shape[0], groups, v.shape[1] // groups)
        y = y + np.einsum("...gc,cgo->...go", values, v).reshape(*values.shape[:-2], w.shape[-1])
        split = np.asarray(g, np.float64).reshape(*values.shape[:-1], w.shape[-1] // groups)
        dx[key] += np.einsum("...go,cgo->...gc", split, v).reshape(*split.shape[:-2], x.shape[-1])
        flat = [a.reshape(math.prod(a.shape[:-2]), *a.shape[-2:]) for a in (values, split)]
        dw.append(np.einsum("pgc,pgo->cgo", *flat).reshape(w.shape[-2:]))
    inside = tuple(slice(p[0], p[0] + n) for n, p in zip(x.shape[1:-1], paddings, strict=True))
    return y, dx[(slice(None), *inside)], np.reshape(dw, w.shape)


def check_convolution(x, w, attributes, dtype=np.float32):
    y = convolution.conv.numpy(x, w, **attributes)
    g = normal(*y.shape, seed=2).astype(dtype)
    expected, dx, dw = obvious(x, w, g, **attributes)
    assert_close(y, expected, dtype)
    assert_close(convolution.conv_input.numpy(g, w, size=x.shape[1:-1], **attributes), dx, dtype)
    assert_close(convolution.conv_filter.numpy(x, g, size=w.shape[:-2], **attributes), dw, dtype)


@pytest.mark.parametrize(("x", "w", "attributes"), CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_convolutions(x, w, attributes, parts):
    check_convolution(normal(*x), normal(*w, seed=1), attributes)


def test_random_convolutions(parts):
    rng = np.random.default_rng(0)
    for case in range(60):
        axes = int(rng.integers(1, 3))
        groups, window = int(rng.choice([1, 1, 2, 3])), tuple(map(int, rng.integers(1, 4, axes)))
        channels, outputs = (int(n) * groups for n in rng.choice([1, 2, 5, 16], 2))
        attributes = attrs(
            tuple(map(int, rng.integers(1, 3, axes))), tuple(tuple(map(int, p)) for p in rng.integers(0, 3, (axes, 2))),
            tuple(map(int, rng.choice([1, 1, 2], axes))), groups,
        )  # fmt: skip
        x = normal(int(rng.integers(1, 4)), *map(int, rng.integers(5, 9, axes)), channels, seed=case)
        check_convolution(x, normal(*window, channels // groups, outputs, seed=case + 1), attributes)


def test_convolutions_of_half():
    x, w, attributes = CONVOLUTIONS["same"]
    x, w = (tf.constant(normal(*shape).astype(np.float16)) for shape in (x, w))
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = convolution.conv(x, w, **attributes)
    expected = obvious(x.numpy(), w.numpy(), np.ones(y.shape), **attributes)
    for found, wanted in zip([y, *tape.gradient(y, [x, w])], expected, strict=True):
        assert_close(found.numpy(), wanted, np.float16)


def test_infinities_and_nans_stay():
    x, w = normal(1, 6, 6, 2), normal(3, 3, 2, 4)
    x[0, 0, 0, 0] = np.nan
    y = convolution.conv.numpy(x, w, **attrs())
    assert np.isnan(y[0, 0, 0]).all() and np.isfinite(y[0, 1:]).all()


def test_windows_that_do_not_fit_raise():
    with pytest.raises(ValueError, match="5 windows of 3 at a stride of 1 do not fit into 6 places"):
        convolution.conv_filter.numpy(normal(2, 6, 6, 3), normal(2, 5, 4, 4), size=(3, 3), **attrs())
    with pytest.raises(ValueError, match="do not fit"):
        convolution.conv_input.numpy(normal(2, 5, 5, 4), normal(3, 3, 3, 4), size=(6, 6), **attrs())


def test_forms_of_strides_and_paddings():
    rng = np.random.default_rng(5)
    x, w = rng.normal(size=(2, 6, 7, 2)).astype("f"), rng.normal(size=(3, 2, 2, 4)).astype("f")
    pairs = [[0, 0], [1, 0], [2, 1], [0, 0]]
    expected = tf.nn.conv2d(x, w, (2, 3), pairs).numpy()
    for strides in ([2, 3], [1, 2, 3, 1], np.array([2, 3]), tf.constant([2, 3]), [np.int64(2), 3]):
        for padding in (pairs, tuple(map(tuple, pairs)), np.array(pairs), tf.constant(pairs)):
            np.testing.assert_array_equal(tf.nn.conv2d(x, w, strides, padding), expected)
    for _ in range(2):  # an error is not cached
        with pytest.raises(ValueError, match=r"strides=\[1, 2, 3\]"):
            tf.nn.conv2d(x, w, [1, 2, 3], "SAME")
        with pytest.raises(tf.errors.InvalidArgumentError, match="filters must have 4 dimensions"):
            tf.nn.conv2d(x, w[0], 1, "SAME")


@pytest.mark.parametrize("strides", [{1: 2}, [True, 2, 2, True], iter([1, 1])])
def test_strides_are_refused_whatever_was_convolved_before(strides):
    x, w = tf.ones((1, 4, 4, 1)), tf.ones((2, 2, 1, 1))
    tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME")
    with pytest.raises(ValueError, match="Tensor"):
        tf.nn.conv2d(x, w, strides, "SAME")


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_filters_of_each_member_of_a_batch(parts, groups):
    x, b = normal(3, 2, 7, 6, 4), normal(3, 2, 4, 6, 8, seed=1)
    attributes = {**attrs((2, 1), ((1, 1), (1, 1))), "groups": groups}
    w = normal(3, 3, 4 // groups, 8)
    expected = np.stack([obvious(*both, **attributes)[2] for both in zip(x, [w] * 3, b, strict=True)])
    assert_close(convolution.conv_filters.numpy(x, b, size=(3, 3), **attributes), expected)


def test_images_of_other_layouts(parts):
    check_convolution(
        normal(2, 3, 6, 5).transpose(0, 2, 3, 1), normal(3, 3, 3, 4, seed=1), attrs(paddings=((1, 1), (1, 1)))
    )
    check_convolution(np.asfortranarray(normal(2, 6, 5, 4)), normal(3, 3, 3, 4).transpose(0, 1, 3, 2), attrs())


def windows(window, strides, paddings=((0, 0), (0, 0))):
    return {"window": window, "strides": strides, "paddings": paddings, "dilations": (1,) * len(window)}


POOLINGS = {
    "tiles": ((2, 6, 4, 3), windows((2, 2), (2, 2))),
    "a rest": ((2, 7, 5, 16), windows((2, 2), (2, 2))),
    "overlap": ((2, 7, 6, 5), windows((3, 2), (2, 1), ((1, 1), (0, 1)))),
    "gaps": ((2, 9, 9, 32), windows((2, 2), (3, 4))),
    "wide": ((1, 20, 20, 2), windows((17, 16), (1, 1))),
    "line": ((2, 9, 3), windows((3,), (2,), ((1, 1),))),
    "volume": ((1, 4, 5, 6, 2), windows((2, 3, 2), (2, 2, 2), ((0, 0), (1, 1), (0, 0)))),
}


def obvious_maxima(x, g, window, strides, paddings, dilations):
    """Returns the maxima, their offsets in the windows, and the derivative for the image."""
    x = np.pad(x, ((0, 0), *paddings, (0, 0)), constant_values=-np.inf)
    steps = loops(x, np.zeros((*window, 1, 1)), strides, ((0, 0),) * len(window), dilations, 1)
    keys, values = zip(*[(key, v[..., 0, :]) for _, key, v in steps], strict=True)
    place, dx = np.argmax(values, axis=0), np.zeros(x.shape)
    for i, key in enumerate(keys):
        dx[key] += np.where(place == i, g, 0)
    inside = tuple(slice(p[0], n - p[1]) for p, n in zip(paddings, x.shape[1:-1], strict=True))
    return np.max(values, axis=0), place, dx[(slice(None), *inside)]


@pytest.mark.parametrize(("shape", "attributes"), POOLINGS.values(), ids=POOLINGS)
def test_maxima_with_ties(shape, attributes, parts):
    x = np.round(normal(*shape))
    top = pooling_ops.max_pool.numpy(x, **attributes)
    g = normal(*top.shape, seed=1)
    expected, places, dx = obvious_maxima(x, g, **attributes)
    np.testing.assert_array_equal(top, expected)
    place = pooling_ops.max_pool_place.numpy(x, top, **attributes)
    np.testing.assert_array_equal(place, places)
    assert_close(pooling_ops.max_pool_back.numpy(g, place, size=shape[1:-1], **attributes), dx)
    both = pooling_ops.max_pool_and_place(x, **attributes)
    np.testing.assert_array_equal(both[0], expected)
    np.testing.assert_array_equal(both[1], places)


@pytest.mark.parametrize("special", [np.nan, -np.inf, np.inf])
def test_maxima_of_special_values(special):
    x, attributes = normal(2, 4, 4, 3), windows((2, 2), (2, 2))
    x[0, :2, :2], x[1, 1, 1] = special, special
    top = pooling_ops.max_pool.numpy(x, **attributes)
    expected = pooling_ops.max_pool.numpy(x.astype(np.float64), **attributes)
    np.testing.assert_array_equal(top, expected)
    place = pooling_ops.max_pool_place.numpy(x, top, **attributes)
    np.testing.assert_array_equal(place, pooling_ops.max_pool_place.numpy(x.astype(np.float64), expected, **attributes))


def test_threads_do_not_disturb_each_other():
    x, w, attributes = normal(4, 12, 12, 8), normal(3, 3, 8, 16), attrs()
    expected = convolution.conv.numpy(x, w, **attributes)
    failures = []

    def work(scale):
        for _ in range(20):
            y = convolution.conv.numpy(x * scale, w, **attributes)
            if not np.array_equal(y, expected * scale):
                failures.append(scale)

    workers = [threading.Thread(target=work, args=(np.float32(2**i),)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def in_a_new_process(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert not run.returncode, run.stderr
    return run.stdout.split()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_forked_processes_convolve():
    code = """
import os, signal, warnings, numpy as np, gradtape as tf
x, w = tf.ones((16, 32, 32, 8)), tf.ones((3, 3, 8, 16))
tf.nn.conv2d(x, w, 1, "VALID")
warnings.simplefilter("ignore")
def status_in_a_child(depth):
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.alarm(20)
    if depth > 1:
        os._exit(status_in_a_child(depth - 1))
    y = tf.nn.conv2d(x, w, 1, "VALID").numpy()
    os._exit(0 if (y == 72).all() else 1)
print(status_in_a_child(1), status_in_a_child(2))
"""
    assert in_a_new_process(code) == ["0", "0"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
def test_signals_during_convolutions():
    code = """
import signal, time, numpy as np, gradtape as tf
a, x, w = tf.random.normal((96, 96)), tf.random.normal((8, 16, 16, 8)), tf.random.normal((3, 3, 8, 16))
def step():
    with tf.GradientTape() as tape:
        tape.watch([a, x, w])
        y = tf.nn.max_pool2d(tf.nn.conv2d(x, w, 1, "SAME"), 2, 2, "SAME")
        z = tf.reduce_sum(y * y) + tf.reduce_sum(a @ a)
    return [z, *tape.gradient(z, [a, x, w])]
first, came = step(), 0
def count(*_):
    global came
    came += 1
signal.signal(signal.SIGALRM, count)
signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
end = time.monotonic() + 2
while time.monotonic() < end:
    for y, e in zip(step(), first):
        np.testing.assert_allclose(y, e, rtol=1e-4, atol=1e-2)
signal.setitimer(signal.ITIMER_REAL, 0)
print(came > 20)
"""
    assert in_a_new_process(code) == ["True"]

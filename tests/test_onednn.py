"""oneDNN's float32 results agree with float64; everything also works without oneDNN."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape.backends import tuning
from gradtape.backends.numpy import onednn
from gradtape.backends.numpy.accelerated import ACCELERATED
from gradtape.backends.numpy.onednn import convolutions, library, pooling
from gradtape.ops.nn import convolution
from gradtape.ops.nn import pooling as pooling_ops

needed = pytest.mark.skipif(onednn.version() is None, reason="oneDNN is not installed")


@pytest.fixture
def eager_for_work(monkeypatch):
    """Uses oneDNN for small samples too."""
    monkeypatch.setattr(convolutions, "ONEDNN_CONVOLUTION", 1)
    monkeypatch.setattr(pooling, "ONEDNN_POOLING", 1)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def assert_close(y, expected):
    assert y.dtype == np.float32
    scale = np.abs(expected).max(initial=1)
    np.testing.assert_allclose(y / scale, expected / scale, rtol=0, atol=2e-6)


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


@needed
def test_infinities_and_nans_stay(eager_for_work):
    x, w = normal(1, 6, 6, 2), normal(3, 3, 2, 4)
    x[0, 0, 0, 0] = np.nan
    y = convolution.conv.numpy(x, w, **attrs())
    assert np.isnan(y[0, 0, 0]).all() and np.isfinite(y[0, 1:]).all()


def test_what_it_leaves_to_numpy():
    x, w = np.ones((8, 16, 16, 8)), np.ones((3, 3, 8, 8))
    for kind in (np.float64, np.float16, np.int32, ">f4"):
        assert ACCELERATED["conv"](x.astype(kind), w.astype(kind), **attrs()) is None
        assert ACCELERATED["max_pool"](x.astype(kind), **windows((2, 2), (2, 2))) is None
    small = np.ones((1, 4, 4, 1), np.float32)
    assert ACCELERATED["conv"](small, np.ones((2, 2, 1, 1), np.float32), **attrs()) is None
    assert ACCELERATED["max_pool"](small, **windows((2, 2), (2, 2))) is None


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
    "one channel": ((3, 8, 8, 1), (3, 3, 1, 32), attrs(paddings=((1, 1), (1, 1)))),
    "pointwise": ((2, 5, 5, 16), (1, 1, 16, 8), attrs()),
    "line": ((2, 9, 3), (3, 3, 4), attrs((2,), ((1, 1),), (1,))),
    "volume": ((1, 4, 5, 6, 2), (2, 3, 2, 2, 3), attrs((1, 2, 1), ((0, 0), (1, 1), (0, 1)), (1, 1, 2))),
}


@needed
@pytest.mark.parametrize(("x", "w", "attributes"), CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_convolutions(x, w, attributes, eager_for_work):
    x, w = normal(*x), normal(*w, seed=1)
    wide = [v.astype(np.float64) for v in (x, w)]
    y = convolution.conv.numpy(x, w, **attributes)
    expected = convolution.conv.numpy(*wide, **attributes)
    assert_close(y, expected)
    g = normal(*y.shape, seed=2)
    size, window = x.shape[1:-1], w.shape[:-2]
    back = convolution.conv_input.numpy
    assert_close(back(g, w, size=size, **attributes), back(g.astype(np.float64), wide[1], size=size, **attributes))
    slope = convolution.conv_filter.numpy
    assert_close(
        slope(x, g, size=window, **attributes), slope(wide[0], g.astype(np.float64), size=window, **attributes)
    )


@needed
@pytest.mark.parametrize("cores", [1, 16])
def test_filters_of_each_member_of_a_batch(cores, monkeypatch, eager_for_work):
    monkeypatch.setattr(convolutions, "ONEDNN_MEMBER", 1)
    monkeypatch.setattr(convolutions, "CORES", cores)
    x, b = normal(3, 2, 7, 6, 4), normal(3, 2, 4, 6, 5, seed=1)
    attrs = {"size": (3, 3), "strides": (2, 1), "paddings": ((1, 1), (1, 1)), "dilations": (1, 1)}
    expected = convolution._conv_filters(np, x.astype(np.float64), b.astype(np.float64), **attrs)
    assert (convolutions.conv_filters(x, b, **attrs) is None) == (cores == 16)
    assert_close(tf.constant(convolution.conv_filters(tf.constant(x), tf.constant(b), **attrs)).numpy(), expected)


@needed
def test_most_convolutions_are_its_own(eager_for_work):
    for name in ("valid", "same", "strides", "groups", "depthwise", "many channels", "line"):
        x, w, attributes = CONVOLUTIONS[name]
        assert ACCELERATED["conv"](normal(*x), normal(*w), **attributes) is not None, name


@needed
def test_images_of_other_layouts(eager_for_work):
    w, attributes = normal(3, 3, 3, 4, seed=1), attrs(paddings=((1, 1), (1, 1)))
    planes = normal(2, 3, 6, 5)
    expected = convolution.conv.numpy(
        planes.transpose(0, 2, 3, 1).astype(np.float64), w.astype(np.float64), **attributes
    )
    assert_close(convolution.conv.numpy(planes.transpose(0, 2, 3, 1), w, **attributes), expected)
    turned = w.transpose(0, 1, 3, 2)
    y = convolution.conv.numpy(np.asfortranarray(normal(2, 6, 5, 4)), turned, **attributes)
    wide = convolution.conv.numpy(normal(2, 6, 5, 4).astype(np.float64), turned.astype(np.float64), **attributes)
    assert_close(y, wide)


@needed
def test_nothing_to_convolve(eager_for_work):
    assert convolution.conv.numpy(normal(0, 6, 6, 3), normal(3, 3, 3, 4), **attrs()).shape == (0, 4, 4, 4)
    assert convolution.conv.numpy(normal(2, 2, 2, 3), normal(3, 3, 3, 4), **attrs()).shape == (2, 0, 0, 4)
    w = convolution.conv_filter.numpy(normal(0, 6, 6, 3), normal(0, 4, 4, 4), size=(3, 3), **attrs())
    assert not w.any() and w.shape == (3, 3, 3, 4)


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


@needed
@pytest.mark.parametrize(("shape", "attributes"), POOLINGS.values(), ids=POOLINGS)
def test_maxima_with_ties(shape, attributes, eager_for_work):
    x = np.round(normal(*shape))
    wide = x.astype(np.float64)
    top, expected = (pooling_ops.max_pool.numpy(v, **attributes) for v in (x, wide))
    np.testing.assert_array_equal(top, expected)
    place, expected = (pooling_ops.max_pool_place.numpy(*v, **attributes) for v in ((x, top), (wide, expected)))
    np.testing.assert_array_equal(place, expected)
    g = normal(*top.shape, seed=1)
    size = shape[1:-1]
    back = pooling_ops.max_pool_back.numpy(g, place, size=size, **attributes)
    assert_close(back, pooling_ops.max_pool_back.numpy(g.astype(np.float64), expected, size=size, **attributes))


@needed
@pytest.mark.parametrize("special", [np.nan, -np.inf, np.inf])
def test_maxima_of_special_values(special, eager_for_work):
    x, attributes = normal(2, 4, 4, 3), windows((2, 2), (2, 2))
    x[0, :2, :2], x[1, 1, 1] = special, special
    top = pooling_ops.max_pool.numpy(x, **attributes)
    expected = pooling_ops.max_pool.numpy(x.astype(np.float64), **attributes)
    np.testing.assert_array_equal(top, expected)
    place = pooling_ops.max_pool_place.numpy(x, top, **attributes)
    np.testing.assert_array_equal(place, pooling_ops.max_pool_place.numpy(x.astype(np.float64), expected, **attributes))


@needed
def test_an_interrupt_while_arrays_are_named_leaves_nothing_of_them(monkeypatch, eager_for_work):
    x, w, given = normal(2, 6, 6, 3), normal(3, 3, 3, 4), 0
    expected = convolution.conv.numpy(x, w, **attrs())
    dnnl = library.library()
    set_data = dnnl.set_data

    def interrupted(*arguments):
        nonlocal given
        given += 1
        if given == 2:
            raise KeyboardInterrupt
        return set_data(*arguments)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(dnnl, "set_data", interrupted)
        convolution.conv.numpy(x + 1, w + 1, **attrs())
    np.testing.assert_array_equal(convolution.conv.numpy(x, w, **attrs()), expected)


@needed
def test_threads_do_not_disturb_each_other(eager_for_work):
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


@needed
def test_prepared_computations_are_given_back(eager_for_work):
    w = normal(1, 1, 2, 3)
    for size in range(1, 300):
        x = normal(1, size, 1, 2)
        assert_close(convolution.conv.numpy(x, w, **attrs()), x @ w[0, 0])
    assert convolutions._prepared.cache_info().currsize <= 256


def training_step():
    tf.random.set_seed(1)
    x, k, w = tf.random.normal((8, 14, 14, 3)), tf.random.normal((3, 3, 3, 8)), tf.random.normal((14 * 14 * 8, 10))

    def loss(x, k, w):
        y = tf.matmul(tf.reshape(tf.nn.conv2d(x, k, 1, "SAME"), (8, -1)), w)
        return tf.reduce_mean(y * y)

    with tf.GradientTape() as tape:
        tape.watch([x, k, w])
        y = loss(x, k, w)
    return [y, *tape.gradient(y, [x, k, w])], tf.function(loss)(x, k, w)


@needed
def test_a_step_is_the_same_without(monkeypatch):
    results, traced = training_step()
    with monkeypatch.context() as context:
        context.setattr(convolutions, "library", lambda: None)
        expected, _ = training_step()
    for y, e in zip(results, expected, strict=True):
        np.testing.assert_allclose(y, e, rtol=2e-4, atol=2e-4 * float(np.abs(e).max()))
    np.testing.assert_allclose(traced, results[0], rtol=1e-5)


def in_a_new_process(code, **environment):
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )
    assert not run.returncode, run.stderr
    return run.stdout.split()


CONVOLUTION = """
import numpy as np, gradtape as tf
from gradtape.backends.numpy import onednn
y = tf.nn.max_pool2d(tf.nn.conv2d(tf.ones((16, 32, 32, 8)), tf.ones((3, 3, 8, 16)), 1, "VALID"), 2, 2, "VALID")
assert (y.numpy() == 72).all()
print(onednn.version() is None)
"""


def test_it_can_be_switched_off():
    assert in_a_new_process(CONVOLUTION, GRADTAPE_ONEDNN="0") == ["True"]


def test_a_library_that_is_not_there_or_is_another_one():
    assert in_a_new_process(CONVOLUTION, GRADTAPE_ONEDNN="/nowhere/libdnnl.so.3") == ["True"]
    assert in_a_new_process(CONVOLUTION, GRADTAPE_ONEDNN=sys.executable) == ["True"]


@needed
def test_it_is_loaded_when_needed_and_leaves_the_environment_alone():
    code = """
import os, gradtape as tf
from gradtape.backends.numpy.onednn import library
before = dict(os.environ)
tf.ones((128, 128)) @ tf.ones((128, 128))
tf.nn.conv2d(tf.ones((1, 4, 4, 1)), tf.ones((2, 2, 1, 1)), 1, "SAME")
print(library.library.cache_info().currsize)
tf.nn.conv2d(tf.ones((16, 32, 32, 8)), tf.ones((3, 3, 8, 16)), 1, "SAME")
print(library.library.cache_info().currsize, dict(os.environ) == before)
"""
    assert in_a_new_process(code) == ["0", "1", "True"]


@needed
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_does_without():
    code = """
import os, signal, warnings, numpy as np, gradtape as tf
from gradtape.backends.numpy import onednn
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
    os._exit(0 if (y == 72).all() and onednn.version() is None else 1)
print(status_in_a_child(1), status_in_a_child(2), onednn.version() is None)
"""
    assert in_a_new_process(code) == ["0", "0", "False"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
@pytest.mark.parametrize("without", [False, True])
def test_signals_while_it_computes(without):
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
    assert in_a_new_process(code, **({"GRADTAPE_ONEDNN": "0"} if without else {})) == ["True"]


def test_a_product_knows_nothing_of_what_was_computed_before():
    a, b = tf.constant(normal(200, 300)), tf.constant(normal(300, 130))
    before = (a @ b).numpy().tobytes()
    for _ in range(2):
        tf.nn.conv2d(tf.constant(normal(16, 32, 32, 8)), tf.constant(normal(3, 3, 8, 16)), 1, "SAME")
        assert (a @ b).numpy().tobytes() == before


def test_ops_find_the_kernels_by_themselves():
    code = (
        "import gradtape as tf; from gradtape.backends.numpy.accelerated import ACCELERATED; "
        "tf.nn.relu(1.0); print(*ACCELERATED)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"conv", "conv_input", "conv_filter", "max_pool"} <= set(found)

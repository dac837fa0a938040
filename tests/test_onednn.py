"""What oneDNN computes of float32 agrees with float64; without oneDNN, all works as well."""

import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gradtape as tf
from gradtape.backends.numpy import blocks, onednn, threads
from gradtape.backends.numpy.onednn import convolutions, elementwise, halved_products, library, pooling, products
from gradtape.ops import contraction, convolution
from gradtape.ops import pooling as pooling_ops

needed = pytest.mark.skipif(onednn.version() is None, reason="oneDNN is not installed")


@pytest.fixture
def eager_for_work(monkeypatch):
    """Small samples go through oneDNN too."""
    for module in (convolutions, pooling, products):
        monkeypatch.setattr(module, "SMALLEST", 1)
    for name in ("SMALLEST_VECTOR", "SMALLEST_BATCH"):
        monkeypatch.setattr(products, name, 1)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def assert_close(y, expected):
    assert y.dtype == np.float32
    scale = np.abs(expected).max(initial=1)
    np.testing.assert_allclose(y / scale, expected / scale, rtol=0, atol=2e-6)


def exact(a, b):
    return a.astype(np.float64) @ b.astype(np.float64)


LOOKS = {
    "plain": lambda x: x,
    "transposed": lambda x: np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2),
    "rows": lambda x: np.concatenate([x, x], axis=-1)[..., : x.shape[-1]],
    "steps": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: np.ascontiguousarray(x[..., ::-1])[..., ::-1],
    "unaligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(x.shape),
    "stretched": lambda x: np.broadcast_to(x[..., :1], x.shape),
}


SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -1e30, 1e-30, 88.0, -88.0, 5.0], np.float32)


def special_and_normal(seed=0):
    return np.concatenate([np.tile(SPECIAL, 5), normal(blocks.SHARED, seed=seed)])


def in_the_end(f, *arrays):
    """What oneDNN gives, which is asked when a size has come several times."""
    for _ in range(elementwise.FEW_USES):
        f(*arrays)
    return f(*arrays)


@needed
@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply])
def test_arithmetic_is_exactly_numpys(ufunc):
    a, b, number = special_and_normal(), special_and_normal(1)[::-1].copy(), np.float32(0.3)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(in_the_end(elementwise.combined, ufunc, a, b), ufunc(a, b))
        np.testing.assert_array_equal(in_the_end(elementwise.combined, ufunc, a, number), ufunc(a, number))
        swapped = in_the_end(elementwise.combined, ufunc, number, a)
        if ufunc is np.subtract:
            assert swapped is None
        else:
            np.testing.assert_array_equal(swapped, ufunc(number, a))
        total = a.copy()
        blocks.accumulate(total, b, ufunc)
        np.testing.assert_array_equal(total, ufunc(a, b))


@needed
@pytest.mark.parametrize("function", ["tanh", "sigmoid"])
def test_squashing_functions_and_their_derivatives(function):
    x = special_and_normal()
    double = x.astype(np.float64)
    with np.errstate(all="ignore"):
        expected = np.tanh(double) if function == "tanh" else 1 / (1 + np.exp(-double))
        slope = 1 - expected**2 if function == "tanh" else expected * (1 - expected)
    y = in_the_end(elementwise.mapped, function, x)
    np.testing.assert_allclose(y, expected, rtol=1e-6, atol=1e-37)
    g = normal(x.size, seed=3)
    np.testing.assert_allclose(in_the_end(elementwise.pulled, function, y, g), g * slope, rtol=1e-5, atol=1e-6)


@needed
def test_only_float32_and_sums_only_of_sizes_that_come_often():
    x = normal(blocks.SHARED + 17)
    for _ in range(elementwise.FEW_USES):
        assert elementwise.combined(np.add, x, x) is None
    assert elementwise.combined(np.add, x, x) is not None
    assert elementwise.mapped("tanh", x) is not None
    assert elementwise.mapped("tanh", x.astype(np.float64)) is None
    assert elementwise.combined(np.divide, x, x) is None
    assert elementwise.pulled("tanh", x.astype(np.float64), x) is None


@pytest.mark.parametrize("f", [tf.tanh, tf.sigmoid, lambda x: x * x + 0.3])
def test_the_same_call_gives_the_same_bits(f):
    x = tf.constant(normal(blocks.SHARED + 29))
    runs = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        runs.append((y.numpy().tobytes(), tape.gradient(y, x).numpy().tobytes()))
    assert runs[0] == runs[1] == runs[2]


@needed
def test_another_thread_may_forget_what_is_being_prepared(monkeypatch):
    class Forgetful(dict):
        def __setitem__(self, key, made):
            super().__setitem__(key, made)
            if made is not None:
                self.clear()

    monkeypatch.setattr(elementwise, "_prepared", Forgetful())
    x = normal(blocks.SHARED + 19)
    np.testing.assert_allclose(in_the_end(elementwise.mapped, "tanh", x), np.tanh(x), rtol=1e-6)


@pytest.mark.parametrize("size", [blocks.SHARED - 1, blocks.SHARED + 5, blocks.LARGE + 3])
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


@pytest.mark.parametrize("size", [100, blocks.SHARED + 9, 1 << 20])
def test_a_variable_is_updated_whatever_its_size(size):
    x, delta = normal(size), normal(size, seed=1)
    v = tf.Variable(x)
    before = v.value()
    for _ in range(3):
        v.assign_sub(tf.constant(delta))
    np.testing.assert_array_equal(v.numpy(), x - delta - delta - delta)
    np.testing.assert_array_equal(before.numpy(), x)


@needed
@pytest.mark.parametrize("second", LOOKS)
@pytest.mark.parametrize("first", LOOKS)
def test_products_of_all_layouts(first, second, eager_for_work):
    for sizes in [(3, 4, 5), (64, 33, 40), (1, 70, 9), (70, 9, 1), (5, 1, 6), (1, 1, 1)]:
        a, b = LOOKS[first](normal(*sizes[:2])), LOOKS[second](normal(*sizes[1:], seed=1))
        assert_close(onednn.product(a, b), exact(a, b))


@needed
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize(
    ("a", "b"),
    [((6, 4, 5), (6, 5, 3)), ((2, 3, 8, 4), (2, 3, 4, 8)), ((2, 1, 3, 4), (5, 4, 2)), ((3, 4), (2, 4, 5)),
     ((2, 1, 1, 4), (1, 3, 4, 1))],
)  # fmt: skip
def test_batches_of_products(a, b, look, eager_for_work):
    a, b = LOOKS[look](normal(*a)), LOOKS[look](normal(*b, seed=1))
    assert_close(onednn.product(a, b), exact(a, b))


@needed
def test_heads_of_attention(eager_for_work):
    q, k = (normal(2, 6, 4, 8, seed=i).transpose(0, 2, 1, 3) for i in range(2))
    assert_close(contraction.matmul.numpy(q, k, transpose_b=True), exact(q, k.swapaxes(-1, -2)))


@needed
def test_a_product_with_a_column_needs_no_preparation():
    a, column = normal(600, 700), normal(700, 1)
    before = products._prepared.cache_info()
    for x, y in ((a, column), (a, column.reshape(1, -1).T), (a.T, column[:600])):
        assert_close(onednn.product(x, y), exact(x, y))
    assert products._prepared.cache_info() == before


@needed
def test_sum_of_rows(eager_for_work):
    x = normal(300, 7)
    assert_close(onednn.sum_rows(x), x.astype(np.float64).sum(0))


@needed
def test_inputs_are_only_read(eager_for_work):
    a, b = normal(8, 9), normal(9, 7)
    a.flags.writeable = b.flags.writeable = False
    assert_close(onednn.product(a, b), exact(a, b))


@needed
def test_infinities_and_nans_stay(eager_for_work):
    a, b = normal(8, 9), normal(9, 7)
    a[2, 3], a[5, 1] = np.inf, np.nan
    y = onednn.product(a, b)
    assert np.isinf(y[2]).all() and np.isnan(y[5]).all() and np.isfinite(np.delete(y, [2, 5], 0)).all()
    b[3, 4] = 0
    assert np.isnan(onednn.product(a, b)[2, 4])
    x, w = normal(1, 6, 6, 2), normal(3, 3, 2, 4)
    x[0, 0, 0, 0] = np.nan
    y = convolution.conv.numpy(x, w, **attrs())
    assert np.isnan(y[0, 0, 0]).all() and np.isfinite(y[0, 1:]).all()


def test_what_it_leaves_to_numpy():
    large = np.ones((128, 128))
    assert onednn.product(large, large) is None
    small = np.ones((4, 4), np.float32)
    assert onednn.product(small, small) is None
    assert onednn.product(np.ones((0, 4), np.float32), small) is None
    swapped = np.ones((128, 128), ">f4")
    assert onednn.product(swapped, swapped) is None


@needed
def test_thresholds():
    assert onednn.product(normal(64, 64), normal(64, 64)) is not None
    assert onednn.product(normal(64, 64), normal(64, 63)) is None
    assert onednn.product(normal(1, 96), normal(96, 96)) is not None
    assert onednn.product(normal(64, 32, 32), normal(64, 32, 32)) is not None


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
def test_most_convolutions_are_its_own(eager_for_work):
    for name in ("valid", "same", "strides", "groups", "depthwise", "many channels", "line"):
        x, w, attributes = CONVOLUTIONS[name]
        sizes = tuple(
            map(
                convolution.output_size, x[1:-1], w[:-2], *(attributes[k] for k in ("strides", "paddings", "dilations"))
            )
        )
        assert onednn.convolved(normal(*x), normal(*w), sizes, attributes) is not None, name


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
def test_its_threads_do_pieces_of_python_work():
    assert library.library() is not None
    if library.team is None:
        pytest.skip("not GNU's OpenMP")
    assert threads.together([lambda i=i: i * i for i in range(10)]) == [i * i for i in range(10)]
    inner = [lambda: sum(threads.together([lambda: 1, lambda: 2])) for _ in range(4)]
    assert threads.together(inner) == [3] * 4
    done = []
    with pytest.raises(ZeroDivisionError):
        threads.together([lambda: done.append(1), lambda: 1 // 0, lambda: done.append(2)])
    assert sorted(done) == [1, 2]
    with np.errstate(all="ignore"):  # as in all of gradtape's work, wherever it is done
        infinite = threads.together([lambda: np.ones(3) / 0] * 8)
    assert np.isinf(infinite).all()
    assert np.geterr()["divide"] == "warn"


@needed
@pytest.mark.parametrize("started", [True, False])
def test_an_interrupt_while_a_team_works_is_raised_and_the_team_waited_for(monkeypatch, started):
    assert library.library() is not None
    team = library.team
    if team is None:
        pytest.skip("not GNU's OpenMP")

    def start(*arguments):
        if started:
            team.start(*arguments)
        raise KeyboardInterrupt

    done = []
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(library, "team", team._replace(start=start))
        threads.together([lambda: (time.sleep(0.05), done.append(1))])
    assert team.level() == 0
    finished = len(done)
    time.sleep(0.1)
    assert len(done) == finished  # nobody works any more
    assert threads.together([int, int]) == [0, 0]


@needed
def test_an_interrupt_while_arrays_are_named_leaves_nothing_of_them(monkeypatch):
    a, b, other, given = normal(4, 40, 8), normal(4, 8, 8), normal(4, 40, 8, seed=1), 0
    computation = products._prepared(a.shape, a.strides, b.shape, b.strides)
    set_data = computation._library.set_data

    def interrupted(*arguments):
        nonlocal given
        given += 1
        if given == 2:
            raise KeyboardInterrupt
        return set_data(*arguments)

    y = np.empty((4, 40, 8), np.float32)
    computation.run(a, b, y)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(computation._library, "set_data", interrupted)
        computation.run(other, b + 1, np.empty_like(y))
    y[...] = 0
    computation.run(a, b, y)
    assert_close(y, exact(a, b))


@needed
def test_threads_do_not_disturb_each_other(eager_for_work):
    x, w, attributes = normal(4, 12, 12, 8), normal(3, 3, 8, 16), attrs()
    a = normal(70, 80)
    expected = convolution.conv.numpy(x, w, **attributes)
    failures = []

    def work(scale):
        for _ in range(20):
            y = convolution.conv.numpy(x * scale, w, **attributes)
            p = onednn.product(a * scale, a.T)
            if not (np.array_equal(y, expected * scale) and np.allclose(p, scale * (a @ a.T), rtol=1e-4, atol=1e-3)):
                failures.append(scale)

    workers = [threading.Thread(target=work, args=(np.float32(2**i),)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


@needed
def test_prepared_computations_are_given_back(eager_for_work):
    for size in range(1, 300):
        a = normal(2, size, 3)
        assert_close(onednn.product(a, a.swapaxes(1, 2)), exact(a, a.swapaxes(1, 2)))
    assert products._prepared.cache_info().currsize <= 256


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
        for module in (products, convolutions):
            context.setattr(module, "library", lambda: None)
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


PRODUCT = """
import numpy as np, gradtape as tf
from gradtape.backends import onednn
a = tf.ones((128, 128))
y = a @ a
assert (y.numpy() == 128).all()
print(onednn.version() is None)
"""


def test_it_can_be_switched_off():
    assert in_a_new_process(PRODUCT, GRADTAPE_ONEDNN="0") == ["True"]


def test_a_library_that_is_not_there_or_is_another_one():
    assert in_a_new_process(PRODUCT, GRADTAPE_ONEDNN="/nowhere/libdnnl.so.3") == ["True"]
    assert in_a_new_process(PRODUCT, GRADTAPE_ONEDNN=sys.executable) == ["True"]


@needed
def test_it_is_loaded_when_needed_and_leaves_the_environment_alone():
    code = """
import os, gradtape as tf
from gradtape.backends.onednn import library
before = dict(os.environ)
tf.ones((4, 4)) @ tf.ones((4, 4))
print(library.library.cache_info().currsize)
tf.ones((128, 128)) @ tf.ones((128, 128))
print(library.library.cache_info().currsize, dict(os.environ) == before)
"""
    assert in_a_new_process(code) == ["0", "1", "True"]


@needed
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_does_without():
    code = """
import os, signal, warnings, numpy as np, gradtape as tf
from gradtape.backends import onednn
a = tf.ones((256, 256))
a @ a, a + a, a + a
warnings.simplefilter("ignore")
def status_in_a_child(depth):
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.alarm(20)
    if depth > 1:
        os._exit(status_in_a_child(depth - 1))
    os._exit(0 if (a @ (a + a)).numpy()[0, 0] == 512 and onednn.version() is None else 1)
print(status_in_a_child(1), status_in_a_child(2), onednn.version() is None)
"""
    assert in_a_new_process(code) == ["0", "0", "False"]


@needed
def test_weights_and_data_from_a_pickle_are_added_to_in_place():
    x, w = (pickle.loads(pickle.dumps(normal(*shape))) for shape in ((16, 300), (300, 200)))
    total = pickle.loads(pickle.dumps(np.zeros((300, 200), np.float32)))
    assert onednn.add_product(total, x.T, x @ w, 2.0)
    assert_close(total, 2 * exact(x.T, x @ w))


def test_addresses():
    x = np.arange(12.0).reshape(3, 4)
    for view in (x, x[1:], x.T, x[:, 2:], x[::-1]):
        assert library.address(view) == view.ctypes.data


@pytest.mark.parametrize("start", range(4))
def test_weights_begin_with_a_line_of_the_cache(start):
    given = np.arange(64 * 256 + start, dtype=np.float32)[start:].reshape(64, 256)
    weights = tf.Variable(given)
    assert library.address(weights._array) % 64 == 0
    np.testing.assert_array_equal(weights, given)
    bias = tf.Variable(given[0])
    np.testing.assert_array_equal(bias, given[0])


@needed
@pytest.mark.parametrize(
    ("rows", "inner", "pays"), [(64, 784, 1), (16, 512, 1), (128, 513, 0), (8, 784, 0), (200, 784, 0)]
)
def test_products_with_weights_that_were_written_to(rows, inner, pays, monkeypatch):
    halves = []
    run = library.Computation.run
    monkeypatch.setattr(library.Computation, "run", lambda self, *arrays: [halves.append(arrays), run(self, *arrays)])
    monkeypatch.setattr(products, "_known", {})
    monkeypatch.setattr(halved_products, "_CORES", library.library().threads())
    a, g = normal(rows, inner), normal(rows, 300, seed=1)
    weights = tf.Variable(normal(inner, 300, seed=2))
    before = tf.matmul(a, weights)
    assert_close(before.numpy(), exact(a, weights.numpy()))
    assert not halves
    assert products.add_product(weights._array, a.T, g, 0.5)
    assert id(weights._array) in halved_products._written
    after = tf.matmul(a, weights)
    assert len(halves) == pays
    assert_close(after.numpy(), exact(a, weights.numpy()))
    np.testing.assert_array_equal(after, tf.matmul(a, weights))
    assert_close(tf.matmul(a[:, ::-1], weights).numpy(), exact(a[:, ::-1], weights.numpy()))


@needed
def test_weights_that_are_gone_are_forgotten():
    weights = normal(784, 256)
    products.add_product(weights, normal(784, 8), normal(8, 256), 1.0)
    place = id(weights)
    assert place in halved_products._written
    del weights
    assert place not in halved_products._written


@needed
def test_numbers_that_lie_between_others_of_another_size(eager_for_work):
    records = np.zeros(40, [("matrix", "f4", (8, 9)), ("flag", "u1")])
    records["matrix"] = normal(40, 8, 9)
    a, b = records["matrix"], normal(40, 9, 7)
    assert a.strides[0] % 4
    assert_close(onednn.product(a, b), exact(a, b))


@needed
def test_a_product_is_added_to_nothing_of_another_shape():
    a, b, total = normal(64, 64), normal(64, 64), np.zeros((64, 63), np.float32)
    assert not onednn.add_product(total, a, b, 1.0)
    assert not total.any()

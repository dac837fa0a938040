"""Tensors on a device. Without one, the library of arrays is a strict stand-in (`strict_arrays`).

`make test-gpu` runs these on a GPU, with CuPy: `GRADTAPE_TEST_DEVICE=gpu`.
"""

import contextlib
import copy
import itertools
import os
import pickle
import threading

import numpy as np
import pytest
import strict_arrays

import gradtape as tf
from gradtape import ops
from gradtape.backends.arrays import combine_at, search_rows
from gradtape.backends.numpy.windows import window_positions
from gradtape.core.tensor import Tensor
from gradtape.engine.registry.devices import DeviceTensor, sent, use
from gradtape.engine.registry.op import registry
from gradtape.inspect.opcheck import draw
from gradtape.ops import strided
from gradtape.state.device_variable import DeviceVariable

ops.load_all()
ON_GPU = os.environ.get("GRADTAPE_TEST_DEVICE") == "gpu"
MODULE = tf.zeros([1]).module if ON_GPU else strict_arrays.MODULE
CASES = {f"{op.name}-{i}": (op, case) for op in registry.values() for i, case in enumerate(op.samples)}
# What the stand-in, as CuPy, cannot compute: SciPy's functions of matrices, special functions that CuPy has not, and
# what looks at values on its way.
BY_WAY_OF_HOST = {
    "banded_solve", "check_numerics", "combined_boxes", "dawsn", "drawn_boxes", "expm", "fresnel_cos", "fresnel_sin",
    "isotonic", "logm", "lu", "random_bounded_normal", "random_candidates", "random_gamma_grad", "random_shuffle",
    "spence", "sqrtm", "suppressed_boxes", "suppressed_overlaps",
}  # fmt: skip


@pytest.fixture(autouse=True)
def exact_products():
    """Products are compared with those of the host."""
    tf.config.experimental.enable_tensor_float_32_execution(False)
    yield
    tf.config.experimental.enable_tensor_float_32_execution(True)


@pytest.fixture
def gpu():
    """New tensors go to the device."""
    if ON_GPU:
        yield
        return
    use(lambda: [{"device_name": "a strict stand-in"}], lambda device: MODULE)
    yield
    use(None, lambda device: MODULE)


def on_host():
    """A context in which new tensors stay on the host."""
    return tf.device("/CPU:0") if ON_GPU else contextlib.nullcontext()


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
    """The value is that of the host; the result is on the device."""
    given = tensors_of(op, case)
    with on_host():
        expected = op(*given, **case.attrs)
    there = [sent(MODULE, x) for x in given]
    got = op(*there, **case.attrs)
    assert_same(got, expected, up_to_sign=op.name in ("eigh", "svd"))
    if any(isinstance(x, DeviceTensor) for x in there):
        for y in got if isinstance(got, tuple) else (got,):
            assert isinstance(y, DeviceTensor) or y.dtype is tf.string or op.name in BY_WAY_OF_HOST
        assert ON_GPU or (op.name in MODULE.by_way_of_host) <= (op.name in BY_WAY_OF_HOST)


@pytest.mark.parametrize(("op", "case"), CASES.values(), ids=CASES)
def test_gradient(op, case):
    """The gradient on the device is that of the host."""
    if op.vjp is None or op.random:
        pytest.skip("it has no derivative")

    def gradients(given):
        sources = [x for i, x in enumerate(given) if x.dtype.is_floating and i not in op.inert]
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
    got = gradients([sent(MODULE, x) for x in host])
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
        values[:3] = 1 + rng.random(values[:3].shape) * 1e-12  # not to be told apart in float32
    got = combine_at(MODULE.xp, ufunc, *map(MODULE.from_host, (array, rows, values)))
    expected = array.copy()
    with np.errstate(invalid="ignore"):
        getattr(np, ufunc).at(expected, rows, values)
    assert got.dtype == expected.dtype
    # A device adds in an order of its own: what cancels leaves another rest.
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
    """Images, windows, strides, paddings and dilations of one to three axes, some laid out in several parts."""
    rng = np.random.default_rng(0)
    while True:
        rank = rng.integers(1, 4)
        space, window, strides, dilations = (tuple(rng.integers(1, n, rank).tolist()) for n in (8, 4, 4, 3))
        if rng.random() < 0.5:
            strides = dilations = (1,) * rank
        paddings = tuple(map(tuple, rng.integers(0, 3, (rank, 2)).tolist()))
        sizes = tuple(map(window_positions, space, window, strides, paddings, dilations))
        if min(sizes) > 0:
            yield rng, space, sizes, window, {"strides": strides, "paddings": paddings, "dilations": dilations}


def _assert_same_on_device(op, *arrays, **attrs):
    expected = op.kernel(np, *arrays, **attrs)
    got = MODULE.to_host(op.kernel(MODULE.xp, *map(MODULE.from_host, arrays), **attrs))
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
    return expected


@pytest.mark.parametrize("at_once", [1 << 30, 500])
def test_convolutions_of_any_geometry(at_once, monkeypatch):
    monkeypatch.setattr(strided, "_AT_ONCE", at_once)
    for rng, space, sizes, window, attrs in itertools.islice(_geometries(), 60):
        groups, channels, outputs = rng.integers(1, 4, 3).tolist()
        attrs = {**attrs, "groups": groups}
        x, a = (rng.normal(size=(3, *s, groups * n)) for s, n in ((space, channels), (sizes, outputs)))
        w = rng.normal(size=(*window, channels, groups * outputs))
        _assert_same_on_device(registry["conv"], x, w, **attrs)
        _assert_same_on_device(registry["conv_input"], a, w, size=space, **attrs)
        _assert_same_on_device(registry["conv_filter"], x, a, size=window, **attrs)


@pytest.mark.skipif(ON_GPU, reason="looks into the stand-in")
def test_a_convolution_is_one_product_not_one_for_each_place(monkeypatch):
    done = []
    product, write = strict_arrays.xp.matmul, strict_arrays.StrictArray.__setitem__
    monkeypatch.setattr(strict_arrays.xp, "matmul", lambda *args: done.append("product") or product(*args))
    monkeypatch.setattr(strict_arrays.StrictArray, "__setitem__", lambda *args: done.append("write") or write(*args))
    x, w, a = (MODULE.from_host(np.ones(shape)) for shape in ((2, 6, 6, 3), (3, 3, 3, 8), (2, 6, 6, 8)))
    same = {"strides": (1, 1), "paddings": ((1, 1), (1, 1)), "dilations": (1, 1), "groups": 1}
    for op, given, size in [
        ("conv", (x, w), {}), ("conv_input", (a, w), {"size": (6, 6)}), ("conv_filter", (x, a), {"size": (3, 3)})
    ]:  # fmt: skip
        done.clear()
        registry[op].kernel(strict_arrays.xp, *given, **size, **same)
        assert done == ["write", "product"], op  # the image into its padding, and the product


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


def test_new_tensors_go_where_tensorflow_has_them(gpu):
    assert "GPU:0" in tf.constant([1.0, 2.0]).device
    assert "GPU:0" in tf.constant(1.0).device
    assert "GPU:0" in tf.zeros([2]).device
    assert "GPU:0" in tf.constant([1, 2], tf.int64).device
    assert "CPU:0" in tf.constant([1, 2]).device
    assert "CPU:0" in tf.constant("a").device
    with tf.device("/CPU:0"):
        assert "CPU:0" in tf.constant([1.0, 2.0]).device
    assert "GPU:0" in tf.Variable([1.0]).device


def test_mixed_devices_are_brought_together(gpu):
    there = tf.constant([1.0, 2.0])
    with tf.device("/CPU:0"):
        here = tf.constant([3.0, 4.0])
    assert (there + here).numpy().tolist() == [4.0, 6.0]
    assert "GPU:0" in (here + there).device
    assert (2.0 * there).numpy().tolist() == [2.0, 4.0]
    assert tf.stack([here, there]).numpy().tolist() == [[3.0, 4.0], [1.0, 2.0]]


def test_copies_between_devices_are_differentiated(gpu):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v.value().cpu() ** 2)
    assert "CPU:0" in y.device
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 4.0]


def test_values_reach_python(gpu):
    x = tf.constant(2.5)
    assert float(x) == 2.5
    assert bool(tf.constant([True]))
    assert f"{x:.1f}" == "2.5"
    assert "2.5" in repr(x)
    assert np.asarray(x) == 2.5
    assert int(tf.argmax(tf.constant([1.0, 3.0, 2.0]))) == 1
    assert isinstance(pickle.loads(pickle.dumps(x)), Tensor)
    assert isinstance(copy.deepcopy(x), DeviceTensor)


def trained(function=None):
    """What a small network learns in a few steps, and what else a tape is asked."""
    rng = np.random.default_rng(0)
    w, b, v = (tf.Variable(rng.normal(size=s).astype("f") / 4) for s in [(8, 16), (16,), (16, 4)])
    x, labels = tf.constant(rng.normal(size=(32, 8)).astype("f")), tf.constant(rng.integers(0, 4, 32))

    def step(x, labels):
        with tf.GradientTape() as tape:
            logits = tf.matmul(tf.nn.gelu(tf.matmul(x, w) + b), v)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        for variable, gradient in zip([w, b, v], tape.gradient(loss, [w, b, v]), strict=True):
            variable.assign_sub(0.5 * gradient)
        return loss

    step = step if function is None else function(step)
    results = [step(x, labels).numpy() for _ in range(4)]
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.tanh(tf.matmul(x, w)) ** 3)
        slope = inner.gradient(y, x)
        steep = tf.reduce_sum(slope * slope)
    results.append(outer.gradient(steep, x).numpy())
    with tf.GradientTape() as tape:
        tape.watch(x)
        rows = tf.reduce_sum(tf.sin(x), axis=1)
    results.append(tape.jacobian(rows, x).numpy())
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
        y = tf.reduce_sum(tf.sin(tf.matmul(x, w)))
    results.append(forward.jvp(y).numpy())
    return [*results, w.numpy()]


@pytest.mark.parametrize(
    "function", [None, tf.function, lambda f: tf.function(f, jit_compile=True)], ids=["eager", "function", "xla"]
)
def test_a_training_loop(function, request):
    with on_host():
        expected = trained(function)
    request.getfixturevalue("gpu")
    for got, value in zip(trained(function), expected, strict=True):
        np.testing.assert_allclose(got, value, rtol=2e-4, atol=2e-5)


def test_a_function_is_recorded_by_a_tape(gpu):
    v = tf.Variable([1.0, 2.0])
    for jit in (False, True):
        f = tf.function(lambda x: tf.reduce_sum(x * v), jit_compile=jit)
        for _ in range(3):
            with tf.GradientTape() as tape:
                y = f(tf.constant([3.0, 4.0]))
            assert tape.gradient(y, v).numpy().tolist() == [3.0, 4.0]


def test_every_call_of_a_function_gives_tensors_in_the_same_place(gpu):
    v = tf.Variable([1.0, 2.0])
    with tf.device("/CPU:0"):
        here = tf.constant([3.0, 4.0])
    for f in (tf.function(lambda x: v + x), tf.function(lambda x: v * 1.0)):
        assert ["GPU:0" in f(here).device for _ in range(3)] == [True] * 3


def test_python_code_in_functions_is_differentiated(gpu):
    f = tf.function(lambda x: tf.py_function(lambda y: y * y * y, [x], tf.float32))
    x = tf.constant([1.0, 2.0])
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert tape.gradient(y, x).numpy().tolist() == [3.0, 12.0]


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("lifted", [False, True])
@pytest.mark.parametrize("initial", [lambda x: [1.0, 2.0], lambda x: 2.0 * x - 1.0], ids=["list", "tensor"])
def test_variables_made_in_functions_are_there(gpu, jit, lifted, initial):
    made = []

    @tf.function(jit_compile=jit, autograph=False)
    def f(x):
        if not made or not lifted:
            made.append(tf.Variable(initial(x), experimental_enable_variable_lifting=lifted))
        made[-1].assign_add(x)
        return made[-1] * 1.0

    results = [f(tf.constant([1.0, 1.5])).numpy().tolist() for _ in range(3)]
    assert results == ([[2.0, 3.5], [3.0, 5.0], [4.0, 6.5]] if lifted else [[2.0, 3.5]] * 3)
    assert type(made[-1]) is DeviceVariable


def test_control_flow_in_functions(gpu):
    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = tf.where(x > 0.0, x * 2.0, x - 1.0)
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x, lambda: -x)

    for _ in range(2):
        assert f(tf.constant([1.0, -1.0])).numpy().tolist() == [8.0, -4.0]


@pytest.mark.parametrize("jit", [False, True])
def test_a_tape_watches_what_a_function_closes_over(gpu, jit):
    x = tf.constant([1.0, 2.0])
    with tf.device("/CPU:0"):
        here = tf.constant([3.0, 4.0])
    f = tf.function(lambda y: y * (x * x) * here, jit_compile=jit)
    f(tf.ones([2]))  # with nobody watching
    with tf.GradientTape() as tape:
        tape.watch([x, here])
        y = f(tf.ones([2]))
    of_x, of_here = tape.gradient(y, [x, here])
    assert of_x.numpy().tolist() == [6.0, 16.0]
    assert of_here.numpy().tolist() == [1.0, 4.0]


def test_the_gradient_by_way_of_a_branch_not_taken_is_zero(gpu):
    f = tf.function(lambda x, p: tf.cond(p, lambda: 2.0 * x, lambda: tf.constant([3.0, 4.0])))
    for taken, expected in ((True, [2.0, 2.0]), (False, [0.0, 0.0])):
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, tf.constant(taken))
        assert tape.gradient(y, x).numpy().tolist() == expected


def test_values_that_matter_are_looked_at_there(gpu, caplog):
    x = tf.constant([[-1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(check="nan") as tape:
        tape.watch(x)
        y = tf.math.log(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="It began in log"):
        tape.gradient(y, x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.math.log(x)
        sums = x * tf.reduce_sum(x, 0)
    with pytest.warns(RuntimeWarning, match="NaN itself"):
        tape.gradient(y, x, nan_safe=True)
    tape.batch_jacobian(sums, x)
    assert "depend on other rows" in caplog.text


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("f", [tf.nn.gelu, tf.nn.leaky_relu, tf.nn.selu, tf.math.ndtri, tf.math.bessel_i1, tf.math.erf])
def test_halves_stay_halves(gpu, f, dtype):
    x = tf.cast(tf.constant([0.25, 0.5]), dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    gradient = tape.gradient(y, x)
    assert y.dtype.name == y.buffer.dtype.name == dtype
    assert gradient.dtype.name == gradient.buffer.dtype.name == dtype


def test_variables(gpu):
    v = tf.Variable([1.0, 2.0, 3.0])
    assert type(v) is DeviceVariable
    before = v.value()
    v.assign_add([1.0, 1.0, 1.0])
    v.assign_sub(tf.constant([0.5, 0.5, 0.5]))
    assert before.numpy().tolist() == [1.0, 2.0, 3.0]
    assert v.numpy().tolist() == [1.5, 2.5, 3.5]
    v.assign([7.0, 8.0, 9.0])
    v.scatter_add(tf.IndexedSlices(tf.constant([1.0, 1.0]), tf.constant([0, 0])))
    v[1].assign(0.0)
    assert v.numpy().tolist() == [9.0, 0.0, 9.0]
    with pytest.raises(ValueError, match="Shape mismatch"):
        v.assign([1.0])
    assert v.numpy().tolist() == [9.0, 0.0, 9.0]
    assert pickle.loads(pickle.dumps(v)).numpy().tolist() == [9.0, 0.0, 9.0]
    assert isinstance(v, tf.Variable)


def test_variables_of_the_users_own_class_are_on_the_host_and_say_so(gpu):
    class Own(tf.Variable):
        pass

    v = Own([1.0, 2.0])
    v.assign_add(tf.constant([1.0, 1.0]))
    assert type(v) is Own
    assert v.device == v.value().device
    with tf.GradientTape() as tape:
        y = v * tf.constant([3.0, 4.0])
    assert "GPU:0" in y.device
    assert tape.gradient(y, v).numpy().tolist() == [3.0, 4.0]


def test_updates_in_place_are_not_seen_by_others(gpu):
    v = tf.Variable(np.zeros(100_000, np.float32))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    seen = v.value()
    v.assign_add(tf.ones(100_000))
    assert float(tf.reduce_sum(seen)) == 0.0
    assert float(tf.reduce_sum(tape.gradient(y, v))) == 0.0


@pytest.mark.parametrize(
    "view", [lambda x: tf.reshape(x, [2, 2]), tf.transpose, lambda x: x[0:1], lambda x: tf.broadcast_to(x, [2, 2, 2])]
)
def test_updates_in_place_are_not_seen_through_views(gpu, view):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    v, w = tf.Variable(view(x)), tf.Variable(x + 0.0)
    seen, before = view(w), view(w).numpy()
    for _ in range(2):
        v.assign_add(tf.ones_like(v))
        w.assign_add(tf.ones_like(w))
    assert x.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert v.numpy().tolist() == (before + 2).tolist()
    assert seen.numpy().tolist() == before.tolist()


def test_a_repeated_number_is_sent_once(gpu):
    with on_host():
        x = Tensor(np.broadcast_to(np.float32(3), (2, 3)))
    assert (sent(MODULE, x) + 1.0).numpy().tolist() == [[4.0] * 3] * 2


@pytest.mark.skipif(ON_GPU, reason="looks into the stand-in")
def test_another_thread_does_not_read_what_is_being_updated(gpu, monkeypatch):
    v = tf.Variable([1.0, 2.0])
    seen = []
    reader = threading.Thread(target=lambda: seen.append(v.value().numpy().tolist()))

    def interrupted(buffer, change, out):
        assert out is buffer
        reader.start()
        reader.join(0.2)
        assert not seen
        return MODULE.xp.add(buffer, change, out=out)

    monkeypatch.setitem(MODULE.kernels, (np.add, np.dtype("float32")), interrupted)
    v.assign_add([1.0, 1.0])
    reader.join()
    assert seen == [[2.0, 3.0]]


def test_a_failed_update_leaves_the_value(gpu, monkeypatch):
    v = tf.Variable([1.0, 2.0])

    def exhausted(*arrays, **named):
        raise MemoryError("out of memory allocating 8 bytes")

    with monkeypatch.context() as patched, pytest.raises(tf.errors.ResourceExhaustedError, match="update of variable"):
        patched.setitem(MODULE.kernels, (np.add, np.dtype("float32")), exhausted)
        v.assign_add([1.0, 1.0])
    assert v.numpy().tolist() == [1.0, 2.0]


def test_copies_of_variables_go_where_new_tensors_go(gpu):
    v = tf.Variable([1.0, 2.0])
    for again in (copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        other = again(v)
        assert type(other) is DeviceVariable
        assert other.device == other.value().device == v.device
        other.assign_add([1.0, 1.0])
        with tf.device("/CPU:0"):
            here = again(other)
        assert here.device == here.value().device != v.device
        assert here.numpy().tolist() == [2.0, 3.0]
    assert v.numpy().tolist() == [1.0, 2.0]


def test_a_checkpoint_comes_back(gpu, tmp_path):
    v = tf.Variable([1.0, 2.0])
    path = tf.train.Checkpoint(v=v).write(str(tmp_path / "saved"))
    v.assign([0.0, 0.0])
    tf.train.Checkpoint(v=v).read(path)
    assert v.numpy().tolist() == [1.0, 2.0]


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
        seen.append(x.dtype.name)
        if x.dtype != np.float32:
            raise TypeError(f"no exp of {x.dtype}")
        return MODULE.xp.exp(x)

    monkeypatch.setitem(MODULE.kernels, registry["exp"], exp)
    for dtype in ("float64", "float32", "float64", "float16", "float32", "float16"):
        assert tf.exp(tf.zeros([2], dtype)).numpy().tolist() == [1.0, 1.0]
    assert seen.count("float32") == 2
    MODULE.by_way_of_host.discard("exp")


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


def test_what_explains_works_there(gpu, tmp_path):
    w, x = tf.Variable(np.ones((4, 3), np.float32)), tf.constant(np.ones((2, 4), np.float32))
    with tf.GradientTape(persistent=True, trace=True) as tape:
        h = tf.nn.relu(tf.matmul(x, w))
        cut, loss = tf.reduce_sum(tf.stop_gradient(h)), tf.reduce_sum(h * h)
    assert "stop_gradient" in str(tape.explain(cut, w))
    assert "finite" in str(tape.diagnose(loss, [w]))
    assert "matmul" in str(tape.profile(loss, [w]))
    assert "matmul" in str(tape.memory())
    tape.report(str(tmp_path / "report.html"))
    assert "matmul" in (tmp_path / "report.html").read_text()
    assert tf.inspect.check_gradients(lambda v: tf.reduce_sum(tf.sin(v)), tf.constant([1.0, 2.0]))


def test_gradient_hooks_rows_and_recomputation(gpu):
    w, x = tf.Variable(np.ones((4, 3), np.float32)), tf.constant(np.ones((2, 4), np.float32))
    with tf.GradientTape(persistent=True) as tape:
        h = tf.matmul(x, w)
        tape.on_gradient(h, lambda g: 2.0 * g)
        y = tf.reduce_sum(h)
        z = tf.reduce_sum(tf.recompute_grad(lambda v: tf.matmul(v, w))(x))
        rows = tf.reduce_sum(tf.gather(w, [0, 1, 0]))
    assert tape.gradient(y, w).numpy().tolist() == [[4.0] * 3] * 4
    assert tape.gradient(z, w).numpy().tolist() == [[2.0] * 3] * 4
    slices = tape.gradient(rows, w)
    assert isinstance(slices, tf.IndexedSlices)
    w.scatter_sub(slices)
    assert w.numpy()[:, 0].tolist() == [-1.0, 0.0, 1.0, 1.0]


def test_data_stays_on_the_host_until_it_is_used(gpu):
    w = tf.Variable(np.ones((4, 3), np.float32))
    data = tf.data.Dataset.from_tensor_slices(np.ones((6, 4), np.float32)).batch(3)
    for batch in data:
        assert "CPU:0" in batch.device
        assert "GPU:0" in tf.matmul(batch, w).device


def test_large_draws_are_made_there(gpu):
    tf.random.set_seed(1)
    there = tf.random.normal([300, 300])
    assert "GPU:0" in there.device
    with tf.device("/CPU:0"):
        tf.random.set_seed(1)
        np.testing.assert_allclose(there.numpy(), tf.random.normal([300, 300]).numpy(), rtol=1e-5, atol=1e-6)


def test_a_device_without_memory_is_named(gpu, monkeypatch):
    v = tf.Variable([1.0, 2.0])

    def exhausted(*arrays, **attrs):
        raise MemoryError("out of memory allocating 8 bytes")

    monkeypatch.setitem(MODULE.kernels, registry["matmul"], exhausted)
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"matmul.*shapes"):
        tf.matmul(v[:, None], v[None, :])
    with tf.GradientTape() as tape:
        y = v * v
    monkeypatch.setattr(MODULE, "fuse", lambda formula: exhausted)
    monkeypatch.setitem(MODULE.kernels, registry["mul"], exhausted)
    monkeypatch.setattr(MODULE, "ops", None)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="a gradient"):
        tape.gradient(y, v)
    assert v.numpy().tolist() == [1.0, 2.0]


def test_the_stand_in_is_strict():
    x = strict_arrays.StrictArray(np.ones(3))
    for read in (float, bool, np.asarray, lambda x: x + np.ones(3), lambda x: x.tolist()):
        with pytest.raises(TypeError):
            read(x)


def test_a_functions_run_of_elementwise_ops_is_one_launch(gpu, monkeypatch):
    """An update like Adam's: a dozen ops with three results."""
    v, m, s = (tf.Variable(x) for x in ([1.0, 2.0], [0.0, 0.0], [0.0, 0.0]))

    def update(g, rate):
        m.assign_add(0.1 * (g - m))
        s.assign_add(0.001 * (g * g - s))
        v.assign_sub(rate * m / (tf.sqrt(s) + 1e-7))

    launched = []

    def fuse(formula):
        kernel = made(formula)
        return lambda *arrays, **named: (launched.append(len(formula.steps)), kernel(*arrays, **named))[1]

    made = MODULE.fuse
    monkeypatch.setattr(MODULE, "fuse", fuse)
    step = tf.function(update)
    g, rate = tf.constant([0.5, -1.0]), tf.constant(0.01)
    step(g, rate)
    step(g, rate)
    launched.clear()
    step(g, rate)
    assert launched == [12]
    with on_host():
        expected = [np.float32([1.0, 2.0]), np.zeros(2, "f"), np.zeros(2, "f")]
        for _ in range(3):
            expected[1] += 0.1 * (g.numpy() - expected[1])
            expected[2] += 0.001 * (g.numpy() ** 2 - expected[2])
            expected[0] -= 0.01 * expected[1] / (np.sqrt(expected[2]) + 1e-7)
    for variable, value in zip((v, m, s), expected, strict=True):
        np.testing.assert_allclose(variable.numpy(), value, rtol=1e-5)


def test_what_cannot_be_one_launch_is_several(gpu):
    x = tf.constant([1.0, 2.0])
    f = tf.function(lambda x: tf.exp(x**x) * 2.0 + tf.cast(tf.cast(x, tf.complex64), tf.float32))
    for _ in range(3):
        np.testing.assert_allclose(f(x).numpy(), np.exp([1.0, 4.0]) * 2 + [1, 2], rtol=1e-5)

"""Tensors on a device: placement and conversion to Python; on PyTorch's CPU device without a GPU."""

import contextlib
import copy
import itertools
import operator
import pickle

import numpy as np
import pytest
import torch
from stand_in import MODULE, on_host, replace_kernels

import gradtape as tf
from gradtape.backends.arrays import Kernels
from gradtape.core.tensor import Tensor, wrap
from gradtape.engine.memory.store import Store
from gradtape.engine.registry.devices import DeviceTensor, ops_of, send_to_device
from gradtape.engine.registry.op import registry


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


def test_a_repeated_number_is_sent_once(gpu):
    with on_host():
        x = Tensor(np.broadcast_to(np.float32(3), (2, 3)))
    assert (send_to_device(MODULE, x) + 1.0).numpy().tolist() == [[4.0] * 3] * 2


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64], ids=lambda d: d.name)
def test_numbers_in_a_program_are_rounded_as_on_the_host(gpu, dtype):
    def results(x, number):
        with tf.GradientTape() as tape:
            tape.watch(x)
            ys = [x * number, number - x, x / number, number + x]
            y = tf.add_n(ys)
        return [y.numpy().astype(np.complex64) for y in (*ys, tape.gradient(y, x))]

    values = np.array([[-1.5, 0.0], [2.25, 3.0]]).astype(dtype.as_numpy_dtype)
    numbers = [0.5, 2, -0.0, 0.0, float("nan"), float("inf"), 1e-3, 70000.0]
    for number, array in itertools.product(numbers * 2, [values, values[:0], values[0, 0], values.T[1:]]):
        with on_host():
            here = Tensor(array)
        there = send_to_device(MODULE, here)
        assert isinstance(there * number, DeviceTensor)
        for found, expected in zip(results(there, number), results(here, number), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-2 if dtype.size == 2 else 1e-6)
            assert np.array_equal(np.signbit(found.real[found == 0]), np.signbit(expected.real[expected == 0]))


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


def test_a_device_without_memory_is_named(gpu, monkeypatch):
    v = tf.Variable([1.0, 2.0])

    def exhausted(*arrays, **attrs):
        raise MemoryError("out of memory allocating 8 bytes")

    replace_kernels(monkeypatch, "matmul", exhausted)
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"matmul.*shapes"):
        tf.matmul(v[:, None], v[None, :])
    with tf.GradientTape() as tape:
        y = tf.math.log1p(v)
    monkeypatch.setattr(MODULE, "fuse", lambda formula: exhausted)
    replace_kernels(monkeypatch, "mul", exhausted)
    monkeypatch.setattr(MODULE, "ops", None)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="a gradient"):
        tape.gradient(y, v)
    assert v.numpy().tolist() == [1.0, 2.0]


def test_a_memory_budget_counts_what_is_on_the_device(gpu, monkeypatch):
    monkeypatch.setattr(Store, "least_limit", 0)
    weights = [tf.Variable(np.random.default_rng(i).normal(size=(8, 8)) / 3, dtype=tf.float32) for i in range(8)]

    def asked(**options):
        tf.random.set_seed(3)
        x = tf.ones([16, 8])
        with tf.GradientTape(**options) as tape:
            for w in weights:
                x = tf.nn.dropout(tf.nn.gelu(tf.matmul(x, w)) + tf.random.normal([16, 8]), 0.3)
                with tf.device("/CPU:0"):
                    scale = tf.constant(0.9) * tf.ones([8])
                x = x * scale
            loss = tf.reduce_sum(x * x)
        account = tape._log.store.account if options else None
        kept = tape.memory().total
        return [g.numpy() for g in tape.gradient(loss, weights)], account, kept

    plain, _, whole = asked()
    for budget in (0.3, 1000):
        found, account, kept = asked(memory_budget=budget)
        assert all(np.array_equal(a, b) for a, b in zip(found, plain, strict=True))
        assert account.evictions > 0
        assert account.recomputations > 0
        assert kept < 0.5 * whole
        assert abs(account.wanted - whole) < 0.2 * whole


def test_a_hessian_leaves_the_log_as_it_was(gpu):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.sin(v) * v)
    log = tape._log
    before = log.bookmark()
    assert log.module is not None
    tape.hessian(y, v)
    assert log.bookmark() == before
    assert log.module is not None  # a gradient is computed on bare arrays of the device, as before


@pytest.mark.parametrize("where", ["/CPU:0", "/GPU:0"])
@pytest.mark.parametrize("asked_in", ["/CPU:0", "/GPU:0", None])
@pytest.mark.parametrize("scalar", [True, False])
def test_gradients_are_where_the_tape_was_recorded(gpu, where, asked_in, scalar):
    with tf.device(where):
        v, w, x = tf.Variable([1.0, 2.0]), tf.Variable(3.0), tf.constant([4.0, 5.0])
        other = tf.Variable([1.0, 2.0])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = v * w * x
            y = tf.reduce_sum(y) if scalar else y
    with tf.device(asked_in):
        for sources in (v, [v], [v, w], [v, w, v], {"x": x, "v": [v, v]}, [w, other]):
            found = tf.nest.flatten(tape.gradient(y, sources, unconnected_gradients="zero"))
            found += tf.nest.flatten(tape.gradient(y, sources, nan_safe=True, unconnected_gradients="zero"))
            assert all(g.device.endswith(where[1:]) for g in found)
        assert tape.jacobian(y, v).device.endswith(where[1:])


def test_the_rows_of_a_jacobian_of_many_examples_are_computed_on_the_device(gpu):
    rng = np.random.default_rng(0)
    x, a, b = rng.normal(size=(150, 3)), rng.normal(size=(3, 4)), rng.normal(size=4)
    found = []
    for where in ("/CPU:0", "/GPU:0"):
        with tf.device(where):
            sources = [tf.Variable(value) for value in (x, a, b)]
            with tf.GradientTape() as tape:
                y = tf.tanh(sources[0] @ sources[1] + sources[2])
            found.append(tape.jacobian(y, sources))
        assert all(j.device.endswith(where[1:]) for j in found[-1])
    for host, there in zip(*found, strict=True):
        np.testing.assert_allclose(there, host, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "dtype",
    ["float8_e5m2", "float8_e4m3fn", "int4", "uint16", "uint32", "uint64", "bfloat16", "float16", "int8", "complex64"],
)
def test_every_dtype_works_there_or_on_the_host(gpu, dtype):
    x = tf.cast(tf.constant([1.0, 2.0, 3.0]), dtype)
    y = x + x
    assert x.dtype.name == y.dtype.name == dtype
    assert tf.cast(y, tf.float32).numpy().tolist() == [2.0, 4.0, 6.0]
    assert tf.identity(x).numpy().tolist() == x.cpu().numpy().tolist()


def test_large_unsigned_numbers_and_other_names_of_integers(gpu):
    assert int(tf.constant(2**64 - 1, tf.uint64)) == 2**64 - 1
    assert tf.constant(np.array([1, 2], np.ulonglong)).numpy().tolist() == [1, 2]
    assert tf.constant(np.array([1, -2], np.longlong)).numpy().tolist() == [1, -2]


OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv)


@pytest.mark.parametrize("f", OPERATORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("recorded", [False, True])
def test_operators_read_numbers_variables_and_host_scalars(gpu, f, recorded):
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(1.0, 2.0, (2, 3)).astype(np.float32) for _ in range(2))
    scalar = wrap(np.float32(1.5), tf.float32)
    x, v = tf.constant(a), tf.Variable(b)
    others = [(x, a), (v, b), (0.5, np.float32(0.5)), (3, np.float32(3.0)), (scalar, np.float32(1.5))]
    for other, value in others * 2:  # the second time from caches
        for left, right, wanted in ((x, other, f(a, value)), (other, x, f(value, a))):
            with tf.GradientTape() if recorded else contextlib.nullcontext() as tape:
                if recorded:
                    tape.watch(x)
                y = f(left, right)
            assert type(y) is DeviceTensor
            np.testing.assert_allclose(y.numpy(), wanted, 2e-7)  # a GPU multiplies by the inverse of a number
            if recorded and other is not x:
                slope = {"add": 1, "sub": 1 if left is x else -1, "mul": value}.get(
                    f.__name__, 1 / value if left is x else -value / a**2
                )
                np.testing.assert_allclose(tape.gradient(y, x).numpy(), np.broadcast_to(slope, a.shape), 1e-6)


def test_a_host_scalar_that_was_an_operand_before_can_be_watched(gpu):
    scalar = wrap(np.float32(1.5), tf.float32)
    x = tf.constant([1.0, 2.0])
    assert (x * scalar).numpy().tolist() == [1.5, 3.0]
    with tf.GradientTape() as tape:
        tape.watch(scalar)
        y = x * scalar
    assert tape.gradient(y, scalar).numpy() == 3.0
    assert (x * scalar).tracer is None


def test_operators_report_shapes_and_dtypes_in_order(gpu):
    x = tf.constant([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2\] vs\. \[3\]"):
        x + tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"#1.*float tensor but is a double"):
        x * tf.constant([1.0, 2.0], tf.float64)
    with pytest.raises(ValueError, match="unsupported type"):
        x - object()


def test_the_general_kernel_runs_where_the_own_one_does_not_apply(gpu, monkeypatch):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    for name, f in (("exp", tf.exp), ("mul", lambda x: x * x), ("matmul", lambda x: x @ x)):
        expected = f(x).numpy()
        general = MODULE.kernels[registry[name]].general
        monkeypatch.setitem(MODULE.kernels, registry[name], Kernels(lambda *a, **k: None, None, general))
        assert np.array_equal(f(x).numpy(), expected)
        value = getattr(ops_of(MODULE), name)(*[x.buffer] * len(registry[name].args))
        assert np.array_equal(MODULE.to_host(value), expected)


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.int64, tf.bool, tf.complex64])
def test_a_device_fills_tensors_itself(gpu, monkeypatch, dtype):
    """A copy from the host would wait for all work of the device."""
    monkeypatch.setattr(MODULE, "from_host", None)
    for value, create in enumerate((tf.zeros, tf.ones)):
        x = create((3, 2), dtype)
        assert x.device == MODULE.device
        np.testing.assert_array_equal(x.numpy(), np.full((3, 2), value, dtype.as_numpy_dtype))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64", "bool"])
def test_views_are_passed_to_other_libraries(gpu, dtype):
    x = tf.cast(tf.reshape(tf.range(6.0), [2, 3]), dtype)
    views = [x, x[::-1], tf.transpose(x), tf.broadcast_to(x[:, :1], [2, 3]), x[:, 1:], x[:, ::2], x[1, 2], x[:0]]
    views += [tf.math.conj(x)] if dtype == "complex64" else []
    for y in views:
        other = torch.from_dlpack(y)
        assert other.shape == y.shape
        assert other.to(torch.complex64).tolist() == tf.cast(y, tf.complex64).numpy().tolist()

"""Rows of tables on a device: gathered, differentiated and updated; on PyTorch's CPU device without a GPU."""

import threading

import numpy as np
import pytest
from stand_in import MODULE

import gradtape as tf
from gradtape.backends.torch import device, indices
from gradtape.engine.registry.devices import on_device

DTYPES = ["float32", "float64", "float16", "bfloat16", "complex64", "int64"]


@pytest.fixture(params=[False, True], ids=["any order", "one order"])
def order(request):
    """Adds in any order, or in the same one in every run."""
    device.use_deterministic_algorithms(request.param)
    yield
    device.use_deterministic_algorithms(False)


def index_tensor(rows, is_noted, dtype=np.int64):
    """Returns indices that came from the host, or that were computed on the device and so have no note."""
    buffer = MODULE.from_host(np.asarray(rows, dtype))
    return on_device(MODULE, buffer if is_noted else buffer + 0, tf.as_dtype(dtype))


def test_indices_have_notes_until_they_are_overwritten(gpu):
    x = tf.constant([[3, 1], [0, 2]], tf.int64).buffer
    assert indices.are_below(x, 4)
    assert not indices.are_below(x, 3)
    assert not indices.are_below(tf.constant([0, -1], tf.int64).buffer, 9)
    assert not indices.are_below(tf.constant([], tf.int64).buffer, 9)
    assert indices.are_below(MODULE.from_host(np.array(2)), 3)
    v = tf.Variable([[3, 1], [0, 2]], dtype=tf.int64)
    for moved in (tf.reshape(v, [4]), v[0], v[:, ::-1], tf.transpose(v)):
        assert indices.are_below(moved.buffer, 4)
        assert not indices.are_below(moved.buffer, 3)
    del moved
    place = v.value().buffer.data_ptr()
    for step in range(2):
        v.assign_add([[7, 7], [7, 7]])
        assert (v.value().buffer.data_ptr() == place) or step == 0
        assert not indices.are_below(v.value().buffer, 4)
        assert not indices.are_below(tf.reshape(v, [4]).buffer, 4)
        place = v.value().buffer.data_ptr()


def test_rows_are_read_and_updated_in_the_inference_mode_of_pytorch(gpu):
    import torch

    with torch.inference_mode():
        v, rows = tf.Variable([[1.0], [2.0]]), tf.constant([[1, 1]], tf.int64)
        assert tf.gather(v, tf.transpose(rows)).numpy().tolist() == [[[2.0]], [[2.0]]]
        v.scatter_add(tf.IndexedSlices(tf.constant([[3.0], [4.0]]), rows[0]))
        assert v.numpy().tolist() == [[1.0], [9.0]]
    assert not MODULE.by_way_of_host


@pytest.mark.parametrize("seed", range(6))
def test_random_sums_of_rows_are_those_of_a_loop(gpu, order, seed):
    """Of any dtype and shape, with repeated rows and none, and with rows out of range, which are ignored."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        dtype = tf.as_dtype(rng.choice(DTYPES))
        shape = (int(rng.integers(0, 5)), *rng.integers(1, 4, rng.integers(0, 3)).tolist())
        count, outside, is_noted = int(rng.integers(0, 7)), int(rng.integers(2)), bool(rng.integers(2))
        rows = rng.integers(-2 * outside, shape[0] + 2 * outside, count if shape[0] or outside else 0)
        first, changes = rng.integers(0, 9, shape), rng.integers(0, 9, (rows.size, *shape[1:]))
        sign = int(rng.choice([1, -1]))
        expected, total = first.copy(), np.zeros_like(first)
        for i, row in enumerate(rows):
            if 0 <= row < shape[0]:
                expected[row] += sign * changes[i]
                total[row] += changes[i]
        v, read = tf.Variable(tf.cast(first, dtype)), None
        if rng.integers(2):
            read = v.value()
        at = index_tensor(rows, is_noted, rng.choice([np.int32, np.int64]))
        slices = tf.IndexedSlices(tf.cast(changes, dtype), at, tf.constant(shape))
        (v.scatter_add if sign == 1 else v.scatter_sub)(slices)
        np.testing.assert_array_equal(tf.cast(v, tf.complex128).numpy(), expected)
        np.testing.assert_array_equal(tf.cast(tf.convert_to_tensor(slices), tf.complex128).numpy(), total)
        if read is not None:
            np.testing.assert_array_equal(tf.cast(read, tf.complex128).numpy(), first)


@pytest.mark.parametrize("is_noted", [False, True])
@pytest.mark.parametrize("shape", [(3,), (3, 2), (3, 2, 2)])
def test_gathered_rows_are_those_of_numpy(gpu, shape, is_noted):
    table = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    for rows in ([2, 0, 2], [[1], [-4], [9]], [], 1):
        taken = tf.gather(tf.constant(table), index_tensor(rows, is_noted))
        np.testing.assert_array_equal(taken.numpy(), table.take(np.array(rows, int), axis=0, mode="clip"))
    taken = tf.gather(tf.constant(table), index_tensor([0, 0], is_noted), axis=len(shape) - 1)
    np.testing.assert_array_equal(taken.numpy(), table.take([0, 0], axis=-1))


def train(table, rows, steps):
    """Yields a table after each step of descent on the rows that are used."""
    v, rows = tf.Variable(tf.constant(table)), tf.constant(rows, tf.int64)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.log_sigmoid(tf.nn.embedding_lookup(v, rows)))
        g = tape.gradient(loss, v)
        assert isinstance(g, tf.IndexedSlices)
        v.scatter_sub(tf.IndexedSlices(0.1 * g.values, g.indices))
        yield v


@pytest.mark.parametrize("rows", [[2, 0, 2, 1], [[2, 0], [2, 2]]])
def test_a_table_is_trained_in_place(gpu, rows):
    table = np.linspace(-90.0, 90.0, 12, dtype=np.float32).reshape(4, 3)
    places = [v.value().buffer.data_ptr() for v in train(table, rows, 4)]
    assert len(set(places)) == 1
    *_, found = train(table, rows, 4)
    assert "GPU:0" in found.device
    with tf.device("/CPU:0"):
        *_, expected = train(table, rows, 4)
        assert "CPU:0" in expected.device
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)


def test_a_tape_keeps_the_rows_that_it_has_recorded(gpu):
    """The second derivative reads the table after its update."""
    v, rows = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1, 1], tf.int64)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.gather(v, rows) ** 2 * tf.reduce_sum(v))
    read = v.value()
    before = tf.convert_to_tensor(tape.gradient(y, v)).numpy()
    v.scatter_sub(tf.IndexedSlices(tf.ones((2, 2)), rows))
    np.testing.assert_array_equal(tf.convert_to_tensor(tape.gradient(y, v)).numpy(), before)
    np.testing.assert_array_equal(read.numpy(), [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(v.numpy(), [[1.0, 2.0], [1.0, 2.0]])


def test_threads_lose_no_update_of_rows(gpu):
    v, rows = tf.Variable(tf.zeros((50, 4))), tf.constant([3, 7, 3], tf.int64)
    slices = tf.IndexedSlices(tf.ones((3, 4)), rows)
    threads = [threading.Thread(target=lambda: [v.scatter_add(slices) for _ in range(50)]) for _ in range(4)]
    seen = []
    for thread in threads:
        thread.start()
        seen.append((v.value(), v.numpy()))
    for thread in threads:
        thread.join()
    assert v.numpy()[[3, 7], 0].tolist() == [400.0, 200.0]
    assert all(np.unique(read.numpy()[3]).size == 1 for read, _ in seen)


def test_the_slope_of_log_sigmoid_is_that_of_the_host(gpu):
    x = np.array([-np.inf, -200.0, -30.0, -1.0, 0.0, 1e-3, 2.0, 45.0, 200.0, np.inf, np.nan])

    def slope(dtype):
        at = tf.constant(x, dtype)
        with tf.GradientTape() as tape:
            tape.watch(at)
            y = tf.math.log_sigmoid(at)
        return tf.cast(tape.gradient(y, at), tf.float64).numpy()

    for dtype, rtol in (("float64", 1e-14), ("float32", 1e-6), ("float16", 1e-3)):
        found = slope(dtype)
        with tf.device("/CPU:0"):
            np.testing.assert_allclose(found, slope(dtype), rtol=rtol, atol=1e-7 if dtype == "float16" else 0)


def test_determinism_restores_the_modes_of_pytorch(monkeypatch):
    import torch

    for mode, fills in ((0, True), (2, False)):
        torch.set_deterministic_debug_mode(mode)
        monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", fills)
        device.use_deterministic_algorithms(False)
        assert torch.get_deterministic_debug_mode() == mode
        for _ in range(2):
            device.use_deterministic_algorithms(True)
        assert torch.get_deterministic_debug_mode() == max(mode, 1)
        for _ in range(2):
            device.use_deterministic_algorithms(False)
        assert torch.get_deterministic_debug_mode() == mode
        assert torch.utils.deterministic.fill_uninitialized_memory is fills
    torch.set_deterministic_debug_mode(0)


def test_the_default_cotangent_is_not_overwritten(gpu):
    """It is one array for all gradients, which an identity returns as it is."""
    for _ in range(2):
        v = tf.Variable(tf.constant(3.0))
        assert "GPU:0" in v.device
        with tf.GradientTape() as tape:
            y = tf.identity(v)
        v.assign(tape.gradient(y, v))
        for _ in range(2):
            v.assign_add(tf.constant(1.0))
        assert v.numpy() == 3.0


@pytest.mark.parametrize("name", ["scatter_max", "scatter_min", "scatter_mul"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int64"])
def test_rows_out_of_range_are_combined_with_nothing(gpu, name, dtype):
    v = tf.Variable(tf.cast([[1, 2], [3, 4], [5, 6]], dtype))
    ids = tf.constant([2, -1, 0, 3, 100], tf.int64) * tf.constant(1, tf.int64)  # computed there: not known to be inside
    getattr(v, name)(tf.IndexedSlices(tf.cast([[9, 0], [7, 7], [0, 9], [7, 7], [7, 7]], dtype), ids))
    combine = {"scatter_max": np.maximum, "scatter_min": np.minimum, "scatter_mul": np.multiply}[name]
    assert v.numpy().tolist() == [*combine([[1, 2]], [[0, 9]]).tolist(), [3, 4], *combine([[5, 6]], [[9, 0]]).tolist()]

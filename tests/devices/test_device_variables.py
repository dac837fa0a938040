"""Variables on a device, updated in place; on PyTorch's CPU device without a GPU."""

import copy
import pickle
import threading

import numpy as np
import pytest
from stand_in import MODULE, ON_GPU, on_host

import gradtape as tf
from gradtape.backends.torch import host_kernels
from gradtape.state.device_storage import DeviceStorage


def test_variables(gpu):
    v = tf.Variable([1.0, 2.0, 3.0])
    assert type(v._storage) is DeviceStorage
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


@pytest.mark.skipif(ON_GPU, reason="looks into the stand-in")
def test_another_thread_does_not_read_what_is_being_updated(gpu, monkeypatch):
    v = tf.Variable([1.0, 2.0])
    seen = []
    reader = threading.Thread(target=lambda: seen.append(v.value().numpy().tolist()))

    def interrupted(buffer, change):
        reader.start()
        reader.join(0.2)
        assert not seen
        return MODULE.xp.add(buffer, change, out=buffer)

    monkeypatch.setitem(MODULE.updates, np.add, (interrupted, None))
    v.assign_add([1.0, 1.0])
    reader.join()
    assert seen == [[2.0, 3.0]]


def test_a_failed_update_leaves_the_value(gpu, monkeypatch):
    v = tf.Variable([1.0, 2.0])

    def exhausted(*arrays, **named):
        raise MemoryError("out of memory allocating 8 bytes")

    with monkeypatch.context() as patched, pytest.raises(tf.errors.ResourceExhaustedError, match="update of variable"):
        patched.setitem(MODULE.updates, np.add, (exhausted, exhausted))
        v.assign_add([1.0, 1.0])
    assert v.numpy().tolist() == [1.0, 2.0]


def test_copies_of_variables_go_where_new_tensors_go(gpu):
    v = tf.Variable([1.0, 2.0])
    for again in (copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        other = again(v)
        assert type(other._storage) is DeviceStorage
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


def test_variables_of_numbers_are_on_the_host_and_say_so(gpu):
    with tf.device("/GPU:0"):
        for value in (0.5, np.float32(0.5), 1, "text", [1, 2]):
            v = tf.Variable(value)
            assert type(v._storage) is not DeviceStorage
            assert v.device == v.value().device
            assert "CPU:0" in v.device
        v, x = tf.Variable(0.5), tf.constant([1.0, 2.0])
        with tf.GradientTape(persistent=True) as tape:
            y = v * 2.0 + 1.0
            z = tf.reduce_sum(v * x)
        assert {t.device for t in (v, v.value(), v + 1.0, tf.sqrt(v), y, tape.gradient(y, v))} == {v.device}
        v.assign_add(1.0)
        assert v.device == v.value().device
        assert "GPU:0" in z.device  # computed with a tensor on the device
        assert tape.gradient(z, v).numpy() == 3.0


@pytest.mark.parametrize(
    "share", [lambda v: tf.reshape(v, [4]), lambda v: v[0], tf.transpose, lambda v: v.value().__dlpack__()],
    ids=["reshape", "slice", "transpose", "dlpack"],
)
def test_what_shares_the_memory_of_a_value_is_not_overwritten(gpu, share):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    place = v.value().buffer.data_ptr()
    v.assign_add([[0.0, 0.0], [0.0, 0.0]])
    assert v.value().buffer.data_ptr() == place
    shared = share(v)
    v.assign_add([[1.0, 1.0], [1.0, 1.0]])
    assert v.value().buffer.data_ptr() != place
    del shared


def test_rows_are_added_in_place_unless_the_value_was_read(gpu):
    with on_host():
        at, rows = tf.constant([2, 0, 2]), tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    v = tf.Variable(tf.ones((3, 2)))
    v.scatter_add(tf.IndexedSlices(rows, at))
    read = tf.identity(v)
    v.scatter_sub(tf.IndexedSlices(2.0 * rows, at))
    v.scatter_nd_add([[0, 1]], [10.0])
    np.testing.assert_array_equal(read.numpy(), [[4.0, 5.0], [1.0, 1.0], [7.0, 9.0]])
    np.testing.assert_array_equal(v.numpy(), [[-2.0, 7.0], [1.0, 1.0], [-5.0, -7.0]])


def updated(method, dtype, first, at, changes, is_read):
    """Returns the value of a variable after an update of rows; a value that was read before does not change."""
    v = tf.Variable(tf.cast(first, dtype))
    read = v.value() if is_read else None
    getattr(v, method)(tf.IndexedSlices(tf.cast(changes, dtype), tf.constant(at)))
    if read is not None:
        np.testing.assert_array_equal(tf.cast(read, tf.complex128).numpy(), first)
    return tf.cast(v, tf.complex128).numpy()


@pytest.mark.parametrize("seed", range(6))
def test_random_updates_of_rows_are_those_of_the_host(gpu, seed):
    """Of any dtype and shape, also empty ones, with repeated rows, of values that were read or not."""
    rng = np.random.default_rng(seed)
    for _ in range(25):
        dtype = tf.as_dtype(rng.choice(["float32", "float64", "float16", "bfloat16", "int32", "uint16", "complex64"]))
        shape = (int(rng.integers(1, 5)), *rng.integers(0, 4, rng.integers(0, 3)).tolist())
        count = int(rng.integers(0, 6))
        first, changes = rng.integers(0, 9, shape), rng.integers(0, 9, (count, *shape[1:]))
        at = rng.integers(0, shape[0], count)
        method = str(rng.choice(["scatter_add", "scatter_sub", "scatter_update"]))
        if method == "scatter_update":  # of repeated rows, a GPU may keep any
            at, changes = np.arange(min(count, shape[0])), changes[: shape[0]]
        case = method, dtype, first, at, changes, bool(rng.integers(2))
        found = updated(*case)
        with tf.device("/CPU:0"):
            expected = updated(*case)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kept", [False, True])
def test_filters_take_over_the_layout_of_kernels(gpu, monkeypatch, kept):
    """A GPU copies a filter to the layout of its kernels; an update in place continues with the copy."""
    monkeypatch.setattr(host_kernels, "keeps_derived", lambda x: True)
    rng = np.random.default_rng(0)
    shapes = [(3, 3, 2, 4), (2, 2, 4, 4), (1, 1, 4, 3), (2, 2, 3, 1), (4, 1, 2)]
    arrays, image = [rng.normal(size=s).astype(np.float32) for s in shapes], rng.normal(size=(2, 6, 6, 2))

    def trained():
        weights, x = [tf.Variable(w) for w in arrays], tf.constant(image, tf.float32)
        velocities, held = [tf.Variable(tf.zeros_like(w)) for w in weights], []
        for _ in range(4):
            with tf.GradientTape() as tape:
                h = tf.nn.conv2d(x, weights[0], 1, "SAME")
                h = tf.tanh(tf.nn.conv2d(h, weights[1], 2, "VALID"))
                h = tf.nn.conv2d_transpose(h, weights[1], (2, 6, 6, 4), 2, "SAME")
                h = tf.nn.conv2d(tf.nn.conv2d(h, weights[2], 1, "SAME"), weights[3], 1, "SAME")
                loss = tf.reduce_sum(tf.nn.conv1d(h[:, :, 0], weights[4], 1, "SAME") ** 2)
            gradients = tape.gradient(loss, weights)
            held += [loss, *[w.value() for w in weights if kept]]
            for w, velocity, g in zip(weights, velocities, gradients, strict=True):
                velocity.assign(0.9 * velocity + g)
                w.assign_sub(1e-4 * velocity)
        weights[0].scatter_sub(tf.IndexedSlices(tf.ones((1, 3, 2, 4)), tf.constant([1])))
        weights[0][0, 1].assign(tf.ones((2, 4)))
        return weights, held

    weights, held = trained()
    w = weights[1]._storage.last.buffer
    assert kept or (w.stride() == (8, 4, 1, 16) and MODULE.own_array(w) is w)
    with tf.device("/CPU:0"):
        expected, expected_held = trained()
    for a, b in zip((*weights, *held), (*expected, *expected_held), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("keeps", [False, True])
def test_images_serve_as_filters_and_filters_as_images(gpu, monkeypatch, keeps):
    """Kernels keep both in other layouts, whose axes differ."""
    monkeypatch.setattr(host_kernels, "keeps_derived", lambda x: keeps)
    arrays = np.random.default_rng(0).normal(size=(3, 4, 4, 4, 4)).astype(np.float32)

    def results():
        x, image, w = tf.constant(arrays[0]), tf.constant(arrays[1]), tf.Variable(arrays[2])
        for _ in range(2):
            made = tf.nn.conv2d(image, w, 1, "SAME")
            w.assign_add(tf.ones_like(w))
        mean, variance = tf.nn.moments(w, [0, 1, 2])
        standardized = tf.nn.batch_normalization(w, mean, variance, None, None, 1e-3)
        return [tf.nn.conv2d(x, made, 1, "SAME"), tf.nn.avg_pool2d(w.value(), 2, 1, "VALID"), standardized]

    found = results()
    with tf.device("/CPU:0"):
        expected = results()
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-3, atol=1e-4)


def test_variables_of_inference_mode_are_updated_outside_of_it(gpu):
    """PyTorch does not overwrite tensors that were created in its inference mode."""
    import torch

    with torch.inference_mode():
        v = tf.Variable(tf.zeros([2, 2]))
    v.assign_add(tf.ones([2, 2]))
    v.scatter_sub(tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0])))
    with torch.inference_mode():
        v.assign_add(tf.ones([2, 2]))
    v.assign_sub(tf.fill([2, 2], 3.0))
    assert v.numpy().tolist() == [[-2.0, -2.0], [-1.0, -1.0]]

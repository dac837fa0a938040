"""Large arrays begin at cache lines, and hold the same values as others."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.backends.numpy import memory


@pytest.fixture
def aligned(monkeypatch):
    """Aligns all arrays, as on processors with long vectors those of some size."""
    monkeypatch.setattr(memory, "LEAST_ALIGNED", 0)
    monkeypatch.setattr(memory, "_LEAST_KEPT", 0)


def is_aligned(array):
    return array.ctypes.data % 64 == 0


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 0, 2), (5, 1, 33)])
@pytest.mark.parametrize("dtype", ["?", "i1", "e", "f", "d", "D"])
def test_copies_have_the_values_and_the_layout_of_new_arrays(aligned, shape, dtype):
    value = np.random.default_rng(0).normal(size=(*shape, 2)).astype(dtype)[..., 0]
    y = memory.copy(value, np.dtype(dtype))
    assert is_aligned(y) and y.flags.c_contiguous and y.flags.writeable
    assert y.shape == value.shape and y.dtype == value.dtype and not np.shares_memory(y, value)
    np.testing.assert_array_equal(y, value)
    fresh = memory.empty(shape, dtype)
    assert is_aligned(fresh) and fresh.shape == shape and fresh.dtype == dtype


def test_strings_are_copied_as_objects(aligned):
    value = np.array([b"a", b"b"], object)
    assert memory.copy(value, value.dtype).tolist() == [b"a", b"b"]


def test_an_aligned_array_is_not_copied(aligned):
    array = memory.empty((4,), np.float32)
    assert memory.align(array) is array
    assert is_aligned(memory.align(array[1:]))


def test_the_owner_of_a_view_is_the_aligned_array(aligned):
    array = memory.empty((4, 8), np.float32)
    views = array[1:], array.T, array.reshape(-1)[3:].view(np.int32), array[1:].T[2:]
    assert all(view.base is array for view in views) and array.nbytes == 128


def test_variables_are_updated_in_aligned_memory_and_old_reads_keep_their_values(aligned):
    v = tf.Variable(np.arange(1 << 15, dtype=np.float32)[1:])
    before = v.numpy().copy()
    assert is_aligned(v._storage.array)
    read = v + 0.0
    alias = v.read_value()
    v.assign_add(tf.ones_like(v))
    address = v._storage.array.ctypes.data
    np.testing.assert_array_equal(alias, before)
    np.testing.assert_array_equal(read, before)
    np.testing.assert_array_equal(v, before + 1)
    del alias
    v.assign_sub(tf.ones_like(v))
    assert v._storage.array.ctypes.data == address  # in place
    np.testing.assert_array_equal(v, before)


def test_compiled_updates_leave_old_reads_alone(aligned):
    v = tf.Variable(np.zeros((1 << 10, 1 << 10), np.float32))  # large enough that its memory is donated
    old, array = v.read_value(), v.numpy()

    @tf.function(jit_compile=True)
    def step(x):
        v.assign_add(x)
        return tf.reduce_sum(v)

    x = tf.ones_like(v)
    for count in range(1, 4):
        assert step(x) == count * 2.0**20
    v.assign_add(x)  # in place, on the host
    assert step(x) == 5 * 2.0**20
    assert not old.numpy().any() and not array.any() and (x.numpy() == 1).all()

"""Conversion of values to tensors."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError
from gradtape.engine.run.convert import to_array, to_shape, to_tensor, to_tensors


def test_an_array_is_copied():
    array = np.ones(3)
    x = tf.constant(array)
    array[0] = 5
    assert x.numpy().tolist() == [1, 1, 1]


def test_a_tensor_is_itself():
    x = tf.constant([1.0])
    assert tf.convert_to_tensor(x) is x
    assert tf.constant(x) is x


@given(st.recursive(st.integers(-5, 5) | st.floats(-5, 5, width=32), lambda inner: st.lists(inner, max_size=3)))
@settings(max_examples=80, deadline=None)
def test_a_list_is_as_numpy_reads_it_or_refused(value):
    try:
        expected = np.array(value, dtype=np.float64)
    except ValueError:
        with pytest.raises(ValueError, match="Can't convert"):
            tf.constant(value)
        return
    np.testing.assert_array_equal(np.asarray(tf.constant(value, tf.float64)), expected)
    assert tf.constant(value).dtype in (tf.int32, tf.float32)


def test_packing_is_recorded():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.convert_to_tensor([[x, 1.0], [x * x, np.float64(3)]])
    assert y.dtype is tf.float32
    assert tape.gradient(y, x).numpy() == 5.0


def test_a_variable_in_a_list_is_read():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.stack([v, 1.0]) * 3.0
    assert tape.gradient(y, v).numpy() == 3.0


class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high


class OpenInterval(Interval):
    pass


def test_registered_conversions():
    tf.register_tensor_conversion_function(
        Interval, lambda value, dtype=None, name=None, as_ref=False: tf.constant([value.low, value.high], dtype)
    )
    tf.register_tensor_conversion_function(
        OpenInterval, lambda value, dtype=None, name=None, as_ref=False: NotImplemented, priority=0
    )
    assert tf.convert_to_tensor(OpenInterval(1.0, 2.0)).numpy().tolist() == [1.0, 2.0]
    assert (tf.constant([1.0, 1.0]) + Interval(1.0, 2.0)).numpy().tolist() == [2.0, 3.0]
    assert tf.convert_to_tensor([Interval(1.0, 2.0), Interval(3.0, 4.0)], tf.float64).shape == (2, 2)


@pytest.mark.parametrize("base", [int, float, np.ndarray, np.float32, "text"])
def test_conversions_of_numbers_are_ours(base):
    with pytest.raises(TypeError):
        tf.register_tensor_conversion_function(base, lambda value, dtype=None, name=None, as_ref=False: None)


def test_the_tensor_protocol():
    class Wrapped:
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.constant([1.0, 2.0], dtype)

    assert tf.convert_to_tensor(Wrapped(), tf.float64).dtype is tf.float64


def test_one_dtype_for_all():
    assert [t.dtype for t in to_tensors([1, tf.constant(2.0)], "Pack")] == [tf.float32, tf.float32]
    with pytest.raises(InvalidArgumentError, match="cannot compute Pack as input #1"):
        to_tensors([tf.constant(1), tf.constant(2.0)], "Pack")


@pytest.mark.parametrize("shape", [[2, 3], (2, 3), tf.TensorShape([2, 3]), np.array([2, 3])])
def test_shapes(shape):
    assert to_shape(shape) == (2, 3)
    assert to_shape(tf.constant(shape)) == (2, 3)


def test_errors_say_what_was_given():
    with pytest.raises(TypeError, match=r"Cannot convert 2\.5 to EagerTensor of dtype int32"):
        to_tensor(2.5, tf.int32)
    with pytest.raises(ValueError, match="unsupported type"):
        to_tensor(object())
    with pytest.raises(ValueError, match="non-rectangular"):
        to_tensor([[1], [2, 3]])
    with pytest.raises(ValueError, match="mixed types"):
        to_tensor([1, "a"])
    with pytest.raises(ValueError, match="without dense_shape"):
        to_tensor(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))


class Squares:
    """A sequence by its methods, without declaring it."""

    def __len__(self):
        return 3

    def __getitem__(self, i):
        return float(i * i)


def test_what_has_a_length_and_elements_is_a_list():
    assert tf.constant(Squares()).numpy().tolist() == [0.0, 1.0, 4.0]
    assert tf.convert_to_tensor(Squares(), tf.float64).dtype is tf.float64
    with pytest.raises(ValueError, match="unsupported type"):
        tf.constant({0: 1.0})


class Labelled:
    """Like a column of a table: indexed by labels, iterated in order."""

    def __len__(self):
        return 2

    def __getitem__(self, label):
        return {"a": 1, "b": 3}[label]

    def __iter__(self):
        return iter((1, 3))


def test_what_is_indexed_by_labels_is_read_in_order():
    assert tf.constant(Labelled()).numpy().tolist() == [1, 3]


def test_a_list_of_narrow_arrays_keeps_their_dtype():
    rows = [np.ones(2, tf.bfloat16.as_numpy_dtype)] * 2
    assert tf.stack(rows).dtype is tf.bfloat16
    assert tf.constant(rows, tf.float32).numpy().tolist() == [[1, 1], [1, 1]]
    assert tf.constant([np.complex64(1j)]).dtype is tf.complex64


def test_a_shape_too_large_for_int32():
    shape = tf.TensorShape([2**31, 2])
    assert tf.convert_to_tensor(shape).dtype is tf.int64
    with pytest.raises(ValueError, match="a dimension is too large"):
        tf.convert_to_tensor(shape, tf.int32)


def test_what_shows_its_memory_is_an_array():
    class Memory:
        def __init__(self, array):
            self.__array_interface__ = array.__array_interface__
            self._array = array

    x = tf.constant(Memory(np.array([[1.5, 2.5]])))
    assert x.dtype is tf.float64
    assert x.numpy().tolist() == [[1.5, 2.5]]


def test_sizes_in_a_list_with_float_tensors_are_cast():
    """As in TensorFlow, which prefers int32 there; it rejects Python floats and whole float tensors."""
    two = tf.constant(2.7)
    assert tf.tile([[1.0, 2.0]], [two, 1]).shape == (2, 2)
    assert tf.reshape(tf.range(4), [two, 2]).shape == (2, 2)
    assert tf.fill([two, 2], 1).shape == tf.broadcast_to(1, (two, 2)).shape == (2, 2)
    for sizes in ([2.0, 1], tf.constant([2.0, 1.0])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Tmultiples"):
            tf.tile([[1.0, 2.0]], sizes)


@pytest.mark.parametrize("dtype", [None, np.int64, np.int8, np.float32])
@pytest.mark.parametrize(
    "value",
    [(1, -2), [[0, 0], [1, 2]], ((3,), [4]), [2**31], [-(2**40), 1], [300], [], [[]], [1.5, 2], [True, False],
     [np.int32(3), 4], [np.arange(2), [5, 6]]],
    ids=repr,
)  # fmt: skip
def test_static_values_are_arrays_as_of_their_tensors(value, dtype):
    expected = np.asarray(to_tensor(value).array, dtype=dtype)
    found = to_array(value, dtype)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("value", [[2**70], [[1, 2], [3]], [1, "a"], [True, 2]], ids=repr)
def test_static_values_that_are_no_arrays_raise_as_tensors_do(value):
    with pytest.raises((TypeError, ValueError)) as expected:
        to_tensor(value)
    with pytest.raises(type(expected.value), match=re.escape(str(expected.value))):
        to_array(value)

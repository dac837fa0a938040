"""Dtypes are single objects; what TensorFlow answers to each member is in the recorded comparison."""

import copy
import pickle

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import dtypes


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda dtype: dtype.name)
def test_there_is_one_object_for_each(dtype):
    assert tf.as_dtype(dtype.name) is dtype
    assert tf.DType(dtype.as_datatype_enum) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype
    if dtype.is_numpy_compatible:
        assert tf.as_dtype(dtype.as_numpy_dtype) is dtype
        assert tf.as_dtype(np.dtype(dtype.as_numpy_dtype)) is dtype


def test_the_differentiable_ones():
    found = {dtype.name for dtype in dtypes.ALL if dtype.differentiable}
    assert found == {"float16", "bfloat16", "float32", "float64", "complex64", "complex128"}


@pytest.mark.parametrize("dtype", [d for d in dtypes.ALL if d.kind], ids=lambda dtype: dtype.name)
def test_values_of_every_dtype_go_in_and_out(dtype):
    value = "1" if dtype is tf.string else 1
    t = tf.constant([value], dtype) if dtype not in (tf.bool,) else tf.constant([True])
    assert t.dtype is dtype
    assert t.numpy().dtype == dtype.numpy
    v = tf.Variable(t)
    assert v.dtype is dtype
    assert repr(v.value()) == repr(t)


def test_other_byte_orders_are_converted():
    t = tf.constant(np.array([1.0, 2.0], ">f4"))
    assert t.dtype is tf.float32
    assert (t + 1.0).numpy().tolist() == [2.0, 3.0]


def test_the_quantized_ones_are_named():
    assert tf.dtypes.QUANTIZED_DTYPES == {tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32}
